"""How much a stored record takes on disk, and how fast stored records are read."""

import os
import resource
import subprocess
import time

from . import build as building
from .silverpoint import Workspace

COMPACT = ("--compact",)


def timed(command):
    """(CPU seconds, wall seconds) of a command whose output is thrown away."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with open(os.devnull, "w") as nowhere:
        done = subprocess.run([str(part) for part in command], stdout=nowhere, stderr=subprocess.PIPE, text=True)
    wall = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise building.Failed(f"{' '.join(str(part) for part in command)}: exit {done.returncode}: {done.stderr}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, wall


def reading(bench, facility, records, times=3):
    """Records a CPU second for each way of reading one big file, and its bytes a record: raw, then compact."""
    found = {}
    for name, options in (("raw", ()), ("compact", COMPACT)):
        with Workspace(bench) as workspace:
            command, environment = facility.launch(bench, ["sustained", "three", f"records={records}"], workspace, options)
            building.call(command, env=environment)
            made = records + 1  # and one that makes the site known
            files = sorted(workspace.directory.glob("*.silver"))
            found[f"{name}_bytes_per_record"] = sum(f.stat().st_size for f in files) / made
            ways = {"text": ["cat"], "json": ["cat", "--json"], "count": ["stats"], "filter": ["cat", "--level", "error"]}
            for way, arguments in ways.items():
                seconds = min(timed([bench.silverpoint, *arguments, *files]) for _ in range(times))
                found[f"{name}_{way}_records_per_s"] = made / seconds[0]
                found[f"{name}_{way}_wall_s"] = seconds[1]
    return found
