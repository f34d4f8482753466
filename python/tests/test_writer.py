"""What is written is read back, typed."""

from __future__ import annotations

import datetime
import enum
import pathlib
import pickle
import uuid
from typing import Any

import pytest

import silverpoint

START = 1_700_000_000_000_000_000
UTC = datetime.timezone.utc


class Color(enum.IntEnum):
    RED = 0
    GREEN = 5


VALUES: list[Any] = [
    None,
    True,
    0,
    -(2**63),
    2**63 - 1,
    2**63,
    -(2**127),
    2**128 - 1,
    1.5,
    float("inf"),
    "",
    "ä\0𝄞\n",
    b"",
    b"\0\xff",
    datetime.datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
    datetime.timedelta(days=-3, microseconds=1),
    uuid.UUID("00112233-4455-6677-8899-aabbccddeeff"),
    Color.GREEN,
    [],
    [1, [2.5, "x", None]],
    {"a": 1, "b": {"c": [True, b"\1"]}},
    {"big": 2**100, "low": -(2**100)},
]


def test_values_come_back(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "values.silver"
    with silverpoint.Writer(path) as out:
        for value in VALUES:
            out.write("value {}", [value], time=START)
        out.write("all", {f"v{number}": value for number, value in enumerate(VALUES)}, kind="event", time=START)
    *single, last = silverpoint.open(path)
    assert [record.args for record in single] == [[value] for value in VALUES]
    assert [type(record.args[0]).__mro__[-2] for record in single[:4]] == [type(None).__mro__[0], int, int, int]
    assert list(last.args.values()) == VALUES and last.name == "all"
    color = last["v17"]
    assert (color, str(color), color.type_name) == (Color.GREEN, "GREEN", "Color")
    for value in last.args.values():
        assert pickle.loads(pickle.dumps(value)) == value


def test_what_has_no_type_is_text(tmp_path: pathlib.Path) -> None:
    class Odd:
        def __str__(self) -> str:
            return "odd"

    class Broken:
        def __str__(self) -> str:
            raise RuntimeError("no")

    deep: list[Any] = []
    for _ in range(100):
        deep = [deep]
    path = tmp_path / "odd.silver"
    with silverpoint.Writer(path) as out:
        out.write("{} {} {}", [Odd(), 2**200, datetime.datetime(9999, 1, 1, tzinfo=UTC)], time=START)
        out.write("{}", [Broken()], time=START)
        out.write("{}", [deep], time=START)
        out.write("{}", ["x" * 100_000], time=START)
        out.write("{}", [{1, 2}], time=START)
    first, broken, nested, long, some = [record.args for record in silverpoint.open(path)]
    assert first == ["odd", str(2**200), "9999-01-01 00:00:00+00:00"]
    assert "str() failed" in broken[0] and isinstance(nested[0], list) and sorted(some[0]) == [1, 2]
    assert isinstance(long[0], silverpoint.CutStr) and len(long[0]) + long[0].missing == 100_000
    assert pickle.loads(pickle.dumps(long[0])).missing == long[0].missing


def test_who_where_and_context(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "where.silver"
    with silverpoint.Writer(path, process="maker", pid=42) as out:
        out.write("one", level="error", category="net", file="a/b.py", line=7, function="f", thread="t", tid=3, time=START)
        out.write("two", time=START + 1, tid=3, context={"request": 9, "user": "ada"})
        out.write("three", time=START + 2, tid=3, process="other", pid=43)
    one, two, three = silverpoint.open(path)
    assert (one.level, one.category, one.file, one.line, one.function) == (silverpoint.Level.ERROR, "net", "a/b.py", 7, "f")
    assert (one.process, one.pid, one.thread, one.tid, one.context) == ("maker", 42, "t", 3, {})
    assert two.context == {"request": 9, "user": "ada"} and (three.process, three.pid) == ("other", 43)
    assert one.site is not None and one.site.template == "one" and "b.py:7" in repr(one.site)


def test_spans_have_durations_and_parents(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "spans.silver"
    with silverpoint.Writer(path) as out:
        for number in range(100):
            at = START + number * 1000
            out.write("outer", {"n": number}, kind="span", tid=1, time=at)
            out.write("inner", kind="span", tid=1, time=at + 10, category="deep")
            out.write("outer", kind="span", tid=2, time=at + 10)
            out.end_span("inner", tid=1, time=at + 30)
            out.end_span("outer", tid=1, time=at + 100 + number)
            out.end_span("outer", tid=2, time=at + 500)
        out.write("open", kind="span", tid=9, time=START + 10**9)
        with pytest.raises(ValueError, match="no span 'inner'"):
            out.end_span("inner", tid=1, time=START)
    trace = silverpoint.open(path)
    spans = list(trace.spans())
    assert len(spans) == 301 and spans[-1].name == "open" and spans[-1].end is None and spans[-1].duration is None
    outer = [span for span in spans if span.name == "outer" and span.tid == 1]
    assert [span.duration_ns for span in outer] == [100 + number for number in range(100)]
    assert [span["n"] for span in outer] == list(range(100)) and outer[3].begin_ns == START + 3000
    by_id = {span.id: span for span in spans}
    for span in spans:
        if span.name == "inner":
            parent = by_id[span.parent or 0]
            assert (parent.name, parent.tid) == ("outer", 1) and span.duration_ns == 20
        else:
            assert span.parent is None
    assert outer[0].duration == datetime.timedelta(0) and outer[0].duration.ns == 100
    assert sum(1 for _ in trace.spans(category="deep")) == 100
    assert [span["n"] for span in trace.spans(where="n>=98")] == [98, 99]
    assert [span["n"] for span in trace.filter(grep="n=7$").spans()] == [7]


def test_a_file_has_its_name_when_it_is_complete(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "late.silver"
    out = silverpoint.Writer(path)
    out.write("one")
    assert not path.exists()
    out.close()
    out.close()
    assert path.exists() and list(tmp_path.iterdir()) == [path]
    with pytest.raises(ValueError, match="closed"):
        out.write("two")
    with pytest.raises(FileExistsError):
        silverpoint.Writer(path)
    with pytest.raises(RuntimeError, match="stop"), silverpoint.Writer(path, overwrite=True) as out:
        raise RuntimeError("stop")
    assert silverpoint.open(path).count() == 1
    with silverpoint.Writer(path, overwrite=True) as out:
        out.write("one")
        out.write("two")
    assert silverpoint.open(path).count() == 2 and list(tmp_path.iterdir()) == [path]
    with pytest.raises(FileNotFoundError):
        silverpoint.Writer(tmp_path / "no" / "such.silver")


def test_mistakes_are_named(tmp_path: pathlib.Path) -> None:
    with silverpoint.Writer(tmp_path / "x.silver") as out:
        with pytest.raises(TypeError, match="'colour' is none of"):
            out.write("one", colour=1)  # type: ignore[call-arg]
        with pytest.raises(ValueError, match="kind"):
            out.write("one", kind="novel")
        with pytest.raises(ValueError, match="level"):
            out.write("one", level="loud")
        with pytest.raises(TypeError, match="not a text"):
            out.write("one {}", "text")
        with pytest.raises(ValueError, match="template"):
            out.write("one {", [1])
        with pytest.raises(OverflowError, match="1970"):
            out.write("one", time=-1)
