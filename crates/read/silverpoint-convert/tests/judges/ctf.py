"""Reads a CTF trace by Babeltrace's own library and prints one JSON line a message: what the trace holds, nothing that Silverpoint knows."""

import json
import struct
import sys

import bt2


def value(field):
    if isinstance(field, bt2._VariantFieldConst):
        return value(field.selected_option)
    if isinstance(field, bt2._StructureFieldConst):
        return fields(field)
    if isinstance(field, bt2._ArrayFieldConst):
        return [value(item) for item in field]
    if isinstance(field, bt2._EnumerationFieldConst):
        ranges = {label: field.cls[label].ranges for label in field.cls}
        labels = sorted(label for label in ranges if any(int(field) in range(r.lower, r.upper + 1) for r in ranges[label]))
        return labels if labels else int(field)
    if isinstance(field, bt2._StringFieldConst):
        return str(field)
    if isinstance(field, bt2._RealFieldConst):
        number = float(field)
        return "nan" if number != number else struct.pack(">d", number).hex()
    return int(field)


def fields(of):
    """A structure's fields. Lengths and tags only say how to read others; `value` alone, with one of them, stands for what a structure was needed for."""
    names = list(of)
    helpers = {name + end for name in names for end in ("_length", "_tag")}
    kept = {name: value(of[name]) for name in names if name not in helpers}
    return kept["value"] if list(kept) == ["value"] and len(names) == 2 else kept


for message in bt2.TraceCollectionMessageIterator(sys.argv[1]):
    if isinstance(message, bt2._EventMessageConst):
        event = message.event
        context = event.common_context_field
        level = event.cls.log_level
        print(json.dumps({
            "name": event.name,
            "time": message.default_clock_snapshot.ns_from_origin,
            "level": level,
            "uri": event.cls.emf_uri,
            "context": {name: value(context[name]) for name in context},
            "fields": fields(event.payload_field),
        }))
    elif isinstance(message, bt2._DiscardedEventsMessageConst):
        begin, end = message.beginning_default_clock_snapshot, message.end_default_clock_snapshot
        print(json.dumps({"discarded": message.count, "from": begin.ns_from_origin, "to": end.ns_from_origin}))
