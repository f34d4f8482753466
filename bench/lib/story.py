"""What the report says: each part of the suite as a section, and where others are better."""

import re

from . import absent, dotnet, figures, pacing, scaling, sources, tables
from . import page as html
from .atrace import CALLS as ATRACE_CALLS
from .atrace import LANGUAGES as ATRACE_LANGUAGES
from .atrace import RING as ATRACE_RING
from .converting import rate
from .report import text

OWN = "silverpoint"


class Better:
    """Collects where another is better, and why."""

    def __init__(self):
        self.rows = []

    def look(self, where, ours, other, theirs, unit, why, more_is_better=False):
        """True, and noted, if the other's figure is better."""
        if ours is None or theirs is None or not (theirs > ours if more_is_better else theirs < ours):
            return False
        self.rows.append((where, other, f"{text(theirs)} {unit}".strip(), f"{text(ours)} {unit}".strip(), why))
        return True


    def grouped(self):
        """The rows, those that differ by the number of threads alone in one."""
        groups = {}
        for where, who, theirs, ours, why in self.rows:
            found = re.fullmatch(r"(.*), (\d+) threads?", where)
            key = (found[1] if found else where, who, why)
            groups.setdefault(key, []).append((found[2] if found else None, theirs.rpartition(" "), ours.rpartition(" ")))
        made = []
        for (where, who, why), rows in groups.items():
            threads = [n for n, _, _ in rows if n]
            name = f"{where}, {' · '.join(threads)} thread{'' if threads == ['1'] else 's'}" if threads else where
            made.append((name, who, *(" · ".join(row[side][0] or row[side][2] for row in rows) + (f" {rows[0][side][2]}" if rows[0][side][0] else "") for side in (1, 2)), why or "not explained yet"))
        return made


class Plots:
    """The drawing library, which only a whole page needs."""

    def __getattr__(self, name):
        from . import plots as drawing
        return getattr(drawing, name)


plots = Plots()


def is_own(name):
    return name.startswith(OWN)


def structured(data, better):
    cases = {"literal": "<< literal", "map": "<< atoms + map", "floats": "<< float[128]"}
    ns = {(row["facility"], row["case"]): row["ns"] for row in data["results"]}
    own = "silverpoint-cpp"
    names = list(dict.fromkeys(row["facility"] for row in data["results"]))
    names.sort(key=lambda name: not is_own(name))
    rows = []
    for name in names:
        cells = []
        for case in cases:
            value, mine = ns.get((name, case)), ns.get((own, case))
            if name != own:
                better.look(f"Structured tracepoints, {cases[case]}", mine, name, value, "ns", "")
            cells.append("–" if value is None else text(value) + (f" ({value / mine:.0f} ×)" if mine and name != own else ""))
        rows.append((name, *cells, " · ".join(map(str, sources.STRUCTURED.get(name, ("",))))))
    parts = ["<h2>S1. Structured tracepoints beside qDebug and LTTng</h2>", "<p>Nanoseconds of a call on the caller's side; in brackets how many times as long as ours.</p>",
             html.table(("", *cases.values(), "the source's, µs"), rows, own=(own,))]
    for case, title in cases.items():
        bars = [(name, ns[name, case], is_own(name)) for name in names if (name, case) in ns]
        parts.append(html.figure(plots.bars(f"{title}: ns a call", bars, "ns"), "Logarithmic. Each record was found in what was written."))
    others = {(row["format"], row["case"]): row["ns"] for row in data["renderings"]}
    rows = [(name, *(text(others[name, case]) for case in cases)) for name in dict.fromkeys(name for name, _ in others)]
    parts += ["<h3>What becomes of them, in another process</h3>", "<p>CPU time of reading the trace file and writing the format, ns a record. Nobody waits for it.</p>",
              html.table(("", *cases.values()), rows)]
    return parts


# What `tracing` itself costs, and our own layer to the kernel.
NO_RIVALS = ("no-op", "visiting", "ATrace layer")


def tracing(data, better):
    titles = {"event": "event, a text", "event3": "event, 3 fields", "span": "span", "span2": "span, 2 fields"}
    ns = {(row["backend"], row["case"]): row for row in data["results"]}
    own = "silverpoint-tracing"
    names = [name for name in dict.fromkeys(row["backend"] for row in data["results"]) if any((name, case) in ns for case in titles)]
    rows = []
    for name in names:
        cells = []
        for case, title in titles.items():
            row, mine = ns.get((name, case)), ns.get((own, case))
            if row and mine and not is_own(name) and not name.startswith(NO_RIVALS):
                better.look(f"tracing: {title}", mine["ns"], name, row["ns"], "ns", WHY.get(("tracing", name), ""))
            cells.append(f"{text(row['ns'])} ({text(row['ns'] / row['reference_ns'])} floors)" if row else "–")
        rows.append((name, *cells))
    rows.append(("the source's subscriber into ATrace, on", *(text(sources.SUBSCRIBER_ON[case]) for case in titles)))
    atrace = []
    for place, cases in (("ring", ATRACE_RING), ("off", ATRACE_CALLS), ("marker", ATRACE_CALLS)):
        for case, title in cases.items():
            cells = []
            for language in ATRACE_LANGUAGES:
                row = ns.get((f"ATrace, {language}, {place}", case))
                if not row:
                    cells.append("–")
                elif place == "off":
                    cells.append(f"{row['ns'] - row['reference_ns']:.2f}")
                else:
                    cells.append(f"{text(row['ns'])} ({row['ns'] / row['reference_ns']:.2f} {'floors' if place == 'ring' else '× write(2)'})")
            atrace.append((f"{place}: {title}", *cells))
    return ["<h2>S2. ATrace and Rust's tracing</h2>", "<p>Nanoseconds a call; no-op rows are what <code>tracing</code> itself costs, the visiting one what fields cost any subscriber; the ATrace layer writes to the kernel.</p>",
            html.table(("", *titles.values()), rows, own=(own, own + ", layer")), html.table(("ATrace, ns", *ATRACE_LANGUAGES), atrace)]


# Part of the run: title, (measured, column, whether less is better and others are compared)…
SIGNALS = {
    "direct": ("One receiver in the same thread", (("emit", "ns an emission", True),)),
    "cross": ("To another thread, every event", (("emit", "ns an emission", True), ("event", "ns an event delivered", True))),
    "latest": ("To another thread, the newest value", (("emit", "ns an emission", True), ("emit and receiver", "ns an emission and receiver", True), ("looks", "looks", False), ("reads", "values read", False))),
    "stalled": ("A receiver that does not come: memory", (("KiB", "KiB", True),)),
    "timer": ("A timer beside a million events a second: how late, µs", (("median", "median", True), ("p99", "99th percentile", True), ("sent", "events sent", False))),
}


def signals(data, better):
    found = {(row["part"], row["who"], row["what"]): row["value"] for row in data["results"]}
    low, high = sources.CONNECTIONS["direct"]
    parts = ["<h2>S3. Crossing threads</h2>",
             f"<p>The source's figures: direct {low} to {high} ns an emit, queued {sources.CONNECTIONS['queued'][0]} to {sources.CONNECTIONS['queued'][1]} ns. Every event that was to arrive was counted.</p>"]
    for part, (title, columns) in SIGNALS.items():
        names = list(dict.fromkeys(who for which, who, _ in found if which == part))
        own = [name for name in names if is_own(name)]
        for what, column, compares in columns:
            ours = min((found[part, name, what] for name in own if (part, name, what) in found), default=None)
            for name in names:
                # Without a sender, or without a signal (what the machine takes), nobody is compared.
                if compares and not is_own(name) and not name.startswith("no "):
                    better.look(f"{title}: {column}", ours, name, found.get((part, name, what)), "", WHY.get(("signals", part), ""))
        rows = [(name, *(text(found[part, name, what]) if (part, name, what) in found else "–" for what, _, _ in columns)) for name in names]
        if rows:
            parts += [f"<h3>{html.escape(title)}</h3>", html.table(("", *(column for _, column, _ in columns)), rows, own=tuple(own))]
    return parts


WHY = {
    "paced": "at low rates each record pays for a collector of its own that wakes for it",
    "callers_s": "",
    ("modern", "disabled"): "its level is a variable of the program; here the place's byte lies in shared memory, behind a pointer, so that another process can switch it",
    "total_s": "it formats in the callers' threads, on all processors at once; here one thread does, behind the collector",
    "cpu_s": "a record is copied twice more: into the ring, and by the collector into the spool, which survives the process",
    "peak_ns": "a thread that does nothing but log fills its ring of a megabyte in a quarter of a millisecond (entry 11,738 is the first that waits), faster than the collector can write it to the spool; it waits until "
               "half a megabyte is written, and up to a scheduler's turn when there are more threads than processors; who writes within the call waits a little in each instead",
    ("tracing", "ticklog"): "it is called by macros of its own, not through `tracing`, which brings each field by two calls; so are native tracepoints (below, beside today's loggers)",
    ("dotnet", "file"): "its text goes into a buffer of the process; here it is made UTF-8, leaves the runtime by a call of C, and is in shared memory then",
    ("signals", "timer"): "what the machine's scheduler does in a run of 5 s: the row without any sender is of the same order",
    ("write JSON", "128 floats", "serde_json (Rust)"): "42 of the 128 need eight digits and take seven tenths of the instructions that numbers take here: the standard library's `to_chars` finds their digits, and a second pass places "
                                                       "the point; serde_json's zmij finds them with fewer multiplications and writes them where they belong",
    ("read JSON", "128 floats", "serde_json (Rust)"): "30 of the 128 have more digits than a `float` holds exactly, so the standard library's `from_chars` rounds them, once; serde_json reads a `double` by one division and "
                                                      "narrows it, which rounds twice",
    "mean_ns": "a burst fills the ring faster than the collector writes the spool",
    "p999_ns": "",
    "p50_ns": "",
}


def loggers(data, better):
    columns = (("mean_ns", "Average of a call, ns", 1), ("p50_ns", "Median, ns", 1), ("p999_ns", "P99.9, µs", 1e-3), ("peak_ns", "Peak, ms", 1e-6),
               ("total_s", "Until all is in the file, s", 1), ("callers_s", "CPU of the callers, s", 1), ("cpu_s", "CPU of all threads and helpers, s", 1))
    found = {(row["logger"], row["threads"]): row for row in data["results"]}
    threads = sorted({n for _, n in found if n})
    # Those of one thread alone are for the rate of the sink.
    names = [name for name in dict.fromkeys(row["logger"] for row in data["results"]) if any((name, n) in found for n in threads[1:])]
    names.sort(key=lambda name: (name != "nothing", not is_own(name), name.lower()))

    def value(name, n, key, scale):
        one = found.get((name, n), {}).get(key)
        return None if one is None else one * scale

    # With many threads each logs fewer.
    entries = {row["threads"]: row.get("entries", data["entries"]) for row in data["results"]}
    fewer = "".join(f", {each:,} with {n} threads" for n, each in sorted(entries.items()) if each != data["entries"])
    parts = ["<h2>S4. Loggers inside the process</h2>", f"<p>{data['entries']:,} entries a thread{fewer}, one text file each; every entry was found in it.</p>"]
    for key, title, scale in columns:
        rows = []
        for name in names:
            for n in threads:
                if not is_own(name) and name != "nothing":
                    better.look(f"{title.split(',')[0]}, {n} thread{'s' if n > 1 else ''}", value(OWN, n, key, scale), name, value(name, n, key, scale), title.split(", ")[1],
                                WHY.get((key, name), WHY.get(key, "")))
            cells = [value(name, n, key, scale) for n in threads]
            if any(cell is not None for cell in cells):
                rows.append((name, *("–" if cell is None else text(cell) for cell in cells)))
        if key == "mean_ns":
            rows += [(f"the source's {who}", *(text(figures[n] * 1000) if n in figures else "" for n in threads)) for who, figures in
                     (("glog", sources.GLOG_AVERAGE), ("g2log", sources.G2LOG_AVERAGE))]
        if key == "peak_ns":
            rows += [(f"the source's {who}", *(figures.get(n, "") for n in threads)) for who, figures in (("glog", sources.GLOG_PEAK), ("g2log", sources.G2LOG_PEAK))]
        if rows:
            parts += [f"<h3>{title}</h3>", html.table(("", *(f"{n} thread{'s' if n > 1 else ''}" for n in threads)), rows, own=tuple(filter(is_own, names)))]
    shown = [name for name in names if name != "nothing"]
    parts += ["<h3>Bytes an entry in the file</h3>", html.table(("", "bytes"), [(name, text(found[name, n]["bytes"] / entries[n] / n)) for name in shown for n in [max(n for who, n in found if who == name)]],
                                                            own=tuple(filter(is_own, names)))]
    for key, title, unit, scale in (("mean_ns", "Average of a call over threads", "ns", 1), ("peak_ns", "Peak over threads", "ms", 1e-6)):
        series = {name: [(n, value(name, n, key, scale)) for n in threads if (name, n) in found] for name in shown}
        parts.append(html.figure(plots.lines(title, series, "threads", unit, names), "Logarithmic."))
    for n in (1, max(threads)):
        curves = {name: found[name, n]["curve"] for name in names if (name, n) in found}
        parts.append(html.figure(plots.percentiles(f"Latency of a call, {n} thread{'s' if n > 1 else ''}", curves, names), "Of all threads. `nothing`: two reads of the clock."))
    calls = {name: found[name, 4]["calls"] for name in names if (name, 4) in found and name in (OWN, "glog", "spdlog", "spdlog async")}
    parts.append(html.figure(plots.scatter("Single calls of one of four threads", calls, names), "A few hundred calls evenly spread, and the 400 slowest."))
    return parts + set_up(data)


def set_up(data):
    """How each facility is configured."""
    return ["<h3>How they are set up</h3>", html.table(("", "how"), data["how"].items(), prose=True)] if data.get("how") else []


def modern(data, better):
    head, rows = tables.modern({"modern": data})
    ns = {(row["facility"], row["case"]): row["ns"] for row in data["results"]}
    for (name, case), value in ns.items():
        if not is_own(name):
            better.look(f"Beside today's loggers: {case}", ns.get(("silverpoint-cpp", case)), name, value, "ns", WHY.get(("modern", case), ""))
    own = tuple(row[0] for row in rows if is_own(row[0]))
    return ["<h2>Tracepoints beside today's loggers</h2>", "<p>Nanoseconds of a call, in bursts of 20; in brackets how many times as long as ours. The figures of another machine (two cores, virtual, of "
            "the same kind) were not measured in this run.</p>", html.table(head, rows, own=own), *set_up(data)]


def paced(data, better):
    found = {(row["facility"], row["rate"]): row for row in data["results"]}
    names = sorted({name for name, _ in found}, key=lambda name: (name == "nothing", not is_own(name), name.lower()))
    nothing = {rate: row["cpu_per_record"] for (name, rate), row in found.items() if name == "nothing"}
    for (name, pace), row in found.items():
        if not is_own(name) and name != "nothing" and row["kept"] and ("silverpoint-cpp", pace) in found:
            better.look(f"CPU of a record at {pacing.short(pace)}/s", found["silverpoint-cpp", pace]["cpu_per_record"], name, row["cpu_per_record"], "ns", WHY["paced"])
    rows = [(name, *(pacing.cell(found.get((name, pace))) for pace in pacing.RATES)) for name in names]
    series = {name: [(pace, found[name, pace]["cpu_per_record"]) for pace in pacing.RATES if (name, pace) in found and found[name, pace]["kept"]] for name in names}
    series = {name: points for name, points in series.items() if points}
    return ["<h2>Cost over rate</h2>", f"<p>CPU time of a record of three numbers, ns: of all threads and processes / of it the caller's. One thread makes a thousandth of a second's records a thousand "
            f"times a second, for {data['milliseconds'] / 1000:g} s. <code>nothing</code> is the sleeping and waking alone, which is in all figures: {text(nothing.get(1000, float('nan')))} ns at 1k. "
            f"Loggers of text are not asked for more than {pacing.short(pacing.MOST_OF_TEXT)}.</p>", html.table(("records/s", *map(pacing.short, pacing.RATES)), rows, own=tuple(filter(is_own, names))),
            html.figure(plots.lines("CPU of a record over the rate, caller and helpers", series, "records per second", "ns", names, base=10), "Both axes logarithmic. Who does not keep a rate has no point there."),
            *set_up(data)]


def scale(data, better):
    del better
    parts = ["<h2>Scale</h2>", "<p>Tracepoints of C under <code>silverpoint run</code>, raw blocks to disk, default rings. Every record was found in the trace file.</p>"]
    for axis, (title, x, columns) in scaling.TABLES.items():
        points = [row for row in data["results"] if row["axis"] == axis]
        if not points:
            continue
        # A figure that no point has, and memory beside rates, are no curves.
        drawn = [(key, name, factor) for key, name, factor in columns if any(row.get(key) for row in points) and not key.endswith("_mib")]
        series = {name: [(row["x"], row[key] * factor) for row in points if row.get(key)] for key, name, factor in drawn}
        parts += [f"<h3>{title}</h3>", html.table((x, *(name for _, name, _ in columns)), [(f"{row['x']:,}", *(scaling.cell(row, key, factor) for key, _, factor in columns)) for row in points]),
                  html.figure(plots.lines(title, series, x, "", list(series), base=10), "Both axes logarithmic."), f"<p>{html.escape(scaling.BENDS[axis])}</p>"]
    return parts


def convert(data, better):
    parts = ["<h2>Formats</h2>", f"<p>{data['records']:,} records, one core; memory in MiB at the peak.</p>"]
    for title, rows in (("Writing", data["writers"]), ("Reading", data["readers"])):
        table = [(row["name"], text(rate(row)), f"{row['bytes'] / row['cpu_seconds'] / 1e6:,.0f}", text(row["peak_kib"] / 1024)) for row in rows]
        parts += [f"<h3>{title}</h3>", html.table(("", "M records/s", "MB/s", "memory"), table)]
    parts += ["<h3>Other programs on the same records, as JSON lines or CBOR</h3>",
              html.table(("", "M records/s", "MB/s"), [(row["who"], text(rate(row)), f"{row['bytes'] / row['cpu_seconds'] / 1e6:,.0f}") for row in data["peers"]])]
    return parts


def bind(data, better):
    found = {(row["operation"], row["library"], row["case"]): row["ns"] for row in data["results"]}
    cases = list(dict.fromkeys(row["case"] for row in data["results"]))
    parts = ["<h2>Own types as JSON and CBOR</h2>", "<p>Nanoseconds of one value.</p>"]
    for operation in dict.fromkeys(row["operation"] for row in data["results"]):
        libraries = list(dict.fromkeys(library for done, library, _ in found if done == operation))
        rows = []
        for library in libraries:
            for case in cases:
                if not is_own(library):
                    better.look(f"{operation}, {case}", found.get((operation, OWN, case)), library, found.get((operation, library, case)), "ns", WHY.get((operation, case, library), ""))
            rows.append((library, *(text(found[operation, library, case]) if (operation, library, case) in found else "–" for case in cases)))
        parts += [f"<h3>{operation[0].upper()}{operation[1:]}</h3>", html.table(("", *cases), rows, own=(OWN,))]
    return parts


def of_dotnet(data, better):
    rows = {row["case"]: row for row in data["results"]}
    ours = rows.get("silverpoint", {}).get("above_us")
    # Without a listener, or with one that sends to nobody, nothing is recorded.
    if "text" in rows:
        better.look("Trace.Write of .NET", ours, dotnet.TITLES["text"], rows["text"]["above_us"], "µs", WHY["dotnet", "file"])
    table = [(title, text(rows[case]["us"]), "–" if case == "md5" else f"{rows[case]['above_us']:.3f}", text(rows[case]["cpu_us"])) for case, title in dotnet.TITLES.items() if case in rows]
    return ["<h2>S5. Trace.Write of .NET</h2>", "<p>Microseconds of MD5 of 10,000 bytes, its text, and one <code>Trace.Write</code> of it, under Mono; of the call: beside turns without it in the same process.</p>",
            html.table(("", "a turn", "of the call", "CPU of the process"), table, own=(dotnet.TITLES["silverpoint"],))]


def budgets(data, better):
    del better
    rows = [(row["part"], row["what"], row["facility"], row["measured"], f"{text(row['compared'])} {row['unit']}" if row["compared"] is not None else "",
             f"{text(row['low'])} to {text(row['high'])}" if row["low"] is not None else "", row["verdict"]) for row in data["rows"] if row["verdict"]]
    missed = sum("MISS" in row[-1] for row in rows)
    return ["<h2>The hot path against its budgets</h2>", f"<p>{len(rows)} budgets, {missed} missed. The floor is what any tracepoint with a time stamp must pay on this machine.</p>",
            html.table(("", "what", "facility", "measured", "compared", "95 % interval", "verdict"), rows)]


SECTIONS = (("structured", structured), ("tracing", tracing), ("signals", signals), ("loggers", loggers), ("modern", modern), ("paced", paced), ("scale", scale), ("dotnet", of_dotnet), ("convert", convert), ("bind", bind), ("latest", budgets))
COMMANDS = {"latest": "bench/run --part drivers --part reading --part header"}


def missing(found):
    """[(what, why)] of all that was not run: what the parts say, and what no machine like this can."""
    said = [tuple(one.split(": ", 1)) if ": " in one else (one, "") for data in found.values() for one in (*data.get("missing", ()), *data.get("problems", ()))]
    return [*absent.here(), *dict.fromkeys(said)]


def gathered(found):
    """(sections as HTML, where others are better)."""
    better = Better()
    return [part for name, make in SECTIONS if name in found for part in make(found[name], better)], better


def source_tables(found):
    """[(title, rows)] of the five tables, each row the cells of tables.HEAD."""
    return [(title, [line.cells() for line in make(found)]) for title, make in tables.TABLES.items()]


def page(found):
    """The whole document."""
    sections, better = gathered(found)
    machines = {name: data["machine"] for name, data in found.items()}
    first = next(iter(machines.values()))
    whole = {key: value for key, value in first.items() if key not in ("commit", "time")}
    made = [(COMMANDS.get(name, f"bench/run --part {name}"), machine.get("commit", ""), machine.get("time", "")) for name, machine in machines.items()]
    unmeasured = [name for name, _ in SECTIONS if name not in found]
    head = ["<h1>Silverpoint, measured</h1>", f"<p>Every figure is of one machine ({html.escape(whole.get('cpu', ''))}, {whole.get('cores', '?')} cores); everything in a table ran in one go, in random "
            "order, each in a process of its own, and each record was found in what was written, or the run was not counted. The sources' figures are others', of other machines and other years: only ratios compare.</p>"]
    if unmeasured:
        head.append(f'<p class="note">Not measured yet: {html.escape(", ".join(unmeasured))}.</p>')
    head.append("<h2>Where others are better</h2>")
    head.append(html.table(BETTER, better.grouped(), prose=True) if better.rows else "<p>In no column of this page.</p>")
    head.append("<h2>Not run here</h2>")
    head.append(html.table(("what", "why"), missing(found), prose=True))
    head.append("<h2>The sources' tables</h2><p>The source's figure; the facility that stands for it, here; ours, on the caller's side; and how many times ours theirs is.</p>")
    for title, rows in source_tables(found):
        head += [f"<h3>{html.escape(title)}</h3>", html.table(tables.HEAD, rows, prose=True) if rows else "<p>Not measured yet.</p>"]
    foot = ["<h2>The machine, and what made these figures</h2>", html.facts(whole), html.table(("made by", "commit", "at"), made)]
    return html.page("Silverpoint, measured", head + sections + foot)


BETTER = ("where", "who", "theirs", "ours", "why")


def _table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return [*lines, *("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows)]


def markdown(found):
    """The same in short: what others do better, what was not run, the sources' tables; the parts have pages of their own."""
    _, better = gathered(found)
    lines = ["# Silverpoint, measured", "", "The page with all plots is [report.html](report.html); figures and their spreads are in [report.json](report.json).", ""]
    machine = next(iter(found.values()))["machine"]
    lines += [f"- {key}: {value}" for key, value in machine.items() if key not in ("commit", "time")]
    lines += ["", "## Where others are better", "", *(_table(BETTER, better.grouped()) if better.rows else ["In no column."])]
    lines += ["", "## Not run here", "", *_table(("what", "why"), missing(found))]
    lines += ["", "## The sources' tables", "", "The source's figure; the facility that stands for it, here; ours, on the caller's side; and how many times ours theirs is."]
    for title, rows in source_tables(found):
        lines += ["", f"### {title}", "", *(_table(tables.HEAD, rows) if rows else ["Not measured yet."])]
    lines += ["", "## Tracepoints beside today's loggers", "", *_table(*tables.modern(found))]
    lines += ["", "## Each part", "", *(f"- [{name}]({name}.md)" for name, _ in SECTIONS if name in found)]
    return "\n".join(lines) + "\n"


def document(found):
    """The same for programs, and for a later comparison."""
    _, better = gathered(found)
    return {"schema": 1, "machines": {name: data["machine"] for name, data in found.items()},
            "better": [dict(zip(BETTER, row, strict=True)) for row in better.rows], "missing": [{"what": what, "why": why} for what, why in missing(found)],
            "tables": {title: [dict(zip(tables.HEAD[:-1], row)) | {"note": row[-1]} for row in rows] for title, rows in source_tables(found)},
            "figures": figures.as_rows(figures.of(found))}
