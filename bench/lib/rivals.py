"""Loggers as facilities: one header of bench/logging/facilities each, whose first lines say what it is (facility.hpp there has the contract)."""

import json
import os
import pathlib
import re
import subprocess
from dataclasses import dataclass

from . import build as building

FACILITIES = building.BENCH / "logging/facilities"
TRACEFS = pathlib.Path("/sys/kernel/tracing/instances")


@dataclass(frozen=True)
class Rival:
    """What the first lines of a header say."""

    header: pathlib.Path
    facility: str
    how: str
    needs: tuple = ()  # a header and the package that has it
    links: tuple = ()
    asks: str = ""
    parts: tuple = ()
    levels: bool = True  # a line can be switched off

    @property
    def own(self):
        return self.facility.startswith("silverpoint")

    def missing(self):
        """Why it cannot run here; empty when it can."""
        if self.needs and not pathlib.Path(self.needs[0]).exists():
            return f"{self.needs[1]} is not installed (scripts/setup bench)"
        return REQUIREMENTS[self.asks]() if self.asks else ""


def namespace_missing():
    done = subprocess.run(["unshare", "--mount", *([] if os.geteuid() == 0 else ["--user"]), "true"], capture_output=True, text=True)
    return "" if done.returncode == 0 else f"no mount namespace of one's own for /dev/log here ({done.stderr.strip()})"


def tracefs_missing():
    """Most systems have it there from the start; where not, whoever may puts it where it belongs."""
    if not TRACEFS.exists() and os.geteuid() == 0:
        subprocess.run(["mount", "-t", "tracefs", "nodev", TRACEFS.parent], capture_output=True)
    return "" if os.access(TRACEFS, os.W_OK) else f"{TRACEFS} cannot be written: tracefs is not mounted there, or only root may"


# What a facility may ask of the machine: a function that says why it is not there.
REQUIREMENTS = {"namespace": namespace_missing, "tracefs": tracefs_missing}


def parse(header):
    """The Rival of a header, or None when its first lines name no facility. A line without `key:` goes on with the one before."""
    said, key = {}, None
    for line in header.read_text().splitlines():
        if not line.startswith("//"):
            break
        line = line[2:].strip()
        if found := re.match(r"(facility|how|needs|links|asks|off|in): +(.*)", line):
            key = found[1]
            said[key] = found[2]
        elif key:
            said[key] += " " + line
    if "facility" not in said:
        return None
    return Rival(header, said["facility"], said.get("how", ""), tuple(said.get("needs", "").split()), tuple(said.get("links", "").split()), said.get("asks", ""),
                 tuple(said.get("in", "").split()), "off" not in said)


def listed(part):
    """Those of a part: nothing, then ours, then the others by name."""
    found = [rival for header in sorted(FACILITIES.glob("*.hpp")) if (rival := parse(header)) and part in rival.parts]
    return sorted(found, key=lambda rival: (rival.facility != "nothing", not rival.own, rival.facility.lower()))


def linked(bench, name, link):
    """What a word of `links` stands for: `ours` and `rust` are built, a file of C beside the header is compiled, with the library for C; all else is a flag."""
    if link == "ours":
        bench.cargo("-p", "silverpoint-ffi")
        return [bench.cargo_target / "release/libsilverpoint_ffi.a"]
    if link == "rust":
        bench.cargo(cwd=building.BENCH / "logging/rust")
        return [bench.cargo_target / "release/libsilverpoint_bench_logging.a"]
    if link.endswith(".c"):
        made = bench.directory / f"{name}-{link}.o"
        building.compiled(["gcc", *building.C_FLAGS, f"-I{building.ROOT / 'cpp/include'}", "-c", FACILITIES / link, "-o", made])
        return [made, bench.c_library()]
    return [link]


def compiled(bench, source, name, rival):
    """Builds a driver with the facility in it."""
    links = [part for link in rival.links for part in linked(bench, name, link)]
    program = bench.directory / f"{name}-{rival.header.stem}"
    building.compiled(["g++", "-std=c++20", "-O2", "-Wall", "-Wextra", f"-I{building.ROOT / 'cpp/include'}", f"-I{building.BENCH / 'logging'}",
                   f'-DFACILITY="facilities/{rival.header.name}"', source, bench.directory / "libharness.a", "-o", program, *links, "-pthread", "-ldl", "-lm"])
    return program


def built(bench, source, name, part):
    """({rival: program}, what is missing) of all that are in a part and can run here."""
    found, missing = {}, []
    for rival in listed(part):
        if why := rival.missing():
            missing.append(f"{rival.facility}: {why}")
            continue
        try:
            found[rival] = compiled(bench, source, name, rival)
        except building.Failed as failed:
            missing.append(f"{rival.facility}: it does not compile here: {str(failed).splitlines()[0]}")
    return found, missing


def counter(bench):
    """Builds the program that counts what has arrived."""
    program = bench.directory / "count"
    building.compiled(["gcc", *building.C_FLAGS, building.BENCH / "logging/count.c", "-o", program])
    return program


def files_in(directory):
    """Without links: glog makes one to its newest file."""
    return [file for file in directory.iterdir() if file.is_file() and not file.is_symlink()]


def arrived(program, marker, directory):
    """{"numbered", "sum", "bare"} of all files of a directory: see bench/logging/count.c."""
    return json.loads(building.call([program, marker, *files_in(directory)]))


def sweep():
    """Removes what aborted drivers have left in the kernel."""
    if not os.access(TRACEFS, os.W_OK):
        return
    for instance in TRACEFS.glob("silverpoint-bench-*"):
        if not pathlib.Path("/proc", instance.name.rpartition("-")[2]).exists():
            instance.rmdir()
