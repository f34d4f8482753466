"""Reads Event Trace Logs from standard input, one after the other, with two parsers that know nothing of Silverpoint: dissect.etl of Fox-IT,
and etl-parser of Airbus CERT. The arguments are their sizes. Prints a line of JSON for each: the header, and for each event what either parser
has found. With it are the fields that the second one makes of it, null where it has no reader for a type. Exits 1, and says why, when both do
not find the same."""

import io
import json
import math
import sys

from dissect.etl.etl import ETL
from dissect.etl.headers.event import EventHeader, EventHeaderExtendedDataItem
from dissect.etl.headers.system import SystemHeader
from etl.etl import IEtlFileObserver, build_from_stream


def line(pid, tid, time, provider, descriptor, activity, items, payload):
    shown = ",".join(f"{kind}:{bytes(data).hex()}" for kind, data in items)
    return f"{pid} {tid} {time} {bytes(provider).hex()} {bytes(descriptor).hex()} {bytes(activity).hex()} {shown} {bytes(payload).hex()}"


def first_parser(content):
    log = ETL(io.BytesIO(content))
    head = log.logfile_header.header
    header = {
        "start": log.start_time,
        "end": log.logfile_header.end_time,
        "buffers": log.logfile_header.buffers_written,
        "processors": head.NumberOfProcessors,
        "lost": head.EventsLost,
        "pointer": head.PointerSize,
        "frequency": head.PerfFreq,
        "boot": head.BootTime,
        "clock": head.ReservedFlags,
        "logger": log.logfile_header.logger_name,
        "file": log.logfile_header.log_filename,
    }
    events = []
    for number, buffer in enumerate(log.buffers()):
        for record in buffer:
            event = record.header
            if number == 0:
                assert isinstance(event, SystemHeader), event
                continue
            assert isinstance(event, EventHeader), event
            # Its own list of items does not end before the payload.
            items, at = [], 0
            while True:
                item = EventHeaderExtendedDataItem(event.payload[at:])
                items.append((item.ext_type.value, item.raw_data))
                at += item.size
                if not item.reserved1 & 1:
                    break
            head = event.header
            fields = (head.ProviderId, bytes(event.data[0x28:0x38]), head.ActivityId, items, event.payload[at:])
            when = log.get_filetime_for_event(event.time_delta)
            events.append((line(event.process_id, event.thread_id, event.time_delta, *fields), when))
    return header, events


class Observer(IEtlFileObserver):
    def __init__(self):
        self.events = []

    def on_event_record(self, event):
        head, source = event.source.event_header, event.source
        of = head.event_descriptor
        descriptor = of.Id.to_bytes(2, "little") + bytes([of.Version, of.Channel, of.Level, of.Opcode])
        descriptor += of.Task.to_bytes(2, "little") + of.Keyword.to_bytes(8, "little")
        items = [(item.ext_type, item.data_item) for item in source.extended_data]
        fields = (guid(head.provider_id), descriptor, guid(head.activity_id), items, source.user_data)
        try:
            parsed = event.parse_tracelogging()
            values = {"name": parsed.get_name(), "fields": {name: plain(value) for name, value in parsed.items()}}
        except Exception:
            values = None
        self.events.append((line(event.get_process_id(), event.get_thread_id(), event.get_timestamp(), *fields), values))

    def unexpected(self, event):
        raise AssertionError(f"no event of ours: {event}")

    on_trace_record = on_perfinfo_trace = on_system_trace = on_win_trace = unexpected


def guid(of):
    of = of.inner
    return of.data1.to_bytes(4, "little") + of.data2.to_bytes(2, "little") + of.data3.to_bytes(2, "little") + bytes(of.data4)


def plain(value):
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, list):
        return [plain(element) for element in value]
    return repr(value)


def second_parser(content):
    observer = Observer()
    build_from_stream(content).parse(observer)
    return observer.events


def main():
    for size in sys.argv[1:]:
        content = sys.stdin.buffer.read(int(size))
        header, first = first_parser(content)
        second = second_parser(content)
        assert len(first) == len(second), f"{len(first)} and {len(second)} events"
        events = []
        for (one, when), (other, values) in zip(first, second):
            assert one == other, f"\n{one}\n{other}"
            events.append({"event": one, "file_time": when, "parsed": values})
        print(json.dumps({"header": header, "events": events}))


main()
