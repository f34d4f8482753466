"""Tests of what the report says: who is better, what the sources' tables have in their cells, how facilities are set up. Run by bench/test."""

import json
import re
import unittest
from unittest import mock

from lib import absent, build, checked, dotnet, page, sections, setups, sources, story, tables
from lib import better as comparing
from lib.better import BEYOND, ELSEWHERE, UNKNOWN, UNSURE, WITHIN, Better, Measured, measured

# What this repository's last run has measured.
RESULTS = {part: json.loads((build.BENCH / f"results/{part}.json").read_text()) for part, _ in sections.ALL}


class Comparisons(unittest.TestCase):
    def test_who_is_better_is_told_and_who_is_not_is_not(self):
        better = Better()
        self.assertTrue(better.look("median", "silverpoint", Measured(20.0), "theirs", Measured(10.0), "ns", "because"))
        self.assertFalse(better.look("median", "silverpoint", Measured(20.0), "theirs", Measured(30.0), "ns"))
        self.assertFalse(better.look("median", "silverpoint", Measured(20.0), "theirs", None, "ns"))
        self.assertTrue(better.look("rate", "silverpoint", Measured(20.0), "theirs", Measured(30.0), "M/s", more_is_better=True))
        self.assertEqual([(loss.where, loss.who, loss.why) for loss in better.rows], [("median", "theirs", "because"), ("rate", "theirs", UNKNOWN)])
        self.assertIn("3 comparisons", better.summary())
        self.assertIn("1 of them without an explanation", better.summary())

    def test_a_loss_within_the_spread_of_either_is_noise(self):
        narrow, wide = Measured(20.0, 19.0, 21.0), Measured(18.0, 10.0, 30.0)
        self.assertEqual(comparing.verdict(narrow, Measured(10.0, 9.0, 11.0)), BEYOND)
        self.assertEqual(comparing.verdict(narrow, wide), WITHIN)
        self.assertEqual(comparing.verdict(wide, narrow), WITHIN)
        self.assertEqual(comparing.verdict(narrow, Measured(10.0)), UNSURE)
        self.assertIsNone(measured(float("nan")))
        self.assertEqual(Measured(3.0, 1.0, 5.0).less(2.0), Measured(1.0, 0.0, 3.0))

    def test_figures_that_cannot_be_told_apart_need_no_other_reason(self):
        better = Better()
        better.look("median", "silverpoint", Measured(28.2, 26.0, 30.0), "theirs", Measured(27.6, 27.0, 29.0), "ns")
        better.look("median", "silverpoint", Measured(28.2, 28.0, 30.0), "theirs", Measured(27.6, 27.0, 29.0), "ns")
        better.look("median", "silverpoint", Measured(28.2, 26.0, 30.0), "theirs", Measured(27.6, 27.0, 29.0), "ns", "because")
        self.assertEqual([(loss.noise, loss.why) for loss in better.rows], [(WITHIN, comparing.ALIKE), (WITHIN, UNKNOWN), (WITHIN, "because")])

    def test_those_who_are_better_under_several_conditions_stand_in_one_line(self):
        better = Better()
        for threads, value in ((1, 20.0), (16, 40.0)):
            better.look("Peak", "silverpoint", Measured(value), "glog", Measured(value / 2), "ms", "because", at=f"{threads} thread{'s' if threads > 1 else ''}")
        for who in ("Qt", "Boost"):
            better.look("direct", "silverpoint", Measured(20.0), who, Measured(10.0), "")
        peak, direct = better.grouped()
        self.assertEqual((peak.where, peak.why, peak.rows), ("Peak", "because", (("silverpoint", "glog", "1\u00a0· 16 threads", "10.00\u00a0· 20.0 ms", "20.0\u00a0· 40.0 ms", UNSURE),)))
        self.assertEqual((direct.why, direct.rows), (UNKNOWN, (("silverpoint", "Qt\u00a0· Boost", "", "10.00", "20.0", UNSURE),)))


def with_logger(name, threads=1, **figures):
    row = dict.fromkeys(("mean_ns", "p50_ns", "p999_ns", "peak_ns", "total_s", "callers_s", "cpu_s"), 10.0)
    return row | {"logger": name, "threads": threads, "bytes": 1000, "curve": [], "calls": [], "again": {}} | figures


class Story(unittest.TestCase):
    """Sections with a made-up drawing library: what they compare is not drawn."""

    def setUp(self):
        patched = mock.patch.object(sections, "plots", mock.MagicMock())
        patched.start()
        self.addCleanup(patched.stop)

    def lost(self, section, data):
        better = Better()
        made = "".join(section(data, better))
        return [(loss.where, loss.own, loss.who, loss.at) for loss in better.rows], made

    def test_what_the_machine_takes_without_a_signal_is_no_rival(self):
        rows = (("silverpoint direct", 4.0), ("QObject direct", 3.0), ("no signal: a call through a pointer", 2.0))
        lost, made = self.lost(sections.signals, {"results": [{"part": "direct", "who": who, "what": "emit", "value": value} for who, value in rows]})
        self.assertEqual([row[2] for row in lost], ["QObject direct"])
        self.assertIn("a call through a pointer", made)

    def test_each_variant_of_ours_is_compared_and_not_the_best_alone(self):
        rows = [("no sender", 100.0), ("silverpoint queued", 1.0), ("silverpoint latest, every 16 ms", 150.0), ("QObject queued", 25.0)]
        data = {"results": [{"part": "timer", "who": who, "what": what, "value": value} for who, value in rows for what in ("median", "max")]}
        lost, made = self.lost(sections.signals, data)
        self.assertEqual([(where[-8:], own) for where, own, _, _ in lost], [(": median", "silverpoint latest, every 16 ms"), ("greatest", "silverpoint latest, every 16 ms")])
        self.assertIn("greatest", made)

    def test_bytes_of_an_entry_are_compared(self):
        names = ("silverpoint", "silverpoint json", "spdlog")
        rows = [with_logger(name, threads, bytes=bytes_ * threads * 10) for name, bytes_ in zip(names, (180, 500, 130)) for threads in (1, 2)]
        lost, _ = self.lost(sections.loggers, {"entries": 10, "results": rows, "how": {}})
        self.assertEqual(lost, [("S4. Bytes an entry in the file", own, "spdlog", "") for own in names[:2]])

    def test_cost_over_rate_compares_text_with_text(self):
        def row(name, value):
            return {"facility": name, "rate": 1000, "reached": 1000, "kept": True, "cpu_per_record": value, "caller_per_record": value, "again": {}}
        data = {"milliseconds": 500, "results": [row("silverpoint-cpp", 10.0), row("silverpoint, its logger of text", 30.0), row("spdlog", 20.0), row("nothing", 1.0)]}
        lost, _ = self.lost(sections.paced, data)
        self.assertEqual([(own, who, at) for _, own, who, at in lost], [("silverpoint, its logger of text", "spdlog", "1k/s")] * 2)

    def test_layers_and_filtered_lines_are_compared(self):
        values = {"silverpoint-tracing": 50.0, "silverpoint-tracing, layer": 90.0, "no-op layer": 10.0, "fmt, non-blocking": 80.0}
        rows = [{"backend": name, "case": case, "ns": value, "reference_ns": 1.0} for name, value in values.items() for case in ("event", "disabled")]
        lost, _ = self.lost(sections.tracing, {"results": rows})
        self.assertEqual(sorted(row[1:3] for row in lost), [("silverpoint-tracing, layer", "fmt, non-blocking")] * 2)

    def test_own_types_in_rust_are_compared_and_shown(self):
        row = {"what": "read JSON", "records": 1000, "bytes": 1000}
        data = {"records": 1, "writers": [], "readers": [], "peers": [], "bind": [row | {"who": "silverpoint-bind", "cpu_seconds": 2.0}, row | {"who": "serde_json", "cpu_seconds": 1.0}]}
        lost, made = self.lost(sections.convert, data)
        self.assertEqual([(where, who) for where, _, who, _ in lost], [("Own types in Rust, M records/s", "serde_json")])
        self.assertIn("serde_json", made)

    def test_who_records_nothing_is_compared_too(self):
        data = {"results": [{"case": case, "us": us, "above_us": 0.1, "flush_us": 1.0, "cpu_us": us} for case, us in (("md5", 1.0), ("none", 20.0), ("silverpoint", 30.0))]}
        lost, _ = self.lost(sections.of_dotnet, data)
        self.assertEqual([(row[3], row[2]) for row in lost], [("a turn", "no listener"), ("CPU of the process, a turn", "no listener")])

    def test_figures_of_another_machine_are_marked_as_such(self):
        better = Better()
        sections.modern({"results": [{"facility": "silverpoint-cpp", "case": "literal", "ns": 13.0}], "how": {}}, better)
        self.assertTrue(better.rows)
        self.assertEqual({loss.noise for loss in better.rows}, {ELSEWHERE})
        self.assertEqual((sources.least("9–14"), sources.least("516 / 249"), sources.least("22,187"), sources.least("")), (9, 249, 22187, None))

    def test_what_was_not_measured_is_said_and_texts_are_escaped(self):
        machine = {"cpu": "<a & b>", "commit": "c", "time": "t"}
        latest = {"machine": machine, "rows": [{"part": "p", "what": "w", "facility": "f", "measured": "1", "compared": 2.0, "low": 1.0, "high": 3.0, "unit": "x",
                                                "verdict": "MISS"}]}
        made = story.page({"latest": latest})
        self.assertIn("&lt;a &amp; b&gt;", made)
        self.assertIn("Not measured yet: structured, tracing, signals, loggers, modern, paced, scale, dotnet, convert, bind.", made)
        self.assertIn("1 budgets, 1 missed", made)
        self.assertIn("<td>&lt;</td>", page.table(("a",), [("<",)]))
        self.assertEqual((page.coded("`a<b` *c*"), page.emphasised("*a<b*")), ("<code>a&lt;b</code> *c*", "<em>a&lt;b</em>"))

    def test_the_page_of_the_last_run_says_how_each_row_was_checked(self):
        made = story.markdown(RESULTS)
        self.assertNotIn("Every record was", made)
        self.assertIn("## Where others are better", made)
        self.assertEqual(len(re.findall(r"^### (?:structured|tracing|signals|loggers|modern|paced|dotnet|convert|bind)$", made, re.MULTILINE)), 9)
        self.assertTrue(all(loss.why for loss in story.gathered(RESULTS)[1].rows))


class SourceTables(unittest.TestCase):
    def test_they_have_their_figures_ours_and_the_ratio(self):
        loggers = {"results": [{"logger": "glog", "threads": 1, "mean_ns": 2000.0, "peak_ns": 4e6, "entries": 50, "again": {"mean_ns": [1000.0, 4000.0]}},
                               {"logger": "silverpoint", "threads": 1, "mean_ns": 50.0, "peak_ns": 1e6, "entries": 50}]}
        lines = tables.s4({"loggers": loggers})
        self.assertEqual(lines[0].cells(), ("average of a call, glog, 1 thread × 50 entries; SP_INFO", "11.11\u00a0µs", "glog", "2.00", "1.00 to 4.00", "0.05", "–", "40.0\u00a0×", "count and sum", ""))
        self.assertIn("ours: " + absent.NOT_MEASURED, lines[1].cells()[-1])  # by glog.hpp
        found = {line.what: line for line in lines}
        self.assertEqual(found["peak of glog over that of g2log, 1 thread × 50 entries"].ours.value, 4.0)
        self.assertEqual(found["g2log's average below glog's, 1 thread × 50 entries"].ours.value, 97.5)
        loggers["large"] = [one | {"entries": 1_000_000, "mean_ns": 2 * one["mean_ns"], "again": {}} for one in loggers["results"]]
        found = {line.what: line for line in tables.s4({"loggers": loggers})}
        self.assertEqual(found["average of a call, glog, 1 thread × 1,000,000 entries, as the source's; SP_INFO"].cells()[2:6], ("glog", "4.00", "–", "0.1"))

    def test_no_cell_is_empty_without_a_reason(self):
        for found in (RESULTS, {}):
            for title, make in tables.TABLES.items():
                for line in make(found):
                    for side in ("theirs", "ours"):
                        if getattr(line, side) is None:
                            self.assertRegex(line.cells()[-1], rf"{side}\b.*: .", (title, line.what))
                    if not line.source:
                        self.assertIn("no figure of the source: ", line.cells()[-1], (title, line.what))
                    self.assertEqual(len(line.cells()), len(tables.HEAD))

    def test_every_figure_of_the_sources_stands_in_its_table(self):
        made = {title[:2]: [line.source for line in make(RESULTS)] for title, make in tables.TABLES.items()}
        windows = [figure for columns in sources.STRUCTURED_ON_WINDOWS.values() for figures in columns.values() for figure in figures]
        wanted = {"S1": [*(figure for figures in sources.STRUCTURED_ON_LINUX.values() for figure in figures), *windows, *(figure for figures in sources.STRUCTURING.values() for figure in figures)],
                  "S2": [*sources.SUBSCRIBER_ON.values(), *sources.SUBSCRIBER_OFF.values(), *sources.SUBSCRIBER_FILTERED.values(), *(one for row in sources.ATRACE_OFF.values() for one in row[1:]),
                         *(one for row in sources.ATRACE_ON.values() for one in row[2:])],
                  "S3": ["70 to 80", "1100 to 1490", "15 to 20", "75", "1125 to 1500", "7.x", "110 to 149"],
                  "S4": [*sources.GLOG_AVERAGE.values(), *sources.G2LOG_AVERAGE.values(), *sources.GLOG_PEAK.values(), *sources.G2LOG_PEAK.values(), *sources.PEAK_FACTORS.values(), *sources.AVERAGE_LOWER.values()],
                  "S5": [*(figure for _, figure in sources.DOTNET.values()), sources.DOTNET_DEVIATION]}
        for name, figures in wanted.items():
            # Each as often as it stands there at least.
            for figure in set(map(str, figures)):
                self.assertGreaterEqual(made[name].count(figure), list(map(str, figures)).count(figure), (name, figure))

    def test_structuring_alone_has_the_ways_of_qt_and_ours(self):
        rows = [("QJsonDocument, into bytes", 600.0), ("silverpoint bind, JSON", 20.0), ("QDebug, into a QString", 200.0), ("silverpoint, a packed copy", 4.0)]
        found = {"structured": {"results": [], "structuring": [{"way": way, "case": "literal", "ns": ns, "again": [ns, ns]} for way, ns in rows]}}
        lines = {line.what: line for line in tables.s1(found)}
        written, shown, copied = (lines[f"structuring alone, {who}, << literal"] for who in ("JSON", "QDebug", "BindableCopy"))
        self.assertEqual((written.source, round(written.ratio), written.checked), ("2", 30, "count, and the last looked at"))
        self.assertEqual((shown.theirs.value, shown.ours), (0.2, None))
        self.assertIn("text is made in another process", shown.cells()[-1])
        self.assertAlmostEqual(copied.ours.value, 0.004)
        self.assertEqual(copied.theirs, None)

    def test_a_kind_that_is_filtered_has_a_figure_of_its_own_and_an_end_in_the_ring_too(self):
        rows = [("ATrace layer, off", case, value) for case, value in (("event", 1.0), ("event3", 2.0), ("span", 3.0), ("span2", 4.0))]
        rows += [("ATrace, Rust, ring", "end", 18.0)]
        lines = {line.what: line for line in tables.s2({"tracing": {"results": [{"backend": name, "case": case, "ns": ns, "reference_ns": 1.0} for name, case, ns in rows]}})}
        self.assertEqual([lines[f"subscriber, off and filtering: {what}"].ours.value for what in ("event", "event with arguments", "span", "span with arguments")], [1.0, 2.0, 3.0, 4.0])
        self.assertEqual(lines["ATrace on, into the ring: end, Rust"].ours.value, 18.0)

    def test_crossing_threads_is_told_in_times_of_a_direct_call(self):
        rows = (("direct", "silverpoint direct", 4.0), ("direct", "QObject direct", 40.0), ("direct", "no signal: a call through a pointer", 2.0), ("cross", "silverpoint queued, poll", 8.0), ("cross", "QObject queued (GLib)", 800.0))
        lines = {line.what: line for line in tables.s3({"signals": {"results": [{"part": part, "who": who, "what": "emit", "value": value} for part, who, value in rows]}})}
        self.assertEqual([(lines[what].theirs.value, lines[what].ours.value) for what in ("queued: times as long as direct", "direct: times as long as a member call", "queued: times as long as a member call")],
                         [(20.0, 2.0), (20.0, 2.0), (400.0, 4.0)])

    def test_the_deviation_between_processes_stands_beside_the_sources(self):
        one = {"case": "", "us": 30.0, "above_us": 0.25, "flush_us": 5.0, "cpu_us": 31.0, "mean_us": 30.0, "block_deviation_us": 1.0, "helpers_us": 0.0, "written": 2, "sum": 3}
        results = {"silverpoint": [one, one | {"us": 32.0}], "none": [one]}
        lines = {line.what: line for line in tables.s5({"dotnet": json.loads(dotnet.as_json(results, [], {}))})}
        deviation = lines["no listener: standard deviation"]
        self.assertEqual((deviation.source, deviation.theirs), (sources.DOTNET_DEVIATION, None))
        self.assertAlmostEqual(deviation.ours.value, 2**0.5, 3)


class Setups(unittest.TestCase):
    def test_each_facility_of_the_last_run_says_how_it_is_set_up_and_checked(self):
        for part, data in RESULTS.items():
            for name, word, how in setups.rows(part, data):
                self.assertTrue(name and word and how, (part, name, word, how))

    def test_each_candidate_that_the_signals_driver_names_is_described(self):
        named = set(re.findall(r'"((?:silverpoint|QObject|boost|mutex|no s)[^"]*)"', (build.BENCH / "signals/driver.cpp").read_text()))
        self.assertGreater(len(named), 8)
        for name in named - {"silverpoint", "QObject"}:  # (of its complaints)
            self.assertTrue(any(name.startswith(prefix) for prefix, _ in setups._SIGNALS), name)

    def test_how_rows_are_checked_is_told_apart(self):
        self.assertEqual([checked.of("structured", "qdebug, to a file", case) for case in ("literal", "map", "floats")], [checked.COUNT, checked.SUM, checked.WHOLE])
        self.assertEqual([checked.of("tracing", name, "event3") for name in ("silverpoint-tracing", "fastrace", "Tracy", "ATrace layer, off", "ATrace, Rust, ring")],
                         [checked.SUM, checked.SUM, checked.NOTHING, checked.NOTHING, checked.COUNT])
        self.assertEqual([checked.of("loggers", name) for name in ("nothing", "glog")], [checked.NOTHING, checked.SUM])
        self.assertEqual([checked.of("signals", *one) for one in (("no sender", "timer"), ("silverpoint direct", "direct"), ("mutex and condition", "stalled"), ("QObject queued", "stalled"))],
                         [checked.NOTHING, "each value", checked.NOTHING, checked.SUM])
        self.assertEqual([checked.of("dotnet", "", case) for case in ("none", "text")], [checked.NOTHING, checked.SUM])
        self.assertEqual((checked.both("count", "count"), checked.both("", "count"), checked.both("count", "not checked")), ("count", "count", "theirs count, ours not checked"))
        setup = {name: word for name, word, _ in setups.rows("structured", {"results": [{"facility": "a", "case": case} for case in ("literal", "map")], "how": {"a": "so"}})}
        self.assertEqual(setup["a"], "literal: count; map: count and sum")
