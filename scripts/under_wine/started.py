"""What tests of `scripts/windows` start: the program of Windows to its end, programs that run, a debug monitor, a console."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import termios

from __main__ import DEADLINE, ENVIRONMENT, OUT, PROGRAM, run, wait_until


def ours(place, *arguments, **environment):
    """Runs the program of Windows to its end."""
    return run("wine", PROGRAM, *arguments, env=place.environment(**environment), cwd=place.path)


def living(place):
    """Windows's numbers of the processes that have a session."""
    rows = [json.loads(line) for line in ours(place, "ls", "--json", "--no-sweep").stdout.splitlines()]
    return [row["pid"] for row in rows if row["alive"]]


def messages(lines):
    """Of lines of JSON, without the ends of their own lines."""
    return [json.loads(line)["message"].removesuffix("\\n") for line in lines]


class Started:
    """A program that runs, for Windows under Wine; what it says is in files."""

    def __init__(self, running, place, name, *command, **environment):
        self.out, self.errors = place.path / f"{name}-out", place.path / f"{name}-errors"
        with self.out.open("w") as out, self.errors.open("w") as errors:
            words = [*(["wine"] if str(command[0]).endswith(".exe") else []), *map(str, command)]
            self.process = running.add(subprocess.Popen(words, env=place.environment(**environment), cwd=place.path, stdin=subprocess.DEVNULL, stdout=out, stderr=errors))

    def lines(self):
        """Those that are whole."""
        return self.out.read_text(errors="replace").rpartition("\n")[0].splitlines()

    def wait_for(self, condition, what):
        def holds():
            assert self.process.poll() is None, f"{what}: it has ended: {self.errors.read_text()}"
            return condition()
        wait_until(holds, what)

    def end(self):
        """It ends by itself, and well."""
        code = self.process.wait(timeout=DEADLINE)
        assert code == 0, f"exit {code}: {self.errors.read_text()}"


class Listening:
    """A monitor that shows texts. Its sessions are those of the place, and other programs have none there."""

    def __init__(self, running, place, number=0, *words, out=None):
        self.shown, self.errors = place.path / f"shown-{number}.jsonl", place.path / f"errors-{number}"
        with self.shown.open("w") as shown, self.errors.open("w") as errors:
            command = ["wine", PROGRAM, "debug", "--json", *words]
            self.process = running.add(subprocess.Popen([str(word) for word in command], env=place.environment(), cwd=place.path, stdin=subprocess.DEVNULL, stdout=out or shown, stderr=errors))
        wait_until(self.listens, "a monitor that listens")

    def listens(self):
        assert self.process.poll() is None, self.errors.read_text()
        return "listens" in self.errors.read_text()

    def lines(self):
        """Those that are whole."""
        return self.shown.read_text().rpartition("\n")[0].splitlines()

    def texts(self):
        return messages(self.lines())

    def wait_for(self, text):
        wait_until(lambda: text in self.shown.read_text() and text in self.texts(), f"the text {text}")


class Console:
    """A terminal of Linux, which Wine makes a console of, and a program in it."""

    def __init__(self, running, *command, environment=ENVIRONMENT, cwd=OUT):
        self.terminal, end = pty.openpty()
        fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        os.set_blocking(self.terminal, False)
        self.shown = ""
        self.process = running.add(subprocess.Popen(["wine", *map(str, command)], env=environment | {"TERM": "xterm-256color"}, cwd=cwd, stdin=end, stdout=end, stderr=end, start_new_session=True))
        os.close(end)

    def read(self):
        """What is shown behind the text that `wait_for` has found last."""
        try:
            while some := os.read(self.terminal, 1 << 16):
                self.shown += some.decode(errors="replace")
        except OSError:
            pass
        return self.shown

    def wait_for(self, text):
        """Gives what came up to the end of the text. What came behind it, in one read perhaps, is for the next call."""
        wait_until(lambda: text in self.read(), lambda: f"{text!r} in a console; it shows {self.shown!r}")
        before, found, self.shown = self.shown.partition(text)
        return before + found

    def press(self, key):
        os.write(self.terminal, key)

    def close(self):
        os.close(self.terminal)
