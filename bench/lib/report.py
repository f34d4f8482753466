"""From results to a table: what was measured, beside its budget. A budget is the project's promise; this file is where it is written down
for the machine."""

from dataclasses import asdict, dataclass

from . import conditions, numbers
from .watching import WATCHERS

# Facilities that are measured to compare with: no budget is theirs.
YARDSTICKS = ("floor", "by-hand")
BURST_BUDGET = {"literal": 1.1, "three": 1.1, "text": 1.2, "map": 2.0, "floats": 2.8}
SUSTAINED_BUDGET = {1: 2.0, 2: 4.0, 4: 6.0}
TITLES = {
    "literal": "literal",
    "three": "three numbers (i32, f64, u64)",
    "text": "35-byte string and two numbers",
    "map": "map of 3 and three numbers",
    "floats": "128 floats",
}


@dataclass
class Row:
    """One line of the table. `compared` is what the budget limits, with its interval; `limit` in the same unit."""

    part: str
    what: str
    facility: str
    measured: str
    compared: float
    low: float | None
    high: float | None
    unit: str
    limit: float | None
    at_least: bool = False
    note: str = ""
    again: tuple | None = None  # numbers.again of `compared`
    processes: int | None = None  # of which the figure is

    @property
    def verdict(self):
        """pass or MISS; with ? when the budget lies within the interval; empty without a budget."""
        if self.limit is None:
            return ""
        met = self.compared >= self.limit if self.at_least else self.compared <= self.limit
        unsure = self.low is not None and self.low <= self.limit <= self.high
        return ("pass" if met else "MISS") + ("?" if unsure else "")

    def as_dictionary(self):
        return asdict(self) | {"verdict": self.verdict}


def pick(results, **wanted):
    """Results whose fields have the wanted values; `options` of the run count as fields."""
    return [r for r in results if all(r.get(k, r["options"].get(k)) == v for k, v in wanted.items())]


def is_own(facility):
    return facility.startswith("silverpoint")


def title(case):
    base, _, form = case.partition(".")
    return TITLES.get(base, base) + (f", {form} form" if form else "")


def paired(part, what, facility, runs, combine, unit, limit, measured_unit="ns", note=""):
    """A row from runs of pairs (candidate, reference)."""
    pairs = [tuple(pair) for run in runs for pair in run]
    low, high = numbers.interval(runs, combine)
    candidate, reference = (numbers.median(side) for side in zip(*pairs, strict=True))
    return Row(part, what, facility, f"{text(candidate)} {measured_unit} (floor {text(reference)})", numbers.of_pairs(pairs, combine), low,
               high, unit, limit, note=note, again=numbers.again([numbers.of_pairs(run, combine) for run in runs]), processes=len(runs))


def text(value):
    """Three or four figures, no exponent."""
    if value != value:
        return "–"
    magnitude = abs(value)
    if magnitude >= 1e6:
        return f"{value / 1e6:.1f}M"
    return f"{value:.0f}" if magnitude >= 1000 else f"{value:.1f}" if magnitude >= 20 else f"{value:.2f}"


def burst_rows(results, facility):
    for case in dict.fromkeys(r["case"] for r in pick(results, facility=facility, mode="burst", watch=None)):
        runs = [r["pairs"] for r in pick(results, facility=facility, mode="burst", case=case, watch=None)]
        yield paired("enabled, in bursts of 20", title(case), facility, runs, numbers.ratio, "× floor", BURST_BUDGET.get(case.partition(".")[0]))


def watched_rows(results, facility):
    """The same bursts as without anybody (the row of three numbers above), so that the two ratios say what looking costs."""
    for watch in WATCHERS:
        found = pick(results, facility=facility, mode="burst", watch=watch)
        if found:
            note = f"{found[0]['watched']:,} records seen, all that were made"
            yield paired("while somebody looks, in bursts of 20", f"{title(found[0]['case'])}, {watch}", facility, [r["pairs"] for r in found],
                         numbers.ratio, "× floor", BURST_BUDGET[found[0]["case"]], note=note)


def single_rows(results, facility):
    for case in dict.fromkeys(r["case"] for r in pick(results, facility=facility, mode="single")):
        of_case = pick(results, facility=facility, mode="single", case=case)
        for name, label in (("p50", "p50"), ("p99", "p99"), ("p999", "p99.9"), ("max", "max")):
            limit = 1.5 if name == "p999" and case == "three" else None
            yield paired("one call in bursts", f"{title(case)}: {label}", facility, [r[name] for r in of_case], numbers.ratio, "× floor", limit)


def disabled_rows(results, facility):
    runs = [r["pairs"] for r in pick(results, facility=facility, mode="disabled")]
    if runs:
        row = paired("disabled", "over an empty loop", facility, runs, numbers.difference, "ns", 0.5)
        row.measured = row.measured.replace("floor", "empty loop")
        yield row


def sustained_rows(results, facility):
    part = "back to back, default rings"
    for threads in sorted({r["threads"] for r in pick(results, facility=facility, mode="sustained")}):
        means = pick(results, facility=facility, mode="sustained", threads=threads, timed=0)
        timed = pick(results, facility=facility, mode="sustained", threads=threads, timed=1)
        name = f"{threads} thread{'s' if threads > 1 else ''}"
        if means:
            wall = [[(sum(r["wall_per_call"]) / threads, r["floor_per_call"])] for r in means]
            records = f"{means[0]['records']:,} records a thread"
            yield paired(part, f"{name}: wall time a call", facility, wall, numbers.ratio, "× floor", SUSTAINED_BUDGET.get(threads), note=records)
            cpu = [[(r["cpu_per_record"], r["floor_per_call"])] for r in means]
            yield paired(part, f"{name}: CPU of all threads and processes, a record", facility, cpu, numbers.ratio, "× floor",
                         3.0 if threads in (2, 4) else None)
            if "stored_records_per_s" in means[0]:
                rates = [r["stored_records_per_s"] / 1e6 for r in means]
                low, high = numbers.interval([[(rate, 1)] for rate in rates], numbers.ratio)
                yield Row(part, f"{name}: stored", facility, f"{text(numbers.median(rates))}M records/s", numbers.median(rates), low, high,
                          "M/s", 40.0 if threads == 1 else None, at_least=True,
                          note=f"{text(numbers.median([r['stall_ns'] / 1e6 for r in means]))} ms of waiting for room", again=numbers.again(rates), processes=len(rates))
        if timed:
            longest = [[(r["max_call"] / 1e3, r["floor_max_call"] / 1e3)] for r in timed]
            yield paired(part, f"{name}: longest call", facility, longest, numbers.ratio, "× floor's", 2.0 if threads == 1 else None, "µs")


SWITCHED_MS = 10.0


def switch_rows(results, facility):
    """A tracepoint that `silverpoint ctl` switches on and off, from before that program is started."""
    part = "switched by another process"
    runs = pick(results, facility=facility, mode="switch")
    if not runs or any(r.get("unsupported") for r in runs):
        return
    among = f", among {runs[0]['records']:,} sites" if runs[0]["records"] > 1 else ""
    seen, ended = ([[ns / 1e6 for ns in r[name]] for r in runs] for name in ("seen", "ended"))
    for what, each, limit, note in (("until it is so in the process", seen, SWITCHED_MS, f"{sum(map(len, seen))} times on or off, none missed, each time it was on a record in the file"),
                                    ("until `silverpoint ctl` has ended", ended, None, "then every place is switched")):
        values = [value for run in each for value in run]
        low, high = numbers.interval([[(value, 1) for value in run] for run in each], numbers.ratio)
        yield Row(part, what + among, facility, f"median {text(numbers.median(values))} ms, worst {text(max(values))} ms", numbers.median(values), low, high, "ms", limit,
                  note=note, again=numbers.again([numbers.median(run) for run in each]), processes=len(each))


def first_rows(results, facility):
    part = "first record of a thread"
    kinds = {(1, 0): ("cold", 20_000), (0, 0): ("cold, after another thread's end", 20_000), (1, 1): ("prepared", 1000)}
    for (alive, prepared), (label, limit) in kinds.items():
        runs = [r for r in pick(results, facility=facility, mode="first", alive=alive, prepared=prepared) if not r.get("unsupported")]
        if not runs:
            continue
        values = [v for r in runs for v in r["first"]]
        low, high = numbers.interval([[(v, 1) for v in r["first"]] for r in runs], numbers.ratio)
        second = numbers.median([v for r in runs for v in r["second"]])
        yield Row(part, label, facility, f"{text(numbers.median(values))} ns", numbers.median(values), low, high, "ns", limit,
                  note=f"p99 {text(numbers.quantile(values, 0.99))}, the second record {text(second)} ns", again=numbers.again([numbers.median(r["first"]) for r in runs]),
                  processes=len(runs))


def idle_rows(results):
    for r in pick(results, mode="idle"):
        if "helper_cpu_percent" not in r:
            continue
        part, facility = "idle", "collector and supervisor"
        yield Row(part, "CPU of one core", facility, f"{r['helper_cpu_percent']:.3f} %", r["helper_cpu_percent"], None, None, "%", 0.5, processes=1)
        resident = r["helper_rss_bytes"] / 2**20
        yield Row(part, "resident memory", facility, f"{resident:.1f} MiB", resident, None, None, "MiB", 8.0, processes=1)


def compile_rows(compilers):
    for compiler, found in compilers.items():
        pairs = [tuple(pair) for pair in found["pairs"]]
        low, high = numbers.interval([pairs], numbers.difference)
        added = numbers.of_pairs(pairs, numbers.difference)
        yield Row("header", f"#include, {compiler}", "silverpoint-cpp", f"{found['header']:.2f} s (without {found['plain']:.2f})", added, low, high,
                  "s", 0.4, note=f"with ten tracepoints {found['using']:.2f} s", processes=len(pairs))


def rate_rows(rates):
    if not rates:
        return
    for name in ("raw", "compact"):
        size = rates[f"{name}_bytes_per_record"]
        yield Row("trace file", f"{name}, three numbers", "collector", f"{size:.1f} bytes a record", size, None, None, "B",
                  16.0 if name == "compact" else None, note="the whole file over its records", processes=1)
        for way, label, limit in (("text", "to text", 3.0), ("json", "to JSON", 3.0), ("count", "counting (stats)", 50.0), ("filter", "filtering (by level)", 50.0)):
            each = [rate / 1e6 for rate in rates[f"{name}_{way}_records_per_s"]]
            low, high = numbers.interval([[(rate, 1)] for rate in each], numbers.ratio)
            yield Row("trace file", f"{name}, {label}", "silverpoint cat, stats", f"{text(numbers.median(each))}M records a CPU second", numbers.median(each), low, high, "M/s",
                      limit, at_least=True, note=f"{numbers.median(rates[f'{name}_{way}_wall_s']):.2f} s in all", again=numbers.again(each), processes=len(each))


def rows(results, compilers, rates):
    facilities = sorted({r["facility"] for r in results}, key=lambda name: (name not in YARDSTICKS, name))
    found = []
    for section in (burst_rows, watched_rows, single_rows, disabled_rows, sustained_rows, first_rows, switch_rows):
        for facility in facilities:
            if facility in YARDSTICKS and section in (watched_rows, disabled_rows, sustained_rows, first_rows, switch_rows):
                continue
            for row in section(results, facility):
                if not is_own(facility):
                    row.limit = None  # budgets are promises of this project
                found.append(row)
    found.extend(idle_rows(results))
    found.extend(rate_rows(rates))
    found.extend(compile_rows(compilers))
    return found


def markdown(document):
    """The table, and what must be known to believe it."""
    lines = ["# Measurements", "", f"{document['size']} run at {document['machine']['time']}, commit {document['machine']['commit']}.", ""]
    lines += [f"- {name.replace('_', ' ')}: {value}" for name, value in document["machine"].items() if name not in ("time", "commit")]
    lines += [f"- {name}: {fact}" for name, fact in conditions.lines(document["noise"]).items() if name != "noise"]
    lines += ["", *(f"**Noisy: {warning}.**" for warning in document["noise"]["warnings"])]
    lines += ["", *(f"**Not counted: {problem}.**" for problem in document["problems"])]
    part = None
    for row in document["rows"]:
        if row["part"] != part:
            part = row["part"]
            lines += ["", f"## {part[0].upper()}{part[1:]}", "",
                      "| what | facility | measured | compared | 95 % interval | processes | budget | verdict | note |", "|---|---|---|---|---|---|---|---|---|"]
        interval = f"{text(row['low'])} to {text(row['high'])}" if row["low"] is not None else ""
        budget = "" if row["limit"] is None else f"{'≥' if row['at_least'] else '≤'} {row['limit']:g} {row['unit']}"
        lines.append(f"| {row['what']} | {row['facility']} | {row['measured']} | {text(row['compared'])} {row['unit']} | {interval} | {row['processes'] or ''} | {budget} | "
                     f"{row['verdict']} | {row['note']} |")
    met = sum(row["verdict"].startswith("pass") for row in document["rows"])
    missed = sum(row["verdict"].startswith("MISS") for row in document["rows"])
    lines += ["", f"{met} budgets met, {missed} missed, {len(document['problems'])} runs not counted.", ""]
    return "\n".join(lines)
