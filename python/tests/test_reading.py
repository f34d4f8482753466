"""Opening, filtering, iterating."""

from __future__ import annotations

import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import silverpoint
from silverpoint import Level

START = 1_700_000_000_000_000_000


def lines(path: pathlib.Path, count: int, first: int = 0) -> pathlib.Path:
    """A file of JSON lines with `count` records."""
    levels = ["debug", "info", "warn", "error"]
    with path.open("w") as out:
        for number in range(first, first + count):
            ns = START + number * 1_000_000
            time = datetime.datetime.fromtimestamp(ns // 10**9, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
            out.write(
                json.dumps(
                    {
                        "time": f"{time}.{ns % 10**9:09}Z",
                        "level": levels[number % 4],
                        "pid": 7,
                        "process": "app",
                        "tid": 7 + number % 2,
                        "thread": f"worker-{number % 2}",
                        "category": "net" if number % 3 else "db",
                        "kind": "event",
                        "template": "order.filled",
                        "args": {"id": number, "px": number / 2, "user": f"u{number % 5}"},
                    }
                )
                + "\n"
            )
    return path


@pytest.fixture
def trace(tmp_path: pathlib.Path) -> silverpoint.Trace:
    return silverpoint.open(lines(tmp_path / "a.jsonl", 3000))


def test_records_are_typed(trace: silverpoint.Trace) -> None:
    records = list(trace)
    assert len(records) == 3000 == trace.count()
    record = records[7]
    assert record.time_ns == START + 7_000_000 and record.time.ns == record.time_ns
    assert record.time == datetime.datetime(2023, 11, 14, 22, 13, 20, 7000, tzinfo=datetime.timezone.utc)
    assert record.level is Level.ERROR and record.level > Level.WARN
    assert (record.process, record.pid, record.tid, record.thread) == ("app", 7, 8, "worker-1")
    assert (record.kind, record.name, record.category) == ("event", "order.filled", "net")
    assert record.args == {"id": 7, "px": 3.5, "user": "u2"} and record["id"] == 7 and record.get("none", 5) == 5
    assert record.message == str(record) and "id=7" in record.message
    assert record.context == {} and record.duration is None and not record.truncated and not record.is_backtrace
    with pytest.raises(KeyError):
        record["nothing"]


def test_filters_are_those_of_cat(trace: silverpoint.Trace) -> None:
    assert trace.count(level="warn") == 1500 == trace.count(level=Level.WARN) == trace.count(level=3)
    assert trace.count(category="db") == 1000 and trace.count(category=["db", "net"]) == 3000
    assert trace.count(thread="worker-1") == 1500 == trace.count(thread=8)
    assert [record["id"] for record in trace.records(where="id=7 or px>1499")] == [7, 2999]
    assert trace.count(since=START + 10_000_000, until=START + 19_000_000) == 10
    at = datetime.datetime.fromtimestamp(START // 10**9, datetime.timezone.utc)
    assert trace.count(since=at + datetime.timedelta(seconds=2)) == 1000 == trace.count(since="+2s")
    assert trace.count(grep="id=1[0-9] ") == 10 == trace.count(grep=re.compile(r"id=1\d "))
    narrow = trace.filter(level="warn").filter(thread=8)
    assert narrow.count() == 750 and narrow.count(level="trace") == 1500 and trace.count() == 3000


def test_wrong_filters_say_why(trace: silverpoint.Trace) -> None:
    with pytest.raises(silverpoint.FilterError, match="level: .*expected a level"):
        trace.filter(level="loud")
    with pytest.raises(silverpoint.FilterError, match=r"where: (.|\n)*\^"):
        trace.filter(where="id >")
    with pytest.raises(silverpoint.FilterError, match="since"):
        trace.filter(since="yesterday-ish")
    with pytest.raises(silverpoint.FilterError, match="grep"):
        trace.filter(grep="(")
    with pytest.raises(TypeError, match="colour"):
        trace.filter(colour="red")  # type: ignore[call-arg]
    with pytest.raises(silverpoint.FilterError, match="need a trace file"):
        list(trace.records(since="-5s"))


def test_files_patterns_and_directories(tmp_path: pathlib.Path) -> None:
    lines(tmp_path / "a.jsonl", 10)
    lines(tmp_path / "b.jsonl", 10, first=10)
    both = silverpoint.open(tmp_path / "*.jsonl")
    assert [record["id"] for record in both] == list(range(20)) and len(both.files) == 2
    assert silverpoint.open(tmp_path / "b.jsonl", tmp_path / "a.jsonl").count() == 20
    shutil.copy(tmp_path / "a.jsonl", tmp_path / "odd.name")
    assert silverpoint.open(tmp_path / "odd.name", format="jsonl").count() == 10
    with pytest.raises(FileNotFoundError, match="holds no"):
        silverpoint.open(tmp_path)
    with pytest.raises(FileNotFoundError, match="nothing matches"):
        silverpoint.open(tmp_path / "*.none")
    with pytest.raises(FileNotFoundError) as caught:
        silverpoint.open(tmp_path / "missing.silver")
    assert caught.value.filename == str(tmp_path / "missing.silver")
    with pytest.raises(ValueError, match="no format 'yaml'"):
        silverpoint.open(tmp_path / "a.jsonl", format="yaml")


def test_malformed_input_is_named_to_the_byte(tmp_path: pathlib.Path) -> None:
    path = lines(tmp_path / "bad.jsonl", 3)
    good = path.read_bytes()
    path.write_bytes(good + b'{"time": 17, oops}\n')
    records = silverpoint.open(path).records()
    with pytest.raises(silverpoint.FormatError) as caught:
        list(records)
    assert caught.value.path == str(path) and caught.value.line == 4
    assert caught.value.offset is not None and len(good) < caught.value.offset < len(good) + 19
    assert list(records) == []
    (tmp_path / "text.silver").write_text("no trace at all" * 100)
    with pytest.raises(silverpoint.FormatError, match="not a trace file") as caught:
        silverpoint.open(tmp_path / "text.silver")
    assert (caught.value.path, caught.value.offset) == (str(tmp_path / "text.silver"), 0)


def test_an_iteration_may_be_left(trace: silverpoint.Trace) -> None:
    for _ in range(5):
        records = trace.records()
        assert next(records)["id"] == 0
    assert sum(1 for _ in trace) == 3000


def test_a_forked_child_is_told(trace: silverpoint.Trace) -> None:
    """The thread that reads does not live in the child: an error, not a wait for ever."""
    script = (
        "import os, sys, warnings, silverpoint\n"
        "warnings.simplefilter('ignore')\n"
        "records = silverpoint.open(sys.argv[1]).records()\n"
        "next(records)\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    try:\n"
        "        for _ in records: pass\n"
        "    except RuntimeError as error:\n"
        "        os._exit(7 if 'forked' in str(error) else 1)\n"
        "    os._exit(2)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
    )
    done = subprocess.run([sys.executable, "-P", "-c", script, trace.files[0]], env=os.environ, timeout=300)
    assert done.returncode == 7
