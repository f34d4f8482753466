"""The table of S4: what loggers inside the process cost their callers, in one run with the real rivals from Debian. Writes bench/results/loggers.md."""

import json
import os
import pathlib
import random
import re
import shutil
import tempfile

from . import build as building
from . import processes, rivals
from .build import clock
from .numbers import again, median
from .numbers import processes as count_of
from .plan import rounds
from .report import text

THREADS = (1, 2, 4, 8, 16)
# All threads together log at most so many times the entries of one thread. With many threads the slow loggers would leave no time for repeats.
MOST = 4
TIMEOUT_S = 600
# The source's own size: so many entries of each thread, once, of the loggers that its table has, and of ours and spdlog.
LARGE_ENTRIES = 1_000_000
LARGE_THREADS = (1, 4)
LARGE = ("nothing", "silverpoint", "silverpoint glog.hpp", "glog", "silverpoint spdlog.hpp", "spdlog")
# In the entry, before its number.
MARKER = " iteration #"


def entries_of(threads, entries):
    """How many entries each of so many threads logs, when one alone logs `entries`."""
    return min(entries, MOST * entries // threads)


def losses_in(directory):
    """How many records the log itself says were lost."""
    found = (re.search(rb" lost (\d+) records ", line) for file in rivals.files_in(directory) for line in open(file, "rb"))
    return sum(int(one[1]) for one in found if one)


def run(bench, count, rival, program, threads, entries):
    """One run; a dictionary of what was measured, or a text that says why it does not count."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="logging-", dir=bench.directory))
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    sessions = pathlib.Path(tempfile.mkdtemp(prefix="silverpoint-logging-", dir=shared))
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SILVERPOINT")} | {"SILVERPOINT_DIR": str(sessions)}
    label = f"{rival.facility}, {threads} threads"
    try:
        done = processes.run([program, threads, entries, directory / "driver.log"], TIMEOUT_S, env=environment)
        told = done.stderr
        if done.returncode != 0 or not done.stdout.startswith("{"):
            return f"{label}: exit {done.returncode}: {told.strip()[:300]}"
        result = json.loads(done.stdout)
        result["bytes"] = sum(file.stat().st_size for file in rivals.files_in(directory))
        there = rivals.arrived(count, MARKER, directory)
        wanted = (threads * entries, threads * (entries * (entries - 1) // 2))
        if rival.facility != "nothing" and (there["numbered"], there["sum"]) != wanted:
            said = "; ".join(line for line in told.splitlines() if line)[:300] or "nothing on standard error"
            return (f"{label}: {wanted[0]} entries logged whose numbers add up to {wanted[1]}, {there['numbered']} in the file with {there['sum']} "
                    f"({losses_in(directory)} told as lost there; {said})")
        return result
    except (building.Failed, OSError, ValueError) as failed:
        return f"{label}: {failed}"
    finally:
        rivals.sweep()
        shutil.rmtree(directory, ignore_errors=True)
        shutil.rmtree(sessions, ignore_errors=True)


def measure(bench, entries, repeats, seed, until):
    """({(name, threads): [result]}, problems, {name: Rival}, missing): all runs in random order, one round after the other. Names of runs of the source's own size are (name, LARGE_ENTRIES)."""
    count = rivals.counter(bench)
    source = building.BENCH / "logging/driver.cpp"
    found, missing = rivals.built(bench, source, "logging", "s4")
    # For the rate of the sink alone, with one thread: an entry of three numbers.
    rates, more = rivals.built(bench, source, "logging", "rate")
    steps = [(rival, program, threads) for rival, program in found.items() for threads in THREADS] + [(rival, program, 1) for rival, program in rates.items()]
    results, problems = {}, []
    order = random.Random(seed)
    large = [(rival, program, threads) for rival, program in found.items() if rival.facility in LARGE for threads in LARGE_THREADS]
    for rival, program, threads in order.sample(large, len(large)):
        if clock() > until:
            missing = [*missing, f"{rival.facility}, {threads} thread{'s' if threads > 1 else ''} with {LARGE_ENTRIES:,} entries each: the time was over"]
            continue
        result = run(bench, count, rival, program, threads, LARGE_ENTRIES)
        if isinstance(result, str):
            problems.append(result)
        else:
            results.setdefault(((rival.facility, LARGE_ENTRIES), threads), []).append(result)
    for _ in rounds(repeats, until):
        order.shuffle(steps)
        for rival, program, threads in steps:
            result = run(bench, count, rival, program, threads, entries_of(threads, entries))
            if isinstance(result, str):
                problems.append(result)
            else:
                results.setdefault((rival.facility, threads), []).append(result)
    return results, problems, {rival.facility: rival for rival in (*found, *rates)}, missing + more


COLUMNS = (
    ("average of a call", "mean_ns", 1, "ns"),
    ("median", "p50_ns", 1, "ns"),
    ("p99.9", "p999_ns", 1e-3, "µs"),
    ("peak", "peak_ns", 1e-6, "ms"),
    ("until all is in the file", "total_s", 1, "s"),
    ("CPU of the callers", "callers_s", 1, "s"),
    ("CPU of all threads and helpers", "cpu_s", 1, "s"),
)


def of_sizes(results):
    """(results of the usual number of entries, of the source's own) by name and threads."""
    usual = {key: runs for key, runs in results.items() if isinstance(key[0], str)}
    return usual, {(name[0], threads): runs for (name, threads), runs in results.items() if not isinstance(name, str)}


# What is to be shown: figures of glog's over ours, at least; lines a second of a sink's own processor time, millions.
OVER_GLOG = (("mean_ns", "average of a call", 50), ("peak_ns", "longest call", 100), ("total_s", "until all is in the file", 1))
OF_A_SINK = 3
OWN = ("silverpoint", "silverpoint glog.hpp")


def sink_rates(results, name, threads, entries):
    """Lines a second of the sink's own processor time, millions: one of each process that tells it."""
    return [threads * entries_of(threads, entries) / run["sink_s"] / 1e6 for run in results.get((name, threads), []) if run["sink_s"] > 0]


def verdicts(results, large, entries):
    """Each budget, and whether it was met. glog's macros of ours say the source's statement to the letter."""
    lines = []
    for found, size in ((results, entries), (large, LARGE_ENTRIES)):
        for name in OWN:
            for key, title, least in OVER_GLOG:
                said = []
                for threads in THREADS:
                    if (name, threads) in found and ("glog", threads) in found:
                        ours, theirs, bare = (median([run[key] for run in found.get((who, threads), [])] or [0]) for who in (name, "glog", "nothing"))
                        ratio = theirs / ours if ours else 0
                        beside = f", a thread that logs nothing: {text(bare * 1e-6)} ms" if key == "peak_ns" and bare else ""
                        said.append(f"{threads} thread{'s' if threads > 1 else ''} {ratio:.{0 if ratio >= 10 else 1}f} ({'met' if ratio >= least else 'MISSED'}{beside})")
                if said:
                    lines.append(f"- {name}, {size:,} entries a thread, {title}: glog's over ours, at least {least}: {'; '.join(said)}.")
    for name in ("silverpoint", "silverpoint json", "silverpoint numbers", "silverpoint json numbers"):
        if rates := sink_rates(results, name, 1, entries):
            rate = median(rates)
            lines.append(f"- {name}: {text(rate)} M lines a second of the sink's own processor time, at least {OF_A_SINK}: {'met' if rate >= OF_A_SINK else 'MISSED'}.")
    return lines


def large_table(large):
    """Lines of the page."""
    lines = ["", f"## The source's own size: {LARGE_ENTRIES:,} entries a thread", "", "One process a figure.", "",
             "| | " + " | ".join(f"{title}, {unit}, {n} thread{'s' if n > 1 else ''}" for title, _, _, unit in COLUMNS for n in LARGE_THREADS) + " |", "|---|" + "---|" * len(COLUMNS) * len(LARGE_THREADS)]
    for name in dict.fromkeys(name for name in LARGE if any(name == who for who, _ in large)):
        cells = [text(median([r[key] for r in large[name, n]]) * scale) if (name, n) in large else "–" for _, key, scale, _ in COLUMNS for n in LARGE_THREADS]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def markdown(results, problems, facilities, missing, entries, machine):
    """The page."""
    results, large = of_sizes(results)
    of_table = [name for name, rival in facilities.items() if "s4" in rival.parts and any(key[0] == name for key in results)]
    lines = ["# Loggers inside the process", "",
             f"{entries:,} entries a thread, {MOST * entries:,} in all from more than {MOST}, medians of {count_of([len(runs) for runs in results.values()])} each, in random order; written by `bench/run --part loggers`. The entry: "
             "`title iteration #N pointer string and a float: 3.14159`. Each run's file was read: every entry is in it, and their numbers add up.", "",
             *(f"- {key}: {value}" for key, value in machine.items()), "",
             *(f"**Not counted: {problem}.**" for problem in problems), *(f"**Not run here: {why}.**" for why in missing)]
    for title, key, scale, unit in COLUMNS:
        lines += ["", f"## {title[0].upper()}{title[1:]}, {unit}", "", "| | " + " | ".join(f"{n} threads" if n > 1 else "1 thread" for n in THREADS) + " |",
                  "|---|" + "---|" * len(THREADS)]
        for name in of_table:
            cells = []
            for threads in THREADS:
                runs = results.get((name, threads))
                cells.append(text(median([r[key] for r in runs]) * scale) if runs else "–")
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
    if large:
        lines += large_table(large)
    lines += ["", "## Lines a second of the sink's own processor time, M", "",
              "The thread that reads the spool, formats and writes the file; its processor time as the kernel counts it (schedstat).", "",
              "| | " + " | ".join(f"{n} threads" if n > 1 else "1 thread" for n in THREADS) + " |", "|---|" + "---|" * len(THREADS)]
    # glog's files are written by a handler, in another thread.
    for name in (name for name, rival in facilities.items() if rival.own and "glog" not in name):
        rates = [sink_rates(results, name, n, entries) for n in THREADS]
        lines.append(f"| {name} | " + " | ".join(text(median(rate)) if rate else "–" for rate in rates) + " |")
    lines += ["", "## Bytes an entry in the file", "", "| | bytes |", "|---|---|"]
    for name in of_table:
        sizes = [r["bytes"] / entries_of(threads, entries) / threads for (who, threads), runs in results.items() if who == name for r in runs]
        lines.append(f"| {name} | {text(median(sizes))} |")
    lines += ["", "## Budgets", "", *verdicts(results, large, entries)]
    lines += ["", "## How they are set up", "", *(f"- {name}: {rival.how}" for name, rival in facilities.items())]
    return "\n".join(lines) + "\n"


def rows(results, entries):
    """One a logger and number of threads: medians over processes, and where those of another run as long would lie; curve and single calls of the first."""
    made = []
    for (name, threads), runs in results.items():
        row = {"logger": name, "threads": threads, "entries": entries(threads), "bytes": runs[0]["bytes"], "curve": runs[0]["curve"], "calls": runs[0]["calls"]}
        row |= {key: median([run[key] for run in runs]) for _, key, _, _ in COLUMNS}
        made.append(row | {"processes": len(runs), "again": {key: again([run[key] for run in runs]) for _, key, _, _ in COLUMNS}})
    return made


def as_json(results, problems, facilities, missing, entries, machine):
    """For programs. `large` has the rows of LARGE_ENTRIES a thread."""
    usual, large = of_sizes(results)
    return json.dumps({"machine": machine, "entries": entries, "problems": problems, "missing": missing, "how": {name: rival.how for name, rival in facilities.items()},
                       "results": rows(usual, lambda threads: entries_of(threads, entries)), "large": rows(large, lambda _: LARGE_ENTRIES)}) + "\n"
