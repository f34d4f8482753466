"""What the report says: each part of the suite as a section, and where others are better."""

from . import page as html
from . import sources
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
        self.rows.append((where, other, f"{text(theirs)} {unit}", f"{text(ours)} {unit}", why))
        return True


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
            if row and mine and not is_own(name) and not name.startswith("no-op"):
                better.look(f"tracing: {title}", mine["ns"], name, row["ns"], "ns", "")
            cells.append(f"{text(row['ns'])} ({text(row['ns'] / row['reference_ns'])} floors)" if row else "–")
        rows.append((name, *cells))
    rows.append(("the source's subscriber into ATrace, on", *(text(sources.SUBSCRIBER_ON[case]) for case in titles)))
    atrace = [(title, f"{text(row['ns'])} ({text(row['ns'] / row['reference_ns'])} floors)") for case, title in
              (("name10", "instant, a name of 10"), ("name1000", "instant, a name of 1000"), ("counter", "counter"))
              for (_, found), row in ns.items() if found == case]
    return ["<h2>S2. ATrace and Rust's tracing</h2>", "<p>Nanoseconds a call; no-op rows are what <code>tracing</code> itself costs.</p>",
            html.table(("", *titles.values()), rows, own=(own, own + ", layer")), html.table(("ATrace into the ring", "ns"), atrace)]


# Part of the run: title, (measured, column, whether less is better and others are compared)…
SIGNALS = {
    "direct": ("One receiver in the same thread", (("emit", "ns an emission", True),)),
    "cross": ("To another thread, every event", (("emit", "ns an emission", True), ("event", "ns an event delivered", True))),
    "latest": ("To another thread, the newest value", (("emit", "ns an emission", True), ("looks", "looks", False), ("reads", "values read", False))),
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
                # Without a sender nobody is compared.
                if compares and not is_own(name) and name != "no sender":
                    better.look(f"{title}: {column}", ours, name, found.get((part, name, what)), "", "")
        rows = [(name, *(text(found[part, name, what]) if (part, name, what) in found else "–" for what, _, _ in columns)) for name in names]
        if rows:
            parts += [f"<h3>{html.escape(title)}</h3>", html.table(("", *(column for _, column, _ in columns)), rows, own=tuple(own))]
    return parts


WHY = {
    "total_s": "it formats in the callers' threads, on all processors at once; here one thread does, behind the collector",
    "cpu_s": "a record is copied twice more: into the ring, and by the collector into the spool, which survives the process",
    "peak_ns": "a full ring waits for the collector's write, up to a scheduler's turn when there are more threads than processors",
    "mean_ns": "a burst fills the ring faster than the collector writes the spool",
    "p999_ns": "",
    "p50_ns": "",
}


def loggers(data, better):
    columns = (("mean_ns", "Average of a call, ns", 1), ("p50_ns", "Median, ns", 1), ("p999_ns", "P99.9, µs", 1e-3), ("peak_ns", "Peak, ms", 1e-6),
               ("total_s", "Until all is in the file, s", 1), ("cpu_s", "CPU of all threads, s", 1))
    found = {(row["logger"], row["threads"]): row for row in data["results"]}
    threads = sorted({n for _, n in found if n})
    names = [name for name in dict.fromkeys(row["logger"] for row in data["results"]) if (name, max(threads)) in found]
    names.sort(key=lambda name: (name != "nothing", not is_own(name), name))
    parts = ["<h2>S4. Loggers inside the process</h2>", f"<p>{data['entries']:,} entries a thread, one text file each; every entry was found in it.</p>"]
    for key, title, scale in columns:
        rows = []
        for name in names:
            for n in threads:
                if not is_own(name) and name != "nothing":
                    better.look(f"{title.split(',')[0]}, {n} thread{'s' if n > 1 else ''}", found[OWN, n][key] * scale, name, found[name, n][key] * scale, title.split(", ")[1],
                                WHY[key])
            rows.append((name, *(text(found[name, n][key] * scale) for n in threads)))
        if key == "mean_ns":
            rows += [(f"the source's {who}", *(text(figures[n] * 1000) if n in figures else "" for n in threads)) for who, figures in
                     (("glog", sources.GLOG_AVERAGE), ("g2log", sources.G2LOG_AVERAGE))]
        if key == "peak_ns":
            rows += [(f"the source's {who}", *(figures.get(n, "") for n in threads)) for who, figures in (("glog", sources.GLOG_PEAK), ("g2log", sources.G2LOG_PEAK))]
        parts += [f"<h3>{title}</h3>", html.table(("", *(f"{n} thread{'s' if n > 1 else ''}" for n in threads)), rows, own=tuple(filter(is_own, names)))]
    shown = [name for name in names if name != "nothing"]
    for key, title, unit, scale in (("mean_ns", "Average of a call over threads", "ns", 1), ("peak_ns", "Peak over threads", "ms", 1e-6)):
        series = {name: [(n, found[name, n][key] * scale) for n in threads] for name in shown}
        parts.append(html.figure(plots.lines(title, series, "threads", unit, names), "Logarithmic."))
    for n in (1, max(threads)):
        curves = {name: found[name, n]["curve"] for name in names}
        parts.append(html.figure(plots.percentiles(f"Latency of a call, {n} thread{'s' if n > 1 else ''}", curves, names), "Of all threads. `nothing`: two reads of the clock."))
    calls = {name: found[name, 4]["calls"] for name in names if (name, 4) in found and name in (OWN, "glog", "spdlog", "spdlog async")}
    parts.append(html.figure(plots.scatter("Single calls of one of four threads", calls, names), "Every 250th call, and the 400 slowest."))
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
                    better.look(f"{operation}, {case}", found.get((operation, OWN, case)), library, found.get((operation, library, case)), "ns", "")
            rows.append((library, *(text(found[operation, library, case]) if (operation, library, case) in found else "–" for case in cases)))
        parts += [f"<h3>{operation[0].upper()}{operation[1:]}</h3>", html.table(("", *cases), rows, own=(OWN,))]
    return parts


def budgets(data, better):
    del better
    rows = [(row["part"], row["what"], row["facility"], row["measured"], f"{text(row['compared'])} {row['unit']}" if row["compared"] is not None else "",
             f"{text(row['low'])} to {text(row['high'])}" if row["low"] is not None else "", row["verdict"]) for row in data["rows"] if row["verdict"]]
    missed = sum("MISS" in row[-1] for row in rows)
    return ["<h2>The hot path against its budgets</h2>", f"<p>{len(rows)} budgets, {missed} missed. The floor is what any tracepoint with a time stamp must pay on this machine.</p>",
            html.table(("", "what", "facility", "measured", "compared", "95 % interval", "verdict"), rows)]


SECTIONS = (("structured", structured), ("tracing", tracing), ("signals", signals), ("loggers", loggers), ("convert", convert), ("bind", bind), ("latest", budgets))
COMMANDS = {"latest": "bench/run --quick --part drivers --part reading --part header"}


def page(found):
    """The whole document."""
    better = Better()
    sections = [part for name, make in SECTIONS if name in found for part in make(found[name], better)]
    machines = {name: data["machine"] for name, data in found.items()}
    first = next(iter(machines.values()))
    whole = {key: value for key, value in first.items() if key not in ("commit", "time")}
    made = [(COMMANDS.get(name, f"bench/run --quick --part {name}"), machine.get("commit", ""), machine.get("time", "")) for name, machine in machines.items()]
    missing = [name for name, _ in SECTIONS if name not in found]
    head = ["<h1>Silverpoint, measured</h1>", "<p>Every figure is of this machine; everything in a table ran in one go, in random order, each in a process of its own, and each record was found "
            "in what was written, or the run was not counted. The sources' figures are others', of other machines and other years: only ratios compare.</p>", html.facts(whole),
            html.table(("made by", "commit", "at"), made)]
    if missing:
        head.append(f'<p class="note">Not measured yet: {html.escape(", ".join(missing))}.</p>')
    head.append('<p class="note">S5 (OutputDebugString, System.Diagnostics.Trace) needs Windows or Wine and .NET: not here yet.</p>')
    head.append("<h2>Where others are better</h2>")
    if better.rows:
        head.append(html.table(("where", "who", "theirs", "ours", "why"), [(*row[:4], row[4] or "not explained yet") for row in better.rows], prose=True))
    else:
        head.append("<p>In no column of this page.</p>")
    return html.page("Silverpoint, measured", head + sections)
