"""Events of LTTng beside records of the ring: what there is of each, and whether they are equal."""

import json
import math
import struct
import subprocess


def plain(value):
    """A field as Python's own value."""
    name = type(value).__name__
    if "Enumeration" in name:
        return {"number": int(value), "labels": list(value.labels)}
    if "Array" in name:
        return [plain(one) for one in value]
    if "Integer" in name:
        return int(value)
    return float(value) if "Real" in name else str(value)


def variant(field):
    """The value of one of LTTng's dynamic types; None where it has none."""
    chosen = field.selected_option
    return None if "Structure" in type(chosen).__name__ else plain(chosen)


def events(trace, provider="shop:", context=False):
    import bt2

    found = []
    for message in bt2.TraceCollectionMessageIterator(trace):
        if type(message) is bt2._EventMessageConst and message.event.name.startswith(provider):
            event = message.event
            fields = {key: plain(field) for key, field in event.payload_field.items()}
            for key, field in fields.items():
                # An empty text: babeltrace2 2.0 shows that of the event before.
                if isinstance(field, str) and fields[f"_{key}_length"] == 0:
                    fields[key] = ""
            if context:
                fields = {key: variant(field) for key, field in event.common_context_field.items() if not key.endswith("_tag")}
            found.append((event.name[len(provider):], fields))
    return found


def same(field, value):
    if isinstance(value, float) and isinstance(field, float):
        return math.isclose(field, value, rel_tol=0, abs_tol=0)
    return field == value and type(field) is type(value)


def identifier(name):
    return "".join(c if c.isascii() and c.isalnum() else "_" for c in name)


def compare(where, fields, name, value):
    """A field of an event with a value of JSON; what was compared leaves `fields`."""
    fields.pop(f"_{name}_length", None)
    if (present := fields.pop(f"{name}_present", None)) is not None:
        assert present == (value is not None), (where, name, value)
        if value is None:
            assert fields.pop(name) in (0, 0.0, ""), (where, name)
            fields.pop(f"_{name}_length", None)
            return
    if value is None and name not in fields:
        # Of a type that has no other value.
        return
    if isinstance(value, dict) and name not in fields:
        for key, member in value.items():
            compare(where, fields, f"{name}_{identifier(key)}", member)
        return
    if isinstance(value, list) and name not in fields and f"{name}_f32" not in fields:
        for number, member in enumerate(value):
            compare(where, fields, f"{name}_{number}", member)
        return
    if f"{name}_f32" in fields:
        fields.pop(f"_{name}_f32_length", None)
        bits = fields.pop(f"{name}_f32")
        assert [struct.unpack("<f", struct.pack("<I", one))[0] for one in bits] == value, (where, name, value)
        return
    field = fields.pop(name)
    if isinstance(field, dict):
        field = field["labels"][0]
    elif isinstance(field, list) and isinstance(value, str):
        field = bytes(field).hex()
    elif isinstance(field, str) and not isinstance(value, str):
        field = json.loads(field)
    elif isinstance(value, bool):
        field = bool(field)
    assert same(field, value), (where, name, field, value)


def compare_all(found, records):
    assert len(found) == len(records), (len(found), len(records))
    for number, ((name, fields), record) in enumerate(zip(found, records)):
        where = (number, name, dict(fields))
        if record["kind"] == "span_end":
            # (0: the thread has come to a processor whose counter is behind.)
            assert name.split("#")[0].endswith("_exit") and 0 <= fields["duration_ns"] < 60e9, where
            continue
        # A second event of the same name has its place behind it.
        assert name.split("#")[0] == record["template"] + ENDINGS.get(record["kind"], ""), (where, record)
        args = record["args"]
        for number, (key, value) in enumerate(args.items() if isinstance(args, dict) else (("", value) for value in args)):
            compare(where, fields, identifier(key) or f"arg{number}", value)
        assert not fields, (where, fields)


ENDINGS = {"span": "_entry", "async_begin": "_begin", "async_end": "_end", "flow_begin": "_begin", "flow_step": "_step", "flow_end": "_end"}


def names_of(records, provider="shop:"):
    """Those of their events."""
    names = {f"{provider}{record['template']}{ENDINGS.get(record['kind'], '')}" for record in records if "template" in record}
    return names | {f"{provider}{record['template']}_exit" for record in records if record["kind"] == "span"}


def recorded(silverpoint, trace):
    done = subprocess.run([silverpoint, "cat", "--json", "--quiet", trace], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]
