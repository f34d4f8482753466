"""Tests of a whole run, bench/run, with nothing built and nothing measured; of what it says of the machine; and of the still of its report."""

import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from lib import atrace, build, conditions, figures, machine, plan, report, rivals, tracers


class Running(unittest.TestCase):
    """bench/run with nothing built and nothing measured: what the parts give is made up."""

    FLOOR = {"mode": "burst", "pairs": [[10.0, 10.0]] * 5, "ticks_per_us": 2500.0}

    def setUp(self):
        loader = importlib.machinery.SourceFileLoader("bench_run", str(build.BENCH / "run"))
        run = self.run_module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_run", loader))
        loader.exec_module(run)
        self.commits = 0
        pairs = {"pairs": [[20.0, 10.0]], "mode": "burst", "case": "three"}
        one = {key: 1.0 for _, key, _, _ in run.loggers.COLUMNS} | {"bytes": 1, "curve": [], "calls": [], "sink_s": 0.5}
        glog = rivals.Rival(pathlib.Path("glog.hpp"), "glog", "as it is", parts=("s4",))
        paced = {"cpu_per_record": 2.0, "caller_per_record": 1.0, "reached": 1000.0}

        def fails(*_):
            raise build.Failed("it does not compile")

        def hangs(*_):
            raise subprocess.TimeoutExpired("a driver", 5)

        def of_the_floor(driver, *_, **__):
            driver.results.append(self.FLOOR)
            return self.FLOOR

        def commit(_):
            # A second question, after a part has written its pages, would get another answer.
            self.commits += 1
            return "c" if self.commits == 1 else "c-dirty"

        for owner, name, instead in (
            (run.build.Build, "harness", lambda _: None), (run.build.Build, "program", lambda _: None), (run.build.Build, "cargo", lambda *_: None),
            (run.build, "floor_is_frozen", lambda *_: (True, "")), (run.machine, "busy_share", lambda *_: (0.0, 0.0)), (run.machine, "commit", commit),
            (run.tracers, "load", lambda name: mock.MagicMock(parts=("modern", "paced"), missing=lambda: "")), (run.driving.Driving, "run", of_the_floor),
            (run.modern, "measure", lambda *_: ({("glog", "three"): [pairs]}, {"glog": "as it is"}, [], [])),
            (run.pacing, "measure", lambda *_: ({("glog", 1000): [paced] * 3, ("glog", 10_000): [paced] * 2}, {"glog": "as it is"}, [], [])),
            (run.scaling, "measure", lambda *_: ({"threads": {1: [{"stored_per_s": 1e6}]}}, [])),
            (run.loggers, "measure", lambda *_: ({("glog", 1): [one]}, [], {"glog": glog}, ["x: not here"])),
            (run.bind, "measure", fails), (run.dotnet, "measure", hangs),
            (run.compiling, "measure", lambda *_: {"header": 0.5, "plain": 0.25, "using": 0.75, "pairs": [(0.5, 0.25)] * 3}),
        ):
            patch = mock.patch.object(owner, name, instead)
            patch.start()
            self.addCleanup(patch.stop)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.results = self.folder / "results"

    def measured(self, *words):
        """(exit status, what was told) of a run."""
        with mock.patch.object(sys, "argv", ["run", "--build", str(self.folder / "build"), "--results", str(self.results), *words]), \
                contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as told:
            return self.run_module.main(), told.getvalue()

    def parts(self, *names):
        return [word for name in names for word in ("--part", name)]

    def test_each_part_writes_its_files_and_what_fails_leaves_the_others(self):
        status, told = self.measured(*self.parts("bind", "modern", "paced", "scale", "loggers"))
        self.assertEqual(status, 1)
        self.assertIn("not counted: bind: it does not compile", told)
        found = figures.load(self.results)
        self.assertEqual(set(found), {"modern", "paced", "scale", "loggers"})
        self.assertTrue(all((self.results / f"{part}.md").exists() for part in found))
        self.assertIn("loggers/glog/1 threads/mean_ns", figures.of(found))
        self.assertIn("**Not run here: x: not here.**", (self.results / "loggers.md").read_text())
        # An axis by itself leaves the points of the others.
        with mock.patch.object(self.run_module.scaling, "measure", lambda *_: ({"sites": {10: [{"call_ns": 15.0}]}}, [])):
            self.assertEqual(self.measured("--part", "scale", "--axis", "sites")[0], 0)
        self.assertEqual([row["axis"] for row in figures.load(self.results)["scale"]["results"]], ["threads", "sites"])

    def test_a_part_that_hangs_or_breaks_leaves_the_others_and_their_files(self):
        status, told = self.measured(*self.parts("dotnet", "modern", "paced"))
        self.assertEqual(status, 1)
        self.assertIn("dotnet: TimeoutExpired('a driver', 5)", told)
        with mock.patch.object(self.run_module.modern, "measure", lambda *_: {}["a mistake"]):
            self.assertIn("modern: KeyError('a mistake')", self.measured(*self.parts("modern", "header"))[1] + (self.results / "latest.json").read_text())
        self.assertEqual(set(figures.load(self.results)), {"modern", "paced", "latest"})

    def test_the_commit_is_that_of_the_start_whatever_the_parts_have_written(self):
        self.measured(*self.parts("modern", "paced", "scale"))
        self.assertEqual([data["machine"]["commit"] for data in figures.load(self.results).values()], ["c"] * 3)
        self.assertEqual(self.commits, 1)

    def test_each_part_says_how_much_it_measured_how_often_and_how_quiet_it_was(self):
        self.measured("--quick", *self.parts("paced", "modern"))
        found = figures.load(self.results)
        self.assertEqual(found["paced"]["command"], "bench/run --quick --part paced --part modern")
        self.assertEqual(found["paced"]["work"], {"paced_milliseconds": plan.QUICK.paced_milliseconds})
        self.assertEqual([row["processes"] for row in found["paced"]["results"]], [3, 2])
        self.assertIn("Medians of 2 to 3 processes", (self.results / "paced.md").read_text())
        self.assertIn("1 process a figure", (self.results / "modern.md").read_text())
        facts = found["modern"]["noise"]["facts"]
        # Its own process, and four of the floor around it.
        self.assertEqual((facts["floor_ns"], facts["floor_processes"], facts["floor_spread_between"]), (10.0, 5, 0.0))
        self.assertEqual(found["modern"]["machine"]["tsc_mhz"], 2500.0)
        self.assertEqual([row[:2] for row in conditions.rows(found, {})], [("bench/run --quick --part paced --part modern", "c")] * 2)
        self.assertIn("The floor took 10.00 to 10.00 ns", conditions.said(found))


class Conditions(unittest.TestCase):
    def test_nobody_is_pinned_where_too_few_cores_are_left_to_the_others(self):
        self.assertEqual([plan.core(cores) for cores in (1, 2, 3, 4, 64)], [None, None, None, 3, 63])

    def test_what_was_noisy_is_called_so(self):
        def account(floors=((10.0, 10.1),), stalls=0, **busy):
            results = [{"mode": "burst", "pairs": [[20.0, floor] for floor in one], "floor_stalls": stalls} for one in floors]
            return conditions.noise(results, {"busy_before": 0.0, "busy_behind": 0.0, "stolen": 0.0} | busy, 60)["warnings"]

        self.assertEqual(account(), [])
        self.assertIn("within a process", account([(10.0, 20.0, 10.0, 20.0)])[0])
        self.assertIn("between processes", account([(10.0, 10.0), (14.0, 14.0)])[0])
        self.assertIn("stolen", account(stolen=0.02)[0])
        self.assertIn("behind", account(busy_behind=0.3)[0])
        self.assertIn("did not keep up in 1 of 1", account(stalls=1)[0])

    def test_figures_without_an_account_are_not_called_quiet(self):
        told = conditions.said({"modern": {"machine": {}}})
        self.assertIn("not recorded of: modern", told)
        self.assertNotIn("No part was noisy", told)
        self.assertEqual(conditions.rows({"modern": {"machine": {}}}, {})[0][-1], "not recorded")

    def test_only_what_is_not_written_by_the_suite_makes_a_commit_dirty(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            git = ["git", "-C", folder, "-c", "user.name=n", "-c", "user.email=e"]
            for name in ("bench/results/latest.md", "docs/budgets.md", "docs/other.md"):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text("old")
            for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "m"]):
                build.call([*git, *words])
            clean = machine.commit(root)
            self.assertRegex(clean, "^[0-9a-f]{7,}$")
            (root / "bench/results/latest.md").write_text("new")
            (root / "docs/budgets.md").write_text("new")
            self.assertEqual(machine.commit(root), clean)
            (root / "docs/other.md").write_text("new")
            self.assertEqual(machine.commit(root), f"{clean}-dirty")

    def test_versions_of_rivals_are_those_that_are_locked_or_installed(self):
        self.assertTrue({"tracing", "fastrace", "ticklog", "slog-async"} <= {one.partition(" ")[0] for one in machine.crates(build.BENCH / "tracing")})
        self.assertFalse(any("silverpoint" in one for one in machine.crates(build.BENCH / "tracing")))
        self.assertEqual(machine.crates(build.BENCH / "nowhere"), [])
        with mock.patch.object(machine, "run_text", lambda *_: "libx-dev 1.2-3 installed\nliby-dev  not-installed\ndpkg-query: no packages found"):
            self.assertEqual(machine.packages({"libx-dev", "liby-dev"}), ["libx-dev 1.2-3"])
        self.assertTrue({"hypervisor", "cpu_mhz", "tsc_mhz", "rivals", "rivals in Rust"} <= machine.describe(build.ROOT).keys())


class Still(unittest.TestCase):
    """bench/still with a stand-in for the browser."""

    def taken(self, browser, path=""):
        """(exit status, what was told, whether the still was replaced)."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "report.html").write_text("<p>")
            (folder / "old.png").write_text("old")
            python = pathlib.Path(sys.executable)
            (folder / "python3").symlink_to(python)
            if browser:
                (folder / "chromium").write_text(f"#!{python}\nimport sys\n{browser}")
                (folder / "chromium").chmod(0o755)
            done = subprocess.run([python, build.BENCH / "still", "--page", folder / "report.html", "--out", folder / "old.png"], env={"PATH": str(folder)}, capture_output=True, text=True)
            return done.returncode, done.stdout + done.stderr, (folder / "old.png").read_bytes() != b"old"

    DRAWS = """import struct
out = next(word for word in sys.argv if word.startswith("--screenshot=")).partition("=")[2]
size = next(word for word in sys.argv if word.startswith("--window-size=")).partition("=")[2]
assert sys.argv[-1].startswith("file:///") and sys.argv[-1].endswith("/report.html")
open(out, "wb").write(b"\\x89PNG\\r\\n\\x1a\\n" + b"\\0\\0\\0\\rIHDR" + struct.pack(">II", *map(int, size.split(","))) + b"rest")
"""

    def test_it_is_taken_by_the_browser_that_is_there_and_left_alone_where_there_is_none(self):
        self.assertEqual(self.taken(self.DRAWS)[::2], (0, True))
        status, told, replaced = self.taken(None)
        self.assertEqual((status, replaced), (77, False))
        self.assertIn("SKIPPED: no Chromium here", told)

    def test_what_is_no_picture_of_the_page_does_not_replace_the_still(self):
        for browser in ("sys.exit(3)", "pass", self.DRAWS.replace('map(int, size.split(","))', "(5, 5)")):
            status, told, replaced = self.taken(browser)
            self.assertEqual((status, replaced), (1, False), told)


class Tracers(unittest.TestCase):
    def test_a_file_is_all_that_another_facility_takes(self):
        self.assertEqual(tracers.of("drivers"), ["silverpoint_c", "silverpoint_cpp", "silverpoint_rust"])
        self.assertEqual(tracers.of("modern"), ["silverpoint_cpp", "silverpoint_rust"])
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(tracers, "DIRECTORY", pathlib.Path(folder)), mock.patch.object(tracers, "load", lambda name: mock.MagicMock(spec=["name"])):
            (pathlib.Path(folder) / "rival.py").write_text("")
            (pathlib.Path(folder) / "__init__.py").write_text("")
            self.assertEqual(tracers.of("drivers"), ["rival"])
            self.assertEqual(tracers.of("modern"), [])

    def test_who_cannot_run_here_is_listed_with_the_reason(self):
        there, lacking = (mock.MagicMock(missing=lambda why=why: why) for why in ("", "libx-dev is not installed"))
        lacking.name = "x"
        self.assertEqual(tracers.able([there, lacking]), ([there], ["x: libx-dev is not installed"]))

    def test_budgets_are_promises_of_this_project_alone(self):
        runs = [{"facility": name, "mode": "burst", "case": "three", "watch": None, "options": {}, "pairs": [[20.0, 10.0]] * 5} for name in ("silverpoint-c", "rival")]
        self.assertEqual({row.facility: row.limit for row in report.rows(runs, {}, {})}, {"silverpoint-c": 1.1, "rival": None})


class Marker(unittest.TestCase):
    def test_the_driver_of_the_marker_gets_properties_and_usual_limits(self):
        # A shell that sets limits leaves out variables whose names have dots.
        with tempfile.TemporaryDirectory() as folder:
            driver = pathlib.Path(folder, "driver")
            driver.write_text("#!/usr/bin/env python3\nimport os, resource, sys\nfor pair in os.environ.items(): print(*pair, sep='=')\n"
                              "print(resource.getrlimit(resource.RLIMIT_NOFILE)[0], *sys.argv[1:])\n")
            driver.chmod(0o755)
            backend = atrace.Backend("C++", driver, "marker", "end", pathlib.Path(folder))
            workspace = mock.MagicMock(directory=pathlib.Path(folder))
            command, environment = backend.launch(mock.MagicMock(), ["pairs=1", "calls=2"], workspace)
            *variables, last = build.call(command, env=environment).splitlines()
        self.assertIn("debug.atrace.tags.enableflags=0x1000", variables)
        self.assertIn(f"SILVERPOINT_ATRACE_MARKER={folder}/trace_marker", variables)
        limit, *arguments = last.split()
        self.assertLessEqual(int(limit), atrace.SOFT_LIMIT)
        self.assertEqual(arguments, ["pairs=1", "calls=2"])
