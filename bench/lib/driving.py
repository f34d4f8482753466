"""Runs drivers, one process at a time, and believes nothing: each result is checked before it counts."""

import json
import os
import signal
import subprocess

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
            # A session of its own, so that a hanging run can be ended with all its processes.
            process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                       start_new_session=True)
            try:
                out, complaint = process.communicate(timeout=TIMEOUT_S)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                self.problems.append(f"{label}: no end after {TIMEOUT_S} s")
                return None
            lines = [line for line in out.splitlines() if line.startswith("{")]
            if process.returncode != 0 or len(lines) != 1:
                last = (complaint.strip().splitlines() or ["nothing on standard error"])[-1]
                self.problems.append(f"{label}: exit {process.returncode}, {len(lines)} results: {last}")
                return None
            result = json.loads(lines[0])
            problems = [] if result.get("unsupported") else facility.verify(self.bench, workspace, result)
            problems += watcher.verify(result)
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
