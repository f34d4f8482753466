"""How much a stored record takes on disk, and how fast stored records are read."""

import os
import random
import resource
import subprocess
import time

from . import build as building
from .plan import turns
from .silverpoint import Workspace

COMPACT = ("--compact",)
TIMEOUT_S = 180


def timed(command):
    """(CPU seconds, wall seconds) of a command whose output is thrown away."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with open(os.devnull, "w") as nowhere:
        done = subprocess.run([str(part) for part in command], stdout=nowhere, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT_S)
    wall = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise building.Failed(f"{' '.join(str(part) for part in command)}: exit {done.returncode}: {done.stderr}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, wall


WAYS = {"text": ["cat"], "json": ["cat", "--json"], "count": ["stats"], "filter": ["cat", "--level", "error"]}


def reading(bench, facility, records, seed, times=3):
    """For each way of reading one big file, raw and compact: records a CPU second and wall seconds of each process, in random order; and the file's bytes a record."""
    found = {}
    with Workspace(bench) as raw, Workspace(bench) as compact:
        made = records + 1  # and one that makes the site known
        steps = []
        for name, workspace, options in (("raw", raw, ()), ("compact", compact, COMPACT)):
            command, environment = facility.launch(bench, ["sustained", "three", f"records={records}"], workspace, options)
            building.call(command, env=environment)
            files = sorted(workspace.directory.glob("*.silver"))
            found[f"{name}_bytes_per_record"] = sum(f.stat().st_size for f in files) / made
            steps += [(f"{name}_{way}", [bench.silverpoint, *arguments, *files]) for way, arguments in WAYS.items()]
        for what, command in turns(steps, times, float("inf"), random.Random(seed)):
            seconds, wall = timed(command)
            found.setdefault(f"{what}_records_per_s", []).append(made / seconds)
            found.setdefault(f"{what}_wall_s", []).append(wall)
    return found
