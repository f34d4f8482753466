"""What lines of `tracing` cost in front of each backend, beside the floor of the same processes; and ATrace (atrace.py). Writes bench/results/tracing.md."""

import contextlib
import json
import random
import re

from . import build as building
from . import atrace, driving, silverpoint
from .numbers import again, figures, median, processes
from .plan import turns
from .report import text

# Name, mode of the driver's backend, cases, how it is set up.
BACKENDS = (
    ("silverpoint-tracing", "subscriber", ("event", "event3", "span", "span2"), "`silverpoint_tracing::init()`, under `silverpoint run`, raw blocks to disk"),
    ("silverpoint-tracing, layer", "layer", ("event", "event3", "span", "span2"), "`registry().with(silverpoint_tracing::layer())`, the same"),
    ("no-op subscriber", "deaf", ("event", "event3", "span", "span2"), "a `Subscriber` that counts events and closed spans: what `tracing` itself costs"),
    ("visiting subscriber", "visiting", ("event", "event3", "span", "span2"), "the same, but it visits all fields and sums up their sizes: what any subscriber does that records them"),
    ("no-op layer", "noop", ("event", "event3", "span", "span2"), "`registry()` and a layer that counts, nothing else"),
    ("fmt, non-blocking", "fmt", ("event", "event3", "span", "span2"), "tracing-appender into a file, not lossy; of a span a line when it closes"),
    ("fastrace", "fastrace", ("event3", "span"), "local spans and events with three properties, a reporter that counts; a root every 1000 calls"),
    ("Tracy", "tracy", ("event", "event3", "span", "span2"), "`tracing-tracy`'s layer; no viewer, so everything stays in memory, and is not counted"),
    ("slog-async", "slog", ("event", "event3"), "slog's macros, a channel of 65,536 entries that blocks, a drain that counts"),
    ("ticklog", "ticklog", ("event", "event3"), "its macros, into a file, blocking; the time of a record is that at which its thread formats it"),
)
# The layer of ATrace that writes to the kernel, with a filter on top. Unfiltered, it checks by itself whether its tag is on.
ATRACE = (("ATrace layer, off", "atrace-off"), ("ATrace layer, off, unfiltered", "atrace-unfiltered"), ("ATrace layer, on", "atrace-on"))
OWN = ("subscriber", "layer")
VISITING = "visiting subscriber"
# Records of ours, each of which takes a floor at least.
RECORDS = {"event": 1, "event3": 1, "span": 2, "span2": 2}
OF_THEIR_OWN = ("fastrace", "slog", "ticklog")  # macros other than those of `tracing`
# Who has threads or processes that do something with each record: their CPU time counts, of so many records back to back. (That of ticklog polls without a pause: it takes a core as long
# as it runs.)
WITH_HELPERS = {"subscriber": 500_000, "layer": 500_000, "fmt": 100_000, "fastrace": 200_000, "slog": 100_000}
# Lines whose cost is measured while they are off, each by itself, and before whom.
LINES = ("event", "event3", "span", "span2")
LINES_OFF = ("subscriber", "layer", "noop", "fmt", "atrace-off")
# What a rival writes of an id, and which cases have one.
IDS = {"fmt": re.compile(rb"\bid=(\d+)"), "ticklog": re.compile(rb"bench -?\d+ [-+.\de]+ (\d+)")}
CARRYING = ("event3", "span2")
WITHOUT_IDS = ("deaf", "visiting", "noop")  # they look at nothing, or at sizes
ROWS = (("event", "event, a text"), ("event3", "event, 3 fields"), ("span", "span, made to closed"), ("span2", "the same, 2 fields"))


class Backend(silverpoint.Facility):
    """The driver with one backend. `line`: of mode `disabled`, the case whose line is off; without it, the suite's own."""

    def __init__(self, name, mode, driver, tracefs=None, line=None):
        super().__init__(name, None)
        self.mode, self.driver, self.tracefs, self.line = mode, driver, tracefs, line

    def launch(self, bench, arguments, workspace, options=()):
        command, environment = super().launch(bench, arguments, workspace, options)
        environment["BENCH_BACKEND"] = self.mode
        if self.line:
            environment["BENCH_LOOP"] = self.line
        if self.mode not in OWN:
            environment |= {"SILVERPOINT_OFF": "1", "BENCH_FILE": str(workspace.directory / "out.log"),
                            "BENCH_TOLD": str(workspace.directory / "told")}
            command = ["sh", "-c", 'exec "$0" "$@" 2>"$BENCH_TOLD"', str(self.driver), *arguments]
        environment = {key: value for key, value in environment.items() if not key.startswith("debug.atrace.")}
        if self.mode == "atrace-on":
            # (A shell passes no variables on whose names have dots.)
            properties = workspace.directory / "properties"
            properties.write_text("debug.atrace.tags.enableflags=0x1000\n")
            environment |= {"SILVERPOINT_ATRACE_PROPERTIES": str(properties), "SILVERPOINT_ATRACE_MARKER": str(self.tracefs / "trace_marker")}
            self.before, self.messages = atrace.taken(self.tracefs), RECORDS.get(arguments[1], 0)
        return command, environment

    def verify(self, bench, workspace, result):
        """Compares what has arrived with what was called."""
        if self.mode in OWN:
            return super().verify(bench, workspace, result)
        result["drained"] = True  # these say so by ending; what has arrived is counted here
        if self.mode in ("none", "tracy", "atrace-off", "atrace-unfiltered"):
            return []
        if self.mode == "atrace-on":
            written, expected = atrace.taken(self.tracefs) - self.before, self.messages * result["counted"]
            return [] if written == expected else [f"{expected} messages written, {written} in the kernel's buffer"]
        carries = result["case"] in CARRYING and self.mode not in WITHOUT_IDS
        if self.mode in IDS:
            with open(workspace.directory / "out.log", "rb") as file:
                lines = [line for line in file if b"bench" in line]
            seen, total = len(lines), sum(int(found[1]) for line in lines if (found := IDS[self.mode].search(line)))
        else:
            seen, total = (int(number) for number in re.search(r"seen=(\d+) sum=(\d+)", (workspace.directory / "told").read_text()).groups())
        if seen != result["counted"]:
            return [f"{result['counted']} calls made, {seen} received"]
        return ["the ids that were received are not those that were given out"] if carries and total != result["id_sum"] else []


class Results(dict):
    """{(backend, case): [result]}; and of records back to back, the same in `totals`."""

    def __init__(self):
        super().__init__()
        self.totals = {}


def measure(bench, log, repeats, pairs, seed, until):
    """(results, problems): every case of every backend, in random order."""
    target = bench.directory / "tracing"
    bench.cargo(cwd=building.BENCH / "tracing", target=target)
    driver = target / "release/silverpoint-bench-tracing"
    runner = driving.Driving(bench, log)
    source = random.Random(seed)
    steps = []
    for name, mode, cases, _ in BACKENDS:
        backend = Backend(name, mode, driver)
        steps += [(backend, "burst", case, {}) for case in cases]
        if mode in WITH_HELPERS:
            steps += [(backend, "sustained", case, {"records": WITH_HELPERS[mode]}) for case in cases]
        if mode not in OF_THEIR_OWN:
            steps += [(Backend(name, mode, driver, line=line), "disabled", None, {}) for line in (None, *(LINES if mode in LINES_OFF else ()))]
    steps.append((Backend("none", "none", driver), "disabled", None, {}))
    programs = atrace.drivers(bench, driver)
    results, problems = Results(), []
    with contextlib.ExitStack() as stack:
        try:
            tracefs = stack.enter_context(atrace.kernel_buffer(bench.directory))
        except OSError as error:
            tracefs = None
            problems.append(f"ATrace into trace_marker: there is no tracefs that this may write to: {error}")
        steps += atrace.steps(programs, tracefs)
        for name, mode in ATRACE if tracefs else ATRACE[:2]:
            backend = Backend(name, mode, driver, tracefs)
            steps += [(backend, "burst", case, {}) for case, _ in ROWS]
            if mode != "atrace-unfiltered":
                steps += [(Backend(name, mode, driver, tracefs, line), "disabled", None, {}) for line in (None, *(LINES if mode in LINES_OFF else ()))]
        for backend, mode, case, numbers in turns(steps, repeats, until, source):
            if mode != "disabled":
                numbers = numbers | {"seed": source.randrange(1, 1 << 31)}
            result = runner.run(backend, mode, case, pairs=pairs, **numbers)
            if not result:
                continue
            if mode == "sustained":
                results.totals.setdefault((backend.name, case), []).append(result)
                continue
            if mode == "single":
                result["pairs"] = result["p50"]
            line = getattr(backend, "line", None)
            results.setdefault((backend.name, getattr(backend, "loop", None) or case or (f"disabled.{line}" if line else "disabled")), []).append(result)
    return results, problems + runner.problems


def markdown(results, problems, machine):
    """The page."""
    names = [name for name, *_ in BACKENDS]
    lines = ["# tracing and ATrace", "",
             f"Nanoseconds a call, and multiples of the floor of the same process: medians of bursts of 20 calls, {processes([len(runs) for runs in results.values()])} a figure, in random order; written by "
             "`bench/run --part tracing`. In each run what has arrived was counted: every call (but of Tracy, whose calls stay where they are); and where a case has an id and a backend reads it, the ids were added up.", "",
             *(f"- {key}: {value}" for key, value in machine.items()), "",
             *(f"**Not counted: {problem}.**" for problem in problems), "",
             "| | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
    for case, title in ROWS:
        cells = []
        for name in names:
            runs = results.get((name, case))
            if not runs:
                cells.append("–")
                continue
            mine, floor = figures(runs)
            cells.append(f"{text(mine)} ({text(mine / floor)} ×)")
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    cells = []
    for name in names:
        runs = results.get((name, "disabled"))
        mine, empty = figures(runs) if runs else (0, 0)
        cells.append(f"{mine - empty:.2f}" if runs else "–")
    lines.append("| filtered, over an empty loop | " + " | ".join(cells) + " |")
    for case, title in ROWS:
        runs = [results.get((name, f"disabled.{case}")) for name in names]
        lines.append(f"| off: {title} | " + " | ".join(f"{figures(one)[0] - figures(one)[1]:.2f}" if one else "–" for one in runs) + " |")
    if runs := results.get(("none", "disabled")):
        mine, empty = figures(runs)
        lines += ["", f"Without any subscriber: {mine - empty:.2f} ns over an empty loop."]
    lines += own_share(results) + cpu_of_all(results)
    lines += ["", "## The ATrace layer", "", "| ns a call | " + " | ".join(name for name, _ in ATRACE) + " |", "|---|" + "---|" * len(ATRACE)]
    off = [("disabled", "filtered, over an empty loop"), *((f"disabled.{case}", f"filtered: {title}") for case, title in ROWS)]
    for case, title in (*ROWS, *off):
        runs = [results.get((name, case)) for name, _ in ATRACE]
        cells = [(f"{figures(one)[0] - figures(one)[1]:.2f}" if case.startswith("disabled") else text(figures(one)[0])) if one else "–" for one in runs]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    lines += atrace.markdown(results)
    floors = [figures(runs)[1] for runs in results.values() if runs[0]["mode"] == "burst"]
    if floors:
        lines += ["", f"The floor: {text(min(floors))} to {text(max(floors))} ns."]
    lines += ["", "## How they are set up", "", *(f"- {name}: {how}" for name, _, _, how in BACKENDS),
              "- The ATrace layer: `registry()` with `silverpoint_tracing::atrace::Layer`, and `Targets` on top of its own filter; off: no property is set, and unfiltered: the layer alone, without filters; on: into `trace_marker` of a buffer of its own in the kernel, whose account of messages taken is compared",
              "- ATrace: into the ring under `silverpoint run`; into `trace_marker` of a buffer of its own in the kernel, whose account of messages taken is compared"]
    return "\n".join(lines) + "\n"


def cpu_of_all(results):
    """The table of CPU time, of those who have threads or processes that do something with each record."""
    names = [name for name, mode, *_ in BACKENDS if mode in WITH_HELPERS]
    lines = ["", "## CPU time of all, ns a record", "", "Records back to back: the caller, all other threads of the process, and our collector and its supervisor, until everything has arrived. Other backends have no helpers, and "
             "the caller's time is all, but for ticklog: its thread polls without a pause, and takes a core as long as it runs.", "", "| | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
    for case, title in ROWS:
        runs = [results.totals.get((name, case)) for name in names]
        lines.append(f"| {title} | " + " | ".join(text(median([run["cpu_per_record"] for run in one])) if one else "–" for one in runs) + " |")
    return lines


def own_share(results):
    """The table of what is left of a line for us: without what `tracing` takes to bring the fields, in floors, a record each being one at least."""
    lines = ["", "## What of it is ours", "",
             "What any subscriber pays that visits the fields, and a floor for each record, are the least that a line recorded with its time can cost, as long as neither is done while the other waits.", "",
             "| | visiting | and a floor a record | measured | ours beyond the visit, in floors a record |", "|---|---|---|---|---|"]
    for case, title in ROWS:
        visiting, own = results.get((VISITING, case)), results.get((BACKENDS[0][0], case))
        if not visiting or not own:
            continue
        (seen, _), (mine, floor), records = figures(visiting), figures(own), RECORDS[case]
        lines.append(f"| {title} | {text(seen)} | {text(seen + records * floor)} ({text((seen + records * floor) / floor)} ×) | {text(mine)} ({text(mine / floor)} ×) | {text((mine - seen) / floor / records)} |")
    return lines


def as_json(results, machine):
    """For programs: the reference of `disabled…` and of `ATrace, …, off` is an empty loop, of `ATrace, …, marker` a bare write(2), of the others the floor. `cpu_ns`: of all, records back to back."""
    rows = []
    for (name, case), runs in results.items():
        row = {"backend": name, "case": case, "ns": round(figures(runs)[0], 2), "reference_ns": round(figures(runs)[1], 2),
               "processes": len(runs), "again": again([figures([run])[0] for run in runs])}
        if totals := results.totals.get((name, case)):
            used = [run["cpu_per_record"] for run in totals]
            row |= {"cpu_ns": round(median(used), 2), "cpu_again": again(used)}
        rows.append(row)
    return json.dumps({"machine": machine, "results": rows}, indent=1) + "\n"
