"""What calls of ATrace cost in Rust and in C++: switched off, into the ring beside the floor, into the kernel's trace_marker beside a bare write(2) of the same bytes."""

import contextlib
import os
import pathlib
import re
import subprocess

from . import build as building
from . import silverpoint
from .numbers import figures
from .report import text

LANGUAGES = ("Rust", "C++")
RING = {"name10": "instant, a name of 10", "name1000": "instant, a name of 1000", "counter": "counter", "scope10": "scope, a name of 10: begin and end"}
# Halves of 20 scopes that lie in each other: the time of one half is shared among its calls, the other half stands beside it.
HALVES = {"begin": "begin alone, of scopes with a name of 10", "end": "end alone, of the same"}
HALF_GROUPS = 6  # of 20,000 calls
CALLS = {"begin10": "begin, a name of 10", "begin1000": "begin, a name of 1000", "end": "end", "counter": "counter"}
SOFT_LIMIT = 1024  # of descriptors
MARKER_CALLS = 2000  # of a loop
BEFORE = 5  # turns of both loops that the harness does not count


class Backend(silverpoint.Facility):
    """The driver of one language. `place` is ring, off or marker."""

    def __init__(self, language, driver, place, loop=None, tracefs=None):
        super().__init__(f"ATrace, {language}, {place}", None)
        self.driver, self.place, self.loop, self.tracefs = driver, place, loop, tracefs

    def launch(self, bench, arguments, workspace, options=()):
        command, environment = super().launch(bench, arguments, workspace, options)
        environment = {k: v for k, v in environment.items() if not k.startswith("debug.atrace.")} | {"BENCH_BACKEND": "atrace"}
        if self.place == "ring":
            return command, environment
        environment |= {"BENCH_LOOP": f"{self.place}.{self.loop}", "SILVERPOINT_FILTER": "off"}
        command = [str(self.driver), *arguments]
        if self.place == "off":
            return command, environment
        environment["SILVERPOINT_ATRACE_MARKER"] = str(self.tracefs / "trace_marker")
        self.before = taken(self.tracefs)
        self.expected = 2 * MARKER_CALLS * (BEFORE + int(next(a for a in arguments if a.startswith("pairs="))[6:]))
        # Limits as most systems set them, the soft one far below the hard one: the marker has a number between them.
        # (A shell passes no variables on whose names have dots.)
        limited = f'[ "$(ulimit -Sn)" -lt {SOFT_LIMIT} ] || ulimit -Sn {SOFT_LIMIT}; exec env debug.atrace.tags.enableflags=0x1000 "$0" "$@"'
        return ["sh", "-c", limited, *command], environment

    def verify(self, bench, workspace, result):
        """Compares what has arrived with what was called."""
        if self.place == "ring":
            # Their categories are those of tags, which the verifier does not look at.
            said = building.call([bench.silverpoint, "stats", workspace.trace])
            stored, lost = (int(re.search(rf"^{word} +([\d,]+)", said, re.MULTILINE)[1].replace(",", "")) for word in ("records", "lost"))
            # (Ends of spans are not counted as records.)
            return [] if (stored, lost) == (result["counted"], 0) else [f"{result['counted']} records made, {stored} in the file, {lost} lost"]
        result["drained"] = True  # nothing waits for anybody
        if self.place == "off":
            return []
        written = taken(self.tracefs) - self.before
        return [] if written == self.expected else [f"{self.expected} messages written, {written} in the kernel's buffer"]


def taken(tracefs):
    """Messages that a buffer of the kernel has ever taken: those that it has, and those that later ones took the place of."""
    stats = (path.read_text() for path in tracefs.glob("per_cpu/cpu*/stats"))
    return sum(int(number) for one in stats for number in re.findall(r"^(?:entries|overrun|read events): (\d+)", one, re.MULTILINE))


@contextlib.contextmanager
def kernel_buffer(directory):
    """A buffer of its own in the kernel: its directory in tracefs. Raises OSError where there is none."""
    known = (pathlib.Path("/sys/kernel/tracing"), pathlib.Path("/sys/kernel/debug/tracing"))
    root = next((path for path in known if os.access(path / "trace_marker", os.W_OK)), None)
    mounted = None
    if root is None:
        root = mounted = directory / "tracefs"
        root.mkdir(exist_ok=True)
        done = subprocess.run(["mount", "-t", "tracefs", "nodev", root], capture_output=True, text=True)
        if done.returncode != 0:
            raise OSError(done.stderr.strip())
    try:
        own = root / "instances" / f"silverpoint-bench-{os.getpid()}"
        own.mkdir()
        try:
            (own / "tracing_on").write_text("1")
            yield own
        finally:
            own.rmdir()
    finally:
        if mounted:
            subprocess.run(["umount", "-l", mounted], check=True)


def drivers(bench, rust):
    """Language and program."""
    return tuple(zip(LANGUAGES, (rust, bench.cxx_driver(building.BENCH / "cpp/atrace.cpp", "atrace-cpp-driver"))))


def steps(programs, tracefs):
    """(backend, mode, case, what the harness is told beside the number of pairs) of each run. `tracefs`: None where there is none."""
    found = []
    for language, driver in programs:
        found += [(Backend(language, driver, "ring"), "burst", case, {}) for case in RING]
        found += [(Backend(language, driver, "ring"), "single", case, {"groups": HALF_GROUPS}) for case in HALVES]
        for call in CALLS:
            found.append((Backend(language, driver, "off", call), "disabled", None, {}))
            if tracefs:
                found.append((Backend(language, driver, "marker", call, tracefs), "disabled", None, {"calls": MARKER_CALLS}))
    return found


def markdown(results):
    """The tables."""
    lines = ["", "## ATrace", "", "| ns over an empty loop, switched off | " + " | ".join(LANGUAGES) + " |", "|---|---|---|"]
    for call, title in CALLS.items():
        cells = []
        for language in LANGUAGES:
            runs = results.get((f"ATrace, {language}, off", call))
            mine, empty = figures(runs) if runs else (0, 0)
            cells.append(f"{mine - empty:.2f}" if runs else "–")
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    for place, cases, head in (("ring", RING | HALVES, "into the ring, beside the floor"), ("marker", CALLS, "into `trace_marker`, beside a bare write(2) of the same bytes")):
        lines += ["", f"| {head} | " + " | ".join(f"{language}, ns | beside it | ×" for language in LANGUAGES) + " |", "|---|" + "---|" * 3 * len(LANGUAGES)]
        for case, title in cases.items():
            cells = []
            for language in LANGUAGES:
                runs = results.get((f"ATrace, {language}, {place}", case))
                mine, other = figures(runs) if runs else (0, 0)
                cells += [text(mine), text(other), f"{mine / other:.2f}"] if runs else ["–"] * 3
            lines.append(f"| {title} | " + " | ".join(cells) + " |")
        if place == "ring":
            lines += ["", "(What stands beside a half of a scope is the floor's single call, as coarse as the steps of the machine's counter.)"]
    return lines
