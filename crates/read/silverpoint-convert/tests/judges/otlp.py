"""Reads requests of OTLP by OpenTelemetry's own messages and prints one JSON line a log record or span. Each line of the input is a request: `logs HEX` or `traces HEX` of
protocol buffers, or a line of the JSON encoding. Fields that the messages do not have are errors."""

import base64
import json
import struct
import sys

from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


def value(of):
    kind = of.WhichOneof("value")
    if kind is None:
        return None
    if kind == "array_value":
        return {"array": [value(item) for item in of.array_value.values]}
    if kind == "kvlist_value":
        return {"kvlist": [[item.key, value(item.value)] for item in of.kvlist_value.values]}
    if kind == "bytes_value":
        return {"bytes": of.bytes_value.hex()}
    if kind == "double_value":
        return {"double": "nan" if of.double_value != of.double_value else struct.pack(">d", of.double_value).hex()}
    return {kind.removesuffix("_value"): getattr(of, kind)}


def attributes(of):
    return [[item.key, value(item.value)] for item in of]


def ids_in_base64(of):
    """The JSON encoding of OTLP has ids in hexadecimal, where that of protocol buffers has base64."""
    if isinstance(of, list):
        return [ids_in_base64(item) for item in of]
    if not isinstance(of, dict):
        return of
    is_id = ("traceId", "spanId", "parentSpanId")
    return {k: base64.b64encode(bytes.fromhex(v)).decode() if k in is_id else ids_in_base64(v) for k, v in of.items()}


for line in sys.stdin.readlines():
    if line.startswith("{"):
        request = ids_in_base64(json.loads(line))
        message = ExportLogsServiceRequest() if "resourceLogs" in request else ExportTraceServiceRequest()
        json_format.ParseDict(request, message)
    else:
        signal, digits = line.split()
        message = ExportLogsServiceRequest() if signal == "logs" else ExportTraceServiceRequest()
        message.ParseFromString(bytes.fromhex(digits))
    is_logs = isinstance(message, ExportLogsServiceRequest)
    for resource in message.resource_logs if is_logs else message.resource_spans:
        for scope in resource.scope_logs if is_logs else resource.scope_spans:
            shared = {"resource": attributes(resource.resource.attributes), "scope": scope.scope.name}
            for record in scope.log_records if is_logs else []:
                print(json.dumps(shared | {
                    "log": record.event_name, "time": record.time_unix_nano, "observed": record.observed_time_unix_nano,
                    "severity": record.severity_number, "level": record.severity_text, "body": value(record.body),
                    "attributes": attributes(record.attributes), "trace": record.trace_id.hex(), "id": record.span_id.hex(),
                }))
            for span in [] if is_logs else scope.spans:
                print(json.dumps(shared | {
                    "span": span.name, "from": span.start_time_unix_nano, "to": span.end_time_unix_nano, "kind": span.kind,
                    "attributes": attributes(span.attributes), "trace": span.trace_id.hex(), "id": span.span_id.hex(),
                    "parent": span.parent_span_id.hex(),
                    "events": [[event.time_unix_nano, event.name, attributes(event.attributes)] for event in span.events],
                }))
