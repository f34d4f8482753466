"""Reads a Perfetto trace from standard input with the schema that Perfetto publishes, resolves what is interned, and writes one JSON object
for each track and event. Exits 1, and says why, when the trace breaks a rule of the format."""

import json
import sys

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema

TYPES = {1: "begin", 2: "end", 3: "instant", 4: "counter"}


def value(annotation, names, texts):
    """What an annotation says, as Python has it."""
    which = annotation.WhichOneof("value")
    if annotation.dict_entries:
        return {names[entry.name_iid] if entry.name_iid else entry.name: value(entry, names, texts) for entry in annotation.dict_entries}
    if annotation.array_values:
        return [value(element, names, texts) for element in annotation.array_values]
    if which is None:
        return []
    if which == "string_value_iid":
        return texts[annotation.string_value_iid]
    if which == "legacy_json_value":
        return json.loads(annotation.legacy_json_value)
    if which == "pointer_value":
        return hex(annotation.pointer_value)
    return getattr(annotation, which)


def main():
    trace = schema.Trace()
    trace.ParseFromString(sys.stdin.buffer.read())
    size = len(trace.SerializeToString())
    trace.DiscardUnknownFields()
    assert len(trace.SerializeToString()) == size, "fields that the schema does not know"
    categories, names, arguments, texts, locations, tracks = {}, {}, {}, {}, {}, {}
    open_slices = {}
    for number, packet in enumerate(trace.packet):
        assert packet.trusted_packet_sequence_id == 1
        if number == 0:
            assert packet.sequence_flags & schema.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
            clocks = {clock.clock_id: clock.timestamp for clock in packet.clock_snapshot.clocks}
            assert clocks[1] == clocks[6] == packet.timestamp
            continue
        data = packet.interned_data
        for known, new in (
            (categories, data.event_categories),
            (names, data.event_names),
            (arguments, data.debug_annotation_names),
        ):
            for one in new:
                assert one.iid and one.iid not in known
                known[one.iid] = one.name
        for one in data.debug_annotation_string_values:
            texts[one.iid] = one.str.decode()
        for one in data.source_locations:
            locations[one.iid] = f"{one.file_name}:{one.line_number} {one.function_name}"
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert not track.parent_uuid or track.parent_uuid in tracks, "a track before its parent"
            shown = {"parent": tracks.get(track.parent_uuid, {}).get("name")}
            if track.HasField("process"):
                shown |= {"name": track.process.process_name, "pid": track.process.pid}
            elif track.HasField("thread"):
                shown |= {"name": track.thread.thread_name, "pid": track.thread.pid, "tid": track.thread.tid}
            else:
                shown |= {"name": track.name}
            if track.HasField("counter"):
                shown |= {"unit": track.counter.unit_name or schema.CounterDescriptor.Unit.Name(track.counter.unit)}
            tracks[track.uuid] = shown
            print(json.dumps({"track": shown}, sort_keys=True))
            continue
        assert packet.sequence_flags & schema.TracePacket.SEQ_NEEDS_INCREMENTAL_STATE
        event = packet.track_event
        assert event.track_uuid in tracks, "an event on a track that nobody described"
        kind = TYPES[event.type]
        depth = open_slices.get(event.track_uuid, 0) + {"begin": 1, "end": -1}.get(kind, 0)
        open_slices[event.track_uuid] = depth
        shown = {
            "type": kind,
            "ns": packet.timestamp,
            "track": tracks[event.track_uuid]["name"],
            "name": event.name or names.get(event.name_iid),
            "categories": [categories[iid] for iid in event.category_iids],
            "args": {arguments[one.name_iid]: value(one, arguments, texts) for one in event.debug_annotations},
            "depth": depth,
        }
        if event.source_location_iid:
            shown["place"] = locations[event.source_location_iid]
        if kind == "counter":
            which = event.WhichOneof("counter_value_field")
            shown["value"] = getattr(event, which)
        if event.flow_ids or event.terminating_flow_ids:
            shown["flows"] = [str(flow) for flow in event.flow_ids] + [f"{flow}!" for flow in event.terminating_flow_ids]
        print(json.dumps(shown, sort_keys=True))


main()
