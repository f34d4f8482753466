"""What is recorded from Python comes out as it went in, of a process that lives."""

from __future__ import annotations

import itertools
import logging
import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import silverpoint
from silverpoint.recording import translate

# Generous: what is late by this never comes.
PATIENCE = 300


@pytest.fixture
def session_root(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A directory of sessions for one test."""
    root = tmp_path / "sessions"
    root.mkdir(mode=0o700)
    for name in [name for name in os.environ if name.startswith("SILVERPOINT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SILVERPOINT_DIR", str(root))
    return root


class Program:
    """A Python program that records, says that it has, and waits to be told to end."""

    def __init__(self, script: str, filter: str = "trace") -> None:
        whole = f"import logging, sys, threading, silverpoint\n{script}\nprint('ready', flush=True)\nsys.stdin.read()\n"
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", whole],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "SILVERPOINT_FILTER": filter},
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    def records(self, **words: Any) -> Iterator[silverpoint.Record]:
        return silverpoint.follow(pid=self.process.pid, timeout=PATIENCE, **words)

    def end(self) -> None:
        self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()


def test_logging(session_root: pathlib.Path) -> None:
    script = """
log = logging.getLogger("net.tcp")
log.setLevel(1)
log.addHandler(silverpoint.Handler())
log.propagate = False
log.info("order %d at %.2f for %s", 7, 3.14159, "ada")
log.warning("named %(user)s has %(count)05d", {"user": "bob", "count": 42})
log.debug("braces {} stay, 100%% of them", extra={})
log.error("with more", extra={"retries": 3, "who": {"id": [1, 2]}})
def fail():
    raise ValueError("no good")
try:
    fail()
except ValueError:
    log.exception("failed in %s", "fail")
log.critical("%s and %s", "too few")
log.log(5, "%r", "quoted")
"""
    logging_errors = 1
    with Program(script) as program:
        records = program.records()
        found = [next(records) for _ in range(7 - logging_errors)]
        program.end()
        assert list(records) == []
    order, named, braces, more, failed, quoted = found
    assert order.args == [7, 3.14159, "ada"] and order.message == "order 7 at 3.14 for ada"
    assert (order.category, order.level, order.kind) == ("net.tcp", silverpoint.Level.INFO, "log")
    assert order.template == "order {} at {:.2f} for {}" and order.file == "<string>" and order.line > 1
    assert named.args == {"user": "bob", "count": 42} and named.message == "named bob has 00042"
    assert named.level is silverpoint.Level.WARN
    assert braces.message == "braces {} stay, 100%% of them" and braces.level is silverpoint.Level.DEBUG
    assert more.args == {"retries": 3, "who": {"id": [1, 2]}}
    assert failed.args["0"] == "fail" and failed.level is silverpoint.Level.ERROR
    assert failed.args["exception"].startswith("Traceback") and failed.args["exception"].endswith("ValueError: no good")
    assert quoted.args == ["'quoted'"] and quoted.level is silverpoint.Level.TRACE
    assert order.pid == program.process.pid and order.site is not None


def test_a_record_behind_a_queue_has_its_own_time_thread_and_process(session_root: pathlib.Path) -> None:
    script = """
import logging.handlers, os, queue
waiting = queue.SimpleQueue()
log = logging.getLogger("queued")
log.setLevel(1)
log.propagate = False
log.addHandler(logging.handlers.QueueHandler(waiting))
worker = threading.Thread(target=lambda: log.info("made by %s", "a worker"), name="worker")
worker.start()
worker.join()
# Recorded later, by another thread.
listener = logging.handlers.QueueListener(waiting, silverpoint.Handler())
listener.start()
listener.stop()
direct = logging.getLogger("direct")
direct.addHandler(silverpoint.Handler())
direct.error("made here")
"""
    with Program(script) as program:
        queued, direct = list(itertools.islice(program.records(), 2))
        assert queued.message.startswith("made by a worker")
        assert queued["threadName"] == "worker" and queued["process"] == program.process.pid
        assert queued["created"] <= queued.time
        assert direct.category == "direct" and direct.message == "made here"
        program.end()


def test_what_nobody_listens_to_is_not_translated(session_root: pathlib.Path) -> None:
    script = """
class Loud:
    def __str__(self):
        raise SystemExit("translated")
log = logging.getLogger("quiet")
log.setLevel(1)
log.addHandler(silverpoint.Handler())
log.debug("%s", Loud())
log.error("done")
"""
    with Program(script, filter="error") as program:
        record = next(program.records())
        assert record.message == "done"
        program.end()


def test_spans_and_events(session_root: pathlib.Path) -> None:
    script = """
def work():
    with silverpoint.span("outer", path="/x"):
        silverpoint.event("loaded", size=2**70, ok=True, _level="warn", _category="disk")
        with silverpoint.span("inner"):
            pass
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""
    with Program(script) as program:
        records = program.records()
        outer, loaded, inner, inner_end, outer_end = [next(records) for _ in range(5)]
        program.end()
    assert (outer.kind, outer.name, outer.args, outer.category) == ("span", "outer", {"path": "/x"}, "__main__")
    assert outer.function == "work" and outer.line == loaded.line - 1
    assert loaded.args == {"size": 2**70, "ok": True} and loaded.category == "disk" and loaded.level is silverpoint.Level.WARN
    assert outer.level is silverpoint.Level.DEBUG
    assert [record.kind for record in (inner, inner_end, outer_end)] == ["span", "span_end", "span_end"]
    assert inner_end.duration_ns is not None and outer_end.duration_ns is not None
    assert outer_end.duration_ns >= inner_end.duration_ns


def test_without_a_level_events_are_info_and_spans_debug(session_root: pathlib.Path) -> None:
    script = """
with silverpoint.span("off"):
    with silverpoint.span("on", _level="info"):
        silverpoint.event("plain")
silverpoint.event("detail", _level="debug")
"""
    with Program(script, filter="info") as program:
        records = program.records()
        on, plain, end = [next(records) for _ in range(3)]
        program.end()
        assert list(records) == []
    assert (on.name, on.level, plain.name, plain.level) == ("on", silverpoint.Level.INFO, "plain", silverpoint.Level.INFO)
    assert (end.kind, end.name) == ("span_end", "on")


def test_templates_made_while_running_fill_no_table(session_root: pathlib.Path) -> None:
    script = """
log = logging.getLogger("many")
log.setLevel(1)
log.addHandler(silverpoint.Handler())
log.propagate = False
for number in range(500):
    log.info(f"user u{number} came")
"""
    with Program(script) as program:
        records = program.records()
        found = [next(records) for _ in range(500)]
        program.end()
    assert [record.message for record in found] == [f"user u{number} came" for number in range(500)]
    assert len({record.template for record in found}) == 17


def test_a_filter_is_obeyed(session_root: pathlib.Path) -> None:
    script = """
log = logging.getLogger("net")
log.setLevel(1)
log.addHandler(silverpoint.Handler())
log.propagate = False
for number in range(10):
    log.info("no %d", number)
    log.warning("yes %d", number)
"""
    with Program(script, filter="warn") as program:
        records = program.records(grep="yes [0-4]")
        assert [next(records).args for _ in range(5)] == [[number] for number in range(5)]
        program.end()


def test_following(session_root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    with pytest.raises(ProcessLookupError, match="no living session"):
        silverpoint.follow(pid=os.getpid())
    with pytest.raises(TypeError, match="either files or a pid"):
        silverpoint.follow()
    path = tmp_path / "closed.silver"
    with silverpoint.Writer(path) as out:
        for number in range(10_000):
            out.write("number {}", [number], time=1_700_000_000_000_000_000 + number)
    following = silverpoint.follow(path, timeout=PATIENCE)
    assert [record.args[0] for record in following] == list(range(10_000)) and following.notes == []
    # The end of a file that is not closed may still move.
    (tmp_path / "open.silver").write_bytes(path.read_bytes()[:-200])
    following = silverpoint.follow(tmp_path / "open.silver", timeout=0.2)
    with pytest.raises(TimeoutError):
        list(following)
    (tmp_path / "text.silver").write_text("no trace at all" * 100)
    with pytest.raises(silverpoint.FormatError, match="not a trace file"):
        silverpoint.follow(tmp_path / "text.silver")
    with pytest.raises(FileNotFoundError):
        silverpoint.follow(tmp_path / "missing.silver")
    with pytest.raises(ValueError, match="timeout"):
        silverpoint.follow(path, timeout=-1)


def test_percent_templates_look_as_python_shows_them(tmp_path: pathlib.Path) -> None:
    """Rendered by Silverpoint, a translated template says what logging says."""
    cases: list[tuple[str, Any]] = [
        ("plain", ()),
        ("%d %i %u", (1, -2, 3)),
        ("%5d|%-5d|%05d|%+d|% d", (42, 42, 42, 42, 42)),
        ("%d", (3.9,)),
        ("%d", (True,)),
        ("%x %X %o %#x", (255, 255, 8, 255)),
        ("%f %.2f %10.3f|%-10.1f|%010.2f %+.1f", (1.5, 2.345, 3.14159, 2.5, -7.125, 1.0)),
        ("%f %.0f", (3, 7)),
        ("%e %.2E %g %G", (12345.678, 0.00012, 1e20, 1e-7)),
        ("%s %s %s", ("text", 12, -1.5)),
        ("%10s|%-10s|%.3s|%8.2s|", ("abc", "abc", "abcdef", "abcdef")),
        ("%r %a %c %c", ("ä", "ä", "x", 65)),
        ("{} {{}} {0} %s", ("b",)),
        ("100%% of %s", ("it",)),
        ("%(a)s-%(b)03d-%(a)s", {"a": "x", "b": 7}),
        ("%ld %hd", (1, 2)),
        ("%5s|%-5s|", (42, 42)),
    ]
    with silverpoint.Writer(tmp_path / "percent.silver") as out:
        for template, args in cases:
            translated, names, values = translate(template, args)
            out.write(translated, values if names is None else dict(zip(names, values)), time=1)
    shown = [record.message for record in silverpoint.open(tmp_path / "percent.silver")]
    wanted = [template % args if args else template for template, args in cases]
    assert shown == wanted


@pytest.mark.parametrize("template, args", [("%", (1,)), ("%d", ()), ("%s", (1, 2)), ("%*d", (5, 1)), ("%y", (1,)), ("%#o", (8,)), ("%(a)s", (1,)), ("%s", {"a": 1})])
def test_what_cannot_be_translated_is_told(template: str, args: Any) -> None:
    with pytest.raises(Exception):
        translate(template, args)


def test_without_a_session_nothing_happens() -> None:
    script = (
        "import logging, silverpoint\n"
        "logging.getLogger().addHandler(silverpoint.Handler())\n"
        "logging.error('nobody %s', 'listens')\n"
        "with silverpoint.span('alone'): silverpoint.event('x', y=1)\n"
        "assert not silverpoint.start()\n"
    )
    done = subprocess.run([sys.executable, "-P", "-c", script], env={**os.environ, "SILVERPOINT_OFF": "1"}, timeout=PATIENCE)
    assert done.returncode == 0
