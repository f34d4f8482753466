"""The table of S1: a structured tracepoint beside qDebug, LTTng and structured lines through Qt's classes, in one run. Writes bench/results/structured.md and .json."""

import contextlib
import json
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess

from . import bind, silverpoint
from . import build as building
from .numbers import again, figures, interval, median, processes, ratio
from .plan import turns
from .report import text

CASES = ("literal", "map", "floats")
TITLES = {"literal": "`<< literal`", "map": "`<< atoms + map`", "floats": "`<< float[128]`", "three.fields": "3 numbers, declared fields",
          "floats.fields": "128 floats, a declared field"}
# The source's figures on Linux, µs.
SOURCE = {"qdebug, to a file": (16, 23, 26), "qdebug, to a terminal": (7, 15, 18), "QJsonObject, to a file": (60, 152, 104), "LTTng-UST": (3, 58, 25)}
# Of the caller's side, in floors; and how many times qDebug with its context into a file must take.
BUDGET = {"literal": 2, "map": 2, "floats": 2.8}
BUDGET_QDEBUG = 100


class Lines(silverpoint.Facility):
    """A driver that writes a file, in which each record is found by a pattern."""

    def __init__(self, name, program, records, ids, how):
        super().__init__(name, None)
        self.driver, self.how = program, how
        self.records, self.ids = records, ids  # case → a pattern; of the map, the id in it, or a function that reads it

    def launch(self, bench, arguments, workspace, options=()):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("QT_", "SILVERPOINT"))}
        environment |= {"BENCH_FILE": str(workspace.directory / "out"), "SILVERPOINT_OFF": "1", "QT_LOGGING_RULES": "bench.debug=true"}
        return [str(self.driver), *arguments], environment

    def verify(self, bench, workspace, result):
        """Counts what is in the file, and adds the ids."""
        found = (workspace.directory / "out").read_bytes()
        return self.check(found, result)

    def check(self, found, result):
        result["drained"] = True  # the program has ended, and here it is counted
        seen = found.count(self.records[result["case"]])
        if seen != result["counted"]:
            return [f"{result['counted']} records made, {seen} in the file"]
        if result["case"] == "map" and sum(self.ids(found)) != result["id_sum"]:
            return ["the ids in the file are not those that were given out"]
        return []


class Lttng(Lines):
    """Under a session of its own; babeltrace2 reads the trace."""

    def launch(self, bench, arguments, workspace, options=()):
        command, environment = super().launch(bench, arguments, workspace, options)
        return [str(building.BENCH / "lttng/run"), str(workspace.directory), *command], environment

    def verify(self, bench, workspace, result):
        told = (workspace.directory / "told").read_text()
        done = subprocess.run(["babeltrace2", "--clock-seconds", str(workspace.directory / "trace")], capture_output=True)
        if done.returncode != 0:
            return [f"babeltrace2: {done.stderr.decode(errors='replace').strip()[-200:]}; {told.strip()[-200:]}"]
        return self.check(done.stdout, result)


def texts(case_map):
    """Ids behind the literal of the map's record."""
    return lambda found: (int(one[1]) for one in re.finditer(case_map, found))


def cbor_ids(found):
    """Ids of a sequence of records of CBOR: an unsigned integer behind the literal."""
    for one in re.finditer(rb"\x69bench map", found):
        yield number_of_cbor(found[one.end():one.end() + 9])


def number_of_cbor(head):
    """An unsigned integer of CBOR."""
    info = head[0] & 31
    return info if info < 24 else int.from_bytes(head[1:1 + (1 << (info - 24))], "big")


def lttng_ids(found):
    """The same in what babeltrace2 shows: the payload's bytes one by one."""
    for line in found.splitlines():
        payload = bytes(int(one) for one in re.findall(rb"\] = (\d+)", line)[11:20])
        yield number_of_cbor(payload)


def rivals(bench):
    """(facilities, what is missing)."""
    qt = bind.qt_directory()
    if qt is None:
        return [], ["qDebug, QJsonObject, QCborStreamWriter and LTTng with CBOR: qt6-base-dev is not installed"]
    flags = ["-fPIC", "-DQT_MESSAGELOGCONTEXT", "-isystem", qt, "-isystem", qt / "QtCore"]
    found, missing = [], []

    def driver(source, name, *more):
        return bench.cxx_driver(building.BENCH / source, name, [*flags, *more, "-lQt6Core", "-lutil", "-ldl"])

    plain = {case: f"bench {case}".encode() for case in CASES}
    lines = texts(rb"bench map (\d+)")
    found.append(Lines("qdebug, to a file", driver("qt/driver.cpp", "qdebug-file", "-DFACILITY=1"), plain, lines,
                       "`qCDebug`, a message handler, `qFormatLogMessage` with time, type, category, file, line and function, a buffered file"))
    found.append(Lines("qdebug, to a terminal", driver("qt/driver.cpp", "qdebug-console", "-DFACILITY=2"), plain, lines,
                       "Qt's own handler and message pattern, standard error a terminal, whose other end another process reads"))
    found.append(Lines("QJsonObject, to a file", driver("qt/driver.cpp", "qt-json", "-DFACILITY=3"), {case: f'"bench {case}"'.encode() for case in CASES},
                       texts(rb'"bench map",(\d+)'), "an object of path, line, function, category, level and arguments a record, `toJson(Compact)`, a buffered file"))
    found.append(Lines("QCborStreamWriter, to a file", driver("qt/driver.cpp", "qt-cbor", "-DFACILITY=4"), plain, cbor_ids,
                       "a map of the same members a record, a buffered file"))
    if shutil.which("lttng-sessiond") is None or shutil.which("babeltrace2") is None or not list(pathlib.Path("/usr/include").glob("**/lttng/tracepoint.h")):
        missing.append("LTTng: lttng-tools, liblttng-ust-dev and babeltrace2 are not all installed")
    else:
        program = driver("lttng/driver.cpp", "lttng-driver", f"-I{building.BENCH / 'lttng'}", "-llttng-ust")
        events = {"literal": b"bench:literal", "map": b"bench:cbor", "floats": b"bench:cbor", "three.fields": b"bench:three", "floats.fields": b"bench:floats"}
        found.append(Lttng("LTTng-UST", program, events, lttng_ids,
                           "its session and consumer daemons, 8 buffers of 1 MiB a processor; a literal without fields, the others as one payload of CBOR by "
                           "`QCborStreamWriter`"))
    return found, missing


def measure(bench, own, runner, repeats, pairs, seed, until):
    """({(name, case): [result]}, facilities, problems): every case of every facility, in random order."""
    facilities, missing = rivals(bench)
    own.build(bench)
    source = random.Random(seed)
    steps = [(own, f"{case}.stream", case, pairs) for case in CASES]
    for facility in facilities:
        # Slow ones get fewer calls.
        cases = (*CASES, "three.fields", "floats.fields") if isinstance(facility, Lttng) else CASES
        steps += [(facility, case, case, max(pairs // 8, 10)) for case in cases]
    results = {}
    for facility, driven, case, count in turns(steps, repeats, until, source):
        result = runner.run(facility, "burst", driven, pairs=count, seed=source.randrange(1, 1 << 31))
        if result:
            results.setdefault((facility.name, case), []).append(result)
    return results, facilities, missing + runner.problems


# Name and command of each format that our records become.
FORMATS = (("text", "cat"), ("qDebug's text", "cat", "--style", "qdebug"), ("Qt's message", "cat", "--style", "qt"), ("summary", "cat", "--style", "summary"),
           ("JSON", "convert", "--to", "jsonl"), ("TSV+JSON", "convert", "--to", "tsv"), ("CBOR", "convert", "--to", "cbor"))
# 128 floats take many times as long as the others: so many times fewer of them say as much.
FEWER = {"floats": 8}
TIMEOUT_S = 180


def one_rendering(bench, files, options, environment, place, wanted):
    """(CPU seconds, how often the record's words stand in it) of one process that writes a format."""
    output = ["-"] if options[0] == "convert" else []
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(place, "wb") as out:
        subprocess.run([str(bench.silverpoint), *options, *map(str, files), *output], stdout=out, check=True, env=environment, timeout=TIMEOUT_S)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, place.read_bytes().count(wanted)


def renderings(bench, own, records, repeats, seed, until):
    """What becomes of the caller's records elsewhere: CPU time of reading a trace file and writing each format, ns a record; {(format, case): [one of each process]}, in random order."""
    found = {}
    with contextlib.ExitStack() as stack:
        steps = []
        for case in CASES:
            workspace = stack.enter_context(silverpoint.Workspace(bench))
            command, environment = own.launch(bench, ["sustained", f"{case}.stream", "threads=1", f"records={records // FEWER.get(case, 1)}"], workspace)
            result = json.loads(building.call(command, env=environment))
            wrong = own.verify(bench, workspace, result)
            if wrong:
                raise building.Failed(f"what is read: {wrong}")
            files = sorted(workspace.directory.glob("*.silver"))
            steps += [(name, case, options, files, environment, workspace.directory / "rendered", result["counted"]) for name, *options in FORMATS]
        for name, case, options, files, environment, place, counted in turns(steps, repeats, until, random.Random(seed)):
            seconds, seen = one_rendering(bench, files, options, environment, place, f"bench {case}".encode())
            if seen < counted:
                raise building.Failed(f"{name}: {seen} of {counted} records of {case}")
            found.setdefault((name, case), []).append(seconds / counted * 1e9)
    return {(name, case): found[name, case] for name, *_ in FORMATS for case in CASES}


def verdicts(results, own):
    """One line for each bar."""
    lines = []
    for case in CASES:
        mine, theirs = results.get((own, case)), results.get(("qdebug, to a file", case))
        if not mine:
            lines.append(f"- {TITLES[case]}: not counted")
            continue
        value, floor = figures(mine)
        low, high = interval([run["pairs"] for run in mine], ratio)
        lines.append(f"- {TITLES[case]}: {text(value / floor)} × the floor ({text(low)} to {text(high)}), at most {BUDGET[case]}: {'pass' if value / floor <= BUDGET[case] else 'MISS'}")
        if theirs:
            times = figures(theirs)[0] / value
            lines[-1] += f"; qDebug with its context into a file takes {times:.0f} times as long, at least {BUDGET_QDEBUG}: {'pass' if times >= BUDGET_QDEBUG else 'MISS'}"
    return lines


def markdown(results, rendered, facilities, own, problems, machine):
    """The page."""
    names = [own, *(facility.name for facility in facilities)]
    lines = ["# Structured tracepoints beside qDebug and LTTng", "",
             f"Nanoseconds of a call on the caller's side; medians of bursts of 20 calls, {processes([len(runs) for runs in results.values()])} a figure, in random order; in brackets how many times as long as "
             "silverpoint. Every record was found in what was written, those of the map by their ids. Written by `bench/run --part structured`.", "",
             *(f"- {key}: {value}" for key, value in machine.items()), "", *(f"**Not counted: {problem}.**" for problem in problems), "",
             "| | " + " | ".join(TITLES[case] for case in CASES) + " | the source's, µs |", "|---|" + "---|" * (len(CASES) + 1)]
    for name in names:
        cells = []
        for case in CASES:
            runs, mine = results.get((name, case)), results.get((own, case))
            if not runs:
                cells.append("–")
                continue
            value = figures(runs)[0]
            cells.append(text(value) + (f" ({value / figures(mine)[0]:.0f} ×)" if mine and name != own else ""))
        cells.append(" · ".join(map(str, SOURCE[name])) if name in SOURCE else "")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    floors = [figures(runs)[1] for runs in results.values()]
    if floors:
        lines.append(f"| the floor of the same processes | {text(min(floors))} to {text(max(floors))} | | | |")
    for case in ("three.fields", "floats.fields"):
        if runs := results.get(("LTTng-UST", case)):
            lines += ["", f"LTTng-UST, {TITLES[case]}: {text(figures(runs)[0])} ns."]
    lines += ["", "## The bars", "", *verdicts(results, own), "", "## What becomes of them", "",
              "CPU time of another process, in which nobody waits: reading the trace file and writing it, ns a record.", "",
              "| | " + " | ".join(TITLES[case] for case in CASES) + " |", "|---|" + "---|" * len(CASES)]
    for name in dict.fromkeys(name for name, _ in rendered):
        lines.append(f"| {name} | " + " | ".join(text(median(rendered[name, case])) if (name, case) in rendered else "–" for case in CASES) + " |")
    lines += ["", "## How they are set up", "", f"- {own}: `SP_INFO << …`, under `silverpoint run`, raw blocks to disk", *(f"- {facility.name}: {facility.how}" for facility in facilities)]
    return "\n".join(lines) + "\n"


def as_json(results, rendered, facilities, problems, machine):
    """For programs."""
    rows = [{"facility": name, "case": case, "ns": round(figures(runs)[0], 2), "floor_ns": round(figures(runs)[1], 2),
             "processes": len(runs), "again": again([figures([run])[0] for run in runs])} for (name, case), runs in results.items()]
    others = [{"format": name, "case": case, "ns": round(median(each), 1), "processes": len(each), "again": again(each)} for (name, case), each in rendered.items()]
    return json.dumps({"machine": machine, "problems": problems, "how": {facility.name: facility.how for facility in facilities}, "results": rows, "renderings": others}, indent=1) + "\n"
