"""The table of the modern loggers: the cases of the tracepoints, in bursts beside the floor, for all who can run here. Writes bench/results/modern.md and modern.json."""

import json
import random

from . import in_process, sources
from .numbers import again, figures, median, processes
from .plan import rounds
from .report import text

CASES = ("literal", "three", "text", "disabled")
# With us also what a logger of text has no words for.
OWN_CASES = ("literal", "three", "text", "map", "floats", "disabled")
TITLES = {"literal": "literal", "three": "3 numbers", "text": "string + 2", "map": "map + atoms", "floats": "float[128]", "disabled": "disabled"}
# Not in Debian: they would have to be fetched and built, which this suite does not do.
ELSEWHERE = ("NanoLog", "Quill", "fmtlog", "binlog", "g3log")


def measure(bench, facilities, runner, repeats, pairs, seed, until):
    """({(name, case): [result]}, {name: how}, what is missing, problems): each case of each facility, in random order."""
    loggers, missing = in_process.built(bench, "cases")
    source = random.Random(seed)
    steps = [(one, case, pairs) for one in facilities for case in OWN_CASES]
    # Slow ones get fewer calls.
    steps += [(one, case, max(pairs // 5, 10)) for one in loggers for case in CASES if case != "disabled" or one.rival.levels]
    results, how = {}, {one.name: "under `silverpoint run`, raw blocks to disk" for one in facilities}
    how |= {f"{one.name}{', its logger of text' if one.rival.own else ''}": one.rival.how for one in loggers}
    for _ in rounds(repeats, until):
        source.shuffle(steps)
        for facility, case, count in steps:
            mode, of = ("disabled", None) if case == "disabled" else ("burst", case)
            seed_here = {} if case == "disabled" else {"seed": source.randrange(1, 1 << 31)}
            if result := runner.run(facility, mode, of, pairs=count, **seed_here):
                name = facility.name + (", its logger of text" if isinstance(facility, in_process.Logger) and facility.rival.own else "")
                results.setdefault((name, case), []).append(result)
    missing.append(f"{', '.join(ELSEWHERE)}: not in Debian, and this suite builds no loggers that the distribution has not; their figures are another machine's")
    return results, how, missing, runner.problems


def value(case, runs):
    """ns of a call; of what is switched off, over the empty loop."""
    mine, reference = figures(runs)
    return mine - reference if case == "disabled" else mine


def rows(results):
    """For programs: one row a facility and case."""
    made = []
    for (name, case), runs in results.items():
        each = [value(case, [run]) for run in runs]
        made.append({"facility": name, "case": case, "ns": round(value(case, runs), 3), "reference_ns": round(figures(runs)[1], 3), "processes": len(runs), "again": again(each)})
    return made


def as_json(results, how, missing, problems, machine):
    """The document."""
    return json.dumps({"machine": machine, "problems": problems, "missing": missing, "how": how, "results": rows(results)}, indent=1) + "\n"


def markdown(results, how, missing, problems, machine):
    """The page."""
    lines = ["# Tracepoints beside today's loggers", "",
             f"Nanoseconds of a call, medians of bursts of 20, {processes([len(runs) for runs in results.values()])} a figure, in random order; of what is switched off, over an empty loop. Written by "
             "`bench/run --part modern`. Each record was found in what was written, by its words, and where it has an id by the sum of the ids.", "", *(f"- {key}: {fact}" for key, fact in machine.items()), "",
             *(f"**Not counted: {problem}.**" for problem in problems), *(f"**Not run here: {why}.**" for why in missing), "",
             "| | " + " | ".join(TITLES.values()) + " |", "|---|" + "---|" * len(TITLES)]
    for name in how:
        cells = [text(value(case, results[name, case])) if (name, case) in results else "–" for case in TITLES]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    floors = [figures(runs)[1] for (_, case), runs in results.items() if case != "disabled"]
    if floors:
        lines.append(f"| the floor of the same processes | {text(min(floors))} to {text(max(floors))} (median {text(median(floors))}) |" + " |" * (len(TITLES) - 1))
    lines += ["", "## The same on another machine", "", "Two cores, virtual, of this kind; measured earlier, not in this run.", "", "| | " + " | ".join(TITLES.values()) + " |",
              "|---|" + "---|" * len(TITLES)]
    lines += [f"| {name} | " + " | ".join(cells) + " |" for name, cells in sources.MODERN.items()]
    lines += ["", "## How they are set up", "", *(f"- {name}: {said}" for name, said in how.items())]
    return "\n".join(lines) + "\n"
