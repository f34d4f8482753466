"""All figures of all parts by one kind of name, with the range in which those of another run lie; and what two runs say of each other."""

import json
import pathlib
from dataclasses import asdict, dataclass

from .report import text

PARTS = ("latest", "structured", "tracing", "signals", "loggers", "modern", "paced", "scale", "convert", "bind", "dotnet")


@dataclass(frozen=True)
class Figure:
    """A figure. `low` and `high`: numbers.again, None when too few processes say it."""

    key: str
    value: float
    low: float | None
    high: float | None
    unit: str
    more_is_better: bool = False


def _figure(key, value, again, unit, more_is_better=False):
    low, high = again or (None, None)
    return Figure(key, value, low, high, unit, more_is_better)


def _latest(data):
    for row in data["rows"]:
        yield _figure(f"{row['part']}/{row['what']}/{row['facility']}", row["compared"], row.get("again"), row["unit"], row["at_least"] or row["unit"] == "M/s")


def _rows(names, value, unit):
    """Of a list of rows with one figure each, and CPU time of all, where it was measured."""
    def made(data):
        for row in data["results"]:
            key = "/".join(str(row[name]) for name in names)
            yield _figure(key, row[value], row.get("again"), unit)
            if "cpu_ns" in row:
                yield _figure(f"{key}/cpu", row["cpu_ns"], row.get("cpu_again"), "ns")
    return made


def _structured(data):
    yield from _rows(("facility", "case"), "ns", "ns")(data)
    for what, who in (("lttng", "facility"), ("structuring", "way"), ("renderings", "format")):
        for row in data.get(what, ()):
            yield _figure(f"{what}/{row[who]}/{row['case']}", row["ns"], row.get("again"), "ns")


# Signals that grow when it goes better; the rest are costs.
SIGNALS_MORE = ("looks", "reads", "sent", "ticks", "arrived")


def _signals(data):
    for row in data["results"]:
        yield _figure(f"{row['part']}/{row['who']}/{row['what']}", row["value"], row.get("again"), "", row["what"] in SIGNALS_MORE)


def _loggers(data):
    units = {"mean_ns": "ns", "p50_ns": "ns", "p999_ns": "ns", "peak_ns": "ns", "total_s": "s", "cpu_s": "s", "callers_s": "s"}
    for size, rows in (("", data["results"]), ("large/", data.get("large", ()))):
        for row in rows:
            for key, unit in units.items():
                if key in row:
                    yield _figure(f"{size}{row['logger']}/{row['threads']} threads/{key}", row[key], row.get("again", {}).get(key), unit)


def _paced(data):
    for row in data["results"]:
        for key in ("cpu_per_record", "caller_per_record"):
            yield _figure(f"{row['facility']}/{row['rate']}/{key}", row[key], row["again"].get(key), "ns")


def _scale(data):
    for row in data["results"]:
        # Sorted: a report made twice of the same results is the same.
        for key in sorted(row.keys() - {"axis", "x", "again", "processes"}):
            yield _figure(f"{row['axis']}/{row['x']}/{key}", row[key], row["again"].get(key), "", key.endswith("_per_s"))


def _convert(data):
    for side in ("writers", "readers"):
        for row in data[side]:
            if row["cpu_seconds"]:
                yield _figure(f"{side}/{row['name']}", row["records"] / row["cpu_seconds"] / 1e6, row.get("again"), "M/s", True)


READERS = {"latest": _latest, "structured": _structured, "tracing": _rows(("backend", "case"), "ns", "ns"), "signals": _signals, "loggers": _loggers,
           "modern": _rows(("facility", "case"), "ns", "ns"), "paced": _paced, "scale": _scale, "convert": _convert, "bind": _rows(("operation", "library", "case"), "ns", "ns"),
           "dotnet": _rows(("case",), "us", "µs")}


def of(found):
    """Figures of {part: its JSON}, by key; without those that are no number."""
    made = {}
    for part in PARTS:
        if part in found:
            for one in READERS[part](found[part]):
                if one.value is not None and one.value == one.value:
                    made[f"{part}/{one.key}"] = Figure(f"{part}/{one.key}", one.value, one.low, one.high, one.unit, one.more_is_better)
    return made


# Of the machine: figures of another one differ, which says nothing of the program. And what may make them differ, and is worth a word.
MACHINE, TOOLS = ("cpu", "cores"), ("kernel", "hypervisor", "gcc", "rustc")


def circumstances(found):
    """{part: what its figures depend on beside the program} of {part: its JSON}."""
    made = {}
    for part in (part for part in PARTS if part in found):
        data = found[part]
        # (Of loggers also how many entries each of so many threads has, which is no member of Size.)
        entries = {f"entries of each of {row['threads']} threads": row["entries"] for row in data.get("results", ()) if "threads" in row and "entries" in row}
        known = {"milliseconds": data["milliseconds"]} if "milliseconds" in data else {}
        made[part] = {"machine": {key: data["machine"][key] for key in (*MACHINE, *TOOLS) if key in data["machine"]}, "work": data.get("work", {}) | entries | known}
    return made


def unlike(old, new):
    """({part: why its figures do not compare}, remarks) of two circumstances."""
    refused, remarks = {}, {}
    for part in (part for part in PARTS if part in old and part in new):
        before, after = old[part], new[part]
        for key in (*MACHINE, *TOOLS):
            one, other = before["machine"].get(key), after["machine"].get(key)
            if None not in (one, other) and one != other:
                (refused if key in MACHINE else remarks).setdefault(part, []).append(f"{key} was {one}, is {other}")
        for key in sorted(before["work"].keys() & after["work"].keys()):
            if before["work"][key] != after["work"][key]:
                refused.setdefault(part, []).append(f"{key} was {before['work'][key]}, is {after['work'][key]}")
        if unsaid := sorted(before["work"].keys() ^ after["work"].keys()):
            remarks.setdefault(part, []).append(f"one of the two does not say {', '.join(unsaid)}")
    return refused, remarks


def as_rows(figures):
    return [asdict(one) for one in figures.values()]


class Unreadable(Exception):
    """A file that is no result of this suite; the text says what it lacks."""


def read(path):
    """(figures, circumstances) of a file: a report.json, or what one part has written (known by its name)."""
    path = pathlib.Path(path)
    try:
        data = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise Unreadable(f"{path}: {error}") from error
    if not isinstance(data, dict):
        raise Unreadable(f"{path}: no object of JSON")
    try:
        if "figures" in data:
            return {row["key"]: Figure(**row) for row in data["figures"]}, data.get("circumstances") or circumstances({part: {"machine": about} for part, about in data.get("machines", {}).items()})
        if path.stem in READERS:
            return of({path.stem: data}), circumstances({path.stem: data})
    except (KeyError, TypeError, AttributeError) as error:
        raise Unreadable(f"{path}: not what this suite writes: {error!r}") from error
    raise Unreadable(f"{path}: neither a report.json, nor named after a part ({', '.join(PARTS)})")


def load(results):
    """{part: its JSON} of a directory."""
    return {part: json.loads(file.read_text()) for part in PARTS if (file := results / f"{part}.json").exists()}


@dataclass(frozen=True)
class Change:
    old: Figure
    new: Figure

    @property
    def better(self):
        return (self.new.value > self.old.value) == self.new.more_is_better


def differs(old, new):
    """True when each lies where the other's spread says that it does not; None when one of them has no spread."""
    if None in (old.low, new.low):
        return None
    return not old.low <= new.value <= old.high and not new.low <= old.value <= new.high


def compare(old, new):
    """(changes beyond noise, how many agree, how many have no spread, keys in one of them alone)."""
    changes, agree, unknown = [], 0, 0
    for key in old.keys() & new.keys():
        verdict = differs(old[key], new[key])
        if verdict is None:
            unknown += 1
        elif verdict:
            changes.append(Change(old[key], new[key]))
        else:
            agree += 1
    changes.sort(key=lambda change: change.new.key)
    return changes, agree, unknown, sorted(old.keys() ^ new.keys())


def told(changes, agree, unknown, alone):
    """The comparison as lines of text."""
    lines = []
    for word, wanted in (("worse", False), ("better", True)):
        for change in (change for change in changes if change.better == wanted):
            old, new = change.old, change.new
            factor = f", {new.value / old.value:.2f} times" if old.value else ""
            lines.append(f"{word}: {new.key}: {text(old.value)} ({text(old.low)} to {text(old.high)}) -> {text(new.value)} ({text(new.low)} to {text(new.high)}) {new.unit}{factor}".rstrip())
    judged = len(changes) + agree
    lines.append(f"{judged} figures compared: {agree} agree within their spread, {sum(change.better for change in changes)} better, {sum(not change.better for change in changes)} worse"
                 f" (a spread holds 99 of 100 figures of another run); {unknown} without a spread (fewer than three processes), {len(alone)} in one of the two alone")
    return lines
