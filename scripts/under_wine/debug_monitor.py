"""Tests of `scripts/windows`: `silverpoint debug` takes what programs give to OutputDebugString."""

import json
import re
import subprocess

from __main__ import (
    DEADLINE, ENDLESS, OUT, PROGRAM, SILVERPOINT, SKIPPED, Place, Running, fine, has_no_rust, wait_until)
from under_wine.started import Console, Listening, Started, living, messages, ours

SENDER, DEBUG_TEXTS = OUT / "debug_sender.exe", OUT / "debug_texts.exe"


def test_the_debug_monitor(_):
    if has_no_rust():
        return SKIPPED
    place = Place("debug-monitor")
    shown = place.path / "shown"
    with Running() as running:
        begin = running.begin
        monitor = Listening(running, place, out=subprocess.PIPE)
        output = monitor.process.stdout
        second = ours(place, "debug")
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
    stop = place.path / "stop"
    with Running() as running:
        # Its texts go to its session and to OutputDebugString in turns.
        program = Started(running, place, "program", DEBUG_TEXTS, "both", stop, "loop", SILVERPOINT_FILTER="off")
        program.wait_for(lambda: living(place), "a session")
        (pid,) = living(place)
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
        program.end()
        last = int(program.out.read_text()) - 1
        monitor.wait_for(f"loop: {last}")
        monitor.wait_for(f"loop: {last - 1}")
        lines = monitor.lines()
    shown = messages(lines)
    assert not any(text.startswith("other") for text in shown), shown
    for name in ("early", "late"):
        assert [text for text in shown if text.startswith(name)] == [f"{name}: {number}" for number in range(50)], shown
    # Each once, from the first that was seen on. Until the session records them, its texts take the way through a
    # queue. Later ones that take another way may be before these.
    loop = [(int(text[6:]), json.loads(line)["tid"] != 0) for text, line in zip(shown, lines) if text.startswith("loop: ")]
    for way in (0, 1):
        numbers = sorted(number for number, _ in loop if number % 2 == way)
        end = last if last % 2 == way else last - 1
        assert numbers == list(range(numbers[0], end + 1, 2)), f"way {way}, up to {end}: {loop}"
    of_session = [number for number, is_of_session in loop if is_of_session]
    assert of_session == list(range(of_session[0], of_session[-1] + 1, 2)) and of_session[-1] >= last - 1, f"up to {last}: {loop}"
    place_of = {number: place for place, (number, _) in enumerate(loop)}
    wrong = [number for number in of_session if place_of.get(number + 1, len(loop)) < place_of[number]]
    assert not wrong, f"{wrong} before what follows them: {loop}"


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
