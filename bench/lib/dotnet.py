"""The table of S5, as far as Mono runs it: MD5 of 10,000 bytes and one Trace.Write, over listeners. Writes bench/results/dotnet.md and dotnet.json."""

import json
import os
import random
import re
import shutil
import statistics
import subprocess

from . import build as building
from . import processes
from .numbers import again, median
from .numbers import processes as count_of
from .plan import rounds
from .silverpoint import Workspace

TIMEOUT_S = 300
TITLES = {
    "md5": "MD5 alone",
    "none": "no listener",
    "default": "default listener",
    "text": "TextWriterTraceListener, to a file",
    "silverpoint": "silverpoint, a listener over a C tracepoint",
}
KEYS = ("us", "above_us", "flush_us", "cpu_us", "mean_us", "block_deviation_us", "helpers_us")
DIGITS = re.compile(rb"[0-9a-f]{32}")


def driver(bench):
    """Builds the program and its library; a Failed says what is missing."""
    if not shutil.which("mono") or not shutil.which("mcs"):
        raise building.Failed("mono-runtime and mono-mcs must be installed (scripts/setup bench)")
    program, source = bench.directory / "dotnet-driver.exe", building.BENCH / "dotnet"
    building.compiled(["mcs", "-define:TRACE", "-optimize+", "-warnaserror+", f"-out:{program}", source / "driver.cs"])
    include = f"-I{building.ROOT / 'cpp/include'}"
    cold = bench.directory / "silverpoint_c_shared.o"
    building.compiled(["g++", *building.CXX_FLAGS, "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden", "-fPIC", include, "-c", building.ROOT / "cpp/src/silverpoint_c.cpp", "-o", cold])
    building.compiled(["gcc", *building.C_FLAGS, "-fPIC", "-shared", "-fvisibility=hidden", include, source / "tracepoint.c", building.BENCH / "harness/session.c", building.BENCH / "harness/clock.c", cold, "-o", bench.directory / "libbench_tracepoint.so", "-pthread"])
    return program


def arrived(bench, case, directory):
    """(how many texts were written, the sum of their first eight digits), as they stand in the output; None where nothing is written."""
    if case == "text":
        out = (directory / "out.txt").read_bytes()
        # Without ends of lines, as Trace.Write has it.
        found = [out[at:at + 32] for at in range(0, len(out), 32)]
    elif case == "silverpoint":
        out = subprocess.run([bench.silverpoint, "cat", directory / "bench.silver"], capture_output=True, check=True).stdout
        found = DIGITS.findall(out)
    else:
        return None
    return len(found), sum(int(one[:8], 16) for one in found) % 2**64


def run(bench, program, case, calls):
    """One process: what it has measured, or a text that says why it does not count."""
    with Workspace(bench) as workspace:
        # What the default listener does is as it comes: no file, no console.
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("SILVERPOINT", "MONO_TRACE"))}
        environment |= {"SILVERPOINT_DIR": str(workspace.sessions), "LD_LIBRARY_PATH": str(bench.directory)}
        command = ["mono", program, case, str(calls), workspace.directory / "out.txt"]
        if case == "silverpoint":
            command = [bench.silverpoint, "run", "-o", workspace.trace, "--", *command]
        try:
            done = processes.run(command, TIMEOUT_S, env=environment)
            if done.returncode != 0 or not done.stdout.startswith("{"):
                return f"{TITLES[case]}: exit {done.returncode}: {done.stderr.strip()[:300]}"
            result = json.loads(done.stdout)
            there = arrived(bench, case, workspace.directory)
        except (building.Failed, subprocess.SubprocessError, OSError) as error:
            return f"{TITLES[case]}: {error}"
    if there not in (None, (result["written"], result["sum"])):
        return f"{TITLES[case]}: {result['written']} texts written whose digits add up to {result['sum']}, {there[0]} found with {there[1]}"
    return result


def measure(bench, calls, repeats, seed, until):
    """({case: [result]}, problems): one process each, in random order."""
    try:
        program = driver(bench)
    except building.Failed as failed:
        return {}, [f"dotnet: {failed}"]
    results, problems, steps, order = {}, [], list(TITLES), random.Random(seed)
    for _ in rounds(repeats, until):
        order.shuffle(steps)
        for case in steps:
            result = run(bench, program, case, calls)
            if isinstance(result, str):
                problems.append(result)
            else:
                results.setdefault(case, []).append(result)
    return results, problems


def markdown(results, problems, calls, machine):
    """The page."""
    lines = ["# Trace.Write of .NET", "",
             f"Microseconds of a turn: MD5 of 10,000 bytes, its text, and one `Trace.Write` of it; medians of {count_of([len(runs) for runs in results.values()])} of {calls:,} turns each, in random order; written by "
             "`bench/run --part dotnet`. Means and deviations of blocks are of a hundred turns each, within a process. *Of the call* is the median difference to turns without it in the same process, in blocks of a hundred that alternate. The file and the trace file were "
             "read: every text is in them.", "",
             *(f"- {key}: {value}" for key, value in machine.items()), "", *(f"**Not counted: {problem}.**" for problem in problems),
             "", "| | a turn, µs | its standard deviation between processes | mean ± deviation of blocks, µs | of the call, µs | flush at the end, µs | CPU of the process, a turn, µs | of its helpers, a text, µs |", "|---|---|---|---|---|---|---|---|"]
    for case, title in TITLES.items():
        if runs := results.get(case):
            us, above, flush, cpu, mean, of_blocks, helpers = (median([run[key] for run in runs]) for key in KEYS)
            spread = deviation(runs)
            lines.append(f"| {title} | {us:.2f} | {'–' if spread is None else f'{spread:.2f}'} | {mean:.2f} ± {of_blocks:.2f} | {'–' if case == 'md5' else f'{above:.3f}'} | {flush:.0f} | {cpu:.2f} | {f'{helpers:.3f}' if case == 'silverpoint' else '–'} |")
    lines += ["", "- Helpers are our collector and its supervisor, until the text is stored; other listeners have none.",
              "- Mono runs it, with `TRACE` defined. Its default listener hands the text to a debugger, and to the file or console that `MONO_TRACE_LISTENER` names; there is neither here, and no "
              "OutputDebugString, which takes half of the time on Windows.",
              "- The difference of *no listener* is that of two equal programs: what the method cannot tell.",
              "- The listener over a C tracepoint is some lines of the driver (bench/dotnet): the text as UTF-8, and one call. Silverpoint.dll is measured by `bench/dotnet-runtimes`."]
    return "\n".join(lines) + "\n"


def deviation(runs):
    """Standard deviation of a turn between processes, µs, as the source says one for each of its means; None of a single process."""
    return round(statistics.stdev(run["us"] for run in runs), 4) if len(runs) > 1 else None


def as_json(results, problems, machine):
    """For programs."""
    rows = [{"case": case, **{key: round(median([run[key] for run in runs]), 4) for key in KEYS}, "deviation_us": deviation(runs), "processes": len(runs), "again": again([run["us"] for run in runs])}
            for case, runs in results.items()]
    return json.dumps({"machine": machine, "problems": problems, "results": rows}, indent=1) + "\n"
