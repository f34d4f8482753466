"""The five tables of the sources, row by row: the source's figure, the real facility's here, ours, and how many times ours theirs is."""

from dataclasses import dataclass

from . import sources
from .report import text


@dataclass(frozen=True)
class Line:
    """A line of a source's table. `theirs` and `ours` in the unit of the source's figure, None when not measured; `who` is the facility that stands for the source's here."""

    what: str
    source: str
    who: str
    theirs: float | None
    ours: float | None
    unit: str
    note: str = ""

    @property
    def ratio(self):
        return self.theirs / self.ours if self.theirs is not None and self.ours else None

    def cells(self):
        """Text of each column."""
        show = lambda value: "–" if value is None else _short(value)  # noqa: E731
        return self.what, f"{self.source} {self.unit}" if self.source else "–", self.who or "–", show(self.theirs), show(self.ours), "–" if self.ratio is None else f"{_short(self.ratio)} ×", self.note


HEAD = ("what", "the source", "measured here", "theirs", "ours", "theirs / ours", "")


def _short(value):
    """Three figures, down to thousandths."""
    return text(value) if abs(value) >= 1 else f"{value:.3g}"


def _ns(data, name, case, key):
    """{(name, case): ns} of the rows of a part."""
    return {(row[name], row[case]): row[key] for row in (data or {}).get("results", ())}


def _scaled(value, factor):
    return None if value is None else value * factor


def s1(found):
    """Caller's side, µs a tracepoint; what becomes of ours in another process is beside the formats."""
    ns = _ns(found.get("structured"), "facility", "case", "ns")
    rendered = {(row["format"], row["case"]): row["ns"] for row in found.get("structured", {}).get("renderings", ())}
    lines = []
    for place, who, here, becomes in sources.STRUCTURED_LINES:
        for case, figure in zip(("literal", "map", "floats"), sources.STRUCTURED_ON_LINUX[who], strict=True):
            note = f"and {_short(rendered[becomes, case] / 1000)} µs in another process" if (becomes, case) in rendered else ""
            lines.append(Line(f"{place}, {who}, {sources.STRUCTURED_CASES[case]}", str(figure), here, _scaled(ns.get((here, case)), 1e-3), _scaled(ns.get(("silverpoint-cpp", case)), 1e-3), "µs", note))
    return lines


def s2(found):
    """A subscriber that is on, one that filters, and ATrace's calls."""
    data = found.get("tracing")
    ns = _ns(data, "backend", "case", "ns")
    reference = _ns(data, "backend", "case", "reference_ns")
    lines = []
    for case, what in (("event", "event"), ("event3", "event with arguments"), ("span", "span"), ("span2", "span with arguments")):
        marker = ns.get(("ATrace layer, on", case))
        note = f"into trace_marker {_short(marker)} ns" if marker else ""
        lines.append(Line(f"subscriber, on: {what}", str(sources.SUBSCRIBER_ON[case]), "fmt, non-blocking", ns.get(("fmt, non-blocking", case)), ns.get(("silverpoint-tracing", case)), "ns", note))

    def above(name):
        return ns[name, "disabled"] - reference[name, "disabled"] if (name, "disabled") in ns else None

    for what, figure in sources.SUBSCRIBER_FILTERED.items():
        lines.append(Line(f"subscriber, off and filtering: {what}", str(figure), "fmt, non-blocking", above("fmt, non-blocking"), above("silverpoint-tracing"), "ns", "over an empty loop"))
    for call, (what, *figures) in sources.ATRACE_OFF.items():
        for language, figure in zip(("Rust", "C++"), figures, strict=True):
            key = (f"ATrace, {language}, off", call)
            lines.append(Line(f"ATrace off: {what}, {language}", str(figure), "", None, ns[key] - reference[key] if key in ns else None, "ns", "over an empty loop"))
    for call, (what, in_ring, *figures) in sources.ATRACE_ON.items():
        for language, figure in zip(("Rust", "C++"), figures, strict=True):
            marker = (f"ATrace, {language}, marker", call)
            note = f"into trace_marker {_short(ns[marker])} ns" if marker in ns else ""
            ours = ns.get((f"ATrace, {language}, ring", in_ring), ns.get(("ATrace into the ring", in_ring)))
            lines.append(Line(f"ATrace on: {what}, {language}", str(figure), "a bare write into trace_marker", reference.get(marker), ours, "ns", note))
    return lines


def s3(found):
    """An emission of one number."""
    value = {(row["part"], row["who"], row["what"]): row["value"] for row in found.get("signals", {}).get("results", ())}

    def least(part, what, own):
        return min((one for (of, who, which), one in value.items() if of == part and which == what and who.startswith("silverpoint") == own and (own or "QObject" in who)), default=None)

    ours = least("cross", "emit", True)
    lines = []
    for part, kind in (("direct", "direct"), ("cross", "queued")):
        low, high = sources.CONNECTIONS[kind]
        lines.append(Line(f"an emit, {kind}", f"{low} to {high}", f"QObject, {kind} (the faster way)", least(part, "emit", False), least(part, "emit", True), "ns"))
    lines.append(Line("an event, until it is delivered", "", "QObject, queued (the faster way)", least("cross", "event", False), least("cross", "event", True), "ns", "the source timed the sender alone"))
    lines.append(Line("an emit, the newest value alone", "", "", None, least("latest", "emit", True), "ns", "no such connection in Qt"))
    return lines if value or ours else []


def s4(found):
    """Average and peak of the source's statement."""
    row = {(one["logger"], one["threads"]): one for one in found.get("loggers", {}).get("results", ())}
    if not row:
        return []

    def pick(name, threads, key, factor):
        return _scaled(row.get((name, threads), {}).get(key), factor)

    lines = []
    for threads, figure in sources.GLOG_AVERAGE.items():
        plural = f"{threads} thread{'s' if threads > 1 else ''}"
        lines.append(Line(f"average of a call, {plural}", f"glog {figure}, g2log {sources.G2LOG_AVERAGE[threads]}", "glog", pick("glog", threads, "mean_ns", 1e-3), pick("silverpoint", threads, "mean_ns", 1e-3), "µs"))
    for threads, figure in sources.GLOG_PEAK.items():
        plural = f"{threads} thread{'s' if threads > 1 else ''}"
        lines.append(Line(f"peak, {plural}", f"glog {figure}, g2log {sources.G2LOG_PEAK[threads]}", "glog", pick("glog", threads, "peak_ns", 1e-6), pick("silverpoint", threads, "peak_ns", 1e-6), "ms"))
    return lines


def s5(found):
    """MD5 and one Trace.Write, under Mono; what needs Windows has no figure here."""
    us = {row["case"]: row["us"] for row in found.get("dotnet", {}).get("results", ())}
    lines = []
    for what, (case, figure) in sources.DOTNET.items():
        theirs = us.get(case)
        note = sources.DOTNET_NOTES.get(case, "needs Windows" if case is None else "")
        lines.append(Line(what, figure, f"{what.partition(' (')[0]}, Mono" if theirs is not None else "", theirs, us.get("silverpoint") if case not in (None, "md5") else None, "µs", note))
    return lines


TABLES = {
    "S1. Structured tracepoints beside qDebug and LTTng": s1,
    "S2. ATrace and Rust's tracing": s2,
    "S3. Signals across threads": s3,
    "S4. Loggers inside the process": s4,
    "S5. OutputDebugString and System.Diagnostics.Trace": s5,
}


def modern(found):
    """(head, rows) of the table of today's loggers: ours and those measured here, then the figures of another machine."""
    from . import modern as part  # which knows its cases
    data = found.get("modern")
    head = ("ns a call", *part.TITLES.values())
    rows = []
    if data:
        ns = _ns(data, "facility", "case", "ns")
        names = list(dict.fromkeys(name for name, _ in ns))
        names.sort(key=lambda name: (not name.startswith("silverpoint"), name.lower()))
        own = {case: ns.get(("silverpoint-cpp", case)) for case in part.TITLES}

        def cell(name, case):
            if (value := ns.get((name, case))) is None:
                return "–"
            return _short(value) + (f" ({value / own[case]:.0f} ×)" if own[case] and case != "disabled" and not name.startswith("silverpoint") else "")

        rows = [(name, *(cell(name, case) for case in part.TITLES)) for name in names]
    return head, rows + [(f"{name}, on another machine", *(cell or "–" for cell in cells)) for name, cells in sources.MODERN.items()]
