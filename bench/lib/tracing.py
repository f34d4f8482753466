"""What lines of `tracing` cost in front of each backend, beside the floor of the same processes; and ATrace (atrace.py). Writes bench/results/tracing.md."""

import contextlib
import json
import random
import re

from . import build as building
from . import atrace, driving, silverpoint
from .numbers import again, figures, processes
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
# The layer of ATrace that writes to the kernel, with a filter on top.
ATRACE = (("ATrace layer, off", "atrace-off"), ("ATrace layer, on", "atrace-on"))
OWN = ("subscriber", "layer")
VISITING = "visiting subscriber"
# Records of ours, each of which takes a floor at least.
RECORDS = {"event": 1, "event3": 1, "span": 2, "span2": 2}
OF_THEIR_OWN = ("fastrace", "slog", "ticklog")  # macros other than those of `tracing`
ROWS = (("event", "event, a text"), ("event3", "event, 3 fields"), ("span", "span, made to closed"), ("span2", "the same, 2 fields"))


class Backend(silverpoint.Facility):
    """The driver with one backend."""

    def __init__(self, name, mode, driver, tracefs=None):
        super().__init__(name, None)
        self.mode, self.driver, self.tracefs = mode, driver, tracefs

    def launch(self, bench, arguments, workspace, options=()):
        command, environment = super().launch(bench, arguments, workspace, options)
        environment["BENCH_BACKEND"] = self.mode
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
        if self.mode in ("none", "tracy", "atrace-off"):
            return []
        if self.mode == "atrace-on":
            written, expected = atrace.taken(self.tracefs) - self.before, self.messages * result["counted"]
            return [] if written == expected else [f"{expected} messages written, {written} in the kernel's buffer"]
        if self.mode in ("fmt", "ticklog"):
            with open(workspace.directory / "out.log", "rb") as file:
                seen = sum(b"bench" in line for line in file)
        else:
            seen = int(re.search(r"seen=(\d+)", (workspace.directory / "told").read_text())[1])
        return [] if seen == result["counted"] else [f"{result['counted']} calls made, {seen} received"]


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
        if mode not in OF_THEIR_OWN:
            steps.append((backend, "disabled", None, {}))
    steps.append((Backend("none", "none", driver), "disabled", None, {}))
    programs = atrace.drivers(bench, driver)
    results, problems = {}, []
    with contextlib.ExitStack() as stack:
        try:
            tracefs = stack.enter_context(atrace.kernel_buffer(bench.directory))
        except OSError as error:
            tracefs = None
            problems.append(f"ATrace into trace_marker: there is no tracefs that this may write to: {error}")
        steps += atrace.steps(programs, tracefs)
        for name, mode in ATRACE if tracefs else ATRACE[:1]:
            backend = Backend(name, mode, driver, tracefs)
            steps += [(backend, "burst", case, {}) for case, _ in ROWS]
            steps.append((backend, "disabled", None, {}))
        for backend, mode, case, numbers in turns(steps, repeats, until, source):
            if mode == "burst":
                numbers = numbers | {"seed": source.randrange(1, 1 << 31)}
            result = runner.run(backend, mode, case, pairs=pairs, **numbers)
            if result:
                results.setdefault((backend.name, getattr(backend, "loop", None) or case or "disabled"), []).append(result)
    return results, problems + runner.problems


def markdown(results, problems, machine):
    """The page."""
    names = [name for name, *_ in BACKENDS]
    lines = ["# tracing and ATrace", "",
             f"Nanoseconds a call, and multiples of the floor of the same process: medians of bursts of 20 calls, {processes([len(runs) for runs in results.values()])} a figure, in random order; written by "
             "`bench/run --part tracing`. In each run what has arrived was counted: every call (but of Tracy, whose calls stay where they are).", "",
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
    if runs := results.get(("none", "disabled")):
        mine, empty = figures(runs)
        lines += ["", f"Without any subscriber: {mine - empty:.2f} ns over an empty loop."]
    lines += own_share(results)
    lines += ["", "## The ATrace layer", "", "| ns a call | " + " | ".join(name for name, _ in ATRACE) + " |", "|---|---|---|"]
    for case, title in (*ROWS, ("disabled", "filtered, over an empty loop")):
        runs = [results.get((name, case)) for name, _ in ATRACE]
        cells = [text(figures(one)[0] - (figures(one)[1] if case == "disabled" else 0)) if one else "–" for one in runs]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    lines += atrace.markdown(results)
    floors = [figures(runs)[1] for runs in results.values() if runs[0]["mode"] == "burst"]
    if floors:
        lines += ["", f"The floor: {text(min(floors))} to {text(max(floors))} ns."]
    lines += ["", "## How they are set up", "", *(f"- {name}: {how}" for name, _, _, how in BACKENDS),
              "- The ATrace layer: `registry()` with `silverpoint_tracing::atrace::Layer`, and `Targets` on top of its own filter; off: no property is set; on: into `trace_marker` of a buffer of its own in the kernel, whose account of messages taken is compared",
              "- ATrace: into the ring under `silverpoint run`; into `trace_marker` of a buffer of its own in the kernel, whose account of messages taken is compared"]
    return "\n".join(lines) + "\n"


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
    """For programs: the reference of `disabled` and of `ATrace, …, off` is an empty loop, of `ATrace, …, marker` a bare write(2), of the others the floor."""
    rows = [{"backend": name, "case": case, "ns": round(figures(runs)[0], 2), "reference_ns": round(figures(runs)[1], 2),
             "processes": len(runs), "again": again([figures([run])[0] for run in runs])} for (name, case), runs in results.items()]
    return json.dumps({"machine": machine, "results": rows}, indent=1) + "\n"
