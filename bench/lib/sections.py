"""Each part of the suite as a section of the report: its tables, its plots, and the comparison of each of our variants with its like in each column that is printed."""

from . import dotnet, lttng, pacing, reasons, scaling, setups, sources, tables
from . import page as html
from .atrace import CALLS as ATRACE_CALLS
from .atrace import LANGUAGES as ATRACE_LANGUAGES
from .atrace import RING as ATRACE_RING
from .better import ELSEWHERE, measured
from .converting import rate
from .report import text

OWN = "silverpoint"


class Plots:
    """The drawing library, which only a whole page needs."""

    def __getattr__(self, name):
        from . import plots as drawing
        return getattr(drawing, name)


plots = Plots()


def is_own(name):
    return name.startswith(OWN)


def figures_of(data, names, value="ns"):
    """{(the row's members `names`): Measured} of a part whose rows have one figure."""
    return {tuple(row[name] for name in names): measured(row[value], row.get("again")) for row in data["results"]}


def show(one, factor=1):
    return "–" if one is None else text(one.value * factor)


def cpu_of_all(data, who, cases, where, better, told="", why=lambda own, case: ""):
    """Lines of the section: CPU time of all threads and processes, of records back to back, for those of whom it was measured. `who`: the member of a row that names it; `cases`: {case: title}; `why` says why another is better at a case."""
    cpu = {(row[who], row["case"]): measured(row["cpu_ns"], row.get("cpu_again")) for row in data["results"] if "cpu_ns" in row}
    names = sorted(dict.fromkeys(name for name, _ in cpu), key=lambda name: not is_own(name))
    if not names:
        return []
    own = tuple(filter(is_own, names))
    for name in (name for name in names if not is_own(name)):
        for case, title in cases.items():
            for variant in own:
                better.look(where, variant, cpu.get((variant, case)), name, cpu.get((name, case)), "ns", why(variant, case), at=title)
    rows = [(name, *(show(cpu.get((name, case))) for case in cases)) for name in names]
    return ["<h3>CPU time of all, ns a record</h3>", f"<p>Records back to back: all threads of the process, and the processes that serve it, until everything has arrived.{told}</p>", html.table(("", *cases.values()), rows, own=own)]


# ---- S1 ----

# Of our formats in another process, which program writes the same by itself, and what it is called in both tables.
RENDERED = {"qDebug's text": "qdebug, to a file", "JSON": "QJsonObject, to a file", "CBOR": "QCborStreamWriter, to a file"}


def structured(data, better):
    cases = {"literal": "<< literal", "map": "<< atoms + map", "floats": "<< float[128]"}
    ns = figures_of(data, ("facility", "case"))
    own = "silverpoint-cpp"
    names = list(dict.fromkeys(row["facility"] for row in data["results"]))
    names.sort(key=lambda name: not is_own(name))
    variants = [name for name in names if is_own(name)]
    others = {(row["format"], row["case"]): row["ns"] for row in data["renderings"]}
    rows = []
    for name in names:
        for case in cases:
            for variant in variants if not is_own(name) else ():
                better.look("S1. Structured tracepoints, ns a call", variant, ns.get((variant, case)), name, ns.get((name, case)), "ns", at=cases[case])
        mine = {case: ns.get((own, case)) for case in cases}
        times = {case: f" ({ns[name, case].value / mine[case].value:.0f} ×)" if mine[case] and (name, case) in ns and not is_own(name) else "" for case in cases}
        rows.append((name, *(show(ns.get((name, case))) + times[case] for case in cases), " · ".join(map(str, sources.STRUCTURED.get(name, ("",))))))
    # Events with declared fields, and ours of the same arguments: into the ring, into LTTng, into both. (Older files have no such rows.)
    declared = figures_of({"results": data.get("lttng", ())}, ("facility", "case"))
    for case, title in lttng.CASES.items():
        for variant in (lttng.RING, lttng.LTTNG):
            better.look("S1. LTTng with declared fields, ns a call", variant, declared.get((variant, case)), lttng.BY_HAND, declared.get((lttng.BY_HAND, case)), "ns", at=title)
    parts = ["<h2>S1. Structured tracepoints beside qDebug and LTTng</h2>", "<p>Nanoseconds of a call on the caller's side; in brackets how many times as long as silverpoint-cpp.</p>",
             html.table(("", *cases.values(), "the source's, µs"), rows, own=tuple(variants))]
    if declared:
        names_of_events = [name for name in lttng.ROWS if any((name, case) in declared for case in lttng.CASES)]
        rows = [(name, *(show(declared.get((name, case))) for case in lttng.CASES)) for name in names_of_events]
        floors = {case: min(row["floor_ns"] for row in data["lttng"] if row["case"] == case) for case in lttng.CASES if any(row["case"] == case for row in data["lttng"])}
        rows.append(("the floor of the same processes, at least", *(text(floors[case]) if case in floors else "–" for case in lttng.CASES)))
        parts += ["<h3>LTTng with declared fields, ns a call</h3>", "<p>A provider written by hand, and our tracepoints of the same names and arguments. Nothing was dropped: every event was found in LTTng's trace, and every record in "
                  "the trace file.</p>", html.table(("", *lttng.CASES.values()), rows, own=lttng.ROWS[1:])]
    for case, title in cases.items():
        bars = [(name, ns[name, case].value, is_own(name)) for name in names if (name, case) in ns]
        parts.append(html.figure(plots.bars(f"{title}: ns a call", bars, "ns"), "Logarithmic."))
    rows = [(name, *(text(others[name, case]) for case in cases)) for name in dict.fromkeys(name for name, _ in others)]
    parts += ["<h3>What becomes of them, in another process</h3>", "<p>CPU time of reading the trace file and writing the format, ns a record. Nobody waits for it. Each record's words were found in what was "
              "written.</p>", html.table(("", *cases.values()), rows)]
    # A logger that writes the format at once does all of it in the call; compare it with the call and the other process together.
    rows = []
    for format_, name in RENDERED.items():
        cells = []
        for case in cases:
            mine, theirs, other = ns.get((own, case)), ns.get((name, case)), others.get((format_, case))
            whole = measured(mine.value + other) if mine and other else None
            better.look("S1. Call and format together, ns of CPU", own, whole, name, theirs, "ns", at=f"{format_}, {cases[case]}")
            cells.append("–" if not whole or not theirs else f"{text(whole.value)} / {text(theirs.value)}")
        rows.append((f"{format_} / {name}", *cells))
    return [*parts, "<h3>Call and format together</h3>", "<p>ns: our call and what another process takes to write the format, without the collector's share (cost over rate, below, has it) / a call of who "
            "writes the same format at once.</p>", html.table(("", *cases.values()), rows), *cpu_of_all(data, "facility", cases, "S1. CPU of all, ns a record", better), *setups.section("structured", data)]


# ---- S2 ----

# What `tracing` itself costs: no rivals, and none of ours.
NO_RIVALS = ("no-op", "visiting", "none")
TRACING_CASES = {"event": "event, a text", "event3": "event, 3 fields", "span": "span", "span2": "span, 2 fields"}


def tracing(data, better):
    ns = figures_of(data, ("backend", "case"))
    reference = {(row["backend"], row["case"]): row["reference_ns"] for row in data["results"]}
    # Of a line that is filtered: what is above the empty loop.
    above = {name: ns[name, "disabled"].less(reference[name, "disabled"]) for name, case in ns if case == "disabled"}
    own = [name for name in dict.fromkeys(name for name, _ in ns) if is_own(name)]
    names = [name for name in dict.fromkeys(name for name, _ in ns) if any((name, case) in ns for case in TRACING_CASES)]
    rows = []
    for name in names:
        for variant in own if not is_own(name) and not name.startswith((*NO_RIVALS, "ATrace")) else ():
            for case, title in TRACING_CASES.items():
                better.look("S2. Lines of tracing, ns", variant, ns.get((variant, case)), name, ns.get((name, case)), "ns", reasons.tracing(variant, name, case, ns), at=title)
            better.look("S2. A line that is filtered, ns over an empty loop", variant, above.get(variant), name, above.get(name), "ns", reasons.filtered(variant, name, above))
        cells = [f"{text(ns[name, case].value)} ({text(ns[name, case].value / reference[name, case])} floors)" if (name, case) in ns else "–" for case in TRACING_CASES]
        rows.append((name, *cells, f"{above[name].value:.2f}" if name in above else "–"))
    rows.append(("the source's subscriber into ATrace, on", *(text(sources.SUBSCRIBER_ON[case]) for case in TRACING_CASES), ""))
    rows.append(("the source's, off, unfiltered", *(text(sources.SUBSCRIBER_OFF[case]) for case in TRACING_CASES), ""))
    atrace = []
    for place, cases in (("ring", ATRACE_RING), ("off", ATRACE_CALLS), ("marker", ATRACE_CALLS)):
        for case, title in cases.items():
            cells = []
            for language in ATRACE_LANGUAGES:
                key = (f"ATrace, {language}, {place}", case)
                if key not in ns:
                    cells.append("–")
                elif place == "off":
                    cells.append(f"{ns[key].value - reference[key]:.2f}")
                else:
                    cells.append(f"{show(ns[key])} ({ns[key].value / reference[key]:.2f} {'floors' if place == 'ring' else '× write(2)'})")
                if place == "marker":
                    better.look("S2. ATrace into trace_marker, ns", f"ATrace, {language}", ns.get(key), "a bare write(2)", measured(reference.get(key)), "ns", reasons.BARE_WRITE, at=title)
            atrace.append((f"{place}: {title}", *cells))
    return ["<h2>S2. ATrace and Rust's tracing</h2>", "<p>Nanoseconds a call; no-op rows are what <code>tracing</code> itself costs, the visiting one what fields cost any subscriber; the ATrace layer writes to the kernel. "
            "<code>filtered</code>: a line that its level filters out, over an empty loop.</p>",
            html.table(("", *TRACING_CASES.values(), "filtered"), rows, own=tuple(own)),
            *cpu_of_all(data, "backend", TRACING_CASES, "S2. CPU of all, ns a record", better, " Others have no helpers, and the caller's time is all, but for ticklog, whose thread takes a core as long as it runs.", lambda own, case: reasons.registry(own, case, ns)),
            html.table(("ATrace, ns", *ATRACE_LANGUAGES), atrace), *setups.section("tracing", data)]


# ---- S3 ----

# Part of the run: title, (measured, column, whether more is better; None: not compared)…
SIGNALS = {
    "direct": ("One receiver in the same thread", (("emit", "ns an emission", False),)),
    "cross": ("To another thread, every event", (("emit", "ns an emission", False), ("event", "ns an event delivered", False))),
    "latest": ("To another thread, the newest value", (("emit", "ns an emission", False), ("emit and receiver", "ns an emission and receiver", False), ("looks", "looks", None), ("reads", "values read", None))),
    "stalled": ("A receiver that does not come: memory", (("KiB", "KiB", False),)),
    "timer": ("A timer beside a million events a second: how late, µs", (("median", "median", False), ("p99", "99th percentile", False), ("max", "greatest", False), ("ticks", "ticks", True),
                                                                         ("sent", "events sent", True), ("arrived", "values that arrived", None))),
}


def signals(data, better):
    found = figures_of(data, ("part", "who", "what"), "value")
    low, high = sources.CONNECTIONS["direct"]
    parts = ["<h2>S3. Crossing threads</h2>", f"<p>The source's figures: direct {low} to {high} ns an emit, queued {sources.CONNECTIONS['queued'][0]} to {sources.CONNECTIONS['queued'][1]} ns.</p>"]
    for part, (title, columns) in SIGNALS.items():
        names = list(dict.fromkeys(who for which, who, _ in found if which == part))
        own = [name for name in names if is_own(name)]
        for what, column, more in columns:
            for name in names:
                # Without a sender, or without a signal (what the machine takes), nobody is compared.
                for variant in own if more is not None and not is_own(name) and not name.startswith("no ") else ():
                    better.look(f"S3. {title}: {column}", variant, found.get((part, variant, what)), name, found.get((part, name, what)), "", reasons.signals(part, what, variant, name, found), bool(more))
        rows = [(name, *(show(found.get((part, name, what))) for what, _, _ in columns)) for name in names]
        if rows:
            parts += [f"<h3>{html.escape(title)}</h3>", html.table(("", *(column for _, column, _ in columns)), rows, own=tuple(own))]
    return parts + setups.section("signals", data)


# ---- S4 ----

LOGGER_COLUMNS = (("mean_ns", "Average of a call, ns", 1), ("p50_ns", "Median, ns", 1), ("p999_ns", "P99.9, µs", 1e-3), ("peak_ns", "Peak, ms", 1e-6),
                  ("total_s", "Until all is in the file, s", 1), ("callers_s", "CPU of the callers, s", 1), ("cpu_s", "CPU of all threads and helpers, s", 1))


def plural(n):
    return f"{n} thread{'s' if n > 1 else ''}"


def loggers(data, better):
    found = {(row["logger"], row["threads"]): row for row in data["results"]}
    threads = sorted({n for _, n in found if n})
    # Those of one thread alone are for the rate of the sink.
    names = [name for name in dict.fromkeys(row["logger"] for row in data["results"]) if any((name, n) in found for n in threads[1:])]
    names.sort(key=lambda name: (name != "nothing", not is_own(name), name.lower()))
    own, rivals = tuple(filter(is_own, names)), [name for name in names if not is_own(name) and name != "nothing"]
    # With many threads each logs fewer.
    entries = {row["threads"]: row.get("entries", data["entries"]) for row in data["results"]}
    fewer = "".join(f", {each:,} with {n} threads" for n, each in sorted(entries.items()) if each != data["entries"])

    def value(name, n, key, scale):
        row = found.get((name, n), {})
        if key == "entry_bytes":
            return measured(row["bytes"] / entries[n] / n) if row.get("bytes") else None
        one = measured(row.get(key), row.get("again", {}).get(key))
        return one and one.scaled(scale)

    def compare(key, title, scale, numbers):
        name_of, _, unit = title.rpartition(", ")
        for variant in own:
            for rival in rivals:
                for n in numbers:
                    better.look(f"S4. {name_of}", variant, value(variant, n, key, scale), rival, value(rival, n, key, scale), unit, reasons.loggers(key, variant, rival), at=plural(n) if len(numbers) > 1 else "")

    parts = ["<h2>S4. Loggers inside the process</h2>", f"<p>{data['entries']:,} entries a thread{fewer} (the source: a million each), one text file each.</p>"]
    for key, title, scale in LOGGER_COLUMNS:
        compare(key, title, scale, threads)
        rows = [(name, *(show(value(name, n, key, scale)) for n in threads)) for name in names if any(value(name, n, key, scale) for n in threads)]
        if key == "mean_ns":
            rows += [(f"the source's {who}", *(text(figures[n] * 1000) if n in figures else "" for n in threads)) for who, figures in
                     (("glog", sources.GLOG_AVERAGE), ("g2log", sources.G2LOG_AVERAGE))]
        if key == "peak_ns":
            rows += [(f"the source's {who}", *(figures.get(n, "") for n in threads)) for who, figures in (("glog", sources.GLOG_PEAK), ("g2log", sources.G2LOG_PEAK))]
        if rows:
            parts += [f"<h3>{title}</h3>", html.table(("", *map(plural, threads)), rows, own=own)]
    # What an entry takes does not depend on who else logs: the numbers of entries have more digits, that is all.
    most = max((n for n in threads if all((name, n) in found for name in (*own, *rivals))), default=None)
    if most:
        compare("entry_bytes", "Bytes an entry in the file, bytes", 1, [most])
        parts += ["<h3>Bytes an entry in the file</h3>", html.table(("", f"bytes, {plural(most)}"), [(name, show(value(name, most, "entry_bytes", 1))) for name in (*own, *rivals)], own=own)]
    shown = [*own, *rivals]
    for key, title, unit, scale in (("mean_ns", "Average of a call over threads", "ns", 1), ("peak_ns", "Peak over threads", "ms", 1e-6)):
        series = {name: [(n, value(name, n, key, scale).value) for n in threads if (name, n) in found] for name in shown}
        parts.append(html.figure(plots.lines(title, series, "threads", unit, names), "Logarithmic."))
    for n in (1, max(threads)):
        curves = {name: found[name, n]["curve"] for name in names if (name, n) in found}
        parts.append(html.figure(plots.percentiles(f"Latency of a call, {plural(n)}", curves, names), "Of all threads. `nothing`: two reads of the clock."))
    calls = {name: found[name, 4]["calls"] for name in names if (name, 4) in found and name in (OWN, "glog", "spdlog", "spdlog async")}
    parts.append(html.figure(plots.scatter("Single calls of one of four threads", calls, names), "A few hundred calls evenly spread, and the 400 slowest."))
    return parts + setups.section("loggers", data)


# ---- parts without a table of a source ----


def modern(data, better):
    head, rows = tables.modern({"modern": data})
    ns = figures_of(data, ("facility", "case"))
    own = tuple(row[0] for row in rows if is_own(row[0]))
    where = "Beside today's loggers, ns a call"
    for case, title in tables.modern_titles().items():
        for variant in own:
            for name in (name for name, of in ns if of == case and not is_own(name)):
                better.look(where, variant, ns.get((variant, case)), name, ns[name, case], "ns", reasons.modern(case, name), at=title)
            # What was measured elsewhere stands in the same columns, so it is looked at, too: at its lowest figure.
            for name, cells in sources.MODERN.items():
                if name != "floor" and (least := sources.least(dict(zip(tables.modern_titles(), cells))[case])) is not None:
                    better.look(where, variant, ns.get((variant, case)), f"{name}, on another machine", measured(least), "ns", reasons.OTHER_MACHINE, at=title, noise=ELSEWHERE)
    return ["<h2>Tracepoints beside today's loggers</h2>", "<p>Nanoseconds of a call, in bursts of 20; in brackets how many times as long as silverpoint-cpp. The figures of another machine (two cores, virtual, of "
            "the same kind) were not measured in this run.</p>", html.table(head, rows, own=own), *setups.section("modern", data)]


def paced(data, better):
    found = {(row["facility"], row["rate"]): row for row in data["results"]}
    names = sorted({name for name, _ in found}, key=lambda name: (name == "nothing", not is_own(name), name.lower()))
    nothing = {rate: row["cpu_per_record"] for (name, rate), row in found.items() if name == "nothing"}
    for key, column in (("cpu_per_record", "CPU of all"), ("caller_per_record", "CPU of the caller")):
        for variant in filter(is_own, names):
            for name in (name for name in names if not is_own(name) and name != "nothing"):
                for pace in pacing.RATES:
                    mine, theirs = found.get((variant, pace)), found.get((name, pace))
                    if mine and theirs and mine["kept"] and theirs["kept"]:
                        better.look(f"Cost over rate, {column}, ns a record", variant, measured(mine[key], mine["again"].get(key)), name, measured(theirs[key], theirs["again"].get(key)), "ns",
                                    reasons.paced(key, variant, name, theirs[key], nothing.get(pace)), at=f"{pacing.short(pace)}/s")
    rows = [(name, *(pacing.cell(found.get((name, pace))) for pace in pacing.RATES)) for name in names]
    series = {name: [(pace, found[name, pace]["cpu_per_record"]) for pace in pacing.RATES if (name, pace) in found and found[name, pace]["kept"]] for name in names}
    series = {name: points for name, points in series.items() if points}
    return ["<h2>Cost over rate</h2>", f"<p>CPU time of a record of three numbers, ns: of all threads and processes / of it the caller's. One thread makes a thousandth of a second's records a thousand "
            f"times a second, for {data['milliseconds'] / 1000:g} s. <code>nothing</code> is the sleeping and waking alone, which is in all figures: {text(nothing.get(1000, float('nan')))} ns at 1k. "
            f"Loggers of text are not asked for more than {pacing.short(pacing.MOST_OF_TEXT)}.</p>", html.table(("records/s", *map(pacing.short, pacing.RATES)), rows, own=tuple(filter(is_own, names))),
            html.figure(plots.lines("CPU of a record over the rate, caller and helpers", series, "records per second", "ns", names, base=10), "Both axes logarithmic. Who does not keep a rate has no point there."),
            *setups.section("paced", data)]


def scale(data, better):
    del better  # only ours are measured
    parts = ["<h2>Scale</h2>", "<p>Tracepoints of C under <code>silverpoint run</code>, raw blocks to disk, default rings, one point after the other. Every record was found in the trace file, by count and the sum of ids.</p>"]
    for axis, (title, x, columns) in scaling.TABLES.items():
        points = [row for row in data["results"] if row["axis"] == axis]
        if not points:
            continue
        # A figure that no point has, and memory beside rates, are no curves.
        drawn = [(key, name, factor) for key, name, factor in columns if any(row.get(key) for row in points) and not key.endswith(("_mib", "_mb"))]
        series = {name: [(row["x"], row[key] * factor) for row in points if row.get(key)] for key, name, factor in drawn}
        parts += [f"<h3>{title}</h3>", html.table((x, *(name for _, name, _ in columns)), [(f"{row['x']:,}", *(scaling.cell(row, key, factor) for key, _, factor in columns)) for row in points]),
                  html.figure(plots.lines(title, series, x, "", list(series), base=10), "Both axes logarithmic."), f"<p>{html.escape(scaling.BENDS[axis])}</p>"]
    return parts


# ---- S5 ----

DOTNET_COLUMNS = (("us", "a turn"), ("above_us", "of the call"), ("flush_us", "flush at the end"), ("cpu_us", "CPU of the process, a turn"))


def of_dotnet(data, better):
    rows = {row["case"]: row for row in data["results"]}

    def value(case, key):
        row = rows.get(case)
        # The spread is that of a turn.
        return row and measured(row.get(key), row.get("again") if key == "us" else None)

    for key, column in DOTNET_COLUMNS:
        for case in (case for case in rows if case not in ("md5", "silverpoint")):
            better.look("S5. Trace.Write of .NET, µs", OWN, value("silverpoint", key), dotnet.TITLES[case], value(case, key), "µs", reasons.of_dotnet(case, key), at=column)
    table = [(title, *("–" if case == "md5" and key == "above_us" or value(case, key) is None else f"{value(case, key).value:.3f}" if key == "above_us" else show(value(case, key)) for key, _ in DOTNET_COLUMNS))
             for case, title in dotnet.TITLES.items() if case in rows]
    return ["<h2>S5. Trace.Write of .NET</h2>", "<p>Microseconds of MD5 of 10,000 bytes, its text, and one <code>Trace.Write</code> of it, under Mono; of the call: beside turns without it in the same process.</p>",
            html.table(("", *(column for _, column in DOTNET_COLUMNS)), table, own=(dotnet.TITLES["silverpoint"],)), *setups.section("dotnet", data)]


# ---- formats ----


def convert(data, better):
    parts = ["<h2>Formats</h2>", f"<p>{data['records']:,} records, one core, one format after the other; memory in MiB at the peak.</p>"]
    for title, rows in (("Writing", data["writers"]), ("Reading", data["readers"])):
        table = [(row["name"], text(rate(row)), f"{row['bytes'] / row['cpu_seconds'] / 1e6:,.0f}", text(row["peak_kib"] / 1024)) for row in rows]
        parts += [f"<h3>{title}</h3>", html.table(("", "M records/s", "MB/s", "memory"), table)]
    ours = {side: {row["format"]: measured(rate(row)) for row in data[side] if row["name"] in ("JSON lines", "CBOR")} for side in ("readers", "writers")}
    for row in data["peers"]:
        side, format_ = "writers" if row["who"].endswith("writing") else "readers", "cbor" if "cbor" in row["who"] else "jsonl"
        better.look(f"Formats, {side}, M records/s", OWN, ours[side].get(format_), row["who"], measured(rate(row)), "M/s", more_is_better=True)
    parts += ["<h3>Other programs on the same records, as JSON lines or CBOR</h3>",
              html.table(("", "M records/s", "MB/s"), [(row["who"], text(rate(row)), f"{row['bytes'] / row['cpu_seconds'] / 1e6:,.0f}") for row in data["peers"]])]
    rates = {(row["what"], row["who"]): measured(rate(row)) for row in data["bind"]}
    for (what, who), one in rates.items():
        if not is_own(who):
            better.look("Own types in Rust, M records/s", "silverpoint-bind", rates.get((what, "silverpoint-bind")), who, one, "M/s", more_is_better=True, at=what)
    if data["bind"]:
        table = [(row["what"], row["who"], text(rate(row)), f"{row['bytes'] / row['cpu_seconds'] / 1e6:,.0f}") for row in data["bind"]]
        parts += ["<h3>Own types in Rust, beside serde</h3>", "<p>100,000 orders of eight members, in memory; the best of three.</p>", html.table(("", "by", "M records/s", "MB/s"), table)]
    return parts + setups.section("convert", data)


def bind(data, better):
    found = {(row["operation"], row["library"], row["case"]): measured(row["ns"], row.get("again")) for row in data["results"]}
    cases = list(dict.fromkeys(row["case"] for row in data["results"]))
    parts = ["<h2>Own types as JSON and CBOR</h2>", "<p>Nanoseconds of one value.</p>"]
    for operation in dict.fromkeys(row["operation"] for row in data["results"]):
        libraries = list(dict.fromkeys(library for done, library, _ in found if done == operation))
        rows = []
        for library in libraries:
            for case in cases if not is_own(library) else ():
                better.look(f"Own types in C++, {operation}, ns", OWN, found.get((operation, OWN, case)), library, found.get((operation, library, case)), "ns", reasons.bind(operation, case, library), at=case)
            rows.append((library, *(show(found.get((operation, library, case))) for case in cases)))
        parts += [f"<h3>{operation[0].upper()}{operation[1:]}</h3>", html.table(("", *cases), rows, own=(OWN,))]
    return parts + setups.section("bind", data)


def budgets(data, better):
    del better  # a budget is no rival
    rows = [(row["part"], row["what"], row["facility"], row["measured"], f"{text(row['compared'])} {row['unit']}" if row["compared"] is not None else "",
             f"{text(row['low'])} to {text(row['high'])}" if row["low"] is not None else "", row["verdict"]) for row in data["rows"] if row["verdict"]]
    missed = sum("MISS" in row[-1] for row in rows)
    return ["<h2>The hot path against its budgets</h2>", f"<p>{len(rows)} budgets, {missed} missed. The floor is what any tracepoint with a time stamp must pay on this machine.</p>",
            html.table(("", "what", "facility", "measured", "compared", "95 % interval", "verdict"), rows)]


ALL = (("structured", structured), ("tracing", tracing), ("signals", signals), ("loggers", loggers), ("modern", modern), ("paced", paced), ("scale", scale), ("dotnet", of_dotnet), ("convert", convert), ("bind", bind), ("latest", budgets))
