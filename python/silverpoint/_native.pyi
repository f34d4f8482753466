"""What is written in Rust."""

import datetime
import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias, TypedDict, Unpack, final

from ._values import Duration, Level, Time

Names: TypeAlias = str | int | Iterable[str | int]
When: TypeAlias = str | int | datetime.datetime

class Filter(TypedDict, total=False):
    """Which records are wanted, as `silverpoint cat` takes it: words of different sorts narrow, several values of one widen the choice."""

    level: Level | str | int | None
    category: str | Iterable[str] | None
    file: str | Iterable[str] | None
    function: str | Iterable[str] | None
    thread: Names | None
    process: Names | None
    since: When | None
    until: When | None
    where: str | None
    grep: str | re.Pattern[str] | None
    utc: bool

@final
class Site:
    """One tracepoint: the same object for all its records of one iteration."""

    @property
    def level(self) -> Level: ...
    @property
    def kind(self) -> str:
        """`log`, `stream`, `event`, `span`, `counter`, `instant`, `async_begin` …"""
    @property
    def category(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int:
        """From 1; 0 when unknown."""
    @property
    def function(self) -> str: ...
    @property
    def template(self) -> str:
        """The text with its placeholders; of events, spans and counters the name."""
    @property
    def signature(self) -> str:
        """The arguments' types (spec/wire.md, section 10)."""
    @property
    def names(self) -> list[str]:
        """The arguments' names; empty when they have none."""
    @property
    def units(self) -> list[str | None]:
        """The arguments' units."""
    @property
    def fault(self) -> str | None:
        """What is wrong with signature or template, if anything."""

@final
class Record:
    """One record, the end of a span, a loss or a wait. Everything is made when it is asked for."""

    @property
    def time_ns(self) -> int:
        """Nanoseconds since the beginning of 1970, UTC."""
    @property
    def time(self) -> Time: ...
    @property
    def level(self) -> Level: ...
    @property
    def kind(self) -> str:
        """As of the site, or `span_end`, `loss`, `stall`, `unknown`."""
    @property
    def process(self) -> str: ...
    @property
    def pid(self) -> int: ...
    @property
    def tid(self) -> int: ...
    @property
    def thread(self) -> str:
        """May be empty."""
    @property
    def site(self) -> Site | None:
        """None where nothing describes it, and of losses and waits."""
    @property
    def category(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def function(self) -> str: ...
    @property
    def template(self) -> str: ...
    @property
    def name(self) -> str:
        """Of an event, span, counter or instant; empty for texts."""
    @property
    def args(self) -> Any:
        """A dict when the arguments have names, else a list. What cannot be read is None."""
    @property
    def message(self) -> str:
        """The text, with the values in it."""
    @property
    def context(self) -> dict[str, Any]:
        """Fields of the scopes that the thread was in."""
    @property
    def duration_ns(self) -> int | None:
        """Of the end of a span, and of a wait."""
    @property
    def duration(self) -> Duration | None: ...
    @property
    def truncated(self) -> bool:
        """The program had to cut an argument."""
    @property
    def is_backtrace(self) -> bool:
        """It was kept back until something happened that it helps to explain."""
    def __getitem__(self, key: str | int) -> Any:
        """An argument by name, or by number where they have no names."""
    def get(self, name: str, default: Any = None) -> Any:
        """An argument by name."""

@final
class Problem:
    """Something that is not as it should be in a trace file."""

    @property
    def path(self) -> str: ...
    @property
    def offset(self) -> int | None:
        """Byte in the file, where it has a place."""
    @property
    def message(self) -> str: ...
    @property
    def verdict(self) -> str:
        """`intact`, `lossy`, `cut`, `damaged` or `not a trace file`."""

@final
class Records(Iterator[Record]):
    """Gives records."""

    def __iter__(self) -> Records: ...
    def __next__(self) -> Record: ...
    @property
    def notes(self) -> list[Problem]:
        """What was missing; complete at the end."""
    @property
    def verdict(self) -> str:
        """The worst of it."""

@final
class Span:
    """One span."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str:
        """`span` or `async`."""
    @property
    def begin_ns(self) -> int: ...
    @property
    def end_ns(self) -> int | None:
        """None: it has not ended, or its end is not among what was read."""
    @property
    def begin(self) -> Time: ...
    @property
    def end(self) -> Time | None: ...
    @property
    def duration_ns(self) -> int | None: ...
    @property
    def duration(self) -> Duration | None: ...
    @property
    def id(self) -> int:
        """Its number in this iteration, by the order of begins."""
    @property
    def parent(self) -> int | None:
        """Number of the span that it lies in."""
    @property
    def site(self) -> Site: ...
    @property
    def level(self) -> Level: ...
    @property
    def category(self) -> str: ...
    @property
    def process(self) -> str: ...
    @property
    def pid(self) -> int: ...
    @property
    def tid(self) -> int: ...
    @property
    def thread(self) -> str: ...
    @property
    def args(self) -> Any:
        """Those of its begin; empty when that was lost."""
    @property
    def message(self) -> str: ...
    @property
    def context(self) -> dict[str, Any]: ...
    def __getitem__(self, key: str | int) -> Any:
        """An argument."""

@final
class SpanIterator(Iterator[Span]):
    """Gives spans."""

    def __iter__(self) -> SpanIterator: ...
    def __next__(self) -> Span: ...
    @property
    def notes(self) -> list[Problem]: ...
    @property
    def verdict(self) -> str: ...

@final
class Spans:
    """The spans of a selection. Iterating begins anew each time."""

    def __iter__(self) -> SpanIterator: ...
    def arrow(self, name: str | None = None, *, columns: list[str] | None = None) -> Table:
        """The same as a table. With a name only those of this name, with their arguments as columns."""
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Table:
    """Columns, which whatever knows Arrow's PyCapsule interface takes: `polars.DataFrame(table)`, `pyarrow.table(table)`, `duckdb.from_arrow(table)` …"""

    @property
    def columns(self) -> tuple[str, ...]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

class Where(TypedDict, total=False):
    """Where and how a record is made."""

    time: int | datetime.datetime | None
    thread: str
    tid: int
    process: str
    pid: int
    context: dict[str, Any] | None

class Told(Where, total=False):
    """What its tracepoint says."""

    kind: str
    level: Level | str | int
    category: str
    file: str
    line: int
    function: str
    truncated: bool

@final
class Writer:
    """Writes a trace file, which has its name when it is closed, not before; a failure in a `with` leaves none."""

    def __init__(self, path: str | os.PathLike[str], *, process: str = "python", pid: int | None = None, overwrite: bool = False) -> None: ...
    def write(self, template: str, args: Iterable[Any] | dict[str, Any] | None = None, /, **words: Unpack[Told]) -> None:
        """Writes a record: a template with `{}` for the arguments, or the name of an event, span or counter (`kind`). A dict names the arguments."""
    def end_span(self, name: str, /, **words: Unpack[Where]) -> None:
        """Ends the last span of this name and thread that is open."""
    def close(self) -> None: ...
    def __enter__(self) -> Writer: ...
    def __exit__(self, kind: object, value: object, traceback: object) -> None: ...

@final
class Trace:
    """What was opened together, or a selection of it. Iterating begins anew each time."""

    def filter(self, **words: Unpack[Filter]) -> Trace:
        """The same with fewer records; a word that was given before is replaced."""
    def records(self, **words: Unpack[Filter]) -> Records:
        """The records in order of time."""
    def __iter__(self) -> Records: ...
    def spans(self, **words: Unpack[Filter]) -> Spans:
        """Spans and async spans in the order of their ends; those without an end come last. What a filter says of arguments and messages holds for their begins."""
    def arrow(self, name: str | None = None, *, columns: list[str] | None = None) -> Table:
        """The records as a table. With a name only those of this event or counter, with its arguments as columns; with `columns` only these."""
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def count(self, **words: Unpack[Filter]) -> int:
        """How many records there are."""
    @property
    def sites(self) -> list[Site]:
        """All tracepoints that trace files describe."""
    @property
    def processes(self) -> list[tuple[str, int]]:
        """Name and id of each process of trace files."""
    @property
    def files(self) -> list[str]: ...
    @property
    def time_range_ns(self) -> tuple[int, int] | None:
        """Times of the first and last record of trace files."""
    @property
    def notes(self) -> list[Problem]:
        """What trace files miss, as far as it is known without reading the records."""
    @property
    def verdict(self) -> str:
        """The worst of it."""

@final
class Following(Iterator[Record]):
    """Gives records as they come."""

    def __iter__(self) -> Following: ...
    def __next__(self) -> Record: ...
    @property
    def notes(self) -> list[Problem]:
        """What was found to be missing so far."""

def follow(paths: list[str], pid: int | None, timeout: float | None, words: dict[str, Any] | None) -> Following: ...
def would_record(level: int, category: str, file: str, line: int, function: str) -> bool: ...
def record(
    kind: int,
    level: int,
    category: str,
    file: str,
    line: int,
    function: str,
    template: str,
    names: list[str] | None,
    args: list[Any],
    message: Callable[[], str] | None = None,
) -> tuple[int, int] | None: ...
def end_span(level: int, site: int, ticks: int) -> None: ...
def start() -> bool: ...
def open(paths: list[str], only: bool, format: str | None, strict: bool) -> Trace: ...
