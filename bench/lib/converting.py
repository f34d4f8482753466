"""What readers and writers of formats cost, each by itself, beside other programs on the same records, and own types beside serde. Writes bench/results/convert.md and convert.json."""

import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

from . import build as building
from .numbers import again, processes
from .plan import turns

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


def program_run(command, records):
    """What one run of ours says of itself; it must have seen all records."""
    run = json.loads(call(command))
    if run["records"] != records:
        raise building.Failed(f"{' '.join(str(c) for c in command[1:])}: {run['records']} of {records} records")
    return run


def peer_run(name, command, records, size):
    """CPU time of another program that reads or writes the same records, by the kernel's account of children."""
    before = os.times()
    told = call(command)
    after = os.times()
    seen = int(told.split()[-1])
    if seen != records:
        raise building.Failed(f"{name}: {seen} of {records} records")
    return {"records": records, "bytes": size, "cpu_seconds": after.children_user + after.children_system - before.children_user - before.children_system}


def has_module(name):
    return subprocess.run([sys.executable, "-c", f"import {name}"], capture_output=True).returncode == 0


def peers(directory, lines, cbor, records):
    """({name: a function that runs it once}, what is missing): other programs on the same records. They get a part: they are slow."""
    some = directory / "some.jsonl"
    part = min(records, 200_000)
    with open(lines, "rb") as source, open(some, "wb") as out:
        for _ in range(part):
            out.write(source.readline())
    size = some.stat().st_size
    found, missing = {}, []

    def add(name, command, records=part, size=size):
        found[name] = lambda: peer_run(name, command, records, size)

    add("Python json, reading", [sys.executable, "-c", PYTHON_READ, some])
    add("Python json, writing", [sys.executable, "-c", PYTHON_WRITE, some, part])
    if shutil.which("jq"):
        add("jq, reading and writing", ["sh", "-c", f"jq -c . '{some}' | wc -l"])
    else:
        missing.append("jq is not installed")
    if has_module("orjson"):
        add("Python orjson, reading", [sys.executable, "-c", PYTHON_READ.replace("json", "orjson"), some])
    if has_module("cbor2"):
        add("Python cbor2, reading", [sys.executable, "-c", CBOR2_READ, cbor], records, cbor.stat().st_size)
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


def middle(runs):
    """The run of the middle by its CPU time, with the range in which another one's rate (M records/s) lies."""
    ordered = sorted(runs, key=lambda run: run["cpu_seconds"])
    return ordered[len(ordered) // 2] | {"processes": len(runs), "again": again([rate(run) if run["cpu_seconds"] else 0.0 for run in runs])}


def files(program, directory, records):
    """What is read: {(format, lossless): (all records, a quarter of them)}, and the same as a trace file."""
    made = {}
    for kind, lossless in [("silver", False), *((kind, lossless) for _, kind, lossless in WRITERS if kind != "silver")]:
        made[kind, lossless] = tuple(directory / f"{size}{'-lossless' if lossless else ''}.{kind}" for size in ("many", "few"))
        for file, count in zip(made[kind, lossless], (records, records // 4), strict=True):
            call([program, "generate", count, kind, file, *(["lossless"] if lossless else [])])
    return made


def measure(bench, records, repeats, streamed, seed, until):
    """(rows, problems): each a dictionary, or a text. All programs in random order, again as long as there is time."""
    bench.cargo("-p", "silverpoint-convert", "--example", "throughput")
    bench.cargo("-p", "silverpoint-bind", "--example", "speed")
    examples = bench.cargo_target / "release/examples"
    program = examples / "throughput"
    found = {"records": records, "writers": [], "readers": [], "peers": [], "missing": [], "bind": [], "stream": None}
    problems, runs, few = [], {}, {}
    directory = pathlib.Path(tempfile.mkdtemp(prefix="convert-", dir=bench.directory))
    try:
        made = files(program, directory, records)
        whole, quarter = made["silver", False]
        ours = {("writers", "text, as `cat`, reading the trace file included", "text"): ([program, "text", whole], [program, "text", quarter])}
        for name, kind, lossless in WRITERS:
            more = ["lossless"] if lossless else []
            ours["writers", name, kind] = ([program, "write", records, kind, *more], [program, "write", records // 4, kind, *more])
            ours["readers", name, kind] = tuple([program, "read", kind, file] for file in made[kind, lossless])
        others, found["missing"] = peers(directory, made["jsonl", False][0], made["cbor", False][0], records)
        steps = {key: lambda command=command: program_run(command, records) for key, (command, _) in ours.items()} | {("peers", name): run for name, run in others.items()}
        source = random.Random(seed)
        # Memory hardly differs between runs: of a quarter of the records one says it.
        for key in source.sample(list(ours), len(ours)):
            few[key] = program_run(ours[key][1], records // 4)["peak_kib"]
        found["stream"] = stream(program, streamed)
        found["bind"] = [json.loads(line) for line in call([examples / "speed", 100_000]).splitlines()]
        for key in turns(list(steps), repeats, until, source):
            runs.setdefault(key, []).append(steps[key]())
    except (building.Failed, subprocess.TimeoutExpired, OSError, ValueError) as failed:
        problems.append(str(failed))
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    if runs:
        for side, name, kind in ours:
            if (side, name, kind) in runs:
                found[side].append({"name": name, "format": kind} | middle(runs[side, name, kind]) | {"peak_few_kib": few[side, name, kind]})
        found["peers"] = [{"who": name} | middle(runs["peers", name]) for name in others if ("peers", name) in runs]
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


def markdown(found, problems, machine):
    """The page."""
    rows = [*found["writers"], *found["readers"], *found["peers"]]
    lines = ["# Formats: readers and writers", "",
             f"{found['records']:,} records of eight sites in four threads, in a mixed order: numbers, texts, floats, and some without arguments. Processor time, the middle of {processes([row['processes'] for row in rows])} in random order, one core; each run has seen "
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
