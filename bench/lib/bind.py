"""The part `bind`: what writing and reading own types costs, beside Qt, nlohmann-json and serde_json. Writes bench/results/bind.md and bind.json."""

import json
import pathlib
import random

from . import build as building
from . import processes
from .numbers import again, median
from .numbers import processes as count_of
from .plan import turns
from .report import text

HEADERS = {"nlohmann": ("/usr/include/nlohmann/json.hpp", "nlohmann-json3-dev"), "Qt 6": ("qt6/QtCore/QString", "qt6-base-dev")}
TIMEOUT_S = 300
BUDGET = 5  # times as fast as Qt's class for the same, in writing


def qt_directory():
    """Where Qt's headers are; None: nowhere."""
    for place in [pathlib.Path("/usr/include"), *sorted(pathlib.Path("/usr/include").glob("*-linux-gnu"))]:
        if (place / "qt6/QtCore/QString").exists():
            return place / "qt6"
    return None


def drivers(bench):
    """Builds both programs; a Failed says what is missing."""
    qt = qt_directory()
    if qt is None or not pathlib.Path(HEADERS["nlohmann"][0]).exists():
        raise building.Failed("bind: qt6-base-dev and nlohmann-json3-dev must be installed (scripts/setup bench)")
    program = bench.directory / "bind-driver"
    building.compiled(["g++", *building.CXX_FLAGS, "-fPIC", f"-I{building.ROOT / 'cpp/include'}", "-isystem", qt, "-isystem", qt / "QtCore",
                   building.BENCH / "bind/driver.cpp", "-o", program, "-lQt6Core"])
    target = bench.directory / "serde"
    bench.cargo(cwd=building.BENCH / "bind/serde", target=target)
    return [program, target / "release/silverpoint-bench-serde"]


def measure(bench, turns_each, repeats, seed, until):
    """({(case, operation, library): {"bytes": …, "ns": [one of each process]}}, problems): processes in random order."""
    try:
        programs = drivers(bench)
    except building.Failed as failed:
        return {}, [str(failed)]
    results, problems = {}, []
    for number, program in enumerate(turns(programs, repeats, until, random.Random(seed))):
        try:
            done = processes.run([program, turns_each, seed % 1000 + number], TIMEOUT_S)
        except processes.Hung as hung:
            problems.append(f"{program.name}: {hung}")
            continue
        if done.returncode != 0:
            problems.append(f"{program.name}: exit {done.returncode}: {done.stderr.strip()[:300]}")
            continue
        for one in map(json.loads, done.stdout.splitlines()):
            found = results.setdefault((one["case"], one["operation"], one["library"]), {"bytes": one["bytes"], "ns": []})
            found["ns"].append(one["ns"])
    return results, problems


def markdown(results, problems, rounds, machine):
    """The page."""
    lines = ["# Own types as JSON and CBOR", "",
             f"Nanoseconds of one value, from the program's own type to bytes in memory and back; medians of {count_of([len(one['ns']) for one in results.values()])} of {rounds} turns each, all candidates "
             "in turn; written by `bench/run --part bind`. In brackets: how many times as long as silverpoint. Every output is read back and compared first.", "",
             *(f"- {key}: {value}" for key, value in machine.items()), "", *(f"**Not counted: {problem}.**" for problem in problems)]
    cases = list(dict.fromkeys(case for case, _, _ in results))
    missed = []
    for operation in ("write JSON", "write CBOR", "read JSON", "read CBOR", "write text"):
        lines += ["", f"## {operation[0].upper()}{operation[1:]}", "", "| | " + " | ".join(cases) + " |", "|---|" + "---|" * len(cases)]
        for library in dict.fromkeys(name for _, done, name in results if done == operation):
            cells = []
            for case in cases:
                own, found = (results.get((case, operation, name)) for name in ("silverpoint", library))
                if found is None:
                    cells.append("–")
                    continue
                if own is None:  # of ours none makes text in the call
                    cells.append(text(median(found["ns"])))
                    continue
                ratio = median(found["ns"]) / median(own["ns"])
                cells.append(text(median(found["ns"])) + ("" if library == "silverpoint" else f" ({ratio:.1f})"))
                if library.startswith("Qt") and operation.startswith("write") and ratio < BUDGET:
                    missed.append(f"{operation}, {case}: {library} takes {ratio:.1f} times as long")
            lines.append(f"| {library} | " + " | ".join(cells) + " |")
    lines += ["", f"Budget: writing at least {BUDGET} times as fast as Qt's classes: " + ("MISSED: " + "; ".join(missed) if missed else "met everywhere") + ".", "",
              "- Qt: `QJsonObject` and `QJsonDocument::toJson`; `QCborStreamWriter` into a `QByteArray`; `QCborValue::toCbor`; texts are `QString` in the program's types.",
              "- nlohmann: `NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE`, `dump`, `to_cbor`, `parse`, `from_cbor`.",
              "- serde_json: derived, `to_vec` and `from_str`, a process of its own.",
              "- Qt QDebug: what a line of `qDebug` makes of its arguments, into a `QString`; nothing of silverpoint makes text in the call.",
              "- Cases: a text in an array; a struct of five members; three numbers and a map of three; 128 floats of 32 bits; a list of 1000 structs with texts, lists and maps."]
    return "\n".join(lines) + "\n"


def as_json(results, machine):
    """For programs."""
    rows = [{"case": case, "operation": operation, "library": library, "bytes": one["bytes"], "ns": round(median(one["ns"]), 1), "processes": len(one["ns"]), "again": again(one["ns"])}
            for (case, operation, library), one in results.items()]
    return json.dumps({"machine": machine, "results": rows}, indent=1) + "\n"
