"""Scale: how cost and rate change with the number of threads, processes, sites, bytes and records. Writes bench/results/scale.md and scale.json.

A point is a run of a driver under `silverpoint run`; whatever it made must be in the trace file. Each axis is a function that gives its points, so that one can be measured
alone (`--axis`).
"""

import json
import os
import pathlib
import random
import resource
import subprocess
import tempfile
import time
from dataclasses import replace

from . import build as building
from . import processes as running
from . import silverpoint
from .numbers import again, figures, median
from .numbers import processes as count_of
from .plan import rounds
from .report import text

TIMEOUT_S = 170
# Whose rings have room in 32 MiB, which a session may use by default where memory is not short.
MOST_THREADS = 256


class Driver(silverpoint.Facility):
    """bench/scale/driver.c, with what the environment says."""

    def __init__(self, driver, environment=None, name="silverpoint-scale", make=None):
        super().__init__(name, make)
        self.driver, self.environment = driver, environment or {}

    def launch(self, bench, arguments, workspace, options=()):
        command, environment = super().launch(bench, arguments, workspace, options)
        return command, environment | {name: str(value) for name, value in self.environment.items()}


def built(bench):
    """The driver's program."""
    return bench.c_driver(building.BENCH / "scale/driver.c", "scale-driver")


# ---- the axes: each yields (x, {figure: value}) and reports what went wrong to `runner.problems` ----


def sustained(runner, facility, case, threads, records):
    """Figures of one run back to back; None when it does not count."""
    result = runner.run(facility, "sustained", case, threads=threads, records=records)
    if not result:
        return None
    wall = sum(result["wall_per_call"]) / len(result["wall_per_call"])
    found = {"call_ns": wall, "cpu_ns": result["cpu_per_record"], "stored_per_s": result.get("stored_records_per_s"), "waited_ms": result["stall_ns"] / 1e6,
             "caller_per_s": result["caller_records_per_s"], "ring_bytes": result.get("ring_bytes_per_record")}
    return {key: value for key, value in found.items() if value is not None}


def threads(bench, runner, driver, size):
    for n in size.scale_threads:
        # A ring is 16 KiB at least: more threads than fit into the memory of a session want more of it.
        memory = {"SILVERPOINT_MEMORY": "1G"} if n > MOST_THREADS else {}
        yield n, sustained(runner, Driver(driver, memory), "three", n, max(size.scale_records // n, 100))


def sites(bench, runner, driver, size):
    for n in size.scale_sites:
        facility = Driver(driver, {"BENCH_SITES": n})
        first = sustained(runner, facility, "sites", 1, n)
        # A batch is a thousand calls: most come when all sites are known.
        later = runner.run(facility, "burst", "sites", pairs=max(size.argument_pairs, 5 * n // 1000), seed=n)
        if first and later:
            call, floor = figures([later])
            yield n, {"call_ns": call, "floor_ns": floor, "first_call_ns": first["call_ns"], "first_cpu_ns": first["cpu_ns"]}
        else:
            yield n, None


def payloads(bench, runner, driver, size):
    for n in size.scale_payloads:
        records = max(min(size.scale_records, size.scale_bytes // max(n, 64)), 1000)
        found = sustained(runner, Driver(driver, {"BENCH_PAYLOAD": n}), "payload", 1, records)
        if found:
            found["stored_mb_per_s"] = found.get("stored_per_s", 0) * n / 1e6
        yield n, found


def all_processes(bench, runner, driver, n, records):
    """(wall s, CPU s) of n processes under one collector, everything counted; None when something is missing."""
    facility = Driver(driver, {"BENCH_PROCESSES": n, "BENCH_RECORDS": records})
    label = f"{n} processes, {records} records each"
    with silverpoint.Workspace(bench) as workspace:
        command, environment = facility.launch(bench, ["many"], workspace)
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        try:
            done = running.run(command, TIMEOUT_S, env=environment)
        except running.Hung as hung:
            runner.problems.append(f"{label}: {hung}")
            return None
        wall = time.monotonic() - begin
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        results = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode != 0 or len(results) != n:
            runner.problems.append(f"{label}: exit {done.returncode}, {len(results)} results: {done.stderr.strip()[-200:]}")
            return None
        account = {"counted": sum(one["counted"] for one in results), "id_sum": sum(one["id_sum"] for one in results) % 2**64}
        wrong = facility.verify(bench, workspace, account)
        if wrong:
            runner.problems += [f"{label}: {what}" for what in dict.fromkeys(wrong)]
            return None
        return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def processes(bench, runner, driver, size):
    for n in size.scale_processes:
        # What a process costs before its first record is in both, and falls out of the difference.
        few, many = 100, max(size.scale_records // n, 20_000)
        base, whole = all_processes(bench, runner, driver, n, few), all_processes(bench, runner, driver, n, many)
        if base and whole:
            records = n * (many - few)
            wall, cpu = (max(after - before, 0.0) for before, after in zip(base, whole, strict=True))
            yield n, {"cpu_ns": cpu / records * 1e9, "start_cpu_ms": base[1] / n * 1e3} | ({"stored_per_s": records / wall} if wall > 0.02 else {})
        else:
            yield n, None


def peak_kib(pid, program):
    """What a process has had in memory at most (VmHWM), or 0 when it is no longer, or not yet, this program."""
    try:
        if os.readlink(f"/proc/{pid}/exe") != str(program):
            return 0
        with open(f"/proc/{pid}/status") as status:
            return next((int(line.split()[1]) for line in status if line.startswith("VmHWM:")), 0)
    except OSError:
        return 0


def reading(command, environment):
    """(CPU s, peak MiB) of a program whose output nobody wants; Failed when it fails. The peak is looked at every 2 ms: what wait4 says of it has this program's own in it."""
    program = pathlib.Path(command[0]).resolve()
    with open(os.devnull, "w") as nowhere, tempfile.TemporaryFile() as told:
        process = subprocess.Popen([str(part) for part in command], env=environment, stdout=nowhere, stderr=told)
        peak, ended = 0, 0
        while not ended:
            peak = max(peak, peak_kib(process.pid, program))
            time.sleep(0.002)
            ended, status, used = os.wait4(process.pid, os.WNOHANG)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            told.seek(0)
            raise building.Failed(f"{command[1]}: exit {process.returncode}: {told.read().decode(errors='replace').strip()[-200:]}")
    return used.ru_utime + used.ru_stime, peak / 1024


def traces(bench, runner, driver, size):
    facility = Driver(driver)
    for records in size.scale_traces:
        with silverpoint.Workspace(bench) as workspace:
            command, environment = facility.launch(bench, ["sustained", "three", "threads=1", f"records={records}"], workspace)
            try:
                done = running.run(command, TIMEOUT_S, env=environment)
                if done.returncode != 0:
                    raise building.Failed(f"exit {done.returncode}: {done.stderr.strip()[-200:]}")
                result = json.loads(done.stdout)
                wrong = facility.verify(bench, workspace, result)
                if wrong:
                    raise building.Failed("; ".join(wrong))
                files = sorted(workspace.directory.glob("*.silver"))
                megabytes = sum(file.stat().st_size for file in files) / 1e6
                found = {"stored_per_s": result["stored_records_per_s"]}
                for way, arguments in (("count", ["stats"]), ("filter", ["cat", "--level", "error"]), ("text", ["cat"])):
                    if way == "text" and records > size.scale_most_text:
                        continue
                    cpu, peak = reading([bench.silverpoint, *arguments, *files], environment)
                    found[f"{way}_per_s"] = result["counted"] / cpu if cpu else float("inf")
                    found[f"{way}_mib"] = peak
                yield records, found | {"size_mb": megabytes}
            except building.Failed as failed:
                runner.problems.append(f"trace of {records} records: {failed}")


POINTS = ("scale_threads", "scale_processes", "scale_sites", "scale_payloads", "scale_traces")
AXES = {"threads": threads, "processes": processes, "sites": sites, "payloads": payloads, "traces": traces}
# Of each axis: title, what x is, and the figures: key, title, factor.
TABLES = {
    "threads": ("Threads", "threads", (("caller_per_s", "calls of all, M/s", 1e-6), ("stored_per_s", "stored, M/s", 1e-6), ("cpu_ns", "CPU of all, ns a record", 1), ("waited_ms", "waited for room, ms in all", 1))),
    "processes": ("Processes into one collector", "processes", (("cpu_ns", "CPU of all, ns a record", 1), ("stored_per_s", "stored, M/s", 1e-6), ("start_cpu_ms", "CPU of a process with 100 records, ms", 1))),
    "sites": ("Sites", "sites", (("call_ns", "ns a call, in bursts of 20", 1), ("floor_ns", "the floor", 1), ("first_call_ns", "ns the first call of each", 1), ("first_cpu_ns", "CPU of all, ns a first call", 1))),
    "payloads": ("Payload", "bytes of a text", (("call_ns", "ns a call", 1), ("cpu_ns", "CPU of all, ns a record", 1), ("stored_per_s", "stored, M/s", 1e-6), ("stored_mb_per_s", "stored, MB/s", 1))),
    "traces": ("Trace files", "records", (("size_mb", "MB", 1), ("stored_per_s", "stored, M/s", 1e-6), ("count_per_s", "counted, M a CPU second", 1e-6), ("filter_per_s", "filtered, M a CPU second", 1e-6),
                                     ("text_per_s", "to text, M a CPU second", 1e-6), ("count_mib", "memory of counting, MiB", 1), ("text_mib", "memory of text, MiB", 1))),
}


def shuffled(size, source):
    """The size with the points of each axis in another order, so that a slow drift of the machine bends no curve."""
    return replace(size, **{name: tuple(source.sample(points, len(points))) for name in POINTS if (points := getattr(size, name))})


def measure(bench, runner, size, wanted, seed, until):
    """({axis: {x: [figures of a process]}}, problems): axes and their points in random order."""
    driver, source = built(bench), random.Random(seed)
    found = {}
    for _ in rounds(size.scale_repeats, until):
        ordered = shuffled(size, source)
        for axis in source.sample(list(wanted), len(wanted)):
            for x, point in AXES[axis](bench, runner, driver, ordered):
                if point:
                    found.setdefault(axis, {}).setdefault(x, []).append(point)
    return found, list(dict.fromkeys(runner.problems))


def rows(found):
    """For programs: one row a point."""
    made = []
    for axis, points in sorted(found.items(), key=lambda one: list(AXES).index(one[0])):
        for x, runs in sorted(points.items()):
            keys = [key for key, _, _ in TABLES[axis][2] if any(key in run for run in runs)]
            values = {key: [run[key] for run in runs if key in run] for key in keys}
            made.append({"axis": axis, "x": x} | {key: round(median(values[key]), 3) for key in keys} |
                        {"processes": len(runs), "again": {key: again(values[key]) for key in keys}})
    return made


def as_json(made, problems, machine):
    """The document; `made` are rows."""
    return json.dumps({"machine": machine, "problems": problems, "results": made}, indent=1) + "\n"


def cell(row, key, factor):
    return text(row[key] * factor) if row.get(key) is not None else "–"


def markdown(made, problems, size, machine):
    """The page."""
    lines = ["# Scale", "",
             f"Tracepoints of C under `silverpoint run`, raw blocks to disk, default rings; {size.scale_records:,} records a point where nothing else is said, medians of {count_of([row.get('processes', 1) for row in made])} a point, in random order. "
             "Written by `bench/run --part scale` (`--axis` measures one alone). Every record was found in the trace file, by count and the sum of ids.", "",
             *(f"- {key}: {fact}" for key, fact in machine.items()), "", *(f"**Not counted: {problem}.**" for problem in problems)]
    for axis, (title, x, columns) in TABLES.items():
        points = [row for row in made if row["axis"] == axis]
        if not points:
            continue
        lines += ["", f"## {title}", "", f"| {x} | " + " | ".join(name for _, name, _ in columns) + " |", "|---|" + "---|" * len(columns)]
        lines += [f"| {row['x']:,} | " + " | ".join(cell(row, key, factor) for key, _, factor in columns) + " |" for row in points]
        lines += ["", BENDS[axis]]
    return "\n".join(lines) + "\n"


# Where the curves bend, and why: from profiles (perf record of driver and collector) and counts of system calls (strace -c) of the same runs.
BENDS = {
    "threads": "With more threads than processors the rate stays what the collector and the callers can do on them, until the records of a thread become few. Then a record pays for its thread: a ring of 16 KiB at least is "
               "claimed at its first record and its pages asked for, again for each larger one that it grows to, and who finds it full meanwhile waits for the collector (of a thousand threads with a thousand records each: five madvise "
               "and seven futex a thread), beside what the system takes to make, wake and end a thread; with a hundred records each this "
               "is most of the CPU time, and the tracepoint itself below a hundredth of it. Rings share the memory of the session, which follows the machine by default (docs/guide/policies.md). In 32 MiB some three thousand threads can have one at the same time, fewer where others have grown theirs, and "
               f"records of further ones are lost and counted (`no_memory`). Points above {MOST_THREADS:,} threads were run with SILVERPOINT_MEMORY=1G.",
    "processes": "CPU of a record rises with the number of processes, not of records: each has a session of its own, whose files the collector opens, reads and empties, so its reads and writes become smaller and their "
                 "share of system calls grows (with one process most of its time is copying and looking at records, with two hundred it is the kernel's locks and list keeping for pages of small files). The rate is that of the processors.",
    "sites": "No bend: a call costs the same with ten sites and with fifty thousand (they come in the order of memory here, which a processor foresees). The first call of a place is another matter, some microseconds: its "
             "description is hashed, put into the table and copied, whose pages are asked for as they come; it is paid once in a process. With ten sites the first pages of the session are in it, too.",
    "payloads": "Up to some hundred bytes the fixed part of a record is most of it. Then bytes count: they are copied into the ring, out of it, into the page cache, and summed once (CRC-32C), which together is the rate in MB/s at "
                "which the curve flattens; the collector's share is three quarters and more, so a producer that goes on at full speed fills its ring and waits for it: from there a call takes what a record takes the collector.",
    "traces": "Files of a megabyte cost what the start of a program costs. Beyond, rates are flat, and so is memory: readers hold blocks and streams, not records. Filtering is faster than counting because the summary of a block "
              "says that no record in it is wanted.",
}
