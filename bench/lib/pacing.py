"""Cost over rate: the CPU time of a record, caller and helpers together, at a thousand to ten million records a second. Writes bench/results/paced.md and paced.json."""

import json
import random

from . import in_process
from .numbers import again, median, processes
from .plan import rounds
from .report import text

RATES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
# Who reaches less of a rate than this cannot keep it.
KEPT = 0.9
# Beyond these, a logger of text only shows that it cannot, and writes gigabytes.
MOST_OF_TEXT = 1_000_000
FIGURES = (("cpu_per_record", "CPU of all"), ("caller_per_record", "of it the caller's"))


def measure(bench, facilities, runner, repeats, milliseconds, seed, until):
    """({(name, rate): [result]}, {name: how}, what is missing, problems): each rate of each facility, in random order."""
    loggers, missing = in_process.built(bench, "paced")
    names = {id(one): one.name for one in facilities} | {id(one): "silverpoint, its logger of text" if one.rival.own else one.name for one in loggers}
    how = {one.name: "under `silverpoint run`, raw blocks to disk; collector and supervisor count" for one in facilities}
    how |= {names[id(one)]: one.rival.how for one in loggers}
    steps = [(one, rate) for one in (*facilities, *loggers) for rate in RATES if one in facilities or rate <= MOST_OF_TEXT or one.name == "nothing"]
    source = random.Random(seed)
    results = {}
    for _ in rounds(repeats, until):
        source.shuffle(steps)
        for facility, rate in steps:
            if result := runner.run(facility, "paced", "three", rate=rate, milliseconds=milliseconds):
                results.setdefault((names[id(facility)], rate), []).append(result)
    return results, how, missing, runner.problems


def rows(results):
    """For programs; `kept` is false where a facility did not reach the rate."""
    made = []
    for (name, rate), runs in sorted(results.items()):
        row = {"facility": name, "rate": rate, "reached": round(median([run["reached"] for run in runs])), "kept": median([run["reached"] for run in runs]) >= KEPT * rate}
        row |= {key: round(median([run[key] for run in runs]), 2) for key, _ in FIGURES}
        made.append(row | {"processes": len(runs), "again": {key: again([run[key] for run in runs]) for key, _ in FIGURES}})
    return made


def as_json(results, how, missing, problems, milliseconds, machine):
    """The document."""
    return json.dumps({"machine": machine, "milliseconds": milliseconds, "problems": problems, "missing": missing, "how": how, "results": rows(results)}, indent=1) + "\n"


def short(rate):
    return f"{rate // 1_000_000}M" if rate >= 1_000_000 else f"{rate // 1000}k"


def cell(row):
    """CPU of all, and of it the caller's; in brackets what was reached by who could not keep the rate."""
    if row is None:
        return "–"
    said = f"{text(row['cpu_per_record'])} / {text(row['caller_per_record'])}"
    return said if row["kept"] else f"{said} (reached {row['reached'] / 1000:.0f}k)"


def markdown(results, how, missing, problems, milliseconds, machine):
    """The page."""
    found = {(row["facility"], row["rate"]): row for row in rows(results)}
    lines = ["# Cost over rate", "",
             f"CPU time of a record of three numbers, in ns: of all threads and processes that have to do with it / of it the thread that records. A thousand times a second one thread makes a "
             f"thousandth of a second's records, for {milliseconds / 1000:g} s; then everything is stored. Medians of {processes([row['processes'] for row in found.values()])}, in random order; written by "
             "`bench/run --part paced`. `nothing` is the sleeping and waking alone, which is in all figures. Each record was found in what was written, by count and the sum of ids.", "",
             *(f"- {key}: {fact}" for key, fact in machine.items()), "",
             *(f"**Not counted: {problem}.**" for problem in problems), *(f"**Not run here: {why}.**" for why in missing), "",
             "| records/s | " + " | ".join(map(short, RATES)) + " |", "|---|" + "---|" * len(RATES)]
    lines += [f"| {name} | " + " | ".join(cell(found.get((name, rate))) for rate in RATES) + " |" for name in how]
    lines += ["", f"Loggers of text are not asked for more than {short(MOST_OF_TEXT)}.", "", "## How they are set up", "", *(f"- {name}: {said}" for name, said in how.items())]
    return "\n".join(lines) + "\n"
