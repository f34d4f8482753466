"""Tests of the page of bench/view."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

from lib import build, viewing

PAGE = build.ROOT / "crates/programs/silverpoint-view/page"

def found(**steps):
    run = {"listening": 100.0, "first": 1900.0, "read": 5, "memory": 90_000_000}
    all_steps = {"records": 1000, "lost": 0, "reading": [10.0] * 99 + [900.0], "finished": [60.0] * 20, "jumps": [5.0], "whole": 5000.0, "memory": 150_000_000} | steps
    small = {"records": 10, "silver": 1000, "chrome": 3000, "perfetto": 2000}
    return {"records": 1000, "bytes": 100_000, "recorded_s": 1.0, "first": [run], "steps": all_steps, "unindexed": [run | {"first": 30_000.0}], "small": small}


class Viewing(unittest.TestCase):
    def test_what_misses_its_budget_says_so(self):
        verdicts = {row[0].split(":")[0]: row[3] for row in viewing.rows(found()) if row[3]}
        self.assertEqual(verdicts["to the first picture, of the whole range; 0.5% of the records are read then"], "pass")
        self.assertEqual(verdicts["the same of a file without an index"], "MISS")
        self.assertEqual(verdicts["a step of zooming or scrolling while records are read"], "pass")
        self.assertEqual(verdicts["the same when all are read"], "MISS")
        self.assertEqual(verdicts["the server's memory, at most"], "pass")

    def test_missing_records_and_missing_steps_do_not_count(self):
        self.assertEqual(viewing.problems(found()), [])
        self.assertEqual(viewing.problems(found(records=999)), ["1000 records made, 999 shown"])
        self.assertEqual(viewing.problems(found(lost=1)), ["1 records lost"])
        self.assertIn("(jumps)", viewing.problems(found(jumps=[]))[0])
        self.assertIn("**Does not count: x.**", viewing.page(found(), {"cores": 2}, ["x"]))

    @unittest.skipUnless(shutil.which("node") and shutil.which("chromium") and (PAGE / "node_modules/playwright-core").exists(), "needs scripts/setup viewer")
    def test_a_server_ends_with_what_drives_it_also_when_that_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            server = pathlib.Path(folder, "server")
            server.write_text("#!/bin/sh\necho no address\nexec sleep 100\n")
            server.chmod(0o755)
            # The server has the same standard error: its end is awaited, too.
            driven = subprocess.run(["node", build.BENCH / "viewer/drive.mjs", "first", server, "none.silver"], capture_output=True, text=True, timeout=60)
        self.assertEqual(driven.returncode, 1, driven.stderr)
        self.assertIn("invalid URL", driven.stderr)
