"""Loggers inside the process, run by the harness: the facility that a rival's driver is, and how what it wrote is checked."""

import os

from . import rivals, silverpoint

# Numbers of these cases are the ids.
NUMBERED = ("three", "text")


class Logger(silverpoint.Facility):
    """One driver (bench/rivals/driver.cpp). `count` is the program of rivals.counter."""

    def __init__(self, rival, program, count):
        super().__init__(rival.facility, None)
        self.rival, self.driver, self.count = rival, program, count

    def launch(self, bench, arguments, workspace, options=()):
        directory = workspace.directory / "logs"
        directory.mkdir()
        environment = {k: v for k, v in os.environ.items() if not k.startswith("SILVERPOINT_")}
        environment |= {"BENCH_FILE": str(directory / "driver.log"), "SILVERPOINT_DIR": str(workspace.sessions)}
        # What some tell on standard error is no affair of the table.
        return [str(self.driver), *arguments], environment

    def verify(self, bench, workspace, result):
        """Each line by its words, and the sum of the ids in them."""
        rivals.sweep()
        result["drained"] = True  # the driver has ended, and the files are read here
        if self.name == "nothing":
            return []
        directory = workspace.directory / "logs"
        if not (case := result["case"]):
            there = rivals.arrived(self.count, "bench off", directory)
            return ["a line that is off was written"] if there["bare"] or there["numbered"] else []
        there = rivals.arrived(self.count, f"bench {case}{' ' if case in NUMBERED else ''}", directory)
        seen = there["numbered"] if case in NUMBERED else there["bare"]
        if seen != result["counted"]:
            return [f"{result['counted']} records made, {seen} in the file"]
        if case in NUMBERED and there["sum"] != result["id_sum"]:
            return ["the ids in the file are not those that were given out"]
        return []


def built(bench, part):
    """(loggers of a part, what is missing)."""
    found, missing = rivals.built(bench, rivals.building.BENCH / "rivals/driver.cpp", "rivals", part)
    count = rivals.counter(bench)
    return [Logger(rival, program, count) for rival, program in found.items()], missing
