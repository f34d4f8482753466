"""The server of Wine, of `scripts/windows`: it runs as long as that, and an end before is a failure."""

import ctypes
import os
import shutil
import signal
import subprocess
from pathlib import Path

from __main__ import DEADLINE, ENVIRONMENT, OUT, wait_until

LOG = OUT / "wineserver.log"
PR_SET_PDEATHSIG = 1


def program():
    """(Debian has it beside Wine, and not in the path of each user.)"""
    return shutil.which("wineserver") or "/usr/lib/wine/wineserver64"


def ask(*arguments):
    """Runs `wineserver -k` and its like; whether a server was there."""
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.run([program(), *arguments], env=ENVIRONMENT, timeout=DEADLINE, check=False, **quiet).returncode == 0


def end_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGINT)


class Server:
    """Without a time limit: one that has it ends in the moment in which a program connects, and the program fails.
    Without a server Wine starts one for each program, with a time limit."""

    def __enter__(self):
        # The server makes no directory. Without this one it ends.
        Path(ENVIRONMENT["WINEPREFIX"]).mkdir(exist_ok=True)
        ask("-k")
        with LOG.open("w") as log:
            self.process = subprocess.Popen([program(), "-f", "-p"], env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=end_with_parent)
        # (Signal 0 asks whether it is there.)
        wait_until(lambda: self.why_ended() is not None or ask("-k0"), "Wine's server")
        return self

    def why_ended(self):
        """None while it runs."""
        if (code := self.process.poll()) is None:
            return None
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit {code}"
        return f"Wine's server has ended: {how}; it said: {LOG.read_text(errors='replace')[-2000:].strip() or 'nothing'}"

    def __exit__(self, *_):
        ask("-k")
        self.process.wait(timeout=DEADLINE)
