"""The five tables of the sources, cell by cell: the source's figure, the real facility's here, ours, the range of another run of each, how many times ours theirs is, and how both were checked. What has no figure
says why."""

from dataclasses import dataclass

from . import absent, checked, sources
from .better import Measured, measured
from .report import text

HEAD = ("what", "the source", "measured here", "theirs", "theirs, another run", "ours", "ours, another run", "theirs / ours", "checked", "note")
# Of what was made of other lines.
AS_ABOVE = "as above"
# What stands above the tables.
EXPLAINED = ("The source's figure; the facility that stands for it, here; ours, on the caller's side where nothing else is said; how many times ours theirs is. *Another run*: where the figure of another run as long as "
             "this one lies in 99 of 100 cases; – where fewer than three processes say one, or where it was made of two others.")


@dataclass(frozen=True)
class Line:
    """A cell of a source's table. `theirs` and `ours` in the unit of the source's figure, None when not measured; `who` is the facility that stands for the source's here. `theirs_why` and `ours_why` say why one is
    not there, `source_why` where the source has no figure."""

    what: str
    source: str
    who: str
    theirs: Measured | None
    ours: Measured | None
    unit: str
    note: str = ""
    checked: str = ""
    theirs_why: str = ""
    ours_why: str = ""
    source_why: str = ""

    @property
    def ratio(self):
        return self.theirs.value / self.ours.value if self.theirs and self.ours and self.ours.value else None

    def reasons(self):
        """Why each missing figure is missing; never empty for one that is."""
        found = []
        if not self.source:
            found.append(f"no figure of the source: {self.source_why or 'it did not measure this'}")
        missing = {}
        for side, one, why in (("theirs", self.theirs, self.theirs_why), ("ours", self.ours, self.ours_why)):
            if one is None:
                missing.setdefault(why or absent.NOT_MEASURED, []).append(side)
        return "; ".join([*found, *(f"{' and '.join(sides)}: {why}" for why, sides in missing.items())])

    def cells(self):
        """Text of each column."""
        ratio = "–" if self.ratio is None else f"{_short(self.ratio)}\u00a0×"
        note = "; ".join(part for part in (self.note, self.reasons()) if part)
        source = f"{self.source}\u00a0{self.unit}" if self.source else "–"
        return self.what, source, self.who or "–", _figure(self.theirs), _range(self.theirs), _figure(self.ours), _range(self.ours), ratio, self.checked or "–", note


def _short(value):
    """Three figures, down to thousandths."""
    return text(value) if abs(value) >= 1 else f"{value:.3g}"


def _figure(one):
    return "–" if one is None else _short(one.value)


def _range(one):
    return "–" if one is None or one.low is None else f"{_short(one.low)} to {_short(one.high)}"


def _scaled(one, factor):
    return one and one.scaled(factor)


def _rows(data, names, value):
    """{(the row's members `names`): Measured} of a part."""
    return {tuple(row[name] for name in names): measured(row[value], row.get("again")) for row in (data or {}).get("results", ())}


def _checked(part, theirs, ours, case):
    """The word for a line whose figures are of these facilities; empty: it has none."""
    return checked.both(*(checked.of(part, name, case) if name else "" for name in (theirs, ours)))


# ---- S1 ----

_CASES = ("literal", "map", "floats")
# Who stands for each of the source's ways to structure, and which of ours.
_STRUCTURING = {"QDebug": ("QDebug, into a QString", ""), "BindableCopy": ("", "silverpoint, a packed copy"), "JSON": ("QJsonDocument, into bytes", "silverpoint bind, JSON"),
                "CBOR": ("QCborValue, into bytes", "silverpoint bind, CBOR")}


def s1(found):
    """Caller's side, µs a tracepoint; what becomes of ours in another process is beside the formats."""
    data = found.get("structured", {})
    ns = _rows(data, ("facility", "case"), "ns")
    rendered = {(row["format"], row["case"]): row["ns"] for row in data.get("renderings", ())}
    variants = [name for name in dict.fromkeys(name for name, _ in ns) if name.startswith("silverpoint")] or ["silverpoint-cpp"]
    lines = []
    for place, who, here, becomes in sources.STRUCTURED_LINES:
        for case, figure in zip(_CASES, sources.STRUCTURED_ON_LINUX[who], strict=True):
            note = f"and {_short(rendered[becomes, case] / 1000)} µs in another process" if (becomes, case) in rendered else ""
            for own in variants:
                theirs, ours = ns.get((here, case)), ns.get((own, case))
                by = "" if own == "silverpoint-cpp" else f"; {own}"
                lines.append(Line(f"Linux, {place}, {who}, {sources.STRUCTURED_CASES[case]}{by}", str(figure), here, _scaled(theirs, 1e-3), _scaled(ours, 1e-3), "µs", note,
                                  _checked("structured", theirs and here, ours and own, case), theirs_why="" if here else absent.LIBRARY))
    for place, columns in sources.STRUCTURED_ON_WINDOWS.items():
        for who, figures in columns.items():
            for case, figure in zip(_CASES, figures, strict=True):
                lines.append(Line(f"Windows, {place}, {who}, {sources.STRUCTURED_CASES[case]}", str(figure), "", None, None, "µs", theirs_why=absent.WINDOWS, ours_why="on Linux alone (above)"))
    return lines + _structuring(data)


def _structuring(data):
    """What making structure of the arguments takes by itself, into memory."""
    ns = _rows({"results": (data or {}).get("structuring", ())}, ("way", "case"), "ns")
    lines = []
    for who, figures in sources.STRUCTURING.items():
        there, own = _STRUCTURING[who]
        for case, figure in zip(_CASES, figures, strict=True):
            theirs, ours = ns.get((there, case)), ns.get((own, case))
            unasked = "nothing of ours writes into a QDebug: text is made in another process (above)" if not own else ""
            note = "what a tracepoint does with its arguments, without place, clock and ring" if who == "BindableCopy" and ours else ""
            lines.append(Line(f"structuring alone, {who}, {sources.STRUCTURED_CASES[case]}", str(figure), there if theirs else "", _scaled(theirs, 1e-3), _scaled(ours, 1e-3), "µs", note,
                              _checked("structuring", theirs and there, ours and own, case), theirs_why="" if there else absent.LIBRARY, ours_why=unasked))
    return lines


# ---- S2 ----

_SUBSCRIBER = {"event": "event", "event3": "event with arguments", "span": "span", "span2": "span with arguments"}
# A layer without its filter, while the tag is off.
UNFILTERED = "ATrace layer, off, unfiltered"


def s2(found):
    """A subscriber that is on, off, off and filtering; and ATrace's calls."""
    data = found.get("tracing")
    ns = _rows(data, ("backend", "case"), "ns")
    reference = {(row["backend"], row["case"]): row["reference_ns"] for row in (data or {}).get("results", ())}

    def above(name, case):
        return ns[name, case].less(reference[name, case]) if (name, case) in ns else None

    def word(theirs, ours, case):
        return _checked("tracing", theirs if (theirs, case) in ns else "", ours if (ours, case) in ns else "", case)

    fmt, own, to_kernel = "fmt, non-blocking", "silverpoint-tracing", "ATrace layer, on"
    lines = [Line(f"subscriber, on: {what}", str(sources.SUBSCRIBER_ON[case]), fmt, ns.get((fmt, case)), ns.get((own, case)), "ns", "ours into the ring; theirs, as text, to its thread", word(fmt, own, case))
             for case, what in _SUBSCRIBER.items()]
    lines += [Line(f"subscriber, on, into trace_marker: {what}", str(sources.SUBSCRIBER_ON[case]), "", None, ns.get((to_kernel, case)), "ns", "", word("", to_kernel, case), theirs_why=absent.ANDROID)
              for case, what in _SUBSCRIBER.items()]
    lines += [Line(f"subscriber, off, unfiltered: {what}", str(sources.SUBSCRIBER_OFF[case]), "", None, ns.get((UNFILTERED, case)), "ns", "", word("", UNFILTERED, case), theirs_why=absent.ANDROID,
                   ours_why="the layer was measured with its filter alone, which is its default (below)") for case, what in _SUBSCRIBER.items()]
    lines += [Line(f"subscriber, off and filtering: {what}", str(sources.SUBSCRIBER_FILTERED[case]), "", None, ns.get(("ATrace layer, off", case)), "ns", "the layer with its filter, its tag off",
                   word("", "ATrace layer, off", case), theirs_why=absent.ANDROID) for case, what in _SUBSCRIBER.items()]
    lines.append(Line("a line that its level filters out", "", fmt, above(fmt, "disabled"), above(own, "disabled"), "ns", "over an empty loop; one kind of line, an event with an argument", word(fmt, own, "disabled"),
                      source_why="its filter goes by the tag"))
    for call, (what, *figures) in sources.ATRACE_OFF.items():
        for language, figure in zip(("Rust", "C++"), figures, strict=True):
            name = f"ATrace, {language}, off"
            lines.append(Line(f"ATrace off: {what}, {language}", str(figure), "", None, above(name, call), "ns", "over an empty loop", word("", name, call), theirs_why=absent.ANDROID))
    return lines + _atrace_on(ns, reference, word)


def _atrace_on(ns, reference, word):
    """Calls that are on: into the kernel, and into the ring, each beside a bare write(2) of the same bytes."""
    lines = []
    for call, (what, in_ring, *figures) in sources.ATRACE_ON.items():
        for language, figure in zip(("Rust", "C++"), figures, strict=True):
            kernel, ring = f"ATrace, {language}, marker", f"ATrace, {language}, ring"
            bare = measured(reference.get((kernel, call)))
            what_for = f"{what}, {language}"
            lines.append(Line(f"ATrace on, into trace_marker: {what_for}", str(figure), "a bare write(2) of the same bytes", bare, ns.get((kernel, call)), "ns", "", word("", kernel, call)))
            lines.append(Line(f"ATrace on, into the ring: {what_for}", str(figure), "a bare write(2) of the same bytes", bare, ns.get((ring, in_ring)), "ns",
                              "one of 20 in a row, which share the time of all" if in_ring == "end" else "", word("", ring, in_ring)))
    return lines


# ---- S3 ----

_MEMBER_CALL = "no signal: a call through a pointer"


def s3(found):
    """An emission of one number: alone, and how many times as long as another way."""
    value = _rows(found.get("signals"), ("part", "who", "what"), "value")
    if not value:
        return []

    def least(part, what, own):
        """(who, figure) of the fastest of ours or of Qt's."""
        return min(((who, one) for (of, who, which), one in value.items() if of == part and which == what and who.startswith("silverpoint" if own else "QObject")), key=lambda one: one[1].value, default=("", None))

    def sent(part, who):
        """How many events a process has sent: its whole time over that of one."""
        one, whole = (value.get((part, who, what)) for what in ("event" if part == "cross" else "emit", "total"))
        return f"about {float(f'{whole.value / one.value:.2g}'):,.0f} events" if one and whole else ""

    lines, figures = [], {}
    for part, kind in (("direct", "direct"), ("cross", "queued")):
        (who, theirs), (own, ours) = (least(part, "emit", side) for side in (False, True))
        figures[kind] = theirs, ours
        low, high = sources.CONNECTIONS[kind]
        word = _checked("signals", theirs and who, ours and own, part)
        counts = f"theirs {sent(part, who)}, ours {sent(part, own)}" if theirs and ours else ""
        lines.append(Line(f"an emit, {kind}", f"{low} to {high}", who, theirs, ours, "ns", f"the faster of Qt's two loops and of ours; {counts}" if kind == "queued" else counts, word))
        lines.append(Line(f"100,000,000 emits, {kind}", sources.CONNECTION_TOTALS[kind], who, _scaled(theirs, 0.1), _scaled(ours, 0.1), "s", f"the emit times 100,000,000; {counts}", word))
    member = value.get(("direct", _MEMBER_CALL, "emit"))
    figures["a member call"] = member, member
    for kind, beside, figure in sources.CONNECTION_RATIOS:
        theirs, ours = (Measured(one.value / other.value) if one and other else None for one, other in zip(figures[kind], figures[beside], strict=True))
        lines.append(Line(f"{kind}: times as long as {beside}", figure, "QObject", theirs, ours, "×", "a call through a pointer, which the compiler cannot see through" if beside == "a member call" else "", checked=AS_ABOVE))
    (who, theirs), (own, ours) = (least("cross", "event", side) for side in (False, True))
    lines.append(Line("an event, until it is delivered", "", who, theirs, ours, "ns", "", _checked("signals", theirs and who, ours and own, "cross"), source_why="it timed the sender alone"))
    own, ours = least("latest", "emit", True)
    lines.append(Line("an emit, the newest value alone", "", "", None, ours, "ns", "", _checked("signals", "", ours and own, "latest"), theirs_why=absent.NO_SUCH_CONNECTION))
    return lines


# ---- S4 ----

# With the source's statement as it stands, and with ours.
_LOGGERS = {"silverpoint": "SP_INFO", "silverpoint glog.hpp": "the same source, glog.hpp"}


def s4(found):
    """Average and peak of the source's statement."""
    data = found.get("loggers", {})
    row = {(one["logger"], one["threads"]): one for one in data.get("results", ())}
    if not row:
        return []

    # At the source's own size, a process each.
    large = {(one["logger"], one["threads"]): one for one in data.get("large", ())}

    def pick(name, threads, key, factor, rows=row):
        one = rows.get((name, threads), {})
        return _scaled(measured(one.get(key), one.get("again", {}).get(key)), factor)

    def entries(threads):
        """How many each thread logs here; the source a million."""
        known = [one.get("entries", data.get("entries")) for (_, n), one in row.items() if n == threads]
        return f" × {known[0]:,} entries" if known and known[0] else ""

    def condition(threads):
        return f"{threads} thread{'s' if threads > 1 else ''}{entries(threads)}"

    def word(theirs, ours):
        return _checked("loggers", theirs, ours, None)

    lines = []
    for title, key, factor, unit, of_source in (("average of a call", "mean_ns", 1e-3, "µs", (("glog", sources.GLOG_AVERAGE), ("g2log", sources.G2LOG_AVERAGE))),
                                                ("peak", "peak_ns", 1e-6, "ms", (("glog", sources.GLOG_PEAK), ("g2log", sources.G2LOG_PEAK)))):
        for who, figures in of_source:
            for threads, figure in figures.items():
                theirs = pick(who, threads, key, factor)
                for own, form in _LOGGERS.items():
                    # Nothing is beside g2log: our form of the statement is enough.
                    if who == "g2log" and own != "silverpoint":
                        continue
                    ours = pick(own, threads, key, factor)
                    lines.append(Line(f"{title}, {who}, {condition(threads)}; {form}", str(figure), who if theirs else "", theirs, ours, unit, "", word(theirs and who, ours and own),
                                      theirs_why=absent.G2LOG if who == "g2log" else ""))
                    if who == "glog" and (own, threads) in large and (who, threads) in large:
                        theirs, ours = (pick(name, threads, key, factor, large) for name in (who, own))
                        entries_each = large[own, threads]["entries"]
                        lines.append(Line(f"{title}, {who}, {threads} thread{'s' if threads > 1 else ''} × {entries_each:,} entries, as the source's; {form}", str(figure), who, theirs, ours, unit, "",
                                          word(who, own)))
    for threads, figure in sources.PEAK_FACTORS.items():
        theirs, ours = (pick(name, threads, "peak_ns", 1e-6) for name in ("glog", "silverpoint"))
        times = Measured(theirs.value / ours.value) if theirs and ours else None
        lines.append(Line(f"peak of glog over that of g2log, {condition(threads)}", figure, "", None, times, "×", "ours: glog's over SP_INFO's", AS_ABOVE, theirs_why=absent.G2LOG))
    for threads, figure in sources.AVERAGE_LOWER.items():
        theirs, ours = (pick(name, threads, "mean_ns", 1) for name in ("glog", "silverpoint"))
        lower = Measured(100 * (1 - ours.value / theirs.value)) if theirs and ours else None
        lines.append(Line(f"g2log's average below glog's, {condition(threads)}", figure, "", None, lower, "%", "ours: SP_INFO's below glog's", AS_ABOVE, theirs_why=absent.G2LOG))
    for threads in sources.GLOG_AVERAGE:
        theirs, ours = (pick(name, threads, "total_s", 1) for name in ("glog", "silverpoint"))
        lines.append(Line(f"until all is in the file, {condition(threads)}", "", "glog", theirs, ours, "s", "", word(theirs and "glog", ours and "silverpoint"),
                          source_why="it says that g2log's was longer than glog's"))
    return lines


# ---- S5 ----


def s5(found):
    """MD5 and one Trace.Write, under Mono; what needs Windows has no figure here."""
    rows = {row["case"]: row for row in found.get("dotnet", {}).get("results", ())}
    own = rows.get("silverpoint", {})
    lines = []
    for what, (case, figure) in sources.DOTNET.items():
        name, row = what.partition(" (")[0], rows.get(case, {})
        theirs = measured(row.get("us"), row.get("again"))
        why = {"theirs_why": absent.ETW} if case is None else {"ours_why": "nothing of ours is in it"} if case == "md5" else {}
        ours = measured(own.get("us"), own.get("again")) if case != "md5" else None
        word = _checked_dotnet(theirs and case, ours)
        lines.append(Line(what, figure, f"{name}, Mono" if theirs else "", theirs, ours, "µs", sources.DOTNET_NOTES.get(case, ""), word, **why))
        if case != "md5":
            alone = float(figure) - float(sources.DOTNET["MD5 alone"][1])
            lines.append(Line(f"{name}: of it the call", f"{alone:.2f}", f"{name}, Mono" if theirs else "", measured(row.get("above_us")), measured(own.get("above_us")), "µs",
                              "the source's: its figure less that of MD5 alone; here: turns with and without the call in one process", word, **why))
        missing = "these results do not have it, of fewer than two processes or of before it was written"
        deviation = [measured(one.get("deviation_us")) for one in (row, own if case != "md5" else {})]
        lines.append(Line(f"{name}: standard deviation", sources.DOTNET_DEVIATION, f"{name}, Mono" if theirs else "", *deviation, "µs", "of the source's runs of its loop; here of processes", word,
                          **({"theirs_why": missing, "ours_why": missing} | why)))
    return lines


def _checked_dotnet(case, ours):
    return checked.both(checked.of("dotnet", "", case) if case else "", checked.of("dotnet", "", "silverpoint") if ours else "")


TABLES = {
    "S1. Structured tracepoints beside qDebug and LTTng": s1,
    "S2. ATrace and Rust's tracing": s2,
    "S3. Signals across threads": s3,
    "S4. Loggers inside the process": s4,
    "S5. OutputDebugString and System.Diagnostics.Trace": s5,
}


# ---- today's loggers ----


def modern_titles():
    """{case: title} of the table of today's loggers."""
    from . import modern as part  # which knows its cases
    return part.TITLES


def modern(found):
    """(head, rows) of the table of today's loggers: ours and those measured here, then the figures of another machine."""
    titles, data = modern_titles(), found.get("modern")
    head = ("ns a call", *titles.values())
    rows = []
    if data:
        ns = _rows(data, ("facility", "case"), "ns")
        names = list(dict.fromkeys(name for name, _ in ns))
        names.sort(key=lambda name: (not name.startswith("silverpoint"), name.lower()))
        own = {case: ns.get(("silverpoint-cpp", case)) for case in titles}

        def cell(name, case):
            if (one := ns.get((name, case))) is None:
                return "–"
            return _short(one.value) + (f" ({one.value / own[case].value:.0f} ×)" if own[case] and case != "disabled" and not name.startswith("silverpoint") else "")

        rows = [(name, *(cell(name, case) for case in titles)) for name in names]
    return head, rows + [(f"{name}, on another machine", *(cell or "–" for cell in cells)) for name, cells in sources.MODERN.items()]
