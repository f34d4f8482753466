"""How it is known that what was called has arrived: per part, facility and case. A run in which it is not so does not count (driving.py, loggers.py and the like do it)."""

SUM, WHOLE, COUNT, LAST, NONE, NOTHING = "count and sum", "count and content", "count", "count, and the last looked at", "none has arrived", "not checked"
# What the words mean.
MEANING = (f"*{SUM}*: as many records were found in what was written as were made, and the numbers in them add up to those given out; *{WHOLE}*: as many were found that hold all that each was given, the same for all; *{COUNT}*: as many were found; *{NOTHING}*: nothing is written, or nobody "
           "can look at it. A run in which it was otherwise is not counted.")

# Cases of tracepoints that carry a number of which each call has another one.
NUMBERED = ("three", "text", "map", "event3", "span2")
# What hands nothing on: there is nothing to look at.
SILENT = ("nothing", "no listener", "default listener", "MD5 alone", "Tracy", "ATrace layer, off", "none")
# These tell how many calls they were given, and look at no id.
COUNTED_ALONE = ("no-op subscriber", "visiting subscriber", "no-op layer")


def of(part, facility, case=None):
    """The word for one figure of a part."""
    return PARTS[part](facility, case)


def both(theirs, ours):
    """The words of two figures beside each other; said once when they are the same."""
    return theirs if theirs == ours or not ours else ours if not theirs else f"theirs {theirs}, ours {ours}"


def _structured(facility, case):
    # A literal carries nothing. The floats are the same in each record: all 128 are looked for.
    return SUM if case in ("map", "three.fields", "text.fields") else WHOLE if case.startswith("floats") else COUNT


def _tracing(facility, case):
    if facility in SILENT or facility.endswith((", off", ", off, unfiltered")):
        return NOTHING
    if case.startswith("disabled"):
        return NONE
    if facility in COUNTED_ALONE or facility.startswith("ATrace"):
        return COUNT
    return SUM if case in NUMBERED else COUNT


def _signals(facility, case):
    if facility == "no sender":
        return NOTHING
    if "adds up" in facility:
        return SUM
    # (Of ours that stall, dropped ones are counted too; the mutex' queue is left out.)
    stalled = SUM if facility.startswith("QObject") else COUNT if facility.startswith("silverpoint") else NOTHING
    return {"direct": "each value", "cross": SUM, "latest": "the newest, in order", "stalled": stalled, "timer": "some have arrived"}.get(case, NOTHING)


def _loggers(facility, case):
    return NOTHING if facility in SILENT else SUM


def _cases(facility, case):
    if facility in SILENT:
        return NOTHING
    return NONE if case == "disabled" else SUM if case in NUMBERED else WHOLE if case == "floats" else COUNT


def _dotnet(facility, case):
    return SUM if case in ("text", "silverpoint") else NOTHING


def _bind(facility, case):
    # What is written is read by our reader and compared before anything is timed; what the others read is not looked at.
    return NOTHING if facility.startswith("serde") or case == "write text" or case.startswith("read") and not facility.startswith("silverpoint") else "read back, the same"


PARTS = {"structured": _structured, "structuring": lambda way, case: LAST, "tracing": _tracing, "signals": _signals, "loggers": _loggers, "modern": _cases, "paced": _loggers, "dotnet": _dotnet,
         "convert": lambda facility, case: COUNT, "bind": _bind}
