"""What readers and writers of formats cost, each by itself, beside other programs on the same records, and own types beside serde. Writes bench/results/convert.md and convert.json."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from . import build as building

TIMEOUT_S = 600
# Name, format, with everything given back.
WRITERS = (
    ("JSON lines", "jsonl", False),
    ("JSON lines, lossless", "jsonl", True),
    ("JSON array, lossless", "json", True),
    ("CBOR", "cbor", False),
    ("TSV", "tsv", False),
    ("XML", "xml", False),
    ("trace file", "silver", False),
)
GOAL = 3.0  # million records a second a core
GOAL_OF = ("text", "jsonl", "json", "cbor")
# What other programs do with a file of JSON lines. Each prints how many records it has seen, or the records themselves.
PYTHON_READ = "import json,sys\nn=0\nfor line in open(sys.argv[1],'rb'): json.loads(line); n+=1\nprint(n)"
PYTHON_WRITE = ("import json,sys\nn=0\nrecord=json.loads(open(sys.argv[1],'rb').readline())\ncount=int(sys.argv[2])\nout=open('/dev/null','w')\n"
                "for n in range(count): record['pid']=n; out.write(json.dumps(record)+'\\n')\nprint(n+1)")
CBOR2_READ = "import cbor2,sys\nn=0\nf=open(sys.argv[1],'rb')\nd=cbor2.CBORDecoder(f)\ntry:\n while True: d.decode(); n+=1\nexcept EOFError: pass\nprint(n)"


def call(command, **more):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=TIMEOUT_S, **more)
    if done.returncode != 0:
        raise building.Failed(f"{pathlib.Path(str(command[0])).name} {' '.join(str(c)[:40] for c in command[1:4])}: exit {done.returncode}: {done.stderr[-300:]}")
    return done.stdout


def best(command, records, repeats):
    """The run of the middle; each must have seen all records."""
    runs = [json.loads(call(command)) for _ in range(repeats)]
    for run in runs:
        if run["records"] != records:
            raise building.Failed(f"{' '.join(str(c) for c in command[1:])}: {run['records']} of {records} records")
    runs.sort(key=lambda run: run["cpu_seconds"])
    return runs[len(runs) // 2]


def peer(name, command, records, size):
    """CPU time of another program that reads or writes the same records, by the kernel's account of children."""
    before = os.times()
    told = call(command)
    after = os.times()
    seen = int(told.split()[-1])
    if seen != records:
        raise building.Failed(f"{name}: {seen} of {records} records")
    return {"who": name, "records": records, "bytes": size, "cpu_seconds": after.children_user + after.children_system - before.children_user - before.children_system}


def has_module(name):
    return subprocess.run([sys.executable, "-c", f"import {name}"], capture_output=True).returncode == 0


def peers(directory, lines, cbor, records):
    """Other programs on the same records, and what is missing. They get a part: they are slow."""
    some = directory / "some.jsonl"
    part = min(records, 200_000)
    with open(lines, "rb") as source, open(some, "wb") as out:
        for _ in range(part):
            out.write(source.readline())
    size = some.stat().st_size
    found, missing = [], []
    found.append(peer("Python json, reading", [sys.executable, "-c", PYTHON_READ, some], part, size))
    found.append(peer("Python json, writing", [sys.executable, "-c", PYTHON_WRITE, some, part], part, size))
    if shutil.which("jq"):
        found.append(peer("jq, reading and writing", ["sh", "-c", f"jq -c . '{some}' | wc -l"], part, size))
    else:
        missing.append("jq is not installed")
    if has_module("orjson"):
        read = PYTHON_READ.replace("json", "orjson")
        found.append(peer("Python orjson, reading", [sys.executable, "-c", read, some], part, size))
    if has_module("cbor2"):
        found.append(peer("Python cbor2, reading", [sys.executable, "-c", CBOR2_READ, cbor], records, cbor.stat().st_size))
    else:
        missing.append("cbor2: this Python does not have it")
    if not shutil.which("babeltrace2"):
        missing.append("babeltrace2 is not installed")
    return found, missing


def stream(program, records):
    """Records through a pipe, of which nobody keeps anything: what the reader held at most."""
    made = subprocess.Popen([program, "generate", str(records), "jsonl", "/dev/stdout", "lossless"], stdout=subprocess.PIPE)
    done = subprocess.run([program, "read", "jsonl", "/dev/stdin"], stdin=made.stdout, capture_output=True, text=True, timeout=TIMEOUT_S)
    made.stdout.close()
    if made.wait() != 0 or done.returncode != 0:
        raise building.Failed(f"through a pipe: {done.stderr[-300:]}")
    run = json.loads(done.stdout)
    if run["records"] != records:
        raise building.Failed(f"through a pipe: {run['records']} of {records} records")
    return run


def measure(bench, records, repeats, streamed):
    """(rows, problems): each a dictionary, or a text."""
    bench.cargo("-p", "silverpoint-convert", "--example", "throughput")
    bench.cargo("-p", "silverpoint-bind", "--example", "speed")
    examples = bench.cargo_target / "release/examples"
    program = examples / "throughput"
    found = {"records": records, "writers": [], "readers": [], "peers": [], "missing": [], "bind": [], "stream": None}
    problems = []
    directory = pathlib.Path(tempfile.mkdtemp(prefix="convert-", dir=bench.directory))
    try:
        trace = directory / "made.silver"
        call([program, "generate", records, "silver", trace])
        few = directory / "few.silver"
        call([program, "generate", records // 4, "silver", few])
        row = best([program, "text", trace], records, repeats)
        row["peak_few_kib"] = best([program, "text", few], records // 4, 1)["peak_kib"]
        found["writers"].append({"name": "text, as `cat`, reading the trace file included", "format": "text"} | row)
        for name, kind, lossless in WRITERS:
            more = ["lossless"] if lossless else []
            row = best([program, "write", records, kind, *more], records, repeats)
            row["peak_few_kib"] = best([program, "write", records // 4, kind, *more], records // 4, 1)["peak_kib"]
            found["writers"].append({"name": name, "format": kind} | row)
        for name, kind, lossless in WRITERS:
            more = ["lossless"] if lossless else []
            file, small = directory / f"many.{kind}", directory / f"few.{kind}"
            call([program, "generate", records, kind, file, *more])
            call([program, "generate", records // 4, kind, small, *more])
            row = best([program, "read", kind, file], records, repeats)
            row["peak_few_kib"] = best([program, "read", kind, small], records // 4, 1)["peak_kib"]
            found["readers"].append({"name": name, "format": kind} | row)
            if (kind, lossless) == ("cbor", False):
                call([program, "generate", records, "jsonl", directory / "peers.jsonl"])
                others, missing = peers(directory, directory / "peers.jsonl", file, records)
                found["peers"], found["missing"] = others, missing
            file.unlink()
        found["stream"] = stream(program, streamed)
        lines = call([examples / "speed", 100_000]).splitlines()
        found["bind"] = [json.loads(line) for line in lines]
    except (building.Failed, subprocess.TimeoutExpired, OSError, ValueError) as failed:
        problems.append(str(failed))
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return found, problems


def rate(row):
    return row["records"] / row["cpu_seconds"] / 1e6


def table(rows, with_goal):
    lines = ["| | M records/s | MB/s | bytes a record | peak memory, MiB | of a quarter of the records | |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        is_met = "" if not with_goal or row["format"] not in GOAL_OF else "pass" if rate(row) >= GOAL else "MISS"
        lines.append(f"| {row['name']} | {rate(row):.2f} | {row['bytes'] / row['cpu_seconds'] / 1e6:.0f} | {row['bytes'] / row['records']:.0f} | "
                     f"{row['peak_kib'] / 1024:.1f} | {row['peak_few_kib'] / 1024:.1f} | {is_met} |")
    return lines


def markdown(found, problems, repeats, machine):
    """The page."""
    lines = ["# Formats: readers and writers", "",
             f"{found['records']:,} records of eight sites in four threads, in a mixed order: numbers, texts, floats, and some without arguments. Processor time, medians of {repeats} runs, one core; each run has seen "
             f"every record. Written by `bench/run --part convert`. Goal: {GOAL:g} million records a second a core for text, JSON and CBOR; memory that does not grow.", "",
             *(f"- {key}: {value}" for key, value in machine.items()), "",
             *(f"**Not counted: {problem}.**" for problem in problems)]
    lines += ["", "## Writers", "", "Records that are in memory, written to nobody.", "", *table(found["writers"], True)]
    lines += ["", "## Readers", "", "Of a file in the page cache; its records are made and counted.", "", *table(found["readers"], True)]
    if found["stream"]:
        run = found["stream"]
        lines += ["", f"Through a pipe, {run['records']:,} records of lossless JSON lines, {run['bytes'] / 1e9:.1f} GB: the reader held {run['peak_kib'] / 1024:.1f} MiB at most, {rate(run):.2f} M records/s."]
    lines += ["", "## Other programs, on the same records as JSON lines", "", "| | M records/s | MB/s |", "|---|---|---|"]
    lines += [f"| {row['who']} | {rate(row):.2f} | {row['bytes'] / row['cpu_seconds'] / 1e6:.0f} |" for row in found["peers"]]
    lines += ["", *(f"- not compared: {why}" for why in found["missing"])]
    lines += ["", "## Own types: `silverpoint-bind` beside serde", "", "100,000 orders of eight members (a number, an enumeration, a float, texts, an optional, a list, a struct within), in memory; the best of three.", "",
              "| | by | M records/s | MB/s |", "|---|---|---|---|"]
    lines += [f"| {row['what']} | {row['who']} | {rate(row):.2f} | {row['bytes'] / row['cpu_seconds'] / 1e6:.0f} |" for row in found["bind"]]
    return "\n".join(lines) + "\n"
