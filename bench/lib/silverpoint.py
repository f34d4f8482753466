"""How the facilities of this project are run and checked: a real collector process, a trace file on disk, and a count of what is in it."""

import json
import os
import pathlib
import shutil
import struct
import tempfile

from . import build as building

# trace is left out: the disabled case is at that level. A collector must not inherit what the caller's environment says.
FILTER = "debug"
# The 128 floats of the suite, as 32-bit words.
FLOATS = tuple(0.25 * number for number in range(128))
WORDS_OF_FLOATS = sum(struct.unpack("<128I", struct.pack("<128f", *FLOATS)))


class Facility:
    """One frontend under `silverpoint run`. `make` builds its driver and returns the path."""

    def __init__(self, name, make, parts=()):
        self.name, self.parts = name, parts
        self._make = make

    def build(self, bench):
        self.driver = self._make(bench)

    def launch(self, bench, arguments, workspace, options=()):
        """(command, environment) that run the driver; the trace file will be in `workspace`. `options` go to `silverpoint run`."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("SILVERPOINT_")}
        environment["SILVERPOINT_DIR"] = str(workspace.sessions)
        # Of the mode `switch`: who is called, and where it looks for sessions.
        environment |= {"BENCH_CONTROL": str(bench.silverpoint), "BENCH_CONTROL_DIR": str(workspace.sessions)}
        command = [bench.silverpoint, "run", "-o", workspace.trace, "--filter", FILTER, *options, "--", self.driver, *arguments]
        return [str(part) for part in command], environment

    def verify(self, bench, workspace, result):
        """Compares the trace file with what the driver says it has called. Adds the file's figures to the result; returns what is wrong."""
        files = sorted(workspace.directory.glob("*.silver"))
        if not files:
            return ["no trace file"]
        found = json.loads(building.call([bench.directory / "verify", *files]))
        result["file"] = {k: v for k, v in found.items() if k != "sites"}
        problems = []
        measured = [s for s in found["sites"] if "disabled" not in s["template"]]
        if any(s["records"] for s in found["sites"] if "disabled" in s["template"]):
            problems.append("a tracepoint that is off has recorded")
        compact = found["compact_records"] > 0
        records = sum(s["records"] for s in measured) if not compact else found["compact_records"]
        if records != result["counted"]:
            problems.append(f"{result['counted']} records made, {records} in the file")
        ids = [s["id_sum"] for s in measured if s["records"]]
        if not compact and None not in ids and sum(ids) % 2**64 != result["id_sum"]:
            problems.append("the ids in the file are not those that were given out")
        # All floats of all records; a sequence whose length is not part of its type has that before them.
        if not compact and result.get("case", "").split(".")[0] == "floats":
            for one in (s for s in measured if s["records"]):
                if one["word_sum"] not in (one["records"] * WORDS_OF_FLOATS, one["records"] * (WORDS_OF_FLOATS + len(FLOATS))):
                    problems.append("the floats in the file are not those that were recorded")
        for name in ("repeated_bytes", "missing_bytes", "gaps"):
            if found[name]:
                problems.append(f"{name} = {found[name]}")
        return problems


class Workspace:
    """The directories of one run: the trace file on disk, the sessions in shared memory. Removed at its end."""

    def __init__(self, bench):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="run-", dir=bench.directory))
        self.trace = self.directory / "bench.silver"
        shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.sessions = pathlib.Path(tempfile.mkdtemp(prefix="silverpoint-bench-", dir=shared))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.directory, ignore_errors=True)
        shutil.rmtree(self.sessions, ignore_errors=True)
