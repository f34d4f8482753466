"""Recording from Python: into the process's session, which `silverpoint run`, `attach` and `tail` read as that of any other program.

Nothing here raises because a record cannot be made: a program goes on without its log.
"""

from __future__ import annotations

import datetime
import logging
import os
import re
import sys
import threading
import time
import traceback
from types import TracebackType
from typing import Any

from . import _native
from ._values import Level

_LOG, _EVENT, _SPAN = 0, 2, 3

# What every LogRecord has: anything else was given by `extra`.
_KNOWN = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}

# %[(name)][flags][width][.precision][length]conversion
_CONVERSION = re.compile(r"%(?:\((?P<name>[^)]*)\))?(?P<flags>[-+ #0]*)(?P<width>\d*)(?:\.(?P<precision>\d*))?[hlL]?(?P<type>.)?", re.DOTALL)


# Seconds after which a record says when it was made.
_LATE = 0.1


class _Untranslatable(Exception):
    """A template that the grammar of `{}` cannot say."""


def _placeholder(match: re.Match[str], value: Any) -> tuple[str, Any]:
    """What stands behind the colon of a `{}` that shows a value as `%` would, and the value with the type that it shall have."""
    flags, width, precision, kind = match["flags"], match["width"], match["precision"], match["type"]
    if kind in "diu":
        if isinstance(value, bool) or not isinstance(value, int):
            value = int(value)
        letter = "d"
    elif kind in "xXo":
        value, letter = int(value), kind
    elif kind in "eEfFgG":
        value, letter = float(value), kind
        precision = precision or ("6" if precision is None else "0")
    elif kind in "ra":
        value, letter = (repr if kind == "r" else ascii)(value), ""
    elif kind == "s":
        letter = ""
        if precision is not None or (flags or width) and not isinstance(value, str | int | float):
            value = str(value)
    elif kind == "c":
        value, letter = value if isinstance(value, str) else chr(value), ""
    else:
        raise _Untranslatable
    if kind in "diuxXo" and precision is not None or kind == "o" and "#" in flags:
        raise _Untranslatable
    spec = ""
    if width:
        left = "-" in flags
        is_text = isinstance(value, str) or letter == ""
        if left or is_text:
            spec += "<" if left else ">"
    if letter:
        spec += "+" if "+" in flags else " " if " " in flags else ""
        spec += "#" if "#" in flags else ""
        spec += "0" if "0" in flags and "-" not in flags and width else ""
    spec += width
    if precision is not None and (letter in "eEfFgG" or isinstance(value, str)):
        spec += "." + (precision or "0")
    spec += letter if letter != "d" else ""
    return spec, value


def translate(template: str, args: Any) -> tuple[str, list[str] | None, list[Any]]:
    """A `%` template and its arguments as a `{}` template, names (None where there are none) and typed values."""
    is_named = isinstance(args, dict)
    values = [] if is_named or not args else list(args)
    # Literals, and between them which argument and how.
    literals: list[str] = []
    places: list[tuple[int, str]] = []
    names: list[str] = []
    typed: list[Any] = []
    known: dict[tuple[str, str], int] = {}
    at = 0
    literal = ""
    for match in _CONVERSION.finditer(template):
        literal += _literal(template[at : match.start()])
        at = match.end()
        if match["type"] == "%":
            literal += "%"
            continue
        if match["type"] is None or (match["name"] is None) == is_named:
            raise _Untranslatable
        value = args[match["name"]] if is_named else values[len(typed)]
        spec, value = _placeholder(match, value)
        key = (match["name"], type(value).__name__) if is_named else (str(len(typed)), "")
        if key not in known:
            known[key] = len(typed)
            names.append(key[0])
            typed.append(value)
        literals.append(literal)
        literal = ""
        places.append((known[key], spec))
    if not is_named and len(typed) != len(values):
        raise _Untranslatable
    # In order they need no numbers.
    numbered = [place for place, _ in places] != list(range(len(places)))
    shown = [f"{{{place if numbered else ''}{':' + spec if spec else ''}}}" for place, spec in places]
    text = "".join(part for pair in zip(literals, shown) for part in pair) + literal + _literal(template[at:])
    return text, (names if is_named else None), typed


def _level(number: int) -> int:
    """That of `logging` as ours."""
    return 0 if number < 10 else min(5, number // 10)


def _origin(record: logging.LogRecord) -> dict[str, Any]:
    """When and where the record was made, if that was in another thread or process than the one that records it, or a while ago: behind a `QueueListener`, say."""
    # Numbers of threads that have ended come again.
    is_here = (
        record.thread in (None, threading.get_ident())
        and record.threadName in (None, threading.current_thread().name)
        and record.process in (None, os.getpid())
    )
    if is_here and time.time() - record.created < _LATE:
        return {}
    return {
        "created": datetime.datetime.fromtimestamp(record.created, datetime.timezone.utc),
        "threadName": record.threadName,
        "process": record.process,
    }


class Handler(logging.Handler):
    """Records what is logged: message templates with their arguments typed, `extra` as named values, exceptions as text, the logger's name as category.

    A record that was made in another thread or process (`QueueHandler`, `QueueListener`) has its own `created`, `threadName` and `process` as named values.

    >>> import logging, silverpoint
    >>> logging.getLogger().addHandler(silverpoint.Handler())
    >>> logging.getLogger("net").warning("slow: %.1f ms from %s", 17.25, "ada", extra={"retries": 3})
    """

    def emit(self, record: logging.LogRecord) -> None:
        """Records one."""
        try:
            self._emit(record)
        except RecursionError:
            raise
        except Exception:
            self.handleError(record)

    def _emit(self, record: logging.LogRecord) -> None:
        level, function = _level(record.levelno), record.funcName or ""
        # Asked first: to translate a template takes much longer.
        if not _native.would_record(level, record.name, record.pathname, record.lineno, function):
            return
        message = str(record.msg)
        names: list[str] | None
        try:
            template, names, values = translate(message, record.args) if record.args else (_literal(message), None, [])
        except Exception:
            # If its arguments do not fit: the text that logging itself would write, with its errors.
            template, names, values = "{}", None, [record.getMessage()]
        more = {name: value for name, value in record.__dict__.items() if name not in _KNOWN and not name.startswith("_")}
        more.update(_origin(record))
        if record.exc_info:
            more["exception"] = "".join(traceback.format_exception(*record.exc_info)).rstrip()
        elif record.exc_text:
            more["exception"] = record.exc_text
        if record.stack_info:
            more["stack"] = record.stack_info
        if more:
            # Names are for all arguments or none.
            names = list(names if names is not None else map(str, range(len(values))))
            names += more
            values = [*values, *more.values()]
        _native.record(
            _LOG, level, record.name, record.pathname, record.lineno, function, template, names, values, record.getMessage
        )


def _literal(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _number(level: Level | str | int) -> int:
    return int(Level[level.upper()] if isinstance(level, str) else level)


def start() -> bool:
    """Makes the session now rather than with the first record, so that others can look at it and switch it; false where there can be none."""
    return _native.start()


def event(name: str, /, *, _level: Level | str | int = Level.INFO, _category: str | None = None, **args: Any) -> None:
    """Records an event with named values, at level info unless `_level` says otherwise."""
    frame = sys._getframe(1)
    category = frame.f_globals.get("__name__", "") if _category is None else _category
    code = frame.f_code
    _native.record(_EVENT, _number(_level), category, code.co_filename, frame.f_lineno, code.co_qualname, name, list(args), list(args.values()))


class span:  # noqa: N801 - used as a function
    """A span: from the entry of a `with` to its end, in the same thread. Its level is debug unless `_level` says otherwise.

    >>> import silverpoint
    >>> with silverpoint.span("load", path="/etc/hosts"):
    ...     pass
    """

    def __init__(self, name: str, /, *, _level: Level | str | int = Level.DEBUG, _category: str | None = None, **args: Any) -> None:
        self._name, self._level, self._category, self._args = name, _number(_level), _category, args
        self._begun: list[tuple[int, int] | None] = []

    def __enter__(self) -> span:
        frame = sys._getframe(1)
        category = frame.f_globals.get("__name__", "") if self._category is None else self._category
        code = frame.f_code
        names, values = list(self._args), list(self._args.values())
        self._begun.append(
            _native.record(_SPAN, self._level, category, code.co_filename, frame.f_lineno, code.co_qualname, self._name, names, values)
        )
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        begun = self._begun.pop()
        if begun is not None:
            _native.end_span(self._level, *begun)


__all__ = ["Handler", "event", "span", "start", "translate"]
