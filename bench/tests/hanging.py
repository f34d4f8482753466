"""Tests of what happens when a driver does not end, fails, or leaves something behind."""

import io
import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest
from unittest import mock

from lib import bind, build, driving, processes, signals


class Hanging(unittest.TestCase):
    """Programs that do not end, that fail, or that leave something behind: only the run that they are is lost."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.bench = mock.MagicMock(directory=self.folder)

    def program(self, name, text):
        made = self.folder / name
        made.write_text("#!/bin/sh\n" + text)
        made.chmod(0o755)
        return made

    def begun_in_time(self, file, expected, command, **options):
        """Runs a program that does not end, until it had the time to start another; gives the number of that process, which is in a file."""
        for seconds in (0.5, 5, 60):
            with expected(seconds):
                processes.run(command, seconds, **options)
            if (self.folder / file).exists() and (self.folder / file).read_text():
                break
        return int((self.folder / file).read_text())

    def gone(self, pid, seconds=60):
        """True when there is no such process any more, within a time in which one that was killed must have ended (it may be that nobody has collected it)."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                if pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                    return True
            except FileNotFoundError:
                return True
            time.sleep(0.02)
        return False

    def test_what_does_not_end_is_ended_with_what_it_has_started(self):
        hanging = self.program("hanging", f"sleep 1000 & echo $! >{self.folder}/child; wait")
        self.assertTrue(self.gone(self.begun_in_time("child", lambda seconds: self.assertRaisesRegex(build.Failed, f"no end after {seconds} s"), [hanging])))
        done = processes.run([self.program("ends", "echo out; echo told >&2; exit 3")], 60)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (3, "out\n", "told\n"))

    def test_a_hanging_process_of_signals_or_bind_is_a_run_that_is_not_counted(self):
        hanging = self.program("driver", "exec sleep 1000")
        for part, measured in ((signals, lambda: signals.measure(self.bench, 1, 1, 1, 7, 0.0)), (bind, lambda: bind.measure(self.bench, 1, 1, 7, 0.0))):
            with mock.patch.object(part, "TIMEOUT_S", 0.05), mock.patch.object(signals, "driver", lambda _: hanging), mock.patch.object(bind, "drivers", lambda _: [hanging]):
                results, problems = measured()
            self.assertEqual(results, {})
            self.assertTrue(problems)
            self.assertTrue(all("no end after 0.05 s" in problem for problem in problems), problems)

    def test_a_file_that_cannot_be_verified_costs_its_own_run_alone(self):
        said = json.dumps({"facility": "f", "mode": "burst", "floor_whole": True, "drained": True})
        driver = self.program("driver", f"echo '{said}'")

        class Facility:
            name = "f"
            wrong = None

            def launch(self, *_):
                return [driver], {}

            def verify(self, *_):
                if self.wrong:
                    raise self.wrong
                return []

        facility, runner = Facility(), driving.Driving(self.bench, io.StringIO())
        self.assertIsNotNone(runner.run(facility, "burst"))
        for wrong in (build.Failed("verify (exit 1)"), FileNotFoundError("out"), subprocess.TimeoutExpired("babeltrace2", 1), ValueError("no JSON")):
            facility.wrong = wrong
            self.assertIsNone(runner.run(facility, "burst"))
        facility.wrong = None
        self.assertIsNotNone(runner.run(facility, "burst"))
        self.assertEqual((len(runner.results), len(runner.problems)), (2, 4))
        self.assertIn("f burst: what has arrived cannot be read: verify (exit 1)", runner.problems)

    def lttng(self, create, driver):
        """bench/lttng/run with stand-ins for its daemon, which is ready at once, and for the program that asks it."""
        self.program("lttng-sessiond", f"echo $$ >{self.folder}/daemon; kill -USR1 $PPID; exec sleep 1000")
        self.program("lttng", f'[ "$2" != create ] || {create}')
        environment = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"}
        return [build.BENCH / "lttng/run", self.folder, self.program("driver", driver)], environment

    def test_the_daemon_of_lttng_ends_with_its_script_however_that_ends(self):
        for create, driver, status in (("exit 0", "exit 0", 0), ("exit 0", "exit 3", 3), ("exit 1", "touch $HOME/was-run", 1)):
            command, environment = self.lttng(create, driver)
            self.assertEqual(processes.run(command, 60, env=environment).returncode, status)
            self.assertTrue(self.gone(int((self.folder / "daemon").read_text())), (create, driver))
        self.assertFalse((self.folder / "was-run").exists())
        command, environment = self.lttng("exit 0", "exec sleep 1000")
        (self.folder / "daemon").unlink()
        self.assertTrue(self.gone(self.begun_in_time("daemon", lambda _: self.assertRaises(processes.Hung), command, env=environment)))
