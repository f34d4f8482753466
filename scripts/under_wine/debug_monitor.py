"""Tests of `scripts/windows`: `silverpoint debug` takes what programs give to OutputDebugString."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios

from __main__ import (
    DEADLINE, ENDLESS, ENVIRONMENT, OUT, PROGRAM, SILVERPOINT, SKIPPED, Place, Running, fine, has_no_rust, run, wait_until)

SENDER, DEBUG_TEXTS = OUT / "debug_sender.exe", OUT / "debug_texts.exe"


def texts_of(file):
    """The messages in lines of JSON that are whole, without the end of their own lines."""
    whole = file.read_text().rpartition("\n")[0].splitlines()
    return [json.loads(line)["message"].removesuffix("\\n") for line in whole]


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

    def texts(self):
        return texts_of(self.shown)

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


def test_the_debug_monitor(_):
    if has_no_rust():
        return SKIPPED
    place = Place("debug-monitor")
    shown = place.path / "shown"
    with Running() as running:
        begin = running.begin
        monitor = Listening(running, place, out=subprocess.PIPE)
        output = monitor.process.stdout
        second = run("wine", PROGRAM, "debug", env=place.environment())
        assert second.returncode == 1 and "another debug monitor" in second.stderr and "--sessions" in second.stderr, second.stderr
        for one in [begin(SENDER, "send", number, 200) for number in range(4)]:
            assert one.wait(timeout=DEADLINE) == 0
        # What they said is more than a pipe takes. So nobody has waited for the output, and names outlive their processes.
        with shown.open("wb") as out:
            reader = running.add(subprocess.Popen(["cat"], stdin=output, stdout=out))
        # It dies with the mutex and the buffer while another one waits, whose text would be lost after ten seconds.
        holds = place.path / "holds"
        with holds.open("w") as out:
            dying = begin(SENDER, "die", out=out)
        wait_until(lambda: "holds" in holds.read_text(), "a sender with the buffer")
        waiting = begin(SENDER, "send", 4, 3)
        assert dying.wait(timeout=DEADLINE) == 3 and waiting.wait(timeout=DEADLINE) == 0
        # No end, and no such process.
        assert begin(SENDER, "endless").wait(timeout=DEADLINE) == 0
        assert begin(SENDER, "send", 5, 3).wait(timeout=DEADLINE) == 0
        wait_until(lambda: "5: 2" in shown.read_text(), "the last text")
        # The output is closed: the next text ends the monitor.
        output.close()
        reader.kill()
        reader.wait()
        assert begin(SENDER, "send", 6, 1).wait(timeout=DEADLINE) == 0
        assert monitor.process.wait(timeout=DEADLINE) == 0, monitor.errors.read_text()
    whole = shown.read_text().rpartition("\n")[0] + "\n"
    (place.path / "shown.jsonl").write_text(whole)
    fine(SILVERPOINT, "convert", place.path / "shown.jsonl", place.file)
    texts = [text.removesuffix("\\n") for text in place.texts("{process} {category} {message}")]
    for number, count in ((0, 200), (1, 200), (2, 200), (3, 200), (4, 3), (5, 3)):
        wanted = [f"debug_sender.exe debug_output {number}: {i}" for i in range(count)]
        assert [text for text in texts if f" {number}: " in text] == wanted, f"texts of sender {number}"
    assert "? debug_output " + 4092 * "n" in texts and len(texts) == 807, len(texts)


def test_the_debug_monitor_follows_one_that_was_killed(_):
    if has_no_rust():
        return SKIPPED
    place = Place("debug-monitors")
    with Running() as running:
        for number in range(2):
            running.begin(SENDER, "send", number, ENDLESS)
        for turn in range(2):
            monitor = Listening(running, place, turn)

            def both():
                assert monitor.listens()
                return {text[:2] for text in monitor.texts()} == {"0:", "1:"}
            wait_until(both, "texts of both senders")
            # While it waits for the next monitor, each sender keeps the objects that the first one has made.
            monitor.process.kill()
            monitor.process.wait()
            for sender in "01":
                numbers = [int(text[3:]) for text in monitor.texts() if text.startswith(f"{sender}: ")]
                assert numbers == sorted(set(numbers)), f"texts of sender {sender}"
            assert all(re.fullmatch(r"[01]: \d+", text) for text in monitor.texts()), "a text is mixed"


def test_the_debug_monitor_shows_sessions_and_others_in_one_stream(_):
    if has_no_rust():
        return SKIPPED
    place = Place("debug-one-stream")
    stop, said = place.path / "stop", place.path / "said"
    with Running() as running:
        # Its texts go to its session and to OutputDebugString in turns.
        with said.open("w") as out:
            command = ["wine", str(DEBUG_TEXTS), "both", str(stop), "loop"]
            program = running.add(subprocess.Popen(command, env=place.environment(SILVERPOINT_FILTER="off"), cwd=place.path, stdin=subprocess.DEVNULL, stdout=out))

        def living():
            rows = fine("wine", PROGRAM, "ls", "--json", "--no-sweep", env=place.environment()).splitlines()
            return [row["pid"] for row in map(json.loads, rows) if row["alive"]]
        wait_until(living, "a session")
        (pid,) = living()
        monitor = Listening(running, place, 0, pid, "debug_texts*")
        # Another process of the same name, which records from its first text on, and one that is not asked for.
        assert running.begin(SENDER, "send", "other", 3).wait(timeout=DEADLINE) == 0
        for name in ("early", "late"):
            done = place.wine("debug_texts.exe", "send", name, 50, SILVERPOINT_FILTER="debug_output=debug")
            assert done.returncode == 0, done
            monitor.wait_for(f"{name}: 49")
        wait_until(lambda: any(text.startswith("loop: ") and int(text[6:]) % 2 == 0 for text in monitor.texts()), "a text of the session")
        assert monitor.process.poll() is None, monitor.errors.read_text()
        stop.touch()
        assert program.wait(timeout=DEADLINE) == 0
        last = int(said.read_text()) - 1
        monitor.wait_for(f"loop: {last}")
        monitor.wait_for(f"loop: {last - 1}")
        shown = monitor.texts()
    assert not any(text.startswith("other") for text in shown)
    for name in ("early", "late"):
        assert [text for text in shown if text.startswith(name)] == [f"{name}: {number}" for number in range(50)], shown
    # Each once, from the first that was seen on.
    for way in (0, 1):
        numbers = [number for number in map(int, (text[6:] for text in shown if text.startswith("loop: "))) if number % 2 == way]
        end = last if last % 2 == way else last - 1
        assert numbers == list(range(numbers[0], end + 1, 2)), f"way {way}, up to {end}: {numbers}"
    place_of = {text: number for number, text in enumerate(shown)}
    assert all(place_of[f"loop: {number}"] < place_of[f"loop: {number + 1}"] for number in range(0, last, 2) if f"loop: {number}" in place_of and f"loop: {number + 1}" in place_of)


def test_the_debug_monitor_in_a_console(_):
    if has_no_rust():
        return SKIPPED
    place = Place("debug-console")
    with Running() as running:
        console = Console(running, PROGRAM, "debug", "-o", "saved.silver", environment=place.environment(), cwd=place.path)
        console.wait_for("listens")

        def send(text):
            assert running.begin(SENDER, "send", text, 3).wait(timeout=DEADLINE) == 0
        send("one")
        assert re.search(r"\x1b\[\d*m", console.wait_for("one: 2"))
        # Another key does nothing.
        console.press(b"x")
        send("two")
        console.wait_for("two: 2")
        console.press(b" ")
        console.wait_for("paused")
        send("three")
        assert "three" not in console.read(), console.shown
        console.press(b" ")
        console.wait_for("three: 2")
        # It stands still, and has the texts all the same.
        console.press(b" ")
        console.wait_for("paused")
        send("four")
        console.press(b"q")
        console.wait_for("four: 2")
        assert console.process.wait(timeout=DEADLINE) == 0, console.read()
        console.close()
    saved = fine(SILVERPOINT, "cat", "--pattern", "{process} {message}", place.path / "saved.silver").splitlines()
    assert saved == [f"debug_sender.exe {word}: {number}\\n" for word in ("one", "two", "three", "four") for number in range(3)], saved
