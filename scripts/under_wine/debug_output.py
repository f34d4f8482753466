"""Tests of `scripts/windows`: debug output of C++, to debuggers and to monitors."""

import os
import re
import signal

from __main__ import DEADLINE, OUT, ROOT, SKIPPED, Place, Running, fine, has_no_rust, wait_until
from under_wine.debug_monitor import DEBUG_TEXTS, SENDER
from under_wine.started import Listening


def test_debug_output_asks_nothing_where_nobody_listens(_):
    assert Place("debug-nobody").wine("debug_seam.exe").stdout.split("\n")[0] == "at load 1, within a second 0, once a second 5, others 0"


def test_debug_output_in_a_debugger(_):
    place = Place("debugger")
    done = place.wine("debugger.exe", DEBUG_TEXTS, "kinds")
    # (Wine 8 hands wide texts to debuggers in the system's code page.)
    above = done.stdout.splitlines()[9:10]
    assert above in (["above \U0001F600"], ["above ??"]), above
    kinds = ["narrow ä€", "wide ä€", "eight ä€", "sixteen ä€", "thirty-two ä€", "page ä€", "zero", "", "", *above, 5000 * "w", "last", "", "exit 0"]
    assert done.stdout.splitlines() == kinds, done.stdout + done.stderr
    # Records, too, and as they were given.
    place.recover()
    assert [text for text in place.texts() if text.startswith("zero")] == ["zero\\x00behind"] and len(place.texts()) == 12, place.texts()


def test_debug_output_goes_to_a_monitor(_):
    if has_no_rust():
        return SKIPPED
    place = Place("debug-output")
    # With a filter first, then everything.
    with Running() as running:
        monitor = Listening(running, place, "filtered", "--grep", ": 1", "debug_*")
        for program, number in ((SENDER, "sent"), (DEBUG_TEXTS, "texts"), (DEBUG_TEXTS, "last")):
            assert running.begin(program, "send", number, 2).wait(timeout=DEADLINE) == 0
        monitor.wait_for("last: 1")
        assert monitor.texts() == ["sent: 1", "texts: 1", "last: 1"], monitor.texts()
    with Running() as running:
        monitor = Listening(running, place)
        # Everything is off: debuggers and monitors get it all the same.
        for number in (0, 1):
            running.begin(DEBUG_TEXTS, "four", number, 100)
        for program in running.programs[1:]:
            assert program.wait(timeout=DEADLINE) == 0
        assert running.begin(DEBUG_TEXTS, "kinds").wait(timeout=DEADLINE) == 0
        # A DLL that is unloaded delivers first.
        assert running.begin(OUT / "host.exe", OUT / "debug_plugin.dll", 20).wait(timeout=DEADLINE) == 0
        assert running.begin(SENDER, "send", "end", 1).wait(timeout=DEADLINE) == 0
        monitor.wait_for("end: 0")
        texts = monitor.texts()
    for thread in [f"{number}{thread}" for number in (0, 1) for thread in range(4)]:
        assert [text for text in texts if text.startswith(f"{thread}: ")] == [f"{thread}: {i}" for i in range(100)], f"texts of {thread}"
    kinds = texts[800:812]
    assert kinds[:5] == ["narrow ä€", "wide ä€", "eight ä€", "sixteen ä€", "thirty-two ä€"], kinds
    assert kinds[5:9] == ["page ä€", "zero", "", ""] and kinds[9].startswith("above "), kinds
    # A long text is several messages.
    assert kinds[10:] == [4067 * "w", 933 * "w"] and texts[812] == "last", kinds
    assert texts[813:] == [f"plugin {time}" for i in range(20) for time in (i, -i)] + ["end: 0"], texts[813:]


def test_debug_output_waits_for_no_monitor(_):
    if has_no_rust():
        return SKIPPED
    place = Place("debug-stands-still")
    go, said = place.path / "go", place.path / "said"
    # More than the queue takes: 1 MiB.
    count = 50_000
    with Running() as running:
        monitor = Listening(running, place)
        os.kill(monitor.process.pid, signal.SIGSTOP)
        with said.open("w") as out:
            program = running.begin(DEBUG_TEXTS, "send", "still", count, go, out=out)
        wait_until(lambda: "returned" in said.read_text(), "the end of all calls")
        assert program.poll() is None and monitor.texts() == []
        os.kill(monitor.process.pid, signal.SIGCONT)
        dropped = re.compile(r"silverpoint: (\d+) texts of debug output were dropped")
        wait_until(lambda: "were dropped" in monitor.shown.read_text(), "the count of what was dropped")
        go.touch()
        assert program.wait(timeout=DEADLINE) == 0
        monitor.wait_for(f"still: {count}")
        texts = monitor.texts()
    numbers = [int(text[7:]) for text in texts if text.startswith("still: ")]
    lost = [int(found[1]) for found in map(dropped.match, texts) if found]
    assert numbers == sorted(set(numbers)) and sum(lost) + len(numbers) == count + 1 and len(numbers) + len(lost) == len(texts), (len(numbers), lost)
    # It begins with what had room, up to the place where the count is.
    assert numbers[:5000] == list(range(5000)), numbers[:10]


def test_debug_output_finds_monitors_that_come_and_go(_):
    if has_no_rust():
        return SKIPPED
    place = Place("debug-come-and-go")
    stop, said = place.path / "stop", place.path / "said"
    with Running() as running:
        with said.open("w") as out:
            program = running.begin(DEBUG_TEXTS, "until", stop, "loop", out=out)
        for turn in range(2):
            monitor = Listening(running, place, turn)
            wait_until(lambda: monitor.listens() and len(monitor.texts()) > 20, "texts")
            if turn == 0:
                monitor.process.kill()
                monitor.process.wait()
        stop.touch()
        assert program.wait(timeout=DEADLINE) == 0
        last = int(said.read_text()) - 1
        monitor.wait_for(f"loop: {last}")
        for turn in range(2):
            monitor.shown = place.path / f"shown-{turn}.jsonl"
            numbers = [int(text[6:]) for text in monitor.texts()]
            assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), f"monitor {turn}: {numbers[:50]}"
        assert numbers[-1] == last


def test_the_bench_works(_):
    if has_no_rust():
        return SKIPPED
    # (Cargo needs its own home directory.)
    environment = os.environ | {"WINEPREFIX": str(OUT / "prefix")}
    assert fine(ROOT / "bench/windows", "--smoke", "--build", OUT / "bench", env=environment) == "windows: 10 rows work\n"
