"""The table of S4: what loggers inside the process cost their callers, in one run with the real rivals from Debian. Writes bench/results/loggers.md."""

import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import tempfile

from . import build as building
from .numbers import median
from .report import text

THREADS = (1, 2, 4, 8, 16)
TIMEOUT_S = 600
# Name, number in the driver, a header that shows that it is there, libraries, how it is set up.
FACILITIES = (
    ("nothing", 0, None, (), "the two reads of the clock alone"),
    ("silverpoint", 1, None, (), "silverpoint::start, one text file, defaults"),
    ("silverpoint json", 5, None, (), "the same, one line of JSON an entry"),
    ("silverpoint glog.hpp", 8, None, (), "glog's program, below, with `#include <silverpoint/glog.hpp>`"),
    ("glog", 2, "/usr/include/glog/logging.h", ("-lglog", "-lgflags"), "files only, its own buffering"),
    ("spdlog", 3, "/usr/include/spdlog/spdlog.h", ("-lspdlog", "-lfmt"), "basic_logger_mt"),
    ("spdlog async", 4, "/usr/include/spdlog/spdlog.h", ("-lspdlog", "-lfmt"), "async_factory: 8192 entries, one thread, block"),
)
# For the rate of the sink alone, with one thread: an entry of three numbers.
RATES = (
    ("silverpoint numbers", 6, None, (), "one text file; the entry: `x iteration #N of M: 3.14`"),
    ("silverpoint json numbers", 7, None, (), "the same as JSON"),
)
SPDLOG_FLAGS = ("-DSPDLOG_COMPILED_LIB", "-DSPDLOG_FMT_EXTERNAL")


def drivers(bench):
    """Builds a driver for each facility that is there: {name: program}, and what is missing."""
    bench.cargo("-p", "silverpoint-ffi")
    library = bench.cargo_target / "release/libsilverpoint_ffi.a"
    found, missing = {}, []
    for name, number, header, libraries, _ in FACILITIES + RATES:
        if header and not pathlib.Path(header).exists():
            missing.append(f"{name}: {header} is not installed")
            continue
        program = bench.directory / f"logging-{name.replace(' ', '-')}"
        own = [library] if name.startswith("silverpoint") else [*libraries]
        building.call(["g++", "-std=c++20", "-O2", f"-I{building.ROOT / 'cpp/include'}", f"-DLOGGER={number}", *SPDLOG_FLAGS,
                       building.BENCH / "logging/driver.cpp", "-o", program, *own, "-pthread", "-ldl", "-lm"])
        found[name] = program
    return found, missing


def entries_in(directory):
    """Lines with an entry of the driver, in all files; in JSON one has it twice, in the template too."""
    return sum(b" iteration #" in line for file in files_in(directory) for line in open(file, "rb"))


def losses_in(directory):
    """How many records the log itself says were lost."""
    found = (re.search(rb" lost (\d+) records ", line) for file in files_in(directory) for line in open(file, "rb"))
    return sum(int(one[1]) for one in found if one)


def files_in(directory):
    """Without links: glog makes one to its newest file."""
    return [file for file in directory.iterdir() if file.is_file() and not file.is_symlink()]


def run(bench, name, program, threads, entries):
    """One run; a dictionary of what was measured, or a text that says why it does not count."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="logging-", dir=bench.directory))
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    sessions = pathlib.Path(tempfile.mkdtemp(prefix="silverpoint-logging-", dir=shared))
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SILVERPOINT")} | {"SILVERPOINT_DIR": str(sessions)}
    try:
        done = subprocess.run([program, str(threads), str(entries), directory / "driver.log"], env=environment, capture_output=True, text=True,
                              timeout=TIMEOUT_S)
        label = f"{name}, {threads} threads"
        if done.returncode != 0 or not done.stdout.startswith("{"):
            return f"{label}: exit {done.returncode}: {done.stderr.strip()[:300]}"
        result = json.loads(done.stdout)
        result["bytes"] = sum(file.stat().st_size for file in files_in(directory))
        there = entries_in(directory)
        if name != "nothing" and there != threads * entries:
            said = "; ".join(line for line in done.stderr.splitlines() if line)[:300] or "nothing on standard error"
            return f"{label}: {threads * entries} entries logged, {there} in the file ({losses_in(directory)} told as lost there; {said})"
        return result
    except subprocess.TimeoutExpired:
        return f"{name}, {threads} threads: no end after {TIMEOUT_S} s"
    finally:
        shutil.rmtree(directory, ignore_errors=True)
        shutil.rmtree(sessions, ignore_errors=True)


def threads_of(name):
    """In how many threads a facility is run."""
    return (1,) if name in (rate[0] for rate in RATES) else THREADS


def measure(bench, entries, repeats, seed):
    """({(name, threads): [result]}, problems): all runs in random order."""
    found, problems = drivers(bench)
    steps = [(name, threads) for name in found for threads in threads_of(name) for _ in range(repeats)]
    random.Random(seed).shuffle(steps)
    results = {}
    for name, threads in steps:
        result = run(bench, name, found[name], threads, entries)
        if isinstance(result, str):
            problems.append(result)
        else:
            results.setdefault((name, threads), []).append(result)
    return results, problems


COLUMNS = (
    ("average of a call", "mean_ns", 1, "ns"),
    ("median", "p50_ns", 1, "ns"),
    ("p99.9", "p999_ns", 1e-3, "µs"),
    ("peak", "peak_ns", 1e-6, "ms"),
    ("until all is in the file", "total_s", 1, "s"),
    ("CPU, all threads", "cpu_s", 1, "s"),
)


def markdown(results, problems, entries, repeats, machine):
    """The page."""
    names = [name for name, *_ in FACILITIES if any(key[0] == name for key in results)]
    lines = ["# Loggers inside the process", "",
             f"{entries:,} entries a thread, medians of {repeats} processes each, in random order; written by `bench/run --part loggers`. The entry: "
             "`title iteration #N pointer string and a float: 3.14159`. Each run's file was read: every entry is in it.", "",
             *(f"- {key}: {value}" for key, value in machine.items()), "",
             *(f"**Not counted: {problem}.**" for problem in problems)]
    for title, key, scale, unit in COLUMNS:
        lines += ["", f"## {title[0].upper()}{title[1:]}, {unit}", "", "| | " + " | ".join(f"{n} threads" if n > 1 else "1 thread" for n in THREADS) + " |",
                  "|---|" + "---|" * len(THREADS)]
        for name in names:
            cells = []
            for threads in THREADS:
                runs = results.get((name, threads))
                cells.append(text(median([r[key] for r in runs]) * scale) if runs else "–")
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
    lines += ["", "## Lines a second of the sink's own processor time, M", "",
              "The thread that reads the spool, formats and writes the file; its processor time as the kernel counts it (schedstat).", "",
              "| | " + " | ".join(f"{n} threads" if n > 1 else "1 thread" for n in THREADS) + " |", "|---|" + "---|" * len(THREADS)]
    # glog's files are written by a handler, in another thread.
    for name in (name for name, *_ in FACILITIES + RATES if name.startswith("silverpoint") and "glog" not in name):
        rates = [[n * entries / r["sink_s"] / 1e6 for r in results.get((name, n), []) if r["sink_s"] > 0] for n in THREADS]
        lines.append(f"| {name} | " + " | ".join(text(median(rate)) if rate else "–" for rate in rates) + " |")
    lines += ["", "## How they are set up", "", *(f"- {name}: {how}" for name, *_, how in FACILITIES + RATES if any(key[0] == name for key in results))]
    return "\n".join(lines) + "\n"


def as_json(results, entries, machine):
    """For programs: medians over processes; curve and single calls of the first."""
    rows = []
    for (name, threads), runs in results.items():
        row = {"logger": name, "threads": threads, "bytes": runs[0]["bytes"], "curve": runs[0]["curve"], "calls": runs[0]["calls"]}
        rows.append(row | {key: median([run[key] for run in runs]) for _, key, _, _ in COLUMNS})
    return json.dumps({"machine": machine, "entries": entries, "results": rows}) + "\n"
