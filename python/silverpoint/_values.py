"""Values for which Python has no type of its own: each is also what Python has, so that nothing need know them."""

from __future__ import annotations

import datetime
import enum
from typing import Any

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


class Level(enum.IntEnum):
    """How grave a record is."""

    TRACE = 0
    DEBUG = 1
    INFO = 2
    WARN = 3
    ERROR = 4
    FATAL = 5


class Time(datetime.datetime):
    """A time in UTC; `ns` is what was recorded, in nanoseconds since 1970, of which a datetime can say the microseconds."""

    ns: int

    @classmethod
    def from_ns(cls, ns: int) -> Time:
        """The time so many nanoseconds after the beginning of 1970."""
        seconds, rest = divmod(ns, 1_000_000_000)
        time = cls.fromtimestamp(0, datetime.timezone.utc) + datetime.timedelta(seconds=seconds, microseconds=rest // 1000)
        time.ns = ns
        return time

    def __reduce__(self) -> tuple[Any, ...]:
        return (Time.from_ns, (self.ns,)) if hasattr(self, "ns") else (datetime.datetime, self.timetuple()[:6] + (self.microsecond, self.tzinfo))


class Duration(datetime.timedelta):
    """A length of time; `ns` is what was recorded, of which a timedelta can say the microseconds."""

    ns: int

    @classmethod
    def from_ns(cls, ns: int) -> Duration:
        """So many nanoseconds."""
        duration = cls(microseconds=ns // 1000)
        duration.ns = ns
        return duration

    def __reduce__(self) -> tuple[Any, ...]:
        return (Duration.from_ns, (self.ns,)) if hasattr(self, "ns") else (datetime.timedelta, (self.days, self.seconds, self.microseconds))


class Enumeration(int):
    """A number with a name: of an enumeration `type_name` (may be empty), called `label` (`None`: the enumeration has no name for it)."""

    type_name: str
    label: str | None

    def __new__(cls, value: int, type_name: str = "", label: str | None = None) -> Enumeration:
        self = super().__new__(cls, value)
        self.type_name = type_name
        self.label = label
        return self

    def __str__(self) -> str:
        return self.label if self.label is not None else int.__repr__(self)

    def __repr__(self) -> str:
        return f"<{self.type_name or 'enum'}.{self.label or '?'}: {int.__repr__(self)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Enumeration, (int(self), self.type_name, self.label))


class Pointer(int):
    """An address."""

    def __repr__(self) -> str:
        return hex(self)

    __str__ = __repr__


class Struct(dict[str, Any]):
    """Fields of a type of the program's; `type_name` may be empty."""

    type_name: str

    def __init__(self, fields: Any = (), type_name: str = "") -> None:
        super().__init__(fields)
        self.type_name = type_name


class CutStr(str):
    """A text whose end was not recorded: `missing` units (bytes in UTF-8) of it."""

    missing: int

    def __new__(cls, text: str = "", missing: int = 0) -> CutStr:
        self = super().__new__(cls, text)
        self.missing = missing
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (CutStr, (str.__str__(self), self.missing))


class CutBytes(bytes):
    """Bytes whose end was not recorded: `missing` of them."""

    missing: int

    def __new__(cls, data: bytes = b"", missing: int = 0) -> CutBytes:
        self = super().__new__(cls, data)
        self.missing = missing
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (CutBytes, (bytes(self), self.missing))


class CutList(list[Any]):
    """Elements of a sequence or set whose end was not recorded: `missing` of them."""

    missing: int

    def __init__(self, elements: Any = (), missing: int = 0) -> None:
        super().__init__(elements)
        self.missing = missing


class Error(Exception):
    """Something is wrong with an input: `path` says with which; `offset` at which byte, `line` and `column` where the format has lines (else `None`)."""

    path: str | None
    offset: int | None
    line: int | None
    column: int | None

    def __init__(
        self, message: str, path: str | None = None, offset: int | None = None, line: int | None = None, column: int | None = None
    ) -> None:
        super().__init__(message, path, offset, line, column)
        self.path, self.offset, self.line, self.column = path, offset, line, column

    def __str__(self) -> str:
        return str(self.args[0])


class FormatError(Error):
    """The input is not of the format."""


class DamagedError(Error):
    """Something before the end of a trace file is damaged and was left out."""


class FilterError(ValueError):
    """A filter says nothing that can be meant."""
