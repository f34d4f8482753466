"""Somebody who looks on while a driver runs: `top` and `tail -f`, which must have seen every record, or the run does not count."""

import json
import signal
import subprocess
import time

# Name in the table, and the command.
WATCHERS = {
    "top": ("top", "--json", "--interval", "1s"),
    "tail -f": ("tail", "-f", "-n", "0"),
}
TIMEOUT_S = 60
SETTLE_S = 5


class Watcher:
    """Watches all sessions of a workspace from before the first begins. Without a name: nobody."""

    def __init__(self, bench, workspace, name):
        self.name = name
        if name:
            self._out = workspace.directory / "watched"
            self._command = [str(bench.silverpoint), *WATCHERS[name]]
            self._environment = {"SILVERPOINT_DIR": str(workspace.sessions), "TMPDIR": str(workspace.directory)}
            self._process = None

    def __enter__(self):
        if self.name:
            with open(self._out, "w") as out:
                self._process = subprocess.Popen(self._command, env=self._environment, stdout=out, stderr=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_):
        if self.name and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def verify(self, result):
        """Ends it, and returns what is wrong with what it has seen. Adds its count and its CPU time to the result."""
        if not self.name:
            return []
        # A follower waits a while for what might come late from another thread.
        until = time.monotonic() + SETTLE_S
        while self._seen() < result["counted"] and time.monotonic() < until and self._process.poll() is None:
            time.sleep(0.1)
        self._process.send_signal(signal.SIGINT)
        try:
            _, complaint = self._process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return [f"{self.name}: no end after {TIMEOUT_S} s"]
        if self._process.returncode != 0 or complaint:
            return [f"{self.name}: exit {self._process.returncode}: {complaint.strip()}"]
        seen = result["watched"] = self._seen()
        return [] if seen == result["counted"] else [f"{result['counted']} records made, {seen} seen by {self.name}"]

    def _seen(self):
        lines = self._out.read_text().split("\n")[:-1]
        if self.name == "top":
            return json.loads(lines[-1])["records"] if lines else 0
        return len(lines)
