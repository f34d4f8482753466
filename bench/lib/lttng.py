"""The columns of LTTng in table S1: events of the same names and arguments by a provider written by hand, by our tracepoints alone, by ring and LTTng together, and into the ring alone. All are measured in one run."""

import re
import struct
import subprocess

from . import build as building
from . import silverpoint
from .numbers import again, figures, interval, median, ratio
from .report import text

CASES = {"literal": "literal", "three.fields": "3 numbers", "text.fields": "2 numbers and a text", "floats.fields": "128 floats"}
BY_HAND = "LTTng-UST"
# Ours in each language. LTTng knows the events of the fourth, and wants none. The last is compiled with probes of USDT,
# to which nobody is attached.
LANGUAGES = {"C++": "silverpoint", "C": "silverpoint-c", "Rust": "silverpoint-rust"}
WAYS = ("LTTng alone", "ring and LTTng", "ring alone", "ring alone beside LTTng", "ring alone, with USDT")
OURS = {language: tuple(f"{name}, {way}" for way in WAYS) for language, name in LANGUAGES.items()}
LTTNG, BOTH, RING, BESIDE, USDT = OURS["C++"]
ROWS = (BY_HAND, *(name for names in OURS.values() for name in names))
PATH = "/var/lib/silverpoint/data/frame.000"
# Of a call by hand: what ours by LTTng may take at most.
BUDGET = {"literal": 1.0, "three.fields": 1.0, "text.fields": 1.0, "floats.fields": 1.05}
# What a probe of USDT may add while nobody is attached, in ns.
USDT_BUDGET = 1.0


def shown(values, form="d"):
    """An array of numbers, as babeltrace2 shows it."""
    return "[ " + ", ".join(f"[{at}] = {value:{form}}" for at, value in enumerate(values)) + " ]"


# LTTng has no arrays of floats: their bits. We describe them as hexadecimal.
_BITS = struct.unpack("<128I", struct.pack("<128f", *silverpoint.FLOATS))
# What each event must hold: one of these.
EVENTS = {"literal": (b"bench:literal",), "three.fields": (b"bench:three",), "text.fields": (f'path = "{PATH}"'.encode(),), "floats.fields": (shown(_BITS).encode(), shown(_BITS, "#X").replace("0X", "0x").encode())}
IDS = {"three.fields": rb"\bid = (\d+)", "text.fields": rb"\bid = (\d+)"}


def events(directory):
    """(the trace of a run of bench/lttng/run as text, "") or (None, why it cannot be read). What LTTng discarded is reported by babeltrace2, and is an error."""
    done = subprocess.run(["babeltrace2", "--clock-seconds", str(directory / "trace")], capture_output=True)
    if done.returncode != 0:
        return None, f"babeltrace2: {done.stderr.decode(errors='replace').strip()[-200:]}; {(directory / 'output').read_text().strip()[-200:]}"
    if b"discarded" in done.stderr:
        return None, f"LTTng discarded events: {done.stderr.decode(errors='replace').strip()[-200:]}"
    return done.stdout, ""


def missing(found, case, counted, id_sum):
    """What is wrong with a trace of so many records, whose ids have this sum."""
    seen = sum(found.count(one) for one in EVENTS[case])
    if seen != counted:
        return [f"{counted} records made, {seen} events in LTTng's trace"]
    if case in IDS and sum(int(one) for one in re.findall(IDS[case], found)) % 2**64 != id_sum:
        return ["the ids in LTTng's trace are not those that were given out"]
    return []


class Ours(silverpoint.Facility):
    """Our tracepoints: into the ring, into LTTng, or into both; or into the ring, while LTTng is asked for and wants other events."""

    def __init__(self, name, driver, library, in_ring, in_lttng, beside=False):
        super().__init__(name, None)
        self.driver, self.library, self.in_ring, self.in_lttng, self.beside = driver, library, in_ring, in_lttng, beside
        tracer = ["`SILVERPOINT_PROBES=lttng`, the session of *LTTng-UST*" + (" with other events enabled" if beside else "")] if in_lttng or beside else []
        into = " and ".join((["`silverpoint run`, raw blocks to disk"] if in_ring else []) + tracer)
        macro = "event!(target:" if name.startswith(LANGUAGES["Rust"]) else "SP_EVENT(name,"
        compiled = "; compiled with `SILVERPOINT_USDT` (in Rust the feature `usdt`)" if name.endswith(WAYS[-1]) else ""
        self.how = f"`{macro} …)` with the names and arguments of the provider's events; {into}{compiled}"

    def launch(self, bench, arguments, workspace, options=()):
        command, environment = super().launch(bench, arguments, workspace, options)
        if self.in_ring:
            environment["BENCH_RING"] = "1"
        else:
            command = [str(self.driver), *arguments]
        if self.in_lttng or self.beside:
            environment |= {"SILVERPOINT_PROBES": "lttng", "SILVERPOINT_LTTNG_LIBRARY": str(self.library), "BENCH_LTTNG_GATE": str(workspace.directory / "go"),
                            "BENCH_LTTNG_EVENT": f"bench:{arguments[1].split('.')[0]}"}
            if self.beside:
                environment["BENCH_LTTNG_ENABLED"] = "others:*"
            command = [str(building.BENCH / "lttng/run"), str(workspace.directory), *command]
        return command, environment

    def verify(self, bench, workspace, result):
        """Every record must be in the trace file and in LTTng's trace, as far as they are fed."""
        problems = []
        if self.in_ring:
            # The execution that makes the event known is a record, too; its id is 0.
            seen = result | {"counted": result["counted"] + (1 if self.in_lttng or self.beside else 0)}
            problems += super().verify(bench, workspace, seen)
            result["file"] = seen.get("file")
        else:
            result["drained"] = True  # the program has ended, and here it is counted
        if self.in_lttng:
            found, why = events(workspace.directory)
            problems += [why] if found is None else missing(found, result["case"], result["counted"], result["id_sum"])
        return problems


def library(bench):
    """libsilverpoint_lttng, as CMake builds it."""
    path = bench.directory / "libsilverpoint_lttng.so.0"
    building.compiled(["g++", *building.CXX_FLAGS, "-fPIC", "-shared", "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden", f"-I{building.ROOT / 'cpp/include'}",
                       building.ROOT / "cpp/src/silverpoint_lttng.cpp", "-o", path, "-ldl"])
    return path


def stand_in(bench):
    """A library in its place, which makes events that nobody wants. It needs nothing of LTTng."""
    path = bench.directory / "liblttng_stand_in.so"
    building.compiled(["g++", *building.CXX_FLAGS, "-fPIC", "-shared", "-fvisibility=hidden", f"-I{building.ROOT / 'cpp/include'}", f"-I{building.ROOT / 'cpp/src'}",
                       building.BENCH / "lttng/stand_in.cpp", "-o", path, "-pthread"])
    return path


def drivers(bench, languages=tuple(LANGUAGES), usdt=False):
    """{language: driver} of ours."""
    folder = building.BENCH / "lttng"
    name, extra = ("lttng-ours-usdt", ("-DSILVERPOINT_USDT",)) if usdt else ("lttng-ours", ())
    build = {"C++": lambda: bench.cxx_driver(folder / "ours.cpp", name, extra), "C": lambda: bench.c_driver(folder / "ours.c", f"{name}-c", extra),
             "Rust": lambda: bench.rust_lttng_driver(usdt)}
    return {language: build[language]() for language in languages}


def ours(bench, languages=tuple(LANGUAGES)):
    """The facilities of ours. The tools of LTTng must be there."""
    probes, built, with_usdt = library(bench), drivers(bench, languages), drivers(bench, languages, usdt=True)
    kinds = ((built, False, True), (built, True, True), (built, True, False), (built, True, False, True), (with_usdt, True, False))
    return [Ours(name, drivers[language], probes, *kind) for language in languages for name, (drivers, *kind) in zip(OURS[language], kinds)]


def cases_of(facility):
    """C has no arrays of numbers."""
    return [case for case in CASES if case != "floats.fields" or facility.name not in OURS["C"]]


def verdicts(found):
    """A line for each bar: what our event costs beside one by hand, and what a probe of USDT adds."""
    lines = []
    for language, (alone, *_) in OURS.items():
        for case, title in CASES.items():
            mine, theirs = found.get((alone, case)), found.get((BY_HAND, case))
            if not mine or not theirs:
                lines.append(f"- {language}, {title}: not counted")
                continue
            times = figures(mine)[0] / figures(theirs)[0]
            lines.append(f"- {language}, {title}: {text(times)} × an event by hand, at most {BUDGET[case]}: {'pass' if times <= BUDGET[case] else 'MISS'}")
    for language, (*_, ring, _, usdt) in OURS.items():
        for case, title in CASES.items():
            without, probed = found.get((ring, case)), found.get((usdt, case))
            if not without or not probed:
                lines.append(f"- {language}, {title}, with USDT: not counted")
                continue
            # In floors each, so that what slows one of the processes counts in neither.
            floor = figures(without)[1]
            more = (figures(probed)[0] / figures(probed)[1] - figures(without)[0] / floor) * floor
            lines.append(f"- {language}, {title}, with USDT: {more:+.2f} ns, at most {USDT_BUDGET}: {'pass' if more <= USDT_BUDGET else 'MISS'}")
    return lines


def markdown(found):
    """The lines of the section; none where nothing was measured. `found`: {(facility, case): [result of bursts]}."""
    if not any((name, case) in found for name in ROWS[1:] for case in CASES):
        return []
    lines = ["## LTTng: declared fields", "",
             "ns of a call; in brackets how many times as long as an event by hand, and how many floors. Every event was found in LTTng's trace, and every record in the trace file: nothing was dropped. Figures of a machine that does other "
             "work say only how the rows compare.", "",
             "| | " + " | ".join(CASES.values()) + " |", "|---|" + "---|" * len(CASES)]
    for name in ROWS:
        cells = []
        for case in CASES:
            runs, theirs = found.get((name, case)), found.get((BY_HAND, case))
            if not runs:
                cells.append("–")
                continue
            value, floor = figures(runs)
            low, high = interval([run["pairs"] for run in runs], ratio)
            times = f"{value / figures(theirs)[0]:.2f} ×, " if theirs and name != BY_HAND else ""
            cells.append(f"{text(value)} ({times}{text(value / floor)} floors, {text(low)} to {text(high)})")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    floors = [median([figures(runs)[1] for (name, at), runs in found.items() if at == case and name in ROWS] or [0]) for case in CASES]
    lines.append("| the floor of the same processes | " + " | ".join(text(one) if one else "–" for one in floors) + " |")
    return [*lines, "", *verdicts(found), ""]


def rows(found):
    """For programs."""
    return [{"facility": name, "case": case, "ns": round(figures(runs)[0], 2), "floor_ns": round(figures(runs)[1], 2), "processes": len(runs), "again": again([figures([run])[0] for run in runs])}
            for name in ROWS for case in CASES if (runs := found.get((name, case)))]

