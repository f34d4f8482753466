"""The vectors of the specification, read from Python."""

from __future__ import annotations

import datetime
import json
import math
import pathlib
import uuid
from typing import Any

import pytest

import silverpoint


def expected(value: Any) -> Any:
    """A value as the vectors write it, as Python has it."""
    if isinstance(value, list):
        return [expected(item) for item in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"pointer": number}:
            return silverpoint.Pointer(int(number))
        case {"time": ns}:
            return datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(microseconds=int(ns) // 1000)
        case {"duration": ns}:
            return datetime.timedelta(microseconds=int(ns) // 1000)
        case {"text": text}:
            return expected(text)
        case {"bytes": digits}:
            return bytes.fromhex(digits)
        case {"uuid": digits}:
            return uuid.UUID(hex=digits)
        case {"some": inner} | {"value": inner, "alternative": _} | {"value": inner, "meta": _}:
            return expected(inner)
        case {"none": _}:
            return None
        case {"list": items}:
            return expected(items)
        case {"set": items}:
            return set(expected(items))
        case {"tuple": items}:
            return tuple(expected(items))
        case {"map": pairs}:
            return [(expected(key), expected(item)) for key, item in pairs]
        case {"fields": pairs}:
            return {name: expected(item) for name, item in pairs}
        case {"enum": name, "label": label, "value": number}:
            return silverpoint.Enumeration(int(number), name, label)
    raise AssertionError(f"what is {value}?")


def agrees(found: Any, wanted: Any) -> bool:
    """Whether a value is the one of a vector. Integers beyond 2^53 and floats that are no numbers stand there as text."""
    if isinstance(wanted, bool) or wanted is None:
        return found is wanted
    if isinstance(found, dict) and isinstance(wanted, list):
        return agrees(list(found.items()), wanted)
    if isinstance(wanted, list | tuple):
        same_kind = isinstance(found, tuple) == isinstance(wanted, tuple)
        return same_kind and len(found) == len(wanted) and all(map(agrees, found, wanted))
    if isinstance(wanted, dict):
        return list(found) == list(wanted) and all(agrees(found[key], wanted[key]) for key in wanted)
    if isinstance(wanted, set):
        return set(found) == wanted
    if isinstance(wanted, silverpoint.Enumeration):
        return (found, found.type_name, found.label) == (wanted, wanted.type_name, wanted.label)
    if isinstance(found, float) and isinstance(wanted, str):
        return math.isnan(found) if wanted == "nan" else found == float(wanted)
    if isinstance(found, int) and isinstance(wanted, str):
        return found == int(wanted)
    if isinstance(found, datetime.datetime):
        return bool(found == wanted)
    return bool(found == wanted) and (isinstance(found, type(wanted)) or isinstance(wanted, int))


FILES: list[dict[str, Any]] = json.loads((pathlib.Path(__file__).parents[2] / "spec/vectors/files.json").read_text())


@pytest.mark.parametrize("vector", FILES, ids=lambda vector: vector["name"])
def test_files(vector: dict[str, Any], vectors: pathlib.Path) -> None:
    for name in vector["files"]:
        path = vectors / name
        if vector["verdict"] == "not a trace file":
            with pytest.raises(silverpoint.FormatError) as caught:
                silverpoint.open(path)
            assert caught.value.path == str(path) and caught.value.offset is not None
            continue
        records = silverpoint.open(path).records()
        found = [record for record in records if record.site is not None and record.kind != "span_end"]
        if "records" not in vector:
            continue  # Single blocks: nothing says whose they are.
        wanted = [record for record in vector["records"] if record["site"] >= 16]
        assert len(found) <= len(wanted)
        if vector["verdict"] == "damaged":
            assert records.verdict == "damaged"
            assert any(note.offset is not None or "missing" in note.message for note in records.notes)
            with pytest.raises(silverpoint.DamagedError):
                list(silverpoint.open(path, strict=True))


def test_values(vectors: pathlib.Path) -> None:
    """Each value that stands in a trace file is the one of the vector."""
    wanted: dict[str, list[Any]] = {}
    for vector in json.loads((vectors / "values.json").read_text()):
        if vector["verdict"] == "ok":
            wanted.setdefault(vector["signature"], []).append(vector["json"])
    names = next(vector["files"] for vector in FILES if vector["name"] == "every type")
    for name in names:
        seen = 0
        for record in silverpoint.open(vectors / name):
            assert record.site is not None
            args = record.args if isinstance(record.args, list) else list(record.args.values())
            candidates = [expected(json_args) for json_args in wanted.get(record.site.signature, []) if "cbor" not in str(json_args)]
            if candidates:
                assert any(agrees(args, candidate) for candidate in candidates), (record.site.signature, args, candidates)
                seen += 1
        assert seen > 55
