"""Builds what the suite runs: the harness with the floor, the drivers, the program. Nothing is written into the source tree."""

import os
import pathlib
import re
import subprocess
import time

BENCH = pathlib.Path(__file__).resolve().parent.parent
ROOT = BENCH.parent
C_FLAGS = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror"]
CXX_FLAGS = ["-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror"]
HARNESS_SOURCES = ["harness", "clock", "pairs", "sustained", "paced", "threads", "counted", "switch", "session"]


class Failed(Exception):
    """A step that must succeed did not; the text says which and why."""


def call(command, **options):
    """Runs a command whose failure ends the run; returns its standard output."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise Failed(f"{' '.join(str(part) for part in command)} (exit {done.returncode}):\n{done.stdout}{done.stderr}")
    return done.stdout


# Seconds of this process that went into compilers.
_compiling_s = 0.0


def compiled(command, **options):
    """`call` of a compiler: its time does not count for the bound of a run (`clock`)."""
    global _compiling_s
    began = time.monotonic()
    try:
        return call(command, **options)
    finally:
        _compiling_s += time.monotonic() - began


def clock():
    """time.monotonic without the time that went into compilers: what a run is bounded by."""
    return time.monotonic() - _compiling_s


class Build:
    """The build directory: `programs` are what facilities run. `directory` is made when it is not there."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory).resolve()
        self.directory.mkdir(parents=True, exist_ok=True)
        self.cargo_target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()

    def harness(self):
        """libharness.a: the one archive that all drivers link, the frozen floor in it; and the verifier."""
        objects = []
        for source in [BENCH / "floor/floor.c", *(BENCH / f"harness/{name}.c" for name in HARNESS_SOURCES)]:
            objects.append(self.directory / f"{source.stem}.o")
            compiled(["gcc", *C_FLAGS, "-c", source, "-o", objects[-1]])
        archive = self.directory / "libharness.a"
        archive.unlink(missing_ok=True)
        compiled(["ar", "rcs", archive, *objects])
        compiled(["gcc", *C_FLAGS, BENCH / "harness/verify.c", "-o", self.directory / "verify"])
        compiled(["gcc", *C_FLAGS, BENCH / "floor/driver.c", archive, "-o", self.directory / "floor-driver", "-pthread", "-lm"])

    def cxx_driver(self, source, name, extra=()):
        program = self.directory / name
        compiled(["g++", *CXX_FLAGS, f"-I{ROOT / 'cpp/include'}", source, self.directory / "libharness.a", "-o", program,
              "-pthread", "-lm", *extra])
        return program

    def c_library(self):
        """What a program in C links of ours: an archive, of which the linker takes what is used."""
        objects = []
        for source in sorted((ROOT / "cpp/src").glob("*_c.cpp")):
            objects.append(self.directory / f"{source.stem}.o")
            compiled(["g++", *CXX_FLAGS, "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden", f"-I{ROOT / 'cpp/include'}", "-c", source, "-o", objects[-1]])
        archive = self.directory / "libsilverpoint_c.a"
        archive.unlink(missing_ok=True)
        compiled(["ar", "rcs", archive, *objects])
        return archive

    def c_driver(self, source, name, extra=()):
        """As a user's program in C: the C compiler, and the library for C."""
        program = self.directory / name
        compiled(["gcc", *C_FLAGS, *extra, f"-I{ROOT / 'cpp/include'}", source, self.c_library(), self.directory / "libharness.a", "-o", program, "-pthread", "-lm"])
        return program

    def cargo(self, *arguments, cwd=ROOT, target=None):
        environment = dict(os.environ, SILVERPOINT_BENCH_HARNESS=str(self.directory))
        environment["CARGO_TARGET_DIR"] = str(target or self.cargo_target)
        compiled(["cargo", "build", "--release", "--quiet", *arguments], cwd=cwd, env=environment)

    def program(self):
        """The `silverpoint` program."""
        self.cargo("-p", "silverpoint-cli")
        return self.cargo_target / "release/silverpoint"

    def rust_driver(self):
        """The driver of the Rust frontend."""
        # Its own target directory: its lock file and features are not the workspace's.
        target = self.directory / "rust"
        self.cargo(cwd=BENCH / "rust", target=target)
        return target / "release/silverpoint-bench-rust"

    def rust_lttng_driver(self, usdt=False):
        """The same package's driver of the columns of LTTng, without or with probes of USDT."""
        target = self.directory / ("rust-usdt" if usdt else "rust")
        self.cargo("--bin", "lttng", *(["--features", "usdt"] if usdt else []), cwd=BENCH / "rust", target=target)
        return target / "release/lttng"


# ---- the floor's machine code ----

FROZEN = ("floor_burst", "floor_singles")


def floor_code(object_file):
    """Instructions of the frozen functions, one a line, without addresses: jumps name their distance within the function."""
    listing = call(["objdump", "-dr", "--no-show-raw-insn", object_file])
    lines = []
    wanted = None
    for line in listing.splitlines():
        if header := re.match(r"[0-9a-f]+ <(\w+)>:", line):
            wanted = header[1] if header[1] in FROZEN else None
            if wanted:
                lines.append(f"{wanted}:")
            continue
        if not wanted or not (found := re.match(r"\s+[0-9a-f]+:\t(.+)", line)):
            continue
        text = found[1].split("#")[0].strip()
        if re.match(r"R_\w+", text) or re.match(r"(nop|data16|xchg\s+%ax,%ax|cs nop)", text):
            continue  # relocations and padding
        text = re.sub(r"\b[0-9a-f]+ (<\w+(\+0x[0-9a-f]+)?>)", r"\1", text)
        lines.append("    " + re.sub(r"\s+", " ", text))
    return "\n".join(lines) + "\n"


def floor_is_frozen(build, machine):
    """(True, "") when the floor's hot loops are the committed ones, else (False, why)."""
    committed = BENCH / f"floor/floor.{machine}.dis"
    if not committed.exists():
        return False, f"no disassembly is committed for {machine}"
    now = floor_code(build.directory / "floor.o")
    if now == committed.read_text():
        return True, ""
    (build.directory / "floor.dis").write_text(now)
    return False, f"the compiler made other code of the floor (see {build.directory / 'floor.dis'} and {committed})"
