"""Tests of `scripts/windows`: the program on Windows shows what programs do while they do it: `debug`, `top`, `view`, `convert PID`, `ctl --dump`."""

import http.client
import json
import re
import shutil
import urllib.parse

from __main__ import (
    DEADLINE, OUT, PROGRAM, SILVERPOINT, SKIPPED, Endless, Place, Running, fine, has_no_rust, run, wait_until)
from under_wine.debug_monitor import DEBUG_TEXTS
from under_wine.started import Console, Listening, Started, living, messages, ours

RECORDS = OUT / "records.exe"


def sender(running, place, name, count, **environment):
    """A program that has made so many debug texts, and makes one more when the file is there. Gives the file."""
    go = place.path / f"go-{name}"
    program = Started(running, place, name, DEBUG_TEXTS, "send", name, count, go, **environment)
    program.wait_for(lambda: program.lines() == ["returned"], "all texts")
    return program, go


def test_debug_shows_and_saves_the_debug_output_of_our_programs(_):
    if has_no_rust():
        return SKIPPED
    place = Place("debug-verb")
    stop = place.path / "stop"
    with Running() as running:
        program = Started(running, place, "program", DEBUG_TEXTS, "until", stop, "loop", SILVERPOINT_FILTER="off")
        program.wait_for(lambda: living(place), "a session")
        (pid,) = living(place)
        # It is off: only what comes while a monitor is there is shown.
        monitor = Started(running, place, "monitor", PROGRAM, "debug", "--json", "-o", "saved.silver", pid)
        monitor.wait_for(lambda: len(monitor.lines()) > 20, "texts")
        assert not (place.path / "saved.silver").exists(), "a file that is not complete"
        assert "debug_output=debug" in ours(place, "ctl", pid).stdout
        # Another one shows all programs, and filters.
        other = Started(running, place, "other", PROGRAM, "debug", "--sessions", "--json", "--grep", "7")
        other.wait_for(other.lines, "a text with a seven")
        stop.touch()
        program.end()
        monitor.end()
        last = int(program.out.read_text()) - 1
        shown = messages(monitor.lines())
        first = int(shown[0].removeprefix("loop: "))
        assert shown == [f"loop: {number}" for number in range(first, last + 1)], f"{first} to {last}: {shown}"
        assert all("7" in text for text in messages(other.lines())), other.lines()
    assert messages(fine(SILVERPOINT, "cat", "--json", place.path / "saved.silver").splitlines()) == shown
    again = ours(place, "debug", "-o", "saved.silver")
    assert again.returncode == 1 and "--force" in again.stderr, again
    assert ours(place, "debug", pid).returncode == 6


def test_debug_pauses_and_ends_at_a_key(_):
    if has_no_rust():
        return SKIPPED
    place = Place("debug-keys")
    with Running() as running:
        first, go = sender(running, place, "one", 3, SILVERPOINT_FILTER="off")
        (pid,) = living(place)
        before = ours(place, "ctl", pid).stdout
        console = Console(running, PROGRAM, "debug", "--color", "never", "-o", "saved.silver", environment=place.environment(), cwd=place.path)
        # All programs, by another monitor that says what the first one must have seen.
        seen = Started(running, place, "seen", PROGRAM, "debug", "--sessions", "--json")
        wait_until(lambda: "debug_output" in ours(place, "ctl", pid).stdout, "debug output that is on")
        # It was off before.
        go.touch()
        console.wait_for("one: 3")
        console.press(b" ")
        console.wait_for("paused")
        second, go = sender(running, place, "two", 3, SILVERPOINT_FILTER="trace")
        seen.wait_for(lambda: "two: 2" in messages(seen.lines()), "the second program's texts")
        assert "two: " not in console.read(), console.shown
        console.press(b" ")
        console.wait_for("goes on")
        console.wait_for("two: 2")
        console.press(b"q")
        assert console.process.wait(timeout=DEADLINE) == 0, console.read()
        (pid,) = set(living(place)) - {pid}
        wait_until(lambda: (place.path / "saved.silver").exists(), "the file")
        go.touch()
        second.end()
        seen.wait_for(lambda: "two: 3" in messages(seen.lines()), "the last text")
        console.close()
    assert before.endswith(": off\n"), before
    saved = messages(fine(SILVERPOINT, "cat", "--json", place.path / "saved.silver").splitlines())
    assert saved == ["one: 3", "two: 0", "two: 1", "two: 2"], saved


def test_top_counts_what_sites_and_threads_record(_):
    if has_no_rust():
        return SKIPPED
    place = Place("top")
    with Running() as running:
        top = Started(running, place, "top", PROGRAM, "top", "--json", "-i", "100ms")
        # The first table stands for the first look: what begins later is counted from its first record.
        top.wait_for(top.lines, "the first table")
        _, go = sender(running, place, "texts", 1234, SILVERPOINT_FILTER="trace")

        def last():
            table = json.loads(top.lines()[-1])
            assert table["unseen_bytes"] == 0 and not any(table["losses"].values()), table
            return table
        top.wait_for(lambda: last()["records"] == 1234, "all records")
        assert [row["records"] for row in last()["sites"]] == [1234], last()
        go.touch()
        top.wait_for(lambda: last()["records"] == 1235, "the last record")
        (pid,) = {json.loads(line)["pid"] for line in ours(place, "ls", "--json", "--no-sweep").stdout.splitlines()}
        assert ours(place, "top", pid, "-n", 1).returncode == 6
    # Of a file, as on Linux.
    assert place.wine("records.exe", 2, 500).returncode == 0
    place.recover()
    for view in ("sites", "threads"):
        tables = [json.loads(fine(*command, "top", "--json", "--view", view, "-n", 1, place.file.name, cwd=place.path)) for command in ([SILVERPOINT], ["wine", PROGRAM])]
        counts = [sorted((row["name"], row["records"], row["bytes"]) for row in table[view]) for table in tables]
        assert counts[0] == counts[1] and sum(records for _, records, _ in counts[0]) == tables[0]["records"] == tables[1]["records"] > 4001, tables


def test_top_in_a_console(_):
    if has_no_rust():
        return SKIPPED
    place = Place("top-console")
    with Running() as running, Endless(place, False, SILVERPOINT_FILTER="trace") as program:
        program.wait_for(100)
        console = Console(running, PROGRAM, "top", environment=place.environment(), cwd=place.path)
        console.wait_for("SITE")
        console.press(b"h")
        console.wait_for("any key goes back")
        console.press(b"x")
        # (A console draws what differs alone.)
        console.press(b"/")
        console.wait_for("filter:")
        console.press(b"\r")
        console.press(b"q")
        assert console.process.wait(timeout=DEADLINE) == 0, console.read()
        console.close()


class Viewer:
    """A server of `view`, and who asks it as the page does."""

    def __init__(self, running, place, *command):
        self.program = Started(running, place, f"view-{command[0].name}", *command)
        self.program.wait_for(self.program.lines, "an address")
        address = urllib.parse.urlsplit(self.program.lines()[0])
        self.host = address.netloc
        status, headers, _ = self.ask("GET", f"/?{address.query}", {})
        assert status == 200, status
        self.cookie = headers["Set-Cookie"].split(";")[0]

    def ask(self, method, path, headers, body=None):
        connection = http.client.HTTPConnection(self.host, timeout=DEADLINE)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        given = (answer.status, answer.headers, answer.read().decode())
        connection.close()
        return given

    def get(self, path):
        status, _, body = self.ask("GET", path, {"Cookie": self.cookie})
        assert status == 200, (path, status, body)
        return json.loads(body)

    def finished(self, path):
        """The answer that does not change any more."""
        answers = []

        def is_finished():
            answers.append(self.get(path))
            return answers[-1]["progress"]["state"] == "finished"
        wait_until(is_finished, f"{path}: all that is read")
        return answers[-1]


def test_view_answers_as_linuxs_does(_):
    if has_no_rust():
        return SKIPPED
    place = Place("view")
    assert place.wine("records.exe", 2, 500).returncode == 0
    place.recover()
    asked = ["tracks", "sites", "records?from=0&count=500", "records?from=2500&count=500", "records?last=1&count=500&filter=-l+info", "record?number=17"]
    with Running() as running:
        said = []
        for program in (SILVERPOINT, PROGRAM):
            viewer = Viewer(running, place, program, "view", "--no-open", place.file.name)
            trace = viewer.finished("/api/trace")
            assert sum(trace["levels"]) > 4000 and trace["lost"] == "0" and not trace["messages"], trace
            for name in asked:
                # Each filter is read for itself.
                viewer.finished(f"/api/{name}")
            ranged = f"filter=&from={trace['begin']}&to={trace['end']}"
            answers = [viewer.finished(f"/api/{name}") for name in asked] + [viewer.finished(f"/api/histogram?{ranged}&parts=100")]
            said.append(([trace[key] for key in ("title", "begin", "end", "tracks", "sites", "levels", "can")], answers))
            # Others see nothing.
            assert viewer.ask("GET", "/api/trace", {})[0] == 403
            assert viewer.ask("GET", "/api/trace", {"Cookie": viewer.cookie, "Origin": "http://evil.example"})[0] == 403
        assert said[0] == said[1], said
        ended = Started(running, place, "idle", PROGRAM, "view", "--no-open", "--idle", "100ms", place.file.name)
        ended.end()
        assert ended.lines()[0].startswith("http://127.0.0.1:"), ended.lines()
    assert ours(place, "view", "--no-open", "missing.silver").returncode == 1


def test_view_switches_sites_of_a_program_that_runs(_):
    if has_no_rust():
        return SKIPPED
    place = Place("view-living")
    with Running() as running, Endless(place, False, SILVERPOINT_FILTER="off") as program:
        program.wait_for(100)
        (pid,) = living(place)
        viewer = Viewer(running, place, PROGRAM, "view", "--no-open", pid)
        assert viewer.get("/api/trace")["live"]
        headers = {"Cookie": viewer.cookie, "Origin": f"http://{viewer.host}"}
        status, _, body = viewer.ask("POST", "/api/switches", headers, "windows=info")
        assert status == 200 and json.loads(body)["processes"][0]["pid"] == pid, (status, body)
        wait_until(lambda: sum(viewer.get("/api/trace")["levels"]) > 1000, "records as they come")
        assert viewer.ask("POST", "/api/switches", headers, "off")[0] == 200
        assert ours(place, "ctl", pid).stdout.endswith(": off\n")
        rows = viewer.get("/api/records?from=0&count=100")["rows"]
        assert len(rows) == 100 and all(re.match("numbers|text of", row["message"]) for row in rows), rows


def test_the_program_converts_living_sessions(_):
    if has_no_rust():
        return SKIPPED
    place = Place("ours-converts")
    wanted = [f"text: {number}" for number in range(101)]
    with Running() as running:
        program, go = sender(running, place, "text", 100, SILVERPOINT_FILTER="trace")
        (pid,) = living(place)
        done = ours(place, "convert", pid, "-", "--to", "jsonl")
        assert done.returncode == 0 and messages(done.stdout.splitlines()) == wanted[:100], done
        # By its name, to a file; it is there at the end.
        assert ours(place, "convert", "debug_texts*", "present.silver").returncode == 0
        following = Started(running, place, "following", PROGRAM, "convert", "--follow", pid, "all.jsonl")
        following.wait_for(lambda: list(place.path.glob("all.jsonl.*")), "a file that is being made")
        go.touch()
        program.end()
        following.end()
        assert messages((place.path / "all.jsonl").read_text().splitlines()) == wanted
        assert ours(place, "convert", pid, "-", "--to", "jsonl").returncode == 6
    assert messages(fine(SILVERPOINT, "cat", "--json", place.path / "present.silver").splitlines()) == wanted[:100]


def test_the_program_writes_what_it_keeps_back(_):
    if has_no_rust():
        return SKIPPED
    place = Place("ours-dumps")

    def stored():
        return messages(fine(SILVERPOINT, "cat", "--json", place.file).splitlines())
    for kept in (["--backtrace"], []):
        with Running() as running:
            go = place.path / f"go-{len(kept)}"
            words = ["run", *kept, "--filter", "trace", "-q", "-o", place.file.name, "--", DEBUG_TEXTS, "send", "text", 100, go]
            program = Started(running, place, f"run-{len(kept)}", PROGRAM, *words)
            program.wait_for(lambda: program.lines() == ["returned"], "all texts")
            (pid,) = living(place)
            done = ours(place, "ctl", pid, "--dump")
            if kept:
                assert done.returncode == 0 and "the kept records are written" in done.stdout, done
                assert stored() == [f"text: {number}" for number in range(100)]
            else:
                assert done.returncode == 1 and "without --backtrace" in done.stderr and not done.stdout, done
            go.touch()
            program.end()
    assert stored() == [f"text: {number}" for number in range(101)]
    with Endless(place, False, SILVERPOINT_FILTER="off") as program:
        program.wait_for(10)
        done = ours(place, "ctl", "records.exe", "--dump")
        assert done.returncode == 1 and "`silverpoint run` does not collect it" in done.stderr, done


def test_the_doctor_examines_windows(_):
    if has_no_rust():
        return SKIPPED
    place = Place("doctor")

    def findings(*arguments, code=0, **environment):
        done = run("wine", PROGRAM, "doctor", "--json", *arguments, env=place.environment(**environment), cwd=place.path)
        assert done.returncode == code, done
        return {finding["check"]: finding for finding in json.loads(done.stdout)["findings"]}

    root = findings()["sessions.root"]
    assert root["state"] == "ok" and "will hold" in root["found"], root
    assert "missing" in findings(code=7, SILVERPOINT_DIR=str(place.path / "no/where"))["sessions.root"]["found"]
    (place.path / "file").write_text("")
    assert findings(code=7, SILVERPOINT_DIR=str(place.path / "file"))["sessions.root"]["state"] == "fail"
    assert place.wine("records.exe", 1, 10).returncode == 0
    (session,) = place.sessions()
    wait_until(lambda: not living(place), "its end")
    found = findings(RECORDS)
    assert found["sessions.root"]["found"].endswith("holds the sessions") and "free in" in found["sessions.space"]["found"], found
    assert found["sessions.dead"]["state"] == "warn" and session.name in found["sessions.dead"]["found"], found
    assert found["sessions.version"]["state"] == found["program.kind"]["state"] == "ok", found
    assert place.sessions() == [session], "the doctor changes nothing"
    # Of another version.
    with (session / "control").open("r+b") as control:
        control.seek(8)
        control.write(b"\x09")
    assert "version 9.0" in findings(code=7)["sessions.version"]["found"]
    shutil.rmtree(session)
    # A file that is not a program, and a program for 32 bits.
    content = bytearray(RECORDS.read_bytes()[:4096])
    (place.path / "cut.exe").write_bytes(content[:62])
    at = int.from_bytes(content[60:64], "little")
    content[at + 4 : at + 6] = b"\x4c\x01"
    (place.path / "other.exe").write_bytes(content)
    for name, text in (("cut.exe", "no program for Windows"), ("other.exe", "machine 0x014c"), ("missing.exe", "missing.exe: ")):
        assert text in findings(name, code=7)["program.kind"]["found"], name
    # ETW, which nobody has asked for, and then for a library.
    assert found["tracers.etw"]["state"] == "ok" and findings(RECORDS, SILVERPOINT_PROBES="etw")["tracers.etw"]["state"] == "warn"
    assert findings(SILVERPOINT_PROBES="etw", SILVERPOINT_ETW_LIBRARY=str(RECORDS))["tracers.etw"]["state"] == "ok"
    assert found["debug.monitor"]["found"].startswith("no debug monitor"), found
    with Running() as running:
        Listening(running, place)
        assert findings()["debug.monitor"]["found"].startswith("a debug monitor")
    text = run("wine", PROGRAM, "doctor", "--quiet", env=place.environment(), cwd=place.path)
    assert text.returncode == 0 and text.stdout.splitlines()[-1].endswith(" 0 warn, 0 fail"), text
