"""Trace files and living sessions of Silverpoint.

>>> import silverpoint
>>> for record in silverpoint.open("app.silver", level="warn"):     # doctest: +SKIP
...     print(record.time, record.message, record.args)

See `docs/python.md`.
"""

from __future__ import annotations

import glob as _glob
import os as _os
from collections.abc import Iterator as _Iterator
from typing import Any as _Any

from . import _native
from ._native import Following, Problem, Record, Records, Site, Span, Spans, Table, Trace, Writer
from ._values import (
    CutBytes,
    CutList,
    CutStr,
    DamagedError,
    Duration,
    Enumeration,
    Error,
    FilterError,
    FormatError,
    Level,
    Pointer,
    Struct,
    Time,
)
from .recording import Handler, event, span, start

__all__ = [
    "CutBytes",
    "CutList",
    "CutStr",
    "DamagedError",
    "Duration",
    "Enumeration",
    "Error",
    "FilterError",
    "Following",
    "FormatError",
    "Handler",
    "Level",
    "Pointer",
    "Problem",
    "Record",
    "Records",
    "Site",
    "Span",
    "Spans",
    "Struct",
    "Table",
    "Time",
    "Trace",
    "Writer",
    "event",
    "follow",
    "open",
    "span",
    "start",
]


def _expanded(path: str) -> _Iterator[str]:
    """A path, the trace files of a directory, or what a pattern matches; a file that is there is meant itself, whatever its name."""
    if _os.path.isdir(path):
        found = sorted(_glob.glob(_os.path.join(_glob.escape(path), "*.silver")))
        if not found:
            raise FileNotFoundError(2, "the directory holds no *.silver", path)
        yield from found
    elif _glob.has_magic(path) and not _os.path.exists(path):
        found = sorted(_glob.glob(path, recursive=True))
        if not found:
            raise FileNotFoundError(2, "nothing matches", path)
        yield from found
    else:
        yield path


def open(  # noqa: A001
    *paths: str | _os.PathLike[str], only: bool = False, format: str | None = None, strict: bool = False, **filter: _Any  # noqa: A002
) -> Trace:
    """Opens files together, as one trace in order of time.

    Each path is a file, a directory (its `*.silver`) or a pattern (`logs/**/*.silver`). The parts of a rotated trace are found from any of them; `only` reads
    exactly the files named. Other formats than trace files (JSON lines, JSON, CBOR, TSV, CSV, XML) are known by their names, or all are of `format`. Damage
    is left out and told by `Trace.notes` and `Records.notes`; `strict` raises `DamagedError` at the end of what can be read. Words of a filter are those of
    `Trace.filter`.
    """
    if not paths:
        raise TypeError("open() needs a path")
    expanded: list[str] = []
    for path in paths:
        for name in _expanded(_os.fspath(path)):
            if name not in expanded:
                expanded.append(name)
    trace = _native.open(expanded, only, format, strict)
    return trace.filter(**filter) if filter else trace


def follow(*paths: str | _os.PathLike[str], pid: int | None = None, timeout: float | None = None, **filter: _Any) -> Following:  # noqa: A002
    """Records as they come, as `silverpoint tail -f` shows them: of trace files that grow, or of a living process.

    Ends when the files are closed, or the process has ended. When no record has come for `timeout` seconds a TimeoutError is raised; the next call goes on
    waiting. Words of a filter are those of `Trace.filter`.
    """
    if bool(paths) == (pid is not None):
        raise TypeError("follow() needs either files or a pid")
    return _native.follow([_os.fspath(path) for path in paths], pid, timeout, filter or None)
