"""Silverpoint.dll on each runtime of .NET: the table of S5, and what single calls cost. For bench/dotnet-runtimes."""

import functools
import json
import os
import random
import re
import subprocess
import sys

from . import build as building
from . import processes
from .numbers import median
from .silverpoint import Workspace

sys.path.insert(0, str(building.ROOT / "dotnet/build"))
import driver  # noqa: E402
import places as at  # noqa: E402

TIMEOUT_S = 600
LISTENERS = {"none": "no listener", "silverpoint": "SilverpointTraceListener", "text": "TextWriterTraceListener, to a file", "default": "default listener",
             "events": "EventSource to an empty EventListener (stands for ETW)"}
# Programs below dotnet/bench with single calls: their words before the number of blocks, and where they run.
CALLS = [("Bench", ["calls"], list(at.TITLES)), ("BenchActivities", [], ["net8", "net10"]), *(("BenchLogging", [logger], ["net10"]) for logger in ("empty", "silverpoint", "empty-factory", "factory"))]
# What a runtime does not have, by words of the error: no figure, and no failure.
MISSING = {"the listener has seen 0 of": "it has no events", "No usable version of libssl": "it needs OpenSSL 1.0 or 1.1, which is not here, and so has no MD5"}
DIGITS = re.compile(rb"\b[0-9a-f]{32}\b")
RECORDS = re.compile(r"([\d,]+) records? in .*, no losses\)")


class Bench:
    """What Workspace asks for, and the programs."""

    def __init__(self):
        self.places = at.Places(driver.TOP)
        self.directory = self.places.folder / "bench"
        self.directory.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cargo", "build", "--quiet", "--release", "--locked", "--package", "silverpoint-cli"], cwd=driver.TOP, check=True)
        self.silverpoint = self.places.target / "release/silverpoint"
        self.projects = {project.name: project for project in driver.build(self.places)}
        include = f"-I{driver.TOP / 'cpp/include'}"
        cold = self.directory / "silverpoint_c.o"
        building.call(["g++", *building.CXX_FLAGS, "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden", "-fPIC", include, "-c", driver.TOP / "cpp/src/silverpoint_c.cpp", "-o", cold])
        building.call(["gcc", *building.C_FLAGS, "-fPIC", "-shared", "-fvisibility=hidden", include, driver.TOP / "bench/dotnet/loop.c", cold, "-o", self.directory / "libbench_loop.so", "-pthread", "-ldl"])

    def run(self, words, arguments, check, needs_file=True):
        """One process under `silverpoint run`. Its lines of JSON; Failed when records are missing."""
        with Workspace(self) as space:
            environment = {name: value for name, value in os.environ.items() if not name.startswith(("SILVERPOINT", "DOTNET_", "COMPlus_", "MONO_"))}
            environment |= {"SILVERPOINT_DIR": str(space.sessions), "LD_LIBRARY_PATH": str(self.directory), "MONO_PATH": str(self.places.folder / "mono/4.5/Facades")}
            done = processes.run([self.silverpoint, "run", "--filter", "debug", "-o", space.trace, "--", *words, *arguments, *([space.directory / "out.txt"] if needs_file else [])], TIMEOUT_S, env=environment)
            lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
            if done.returncode != 0 or not lines:
                raise building.Failed(f"exit {done.returncode}: {(done.stderr.strip().splitlines() or ['no output'])[0][:200]}")
            check(self, space, lines, done.stderr)
            return lines


def texts_are_there(bench, space, lines, errors, listener):
    """All texts that were written, by their number and the sum of their first eight digits."""
    if listener == "text":
        out = (space.directory / "out.txt").read_bytes()
        found = [out[begin:begin + 32] for begin in range(0, len(out), 32)]
    elif listener == "silverpoint":
        found = DIGITS.findall(subprocess.run([bench.silverpoint, "cat", space.trace], capture_output=True, check=True).stdout)
    else:
        return
    there = len(found), sum(int(one[:8], 16) for one in found) % 2**64
    if there != (lines[0]["written"], lines[0]["sum"]):
        raise building.Failed(f"{lines[0]['written']} texts written, {there[0]} found")


def records_are_there(bench, space, lines, errors):
    found = RECORDS.search(errors)
    if not found or int(found.group(1).replace(",", "")) != lines[-1]["records"]:
        raise building.Failed(f"{lines[-1]['records']} records made; {errors.strip()[-200:]}")


def measure(bench, runtimes, rounds, blocks, blocks_of_calls):
    """(rows of turns, rows of calls, problems, what runtimes do not have). One process each, in random order."""
    turns, calls, problems, gaps, order = {}, {}, [], {}, random.Random(29)
    for runtime in runtimes:
        steps = [("Bench", ["md5", listener, str(blocks)]) for listener in LISTENERS] + [(name, [*words, str(blocks_of_calls)]) for name, words, where in CALLS if runtime in where]
        try:
            programs = {name: driver.words_of(bench.places, runtime, bench.projects[name]) for name, _ in steps}
        except at.Unavailable as why:
            problems.append(str(why))
            continue
        found, failed = [[] for _ in steps], set()
        turn = [number for number in range(len(steps)) for _ in range(rounds)]
        order.shuffle(turn)
        for number in turn:
            name, words = steps[number]
            if number in failed:
                continue
            check = functools.partial(texts_are_there, listener=words[1]) if words[0] == "md5" else records_are_there
            try:
                found[number].append(bench.run(programs[name], words, check, name == "Bench"))
            except (building.Failed, subprocess.SubprocessError, OSError) as why:
                failed.add(number)
                missing = next((plain for part, plain in MISSING.items() if part in str(why)), None)
                if missing is None:
                    problems.append(f"{at.TITLES[runtime]}, {name} {' '.join(words)}: {why}")
                else:
                    gaps.setdefault(f"{at.TITLES[runtime]}: {missing}", []).append(LISTENERS[words[1]])
        for (name, words), runs in zip(steps, found):
            for rows in runs:
                if words[0] == "md5":
                    turns.setdefault((runtime, words[1]), []).append(rows[0])
                    continue
                for row in rows[:-1]:
                    calls.setdefault((runtime, row["call"]), []).append(row)
    turns = [{"runtime": runtime, "listener": listener, "processes": len(rows), **{key: round(median([row[key] for row in rows]), 3) for key in ("with_us", "without_us", "above_us", "times")}}
             for (runtime, listener), rows in turns.items()]
    calls = [{"runtime": runtime, "call": call, "processes": len(rows), "ns": round(median([row["ns"] for row in rows]), 1), "bytes": median([row["bytes"] for row in rows])}
             for (runtime, call), rows in calls.items()]
    return turns, calls, problems, [f"{missing} ({'; '.join(title for title in LISTENERS.values() if title in titles)})" for missing, titles in gaps.items()]


def page(turns, calls, problems, gaps, about, busy):
    runtimes = [name for name in at.TITLES if any(row["runtime"] == name for row in [*turns, *calls])]
    lines = ["# Silverpoint.dll on each runtime", "", "Written by `bench/dotnet-runtimes`. Medians of processes, whose blocks give medians each. All records were found in the trace files.", "",
             *(f"- {key}: {value}" for key, value in about.items()), f"- used by others before: {busy[0]:.0%}, stolen: {busy[1]:.0%}", "", *(f"**Not counted: {problem}.**\n" for problem in [*gaps, *problems]),
             "## S5: MD5 of 10,000 bytes, its text, and one Trace.Write of it", "",
             "µs a turn with the call. In brackets µs of the call, the difference to turns without it, and how many times as long as turns with Trace.Write and no listener. All are in blocks of a hundred that alternate.", "",
             "| | " + " | ".join(at.TITLES[name] for name in runtimes) + " |", "|---|" + "---|" * len(runtimes)]
    of = {(row["runtime"], row["listener"]): row for row in turns}
    for listener, title in LISTENERS.items():
        cells = [f"{row['with_us']:.2f} ({row['above_us']:.3f}; × {row['times']:.3f})" if (row := of.get((name, listener))) else "–" for name in runtimes]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    lines += ["", "## Single calls", "", "ns a call in blocks of a thousand, in brackets bytes of garbage. Before each block is a pause in which the collector empties the ring.", "Back to back, the fastest calls outrun it: a thread then goes on in new memory, which takes longer than the records, in C as well.", "", "| | " + " | ".join(at.TITLES[name] for name in runtimes) + " |", "|---|" + "---|" * len(runtimes)]
    of = {(row["runtime"], row["call"]): row for row in calls}
    for call in dict.fromkeys(row["call"] for row in calls):
        cells = [f"{row['ns']:.1f} ({row['bytes']:.0f})" if (row := of.get((name, call))) and row["bytes"] >= 0 else f"{row['ns']:.1f}" if row else "–" for name in runtimes]
        lines.append(f"| {call} | " + " | ".join(cells) + " |")
    lines += ["", "- `Trace.Write` and `TraceSource` format or box in the caller: garbage of calls without a listener is the runtime's own.",
              "- An activity is three records: its begin, what is known at its end, and its end. LoggerMessage with an empty logger is what the library itself costs.",
              "- The C frontend's loop runs in the same process, in blocks like all others, and records into the same trace file."]
    return "\n".join(lines) + "\n"
