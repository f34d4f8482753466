"""Tests of `scripts/windows`: the program on Windows collects from programs that run, follows collectors that were killed, and stores what dead programs have left."""

import json
import os
import random
import re
import signal
import subprocess
from pathlib import Path

from __main__ import (
    DEADLINE, ENDLESS, OUT, PROGRAM, SILVERPOINT, SKIPPED, THREADS, Endless, Place, check_each_once, fine, has_no_rust, read_progress, rounds_of,
    switch_sites, wait_until)
from under_wine.started import ours

RECORDS = OUT / "records.exe"


def begin(place, name, *arguments):
    """Starts it; what it says goes to a file of this name."""
    with (place.path / name).open("w") as to:
        return subprocess.Popen(["wine", str(PROGRAM), *map(str, arguments)], env=place.environment(), cwd=place.path, stdin=subprocess.DEVNULL, stdout=to, stderr=to)


def recover(place, what="--all"):
    """Stores dead sessions, as soon as Wine's server has let go of their locks."""
    wait_until(lambda: '"alive":true' not in ours(place, "ls", "--json", "--no-sweep").stdout, "the end of the programs")
    return ours(place, "recover", what, "-o", place.file.name)


def pid_of(place):
    """Windows's number of the one program that has a session."""
    (session,) = place.sessions()
    return session.name.split("-")[0]


def processes_with(words, within):
    """Processes of Linux whose command line has all these words, in a directory."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            command = (process / "cmdline").read_bytes().split(b"\0")
            if process.name.isdigit() and all(word.encode() in command for word in words) and str(within).encode() in b" ".join(command).replace(b"\\", b"/"):
                found.append(int(process.name))
        except OSError:
            continue
    return found


def test_the_program_recovers_what_a_dead_one_left(_):
    if has_no_rust():
        return SKIPPED
    place = Place("ours-recovers")
    assert place.wine("records.exe", 4, 1000).returncode == 0
    pid = pid_of(place)
    kept = ours(place, "recover", pid, "--keep", "-o", "kept.silver")
    assert kept.returncode == 0 and place.sessions(), kept
    done = recover(place, pid)
    assert (done.returncode, done.stdout) == (0, ""), done
    for file in (place.file, place.path / "kept.silver"):
        assert rounds_of(fine(SILVERPOINT, "cat", "--pattern", "{message}", file).splitlines(), 4) == [list(range(1000))] * 4
    # Byte for byte what the program of Linux says of it.
    assert fine(SILVERPOINT, "stats", place.file.name, cwd=place.path) == ours(place, "stats", place.file.name).stdout
    assert place.sessions() == [], "recovered, and still there"
    assert ours(place, "recover", pid).returncode == 6
    assert "no dead sessions" in ours(place, "recover", "--all").stderr


def test_the_program_runs_a_command(_):
    if has_no_rust():
        return SKIPPED
    place = Place("ours-runs")
    done = ours(place, "run", "--policy", "block=forever", "-o", place.file.name, "--", RECORDS, 4, 20_000)
    assert done.returncode == 0 and "240,001 records in " in done.stderr and "no losses" in done.stderr, done
    assert rounds_of(place.texts(), 4) == [list(range(20_000))] * 4
    assert place.sessions() == [], place.sessions()
    # What a command cannot be, and its own exit code.
    for command, code in (("missing", 127), (".\\missing", 127)):
        assert ours(place, "run", "--", command).returncode == code, command
    assert ours(place, "run", "-q", "-o", "code.silver", "--", "cmd", "/c", "exit 9").returncode == 9


def test_the_program_shows_records_as_they_come(_):
    if has_no_rust():
        return SKIPPED
    place = Place("ours-echoes")
    done = ours(place, "run", "--echo", "-q", "--filter", "windows=info", "-o", place.file.name, "--", RECORDS, 2, 50)
    assert done.returncode == 0, done
    shown = [re.search(r"windows  (.*?)   records\.cpp", line) for line in done.stderr.splitlines()]
    assert rounds_of([line[1] for line in shown if line], 2) == [list(range(50))] * 2, done.stderr


def test_the_program_begins_new_parts(_):
    if has_no_rust():
        return SKIPPED
    place = Place("ours-rotates")
    done = ours(place, "run", "--policy", "block=forever", "--rotate-size", "64K", "-o", place.file.name, "--", RECORDS, 4, 3000)
    assert done.returncode == 0 and "no losses" in done.stderr and "moved" not in done.stderr, done
    parts = sorted(place.path.glob("out.*.silver"))
    assert len(parts) > 3 and all(part.stat().st_size < 1 << 20 for part in parts), parts
    assert rounds_of(place.texts(), 4) == [list(range(3000))] * 4
    assert "intact" in fine(SILVERPOINT, "stats", place.file)
    # An existing file is replaced, if it is a trace; its parts are not touched.
    other = place.path / "text"
    other.write_text("text")
    assert ours(place, "run", "-q", "-o", other.name, "--", RECORDS, 1, 1).returncode == 125 and other.read_text() == "text"
    assert ours(place, "run", "-q", "-o", place.file.name, "--", RECORDS, 1, 1).returncode == 0
    assert rounds_of(fine(SILVERPOINT, "cat", "--only", "--pattern", "{message}", place.file).splitlines(), 1) == [[0]]


def test_terminated_beside_the_programs_collector(rounds):
    if has_no_rust():
        return SKIPPED
    for number in range(rounds):
        place = Place(f"ours-terminated-{number}")
        done = ours(place, "run", "--policy", "block=forever", "-o", place.file.name, "--", RECORDS, THREADS, ENDLESS, "progress", random.randint(1, 6000))
        assert done.returncode == 3, f"exit {done.returncode}: {done.stderr}"
        known = rounds_of(place.texts(), THREADS)
        progress = read_progress(place.path / "progress", THREADS)
        check_each_once([numbers for numbers in known if numbers], [count for numbers, count in zip(known, progress) if numbers], True)
        assert all(numbers or count == 0 for numbers, count in zip(known, progress))


def test_the_programs_collector_is_killed(rounds):
    if has_no_rust():
        return SKIPPED
    for number in range(rounds):
        place = Place(f"ours-killed-{number}")
        running = begin(place, "log", "run", "--policy", "block=forever", "-o", place.file.name, "--", RECORDS, THREADS, ENDLESS, "progress", random.randint(6000, 9000))
        collectors = []
        for _ in range(2):
            def new_one():
                collectors.extend(set(processes_with(["collect"], place.root)) - set(collectors))
                return len(collectors) > known or running.poll() is not None
            known = len(collectors)
            wait_until(new_one, "a collector")
            # The second may be so quick that all is stored before it is seen.
            if len(collectors) == known:
                break
            # At any moment of its life: it begins, stores or takes over.
            file = place.file
            most = random.randrange(200_000)
            wait_until(lambda: running.poll() is not None or file.exists() and file.stat().st_size > most, "a file that grows")
            try:
                os.kill(collectors[-1], signal.SIGKILL)
            except ProcessLookupError:
                break
        assert running.wait(timeout=DEADLINE) == 3, (place.path / "log").read_text()
        assert "was started again; no records were lost" in (place.path / "log").read_text(), (place.path / "log").read_text()
        check_each_once(rounds_of(place.texts(), THREADS), read_progress(place.path / "progress", THREADS), True)
        assert place.sessions() == [], place.sessions()


def test_the_program_attaches(_):
    if has_no_rust():
        return SKIPPED
    place = Place("ours-attaches")
    with Endless(place, False, SILVERPOINT_FILTER="off") as program:
        program.wait_for(100)
        pid = pid_of(place)
        directives = ours(place, "ctl", pid).stdout
        done = ours(place, "attach", pid, "--filter", "trace", "--for", "300ms", "-o", "first.silver")
        assert done.returncode == 0 and "no losses" in done.stderr, done
        assert ours(place, "ctl", pid).stdout == directives, "the directives stay changed"
        attached = begin(place, "attach-log", "attach", pid, "--filter", "trace", "-o", place.file.name)
        wait_until(lambda: place.file.exists() and place.file.stat().st_size > 100_000, "a file that grows")
        second = ours(place, "attach", pid, "-o", "second.silver")
        assert second.returncode == 1 and "already collects it" in second.stderr, second
        program.wait_for(sum(program.rounds()) + 500)
    # It was killed: so the attachment ends, and has everything.
    assert attached.wait(timeout=DEADLINE) == 0, (place.path / "attach-log").read_text()
    assert "no losses" in (place.path / "attach-log").read_text()
    check_each_once(rounds_of(place.texts(), THREADS, are_alike=False), program.rounds(), False)
    assert place.sessions() == [], place.sessions()
    assert ours(place, "attach", pid).returncode == 6


def test_a_session_is_as_before_when_who_attached_is_killed(_):
    if has_no_rust():
        return SKIPPED
    place = Place("ours-restores")
    with Endless(place, False, SILVERPOINT_FILTER="off") as program:
        program.wait_for(100)
        pid = pid_of(place)
        before = ours(place, "ctl", pid).stdout
        attached = begin(place, "attach-log", "attach", pid, "--filter", "trace", "-o", place.file.name)
        wait_until(lambda: place.file.exists() and place.file.stat().st_size > 10_000, "a file that grows")
        (worker,) = processes_with(["attach", "--worker", pid], place.file.name)
        os.kill(worker, signal.SIGKILL)
        attached.wait(timeout=DEADLINE)
        assert ours(place, "ctl", pid).stdout == before, (place.path / "attach-log").read_text()


def test_the_program_switches_sites(_):
    if has_no_rust():
        return SKIPPED
    switch_sites(Place("ours-switches"), "wine", PROGRAM)


def test_the_program_looks_at_living_sessions(_):
    if has_no_rust():
        return SKIPPED
    place = Place("ours-looks")
    with Endless(place, False, SILVERPOINT_FILTER="trace") as program:
        program.wait_for(500)
        pid = pid_of(place)
        (row,) = [json.loads(line) for line in ours(place, "ls", "--json").stdout.splitlines()]
        assert row["alive"] and str(row["pid"]) == pid, row
        last = ours(place, "tail", "-q", "-n", 5, "--pattern", "{message}", pid)
        texts = last.stdout.splitlines()
        assert last.returncode == 0 and len(texts) == 5 and all(re.match("numbers|text of|round", text) for text in texts), last
        sites = ours(place, "sites", pid)
        assert sites.returncode == 0 and "numbers {} {} {}" in sites.stdout, sites
        following = begin(place, "followed", "tail", "-f", "-q", "-n", 1, "--pattern", "{message}", "-l", "info", pid)
        wait_until(lambda: (place.path / "followed").stat().st_size > 10_000, "records as they come")
    assert following.wait(timeout=DEADLINE) == 0
    known = rounds_of((place.path / "followed").read_text().splitlines(), THREADS, are_alike=False)
    for numbers in filter(None, known):
        # (The program may overwrite what a slow reader has not copied yet.)
        assert numbers == sorted(set(numbers)), "a record is shown twice, or out of order"
    assert any(known)
    # Who only looks takes nothing: all is there that the program has not overwritten.
    done = recover(place)
    assert done.returncode in (0, 5), done
    for numbers, count in zip(rounds_of(place.texts(), THREADS), program.rounds()):
        assert numbers == sorted(set(numbers)) and count <= numbers[-1] + 1 <= count + 1, (count, numbers[-1])
