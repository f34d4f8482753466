"""Runs a program that may hang: when its time is over it is ended, with all that it has started. What runs under another program (a collector, a daemon) would else go on beside the runs that follow."""

import contextlib
import os
import signal
import subprocess

from . import build as building

# What is left to a program that is asked to end, so that it can clean up behind itself.
GRACE_S = 5


class Hung(building.Failed):
    """It had not ended when its time was over."""


def end(process):
    """Ends a process that leads a session of its own, and its group: asked first, then without asking."""
    for number, seconds in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, None)):
        with contextlib.suppress(ProcessLookupError):  # all of them are gone
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
    # Not read to their ends: who has left the group may hold them open.
    process.stdout.close()
    process.stderr.close()


def run(command, timeout_s, **options):
    """subprocess.run with its output as text, in a session of its own; Hung when it does not end in time."""
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, **options)
    try:
        out, told = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        end(process)
        raise Hung(f"no end after {timeout_s} s") from None
    except BaseException:
        end(process)  # an interrupt must not leave it behind
        raise
    return subprocess.CompletedProcess(command, process.returncode, out, told)
