"""The table of S1: a structured tracepoint beside qDebug, LTTng and structured lines through Qt's classes, in one run, and structuring alone. Writes bench/results/structured.md and .json."""

import contextlib
import json
import os
import pathlib
import random
import re
import resource
import shutil
import struct
import subprocess

from . import bind, lttng, silverpoint
from . import build as building
from .numbers import again, figures, interval, median, processes, ratio
from .plan import turns
from .report import text

CASES = ("literal", "map", "floats")
TITLES = {"literal": "`<< literal`", "map": "`<< atoms + map`", "floats": "`<< float[128]`"}
# The source's figures on Linux, µs.
SOURCE = {"qdebug, to a file": (16, 23, 26), "qdebug, to a terminal": (7, 15, 18), "QJsonObject, to a file": (60, 152, 104), "LTTng-UST": (3, 58, 25)}
# The same for structuring alone.
SOURCE_STRUCTURING = {"QDebug, into a QString": (0, 5, 8), "silverpoint, a packed copy": (0, 3, 0), "QJsonDocument, into bytes": (2, 41, 24), "QCborValue, into bytes": (1, 35, 15)}
# Of the caller's side, in floors; and how many times qDebug with its context into a file must take.
BUDGET = {"literal": 2, "map": 2, "floats": 2.8}
BUDGET_QDEBUG = 100


# Records back to back, where CPU time of all is measured: enough to take some tens of milliseconds. LTTng's buffers take them all: it throws away what it has no room for.
BACK_TO_BACK = {"literal": 40_000, "map": 40_000, "floats": 4_000}
BACK_TO_BACK_OF_OURS = {"literal": 1_000_000, "map": 500_000, "floats": 100_000}
BACK_TO_BACK_OF_LTTNG = {"literal": 200_000, "map": 50_000, "floats": 8_000}
# Events with declared fields, beside ours of the same arguments (lttng.py). The literal is among the cases above.
DECLARED = tuple(case for case in lttng.CASES if case != "literal")
LTTNG_TIMER_US = 200_000
# The statements of a Qt program as they stand, recorded by silverpoint/qt/debug.hpp.
RECORDED = "silverpoint, qDebug() recorded"
# The 128 floats of the suite, in text and in CBOR: each record with them is asked for all of them.
FLOATS_AS_TEXT = ["%g" % value for value in silverpoint.FLOATS]
FLOATS_AS_CBOR = b"\x98\x80" + b"".join(b"\xfa" + struct.pack(">f", value) for value in silverpoint.FLOATS)


class Recorded(silverpoint.Facility):
    """The program of qDebug, with one header more: its statements are records."""

    how = "the program of *qdebug, to a file*, with `#include <silverpoint/qt/debug.hpp>` before its statements: each is a record; under `silverpoint run`, raw blocks to disk"

    def launch(self, bench, arguments, workspace, options=()):
        command, environment = super().launch(bench, arguments, workspace, options)
        return command, {k: v for k, v in environment.items() if not k.startswith("QT_")} | {"QT_LOGGING_RULES": "bench.debug=true"}


class Lines(silverpoint.Facility):
    """A driver that writes a file, in which each record is found by a pattern."""

    def __init__(self, name, program, records, ids, how):
        super().__init__(name, None)
        self.driver, self.how = program, how
        self.records, self.ids = records, ids  # case → a pattern; case → a function that gives the ids

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
        if (ids := self.ids.get(result["case"])) and sum(ids(found)) != result["id_sum"]:
            return ["the ids in the file are not those that were given out"]
        return []


class Lttng(Lines):
    """Under a session of its own; babeltrace2 reads the trace."""

    def launch(self, bench, arguments, workspace, options=()):
        command, environment = super().launch(bench, arguments, workspace, options)
        if arguments[0] == "sustained":
            environment["BENCH_LTTNG_TIMER_US"] = str(LTTNG_TIMER_US)
        return [str(building.BENCH / "lttng/run"), str(workspace.directory), *command], environment

    def verify(self, bench, workspace, result):
        result["drained"] = True  # the program has ended, and here it is counted
        found, why = lttng.events(workspace.directory)
        if found is None:
            return [why]
        if result["case"] in DECLARED:
            return lttng.missing(found, result["case"], result["counted"], result["id_sum"])
        return self.check(found, result)


class Nowhere(silverpoint.Facility):
    """A driver that structures into memory (bench/qt/structuring.cpp): what it has made is counted by itself, and the last of it is looked at."""

    def __init__(self, name, program, records, ids, how):
        super().__init__(name, None)
        self.driver, self.records, self.ids, self.how = program, records, ids, how

    def launch(self, bench, arguments, workspace, options=()):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("QT_", "SILVERPOINT"))}
        return [str(self.driver), *arguments], environment | {"BENCH_FILE": str(workspace.directory / "out"), "BENCH_TOLD": str(workspace.directory / "told")}

    def verify(self, bench, workspace, result):
        """Compares the driver's own count, and the last output, with what was asked for."""
        result["drained"] = True  # there is nothing to wait for
        made, last_id = (int(number) for number in re.findall(r"\d+", (workspace.directory / "told").read_text()))
        found = (workspace.directory / "out").read_bytes()
        if made != result["counted"]:
            return [f"{result['counted']} records made, {made} structured"]
        if self.records[result["case"]] not in found:
            return [f"the last that was structured is not the statement's: {found[:80]}"]
        if result["case"] == "map" and list(self.ids(found)) != [last_id]:
            return [f"the last that was structured has another id than {last_id}"]
        return []


def texts(pattern):
    """The ids that stand behind something in text."""
    return lambda found: (int(one[1]) for one in re.finditer(pattern, found))


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

    plain = {case: f"bench {case}".encode() for case in CASES} | {"floats": f"bench floats QList({', '.join(FLOATS_AS_TEXT)})".encode()}
    lines = {"map": texts(rb"bench map (\d+)")}
    recorded = Recorded(RECORDED, None)
    recorded.driver = driver("qt/driver.cpp", "qdebug-recorded", "-DFACILITY=5")
    found.append(recorded)
    found.append(Lines("qdebug, to a file", driver("qt/driver.cpp", "qdebug-file", "-DFACILITY=1"), plain, lines,
                       "`qCDebug`, a message handler, `qFormatLogMessage` with time, type, category, file, line and function, a buffered file"))
    found.append(Lines("qdebug, to a terminal", driver("qt/driver.cpp", "qdebug-console", "-DFACILITY=2"), plain, lines,
                       "Qt's own handler and message pattern, standard error a terminal, whose other end another process reads"))
    of_json = {case: f'"bench {case}"'.encode() for case in CASES} | {"floats": f'"bench floats",[{",".join(FLOATS_AS_TEXT)}]'.encode()}
    found.append(Lines("QJsonObject, to a file", driver("qt/driver.cpp", "qt-json", "-DFACILITY=3"), of_json, {"map": texts(rb'"bench map",(\d+)')},
                       "an object of path, line, function, category, level and arguments a record, `toJson(Compact)`, a buffered file"))
    found.append(Lines("QCborStreamWriter, to a file", driver("qt/driver.cpp", "qt-cbor", "-DFACILITY=4"), plain | {"floats": b"bench floats" + FLOATS_AS_CBOR}, {"map": cbor_ids},
                       "a map of the same members a record, a buffered file"))
    if shutil.which("lttng-sessiond") is None or shutil.which("babeltrace2") is None or not list(pathlib.Path("/usr/include").glob("**/lttng/tracepoint.h")):
        missing.append("LTTng: lttng-tools, liblttng-ust-dev and babeltrace2 are not all installed")
    else:
        program = driver("lttng/driver.cpp", "lttng-driver", f"-I{building.BENCH / 'lttng'}", "-llttng-ust")
        payload = b"\x82\x6cbench floats" + FLOATS_AS_CBOR
        events = {"literal": b"bench:literal", "map": b"bench:cbor", "floats": f"payload = {lttng.shown(payload)}".encode()}
        found.append(Lttng("LTTng-UST", program, events, {"map": lttng_ids},
                           "its session and consumer daemons, 8 buffers of 1 MiB a processor; a literal without fields, the others as one payload of CBOR by "
                           "`QCborStreamWriter`, or declared fields of a provider written by hand"))
    return found, missing


def structuring(bench):
    """Ways to structure arguments without delivering them: facilities, none without Qt."""
    qt = bind.qt_directory()
    if qt is None:
        return []
    flags = ["-fPIC", "-isystem", qt, "-isystem", qt / "QtCore", "-lQt6Core"]
    plain = {case: f"bench {case}".encode() for case in CASES}
    of_text = plain | {"floats": f"bench floats QList({', '.join(FLOATS_AS_TEXT)})".encode()}
    words = {case: f'"bench {case}"'.encode() for case in CASES}
    of_json, of_bind = (words | {"floats": f'"bench floats",[{",".join(floats)}]'.encode()} for floats in (FLOATS_AS_TEXT, map(str, silverpoint.FLOATS)))
    # (Qt has one number with a point in its values, a double.)
    of_stream, of_values = (plain | {"floats": b"bench floats\x98\x80" + b"".join(head + struct.pack(kind, value) for value in silverpoint.FLOATS)}
                            for head, kind in ((b"\xfa", ">f"), (b"\xfb", ">d")))
    # A literal is not copied: it is the place's in the source.
    of_copy = {"literal": b"", "map": b"alpha", "floats": struct.pack("<128f", *silverpoint.FLOATS)}
    in_text, in_json = texts(rb"bench map (\d+)"), texts(rb'"bench map",(\d+)')

    def of_integer(found):
        return [int.from_bytes(found[:8], "little")]

    ways = (
        ("QDebug, into a QString", 1, of_text, in_text, "`QDebug(&string) << …`, a new string for each"),
        ("QJsonDocument, into bytes", 2, of_json, in_json, "a `QJsonArray` of the arguments, `toJson(Compact)`"),
        ("QCborValue, into bytes", 3, of_values, cbor_ids, "a `QCborArray` of the arguments, `toCbor()`; floats as doubles, the only kind that it has"),
        ("QCborStreamWriter, into bytes", 4, of_stream, cbor_ids, "an array of the arguments, written into bytes that are used again"),
        ("silverpoint, a packed copy", 5, of_copy, of_integer, "what a tracepoint does with its arguments (detail/codec.hpp), into memory that is used again; without place, clock and ring"),
        ("silverpoint bind, JSON", 6, of_bind, in_json, "`silverpoint::bind(JsonWriter, …)` of the arguments as a tuple, into a writer that is used again"),
        ("silverpoint bind, CBOR", 7, of_stream, cbor_ids, "`silverpoint::bind(CborWriter, …)`, the same"),
    )
    return [Nowhere(name, bench.cxx_driver(building.BENCH / "qt/structuring.cpp", f"structuring-{way}", [f"-DWAY={way}", *flags]), records, ids, how) for name, way, records, ids, how in ways]


class Found(dict):
    """What was measured: {(facility, case): [result of bursts]}; in `totals` the same of records back to back, in `structuring` of the ways to structure, in `lttng` of the tracepoints and events of lttng.py."""

    def __init__(self, ways):
        super().__init__()
        self.totals, self.structuring, self.lttng, self.ways = {}, {}, {}, ways

    def cpu(self, name, case):
        """[CPU time of a record, of all threads and of the processes that serve it, ns], one of each process."""
        return [run["cpu_per_record"] for run in self.totals.get((name, case), ())]


def measure(bench, own, runner, repeats, pairs, seed, until):
    """(Found, facilities, problems): every case of every facility, and of every way to structure, in random order."""
    facilities, missing = rivals(bench)
    ways = structuring(bench)
    own.build(bench)
    by_lttng = lttng.ours(bench) if any(isinstance(facility, Lttng) for facility in facilities) else []
    source = random.Random(seed)
    steps = [(own, "burst", f"{case}.stream", case, {"pairs": pairs}) for case in CASES]
    steps += [(own, "sustained", f"{case}.stream", case, {"records": BACK_TO_BACK_OF_OURS[case]}) for case in CASES]
    for facility in facilities:
        of_ours, of_lttng = isinstance(facility, Recorded), isinstance(facility, Lttng)
        counts = BACK_TO_BACK_OF_OURS if of_ours else BACK_TO_BACK_OF_LTTNG if of_lttng else BACK_TO_BACK
        # Slow ones get fewer calls.
        steps += [(facility, "burst", case, case, {"pairs": pairs if of_ours else max(pairs // 8, 10)}) for case in counts]
        steps += [(facility, "sustained", case, case, {"records": count}) for case, count in counts.items()]
    steps += [(way, "burst", case, case, {"pairs": max(pairs // 4, 10)}) for way in ways for case in CASES]
    steps += [(facility, "burst", case, case, {"pairs": max(pairs // 8, 10)}) for facility in facilities if isinstance(facility, Lttng) for case in DECLARED]
    steps += [(facility, "burst", case, case, {"pairs": max(pairs // 8, 10)}) for facility in by_lttng for case in lttng.cases_of(facility)]
    found = Found(ways)
    for facility, mode, driven, case, numbers in turns(steps, repeats, until, source):
        result = runner.run(facility, mode, driven, seed=source.randrange(1, 1 << 31), **numbers)
        if result:
            of = found.totals if mode == "sustained" else found.structuring if facility in ways else found.lttng if facility in by_lttng or case in DECLARED else found
            of.setdefault((facility.name, case), []).append(result)
    if literal := found.get((lttng.BY_HAND, "literal")):
        found.lttng[lttng.BY_HAND, "literal"] = literal
    return found, [*facilities, *by_lttng], missing + runner.problems


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


def markdown(found, rendered, facilities, own, problems, machine):
    """The page."""
    results = found
    names = [own, *(facility.name for facility in facilities if not isinstance(facility, lttng.Ours))]
    lines = ["# Structured tracepoints beside qDebug and LTTng", "",
             f"Nanoseconds of a call on the caller's side; medians of bursts of 20 calls, {processes([len(runs) for runs in results.values()])} a figure, in random order; in brackets how many times as long as "
             "silverpoint. Every record was found in what was written: those of the map by the sum of their ids, those of the floats with all 128 of them; a literal carries nothing, and is counted. Written by `bench/run --part structured`.", "",
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
            cells.append(text(value) + (f" ({value / figures(mine)[0]:.{0 if value > 3 * figures(mine)[0] else 1}f} ×)" if mine and name != own else ""))
        cells.append(" · ".join(map(str, SOURCE[name])) if name in SOURCE else "")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    floors = [figures(runs)[1] for runs in results.values()]
    if floors:
        lines.append(f"| the floor of the same processes | {text(min(floors))} to {text(max(floors))} | | | |")
    lines += ["", "## The bars", "", *verdicts(results, own), "", *lttng.markdown(found.lttng), "## CPU time of all, ns a record", "",
              "Records back to back: all threads of the process, and the processes that serve it (our collector and its supervisor, LTTng's daemons, the reader of the terminal), until everything is stored.", "",
              "| | " + " | ".join(TITLES[case] for case in CASES) + " |", "|---|" + "---|" * len(CASES)]
    for name in names:
        cells = [text(median(used)) if (used := found.cpu(name, case)) else "–" for case in CASES]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    lines += ["", "## Structuring alone, ns", "", "The arguments become bytes or text in memory, and go nowhere. Each output was counted, and the last of each process looked at. (The first row is a whole tracepoint, from above.)", "",
              "| | " + " | ".join(TITLES[case] for case in CASES) + " | the source's, µs |", "|---|" + "---|" * (len(CASES) + 1)]
    for name in (own, *(way.name for way in found.ways)):
        runs = [(results if name == own else found.structuring).get((name, case)) for case in CASES]
        cells = [text(figures(one)[0]) if one else "–" for one in runs]
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {' · '.join(map(str, SOURCE_STRUCTURING.get(name, ())))} |")
    lines += ["", "## What becomes of them", "",
              "CPU time of another process, in which nobody waits: reading the trace file and writing it, ns a record.", "",
              "| | " + " | ".join(TITLES[case] for case in CASES) + " |", "|---|" + "---|" * len(CASES)]
    for name in dict.fromkeys(name for name, _ in rendered):
        lines.append(f"| {name} | " + " | ".join(text(median(rendered[name, case])) if (name, case) in rendered else "–" for case in CASES) + " |")
    lines += ["", "## How they are set up", "", f"- {own}: `SP_INFO << …`, under `silverpoint run`, raw blocks to disk", *(f"- {facility.name}: {facility.how}" for facility in (*facilities, *found.ways))]
    return "\n".join(lines) + "\n"


def as_json(found, rendered, facilities, problems, machine):
    """For programs. `cpu_ns`: of all, records back to back."""
    rows = []
    for (name, case), runs in found.items():
        row = {"facility": name, "case": case, "ns": round(figures(runs)[0], 2), "floor_ns": round(figures(runs)[1], 2), "processes": len(runs), "again": again([figures([run])[0] for run in runs])}
        if used := found.cpu(name, case):
            row |= {"cpu_ns": round(median(used), 2), "cpu_again": again(used)}
        rows.append(row)
    alone = [{"way": name, "case": case, "ns": round(figures(runs)[0], 2), "floor_ns": round(figures(runs)[1], 2), "processes": len(runs), "again": again([figures([run])[0] for run in runs])}
             for (name, case), runs in found.structuring.items()]
    others = [{"format": name, "case": case, "ns": round(median(each), 1), "processes": len(each), "again": again(each)} for (name, case), each in rendered.items()]
    how = {one.name: one.how for one in (*facilities, *found.ways)}
    return json.dumps({"machine": machine, "problems": problems, "how": how, "results": rows, "lttng": lttng.rows(found.lttng), "structuring": alone, "renderings": others}, indent=1) + "\n"
