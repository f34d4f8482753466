"""The columns of LTTng in table S1: what counts as arrived, when the session starts, the table; and a real run beside a session daemon, where there is one."""

import io
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
from unittest import mock

from lib import build, driving, figures, lttng, processes


class Arrived(unittest.TestCase):
    def test_events_are_counted_and_their_ids_added(self):
        three = b"bench:three: { cpu_id = 0 }, { index = 1, fraction = 0.5, id = 7 }\nbench:three: { index = 2, fraction = 1.5, id = 8 }\n"
        self.assertEqual(lttng.missing(three, "three.fields", 2, 15), [])
        self.assertEqual(lttng.missing(three, "three.fields", 2, 16), ["the ids in LTTng's trace are not those that were given out"])
        self.assertEqual(lttng.missing(three, "three.fields", 3, 15), ["3 records made, 2 events in LTTng's trace"])
        text = f'bench:text: {{ id = 3, fraction = 0.5, path = "{lttng.PATH}" }}'.encode()
        self.assertEqual(lttng.missing(text, "text.fields", 1, 3), [])
        self.assertEqual(len(lttng.missing(text.replace(b"frame", b"frams"), "text.fields", 1, 3)), 1)

    def test_all_floats_are_looked_for_in_both_notations(self):
        for floats in lttng.EVENTS["floats.fields"]:
            line = b"bench:floats: { values = " + floats + b" }"
            self.assertEqual(lttng.missing(line, "floats.fields", 1, 0), [])
            self.assertEqual(len(lttng.missing(line.replace(b"[127] = ", b"[127] = 1"), "floats.fields", 1, 0)), 1)

    def test_a_trace_with_discarded_events_does_not_count(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "output").write_text("lttng's own words")
            for status, said, wanted in ((0, b"", None), (0, b"WARNING: Tracer discarded 5 events", "discarded 5"), (1, b"no such trace", "lttng's own words")):
                done = subprocess.CompletedProcess([], status, b"bench:literal", said)
                with mock.patch.object(subprocess, "run", return_value=done):
                    found, why = lttng.events(pathlib.Path(folder))
                self.assertEqual(found, None if wanted else b"bench:literal")
                self.assertIn(wanted or "", why)

    def test_the_execution_that_makes_an_event_known_is_a_record_in_the_ring(self):
        with mock.patch.object(lttng.silverpoint.Facility, "verify", side_effect=lambda bench, place, result: [str(result["counted"])]), mock.patch.object(lttng, "events", return_value=(b"bench:literal " * 5, "")):
            result = {"case": "literal", "counted": 5, "id_sum": 0}
            for in_ring, in_lttng, wanted in ((True, False, ["5"]), (True, True, ["6"]), (False, True, [])):
                facility = lttng.Ours("x", "driver", "library", in_ring, in_lttng)
                self.assertEqual(facility.verify(mock.MagicMock(), mock.MagicMock(), dict(result)), wanted)
            beside = lttng.Ours("x", "driver", "library", True, False, True)
            self.assertEqual(beside.verify(mock.MagicMock(), mock.MagicMock(), dict(result)), ["6"])


class Table(unittest.TestCase):
    def found(self):
        ns = {lttng.BY_HAND: 100} | {name: value for names in lttng.OURS.values() for name, value in zip(names, (90, 110, 12, 12, 12.5))}
        return {(name, case): [{"pairs": [[value, 10.0]] * 5}] * 3 for name, value in ns.items() for case in lttng.CASES if case != "floats.fields" or name not in lttng.OURS["C"]}

    def test_rows_and_bars_stand_beside_the_floor_of_the_same_run(self):
        found = self.found()
        page = "\n".join(lttng.markdown(found))
        rows = [line.split("|")[1].strip() for line in page.splitlines() if line.startswith("| ")]
        self.assertEqual(rows, ["", *lttng.ROWS, "the floor of the same processes"])
        self.assertEqual([row.split(",")[0] for row in lttng.ROWS[1:]], [name for name in ("silverpoint", "silverpoint-c", "silverpoint-rust") for _ in lttng.WAYS])
        # C has no arrays of numbers.
        self.assertEqual(page.count("0.90 × an event by hand, at most"), 11)
        self.assertEqual(page.count("with USDT: +0.50 ns, at most 1.0: pass"), 11)
        self.assertEqual(page.count(": pass"), 22)
        self.assertIn("- C, 128 floats: not counted", page)
        self.assertIn("- C, 128 floats, with USDT: not counted", page)
        found[lttng.LTTNG, "literal"] = [{"pairs": [[130.0, 10.0]] * 5}]
        found[lttng.USDT, "literal"] = [{"pairs": [[13.5, 10.0]] * 5}]
        del found[lttng.BY_HAND, "floats.fields"]
        page = "\n".join(lttng.markdown(found))
        self.assertIn("- C++, literal: 1.30 × an event by hand, at most 1.0: MISS", page)
        self.assertIn("- C++, literal, with USDT: +1.50 ns, at most 1.0: MISS", page)
        self.assertIn("- Rust, 128 floats: not counted", page)
        self.assertEqual(lttng.markdown({(lttng.BY_HAND, "literal"): found[lttng.BY_HAND, "literal"]}), [])

    def test_the_figures_are_in_the_file_for_programs(self):
        rows = lttng.rows(self.found())
        self.assertEqual((len(rows), rows[0]["facility"], rows[0]["floor_ns"]), (59, lttng.BY_HAND, 10.0))
        named = {one.key if hasattr(one, "key") else one[0] for one in figures.READERS["structured"]({"results": [], "lttng": rows})}
        self.assertIn(f"lttng/{lttng.LTTNG}/three.fields", named)


class Session(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def program(self, name, script):
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    def test_it_starts_when_the_event_is_known_and_the_driver_waits_for_that(self):
        self.program("lttng-sessiond", "kill -USR1 $PPID; exec sleep 1000")
        self.program("lttng", f'shift; echo "$1" >>{self.folder}/asked; [ "$1" != list ] || [ ! -e {self.folder}/known ] || echo "      bench:three (loglevel: TRACE_INFO (6))"')
        driver = self.program("driver", f'sleep 0.3; touch {self.folder}/known; until [ -e "$BENCH_LTTNG_GATE" ]; do sleep 0.01; done; tail -n 1 {self.folder}/asked; exit 3')
        environment = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", "BENCH_LTTNG_GATE": str(self.folder / "go"), "BENCH_LTTNG_EVENT": "bench:three"}
        done = processes.run([build.BENCH / "lttng/run", self.folder, driver], 60, env=environment)
        self.assertEqual((done.returncode, done.stdout.strip()), (3, "start"))
        asked = (self.folder / "asked").read_text().split()
        self.assertEqual((asked[:3], asked[3], asked[-3:]), (["create", "enable-channel", "enable-event"], "list", ["start", "stop", "destroy"]))

    def test_a_driver_that_ends_by_itself_is_not_waited_for(self):
        self.program("lttng-sessiond", "kill -USR1 $PPID; exec sleep 1000")
        self.program("lttng", "exit 0")
        environment = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", "BENCH_LTTNG_GATE": str(self.folder / "go"), "BENCH_LTTNG_EVENT": "bench:three"}
        self.assertEqual(processes.run([build.BENCH / "lttng/run", self.folder, self.program("driver", "exit 4")], 60, env=environment).returncode, 4)

    def test_our_events_all_arrive_in_a_real_session(self):
        lacking = [name for name in ("lttng-sessiond", "lttng", "babeltrace2") if shutil.which(name) is None]
        if lacking or not list(pathlib.Path("/usr/lib").glob("**/liblttng-ust.so.1")):
            self.skipTest(f"{', '.join(lacking) or 'liblttng-ust'} is not installed")
        bench = build.Build(self.folder)
        bench.silverpoint = self.folder / "silverpoint"
        bench.harness()
        alone = [names[0] for names in lttng.OURS.values()]
        runner = driving.Driving(bench, io.StringIO())
        # (The driver in Rust would be compiled for this alone.)
        for facility in lttng.ours(bench, ("C++", "C")):
            for case in lttng.cases_of(facility) if facility.name in alone else ():
                result = runner.run(facility, "burst", case, pairs=1, seed=7)
                self.assertEqual(runner.problems, [])
                self.assertGreater(result["counted"], 1000)
