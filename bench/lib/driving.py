"""Runs drivers, one process at a time, and believes nothing: each result is checked before it counts."""

import json
import subprocess

from . import build as building
from . import processes
from .silverpoint import Workspace
from .watching import Watcher

TIMEOUT_S = 180


class Driving:
    """Collects results. `problems` lists each run whose figures must not be used, with the reason."""

    def __init__(self, bench, log):
        self.bench = bench
        self.log = log  # open text file for the raw lines
        self.results = []
        self.problems = []

    def run(self, facility, mode, case=None, options=(), watch=None, **numbers):
        """One run of one driver; returns its result with `problems` in it, or None when it gave none. The result is kept."""
        arguments = [mode, *([case] if case else []), *(f"{name}={value}" for name, value in numbers.items())]
        label = f"{facility.name} {' '.join(arguments)}{f', watched by {watch}' if watch else ''}"
        with Workspace(self.bench) as workspace, Watcher(self.bench, workspace, watch) as watcher:
            command, environment = facility.launch(self.bench, arguments, workspace, options)
            try:
                done = processes.run(command, TIMEOUT_S, env=environment)
            except processes.Hung as hung:
                self.problems.append(f"{label}: {hung}")
                return None
            lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
            if done.returncode != 0 or len(lines) != 1:
                last = (done.stderr.strip().splitlines() or ["nothing on standard error"])[-1]
                self.problems.append(f"{label}: exit {done.returncode}, {len(lines)} results: {last}")
                return None
            result = json.loads(lines[0])
            try:
                problems = [] if result.get("unsupported") else facility.verify(self.bench, workspace, result)
                problems += watcher.verify(result)
            except (building.Failed, subprocess.SubprocessError, OSError, ValueError) as failed:
                # Of this run nothing is known; the others stand.
                problems = [f"what has arrived cannot be read: {failed}"]
        if not result["floor_whole"]:
            problems.append("the floor's reader has not seen what was written")
        if not result["drained"]:
            problems.append("not everything was stored in time")
        if result.get("lost"):
            problems.append(f"{result['lost']} records lost")
        result["options"] = numbers
        result["watch"] = watch
        result["problems"] = problems
        self.problems.extend(f"{label}: {problem}" for problem in problems)
        self.log.write(json.dumps(result) + "\n")
        self.log.flush()
        if problems:
            return None
        self.results.append(result)
        return result
