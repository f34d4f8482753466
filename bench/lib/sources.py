"""The figures of the tables that the report stands beside: measured by others, on other machines, years ago. Only ratios compare."""

# S1, Linux, µs: `<< literal`, `<< atoms + map`, `<< float[]`.
STRUCTURED = {"qdebug, to a file": (16, 23, 26), "qdebug, to a terminal": (7, 15, 18), "QJsonObject, to a file": (60, 152, 104), "LTTng-UST": (3, 58, 25)}
# S2, ns, a subscriber that is on: event, event with arguments, span, span with arguments.
SUBSCRIBER_ON = {"event": 1480, "event3": 2020, "span": 2800, "span2": 3699}
# S3, ns an emit.
CONNECTIONS = {"direct": (70, 80), "queued": (1100, 1490)}
# S4: threads → average, µs; peak, ms.
GLOG_AVERAGE = {1: 11.11, 4: 12.45}
G2LOG_AVERAGE = {1: 9.56, 4: 6.52}
GLOG_PEAK = {1: 459, 2: 920, 4: 925, 8: 914, 16: 1065}
G2LOG_PEAK = {1: 13, 2: 28, 4: 42, 8: 66, 16: 113}
