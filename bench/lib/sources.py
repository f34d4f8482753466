"""The figures of the tables that the report stands beside: measured by others, on other machines, years ago. Only ratios compare."""

import re

# S1, Linux, µs: `<< literal`, `<< atoms + map`, `<< float[]`.
STRUCTURED = {"qdebug, to a file": (16, 23, 26), "qdebug, to a terminal": (7, 15, 18), "QJsonObject, to a file": (60, 152, 104), "LTTng-UST": (3, 58, 25)}
STRUCTURED_CASES = {"literal": "<< literal", "map": "<< atoms + map", "floats": "<< float[]"}
STRUCTURED_ON_LINUX = {"qDebug + context": (16, 23, 26), "LTTng + CBOR": (3, 58, 25), "TSV+JSON": (16, 88, 48), "JSON": (60, 152, 104),
                       "qDebug": (7, 15, 18), "~default message": (10, 54, 35), "Summary": (9, 67, 40)}
# Where, what, which facility stands for it here, and which of our formats it becomes in another process.
STRUCTURED_LINES = (("file", "qDebug + context", "qdebug, to a file", "qDebug's text"), ("file", "LTTng + CBOR", "LTTng-UST", "CBOR"), ("file", "TSV+JSON", "", "TSV+JSON"),
                    ("file", "JSON", "QJsonObject, to a file", "JSON"), ("console", "qDebug", "qdebug, to a terminal", "qDebug's text"),
                    ("console", "~default message", "", "Qt's message"), ("console", "Summary", "", "summary"))
# The same on Windows, to a file and to the console, and what making structure takes alone: by column, the three cases.
STRUCTURED_ON_WINDOWS = {"file": {"qDebug + context": (6, 13, 17), "ETL + CBOR": (4, 52, 21), "TSV+JSON": (19, 90, 46), "JSON": (49, 162, 97)},
                         "console": {"qDebug": (21, 31, 30), "~default message": (29, 67, 49), "Summary": (29, 85, 56)}}
STRUCTURING = {"QDebug": (0, 5, 8), "BindableCopy": (0, 3, 0), "JSON": (2, 41, 24), "CBOR": (1, 35, 15)}
# S2, ns, a subscriber that is on: event, event with arguments, span, span with arguments.
SUBSCRIBER_ON = {"event": 1480, "event3": 2020, "span": 2800, "span2": 3699}
# The same while tracing is off, and then also filtering.
SUBSCRIBER_OFF = {"event": 47.9, "event3": 81.0, "span": 318, "span2": 368}
SUBSCRIBER_FILTERED = {"event": 26.9, "event3": 26.8, "span": 28.0, "span2": 27.9}
# ATrace's calls: what, Rust, C++; on: also which of ours is the same in the ring.
ATRACE_OFF = {"begin10": ("begin, a name of 10", "6.04", "4.00"), "begin1000": ("begin, a name of 1000", "6.04", "4.05"), "end": ("end", "6.68", "4.08")}
ATRACE_ON = {"begin10": ("begin, a name of 10", "name10", 1293, 1119), "begin1000": ("begin, a name of 1000", "name1000", 1548, 1151), "end": ("end", "end", 1121, 1076)}
# S3, ns an emit.
CONNECTIONS = {"direct": (70, 80), "queued": (1100, 1490)}
# How many times as long: what, as what, the source's word.
CONNECTION_RATIOS = (("queued", "direct", "15 to 20"), ("direct", "a member call", "75"), ("queued", "a member call", "1125 to 1500"))
# All its 100,000,000 emits, s.
CONNECTION_TOTALS = {"direct": "7.x", "queued": "110 to 149"}
# S4: threads → average, µs; peak, ms.
GLOG_AVERAGE = {1: 11.11, 4: 12.45}
G2LOG_AVERAGE = {1: 9.56, 4: 6.52}
GLOG_PEAK = {1: 459, 2: 920, 4: 925, 8: 914, 16: 1065}
G2LOG_PEAK = {1: 13, 2: 28, 4: 42, 8: 66, 16: 113}
# How many times as high glog's peak is as g2log's, and by how many of a hundred g2log's average is lower.
PEAK_FACTORS = {1: "35.3", 2: "32.9", 4: "22.0", 8: "13.9", 16: "9.4"}
AVERAGE_LOWER = {1: "14", 4: "48"}
# ns a call in bursts of 20, measured on another virtual machine with two cores. Columns: literal, 3 numbers, string and 2 numbers, map and atoms, float[128], disabled.
MODERN = {
    "floor": ("9–14", "9–14", "", "", "", "0.24"),
    "NanoLog": ("11.2", "11.9", "12.3", "362", "3371", "1.1"),
    "Quill 12.1": ("11.9", "11–15", "25.8", "23.9", "29.3", "0.35"),
    "fmtlog (blocking)": ("10.4", "10.4", "10.8", "111", "129", "0.25"),
    "binlog (rdtsc / system clock)": ("10.0 / 31", "11.2 / 28", "16.9 / 36", "50 / 46", "42 / 57", "1.3"),
    "LTTng-UST 2.13": ("71", "78", "86", "116", "134", "0.4–0.6"),
    "spdlog async / sync": ("516 / 249", "587 / 379", "669 / 336", "762 / –", "5904 / –", "6.5"),
    "Boost.Log async": ("1000", "1616", "1219", "", "", "57"),
    "g3log": ("1009", "1141", "1155", "897", "22,187", "1.6"),
    "glog 0.6": ("2762", "3187", "2860", "2907", "22,278", "0.3"),
    "qDebug, full pattern, to file": ("2855", "3416", "3314", "3798", "25,800", "1.2"),
}
# S5, µs: MD5 of 10,000 bytes and one Trace.Write; beside each the listener of the part dotnet that stands for it here.
DOTNET = {"MD5 alone": ("md5", "24.40"), "no listener": ("none", "24.62"), "ETW listener": (None, "24.67"), "default listener (OutputDebugString)": ("default", "45.86")}
DOTNET_NOTES = {"default": "Mono's sends it to nobody: no OutputDebugString"}
DOTNET_DEVIATION = "0.06 to 0.22"


def least(cell):
    """The lowest figure of a cell like "9–14" or "516 / 249"; None of one without any."""
    numbers = [float(one.replace(",", "")) for one in re.findall(r"\d[\d,]*(?:\.\d+)?", cell)]
    return min(numbers, default=None)
