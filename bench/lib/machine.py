"""What the figures were measured on, and whether it was quiet."""

import os
import pathlib
import platform
import re
import subprocess
import time
import tomllib


def run_text(*command):
    """What a program prints, or complains; nothing where it cannot be run."""
    try:
        out = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (out.stdout or out.stderr).strip()


def first_line(*command):
    return (run_text(*command).splitlines() or ["absent"])[0]


def read(path, otherwise="unknown"):
    try:
        return pathlib.Path(path).read_text().strip()
    except OSError:
        return otherwise


def cpu_fields():
    fields = {}
    for line in read("/proc/cpuinfo", "").splitlines():
        name, _, value = line.partition(":")
        if name.strip():
            fields.setdefault(name.strip(), value.strip())
    return fields


def hypervisor(flags):
    """Which one this runs under, `none`, or `of a kind that nobody here can name`."""
    if (kind := first_line("systemd-detect-virt", "--vm")) not in ("absent", "none"):
        return kind
    if "hypervisor" not in flags:
        return "none"
    vendor = next((line.partition(":")[2].strip() for line in run_text("lscpu").splitlines() if line.startswith("Hypervisor vendor")), "")
    return vendor or read("/sys/hypervisor/type", "of a kind that nobody here can name")


# What the suite itself writes: a page that is newer than the last commit makes no other program.
WRITTEN = ("bench/results", "docs/budgets.md", "docs/guide/costs.md", "docs/report.png")


def commit(root):
    """The commit of what is measured, `-dirty` when other files differ from it than those that the suite writes."""
    name = first_line("git", "-C", str(root), "rev-parse", "--short", "HEAD")
    changed = run_text("git", "-C", str(root), "status", "--porcelain", "--untracked-files=no", "--", ".", *(f":(exclude,top){path}" for path in WRITTEN))
    return name + ("-dirty" if changed else "")


# Of those who are measured beside this project, by Debian's names; loggers name theirs in their headers (lib/rivals.py).
PACKAGES = ("babeltrace2", "libboost-dev", "liblttng-ust-dev", "lttng-tools", "mono-runtime", "nlohmann-json3-dev", "qt6-base-dev")
# Programs that know their versions, also where no package brought them.
PROGRAMS = {"Qt": ("qmake6", "-query", "QT_VERSION"), "Mono": ("mono", "--version")}
CRATES = ("bench/tracing", "bench/bind/serde")


def packages(names):
    """`name version` of each package that is installed."""
    listed = run_text("dpkg-query", "-W", "-f", "${Package} ${Version} ${db:Status-Status}\n", *sorted(names))
    return [line.removesuffix(" installed") for line in listed.splitlines() if line.endswith(" installed")]


def programs():
    """The same of what says its version by itself."""
    found = []
    for name, command in PROGRAMS.items():
        if number := re.search(r"\d+(\.\d+)+", first_line(*command)):
            found.append(f"{name} {number[0]}")
    return found


def crates(directory):
    """`name version` of what a driver in Rust depends on itself, as its lock file has it; ours are no rivals."""
    try:
        wanted = tomllib.loads((directory / "Cargo.toml").read_text())["dependencies"]
        locked = tomllib.loads((directory / "Cargo.lock").read_text())["package"]
    except (OSError, KeyError, tomllib.TOMLDecodeError):
        return []
    return [f"{one['name']} {one['version']}" for one in locked if one["name"] in wanted and "source" in one]


def versions(root):
    """{kind: text} of everybody who is measured beside this project."""
    from . import rivals  # whose builds need this file's neighbours
    named = {rival.needs[1] for rival in map(rivals.parse, rivals.FACILITIES.glob("*.hpp")) if rival and rival.needs}
    of_crates = dict.fromkeys(one for directory in CRATES for one in crates(root / directory))
    return {"rivals": ", ".join([*programs(), *packages({*named, *PACKAGES})]) or "none installed", "rivals in Rust": ", ".join(of_crates)}


def describe(root, ticks_per_us=None):
    """A dictionary of facts, all text or numbers. Made once, before anything is measured: pages written by a part must not change what the next one says. `ticks_per_us`: of the time stamp counter, as a driver has measured it."""
    cpu = cpu_fields()
    flags = cpu.get("flags", "").split()
    return {
        "cpu": cpu.get("model name", platform.machine()),
        "cores": os.cpu_count(),
        "cpu_mhz": cpu.get("cpu MHz", "not visible"),
        "kernel": platform.release(),
        "virtualised": "hypervisor" in flags,
        "hypervisor": hypervisor(flags),
        "tsc": " ".join(f for f in ("constant_tsc", "nonstop_tsc", "tsc_known_freq") if f in flags) or "none of the useful flags",
        "tsc_mhz": "not measured" if ticks_per_us is None else round(ticks_per_us, 1),
        "clocksource": read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "governor": read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "not visible"),
        "memory_mib": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20,
        "shared_memory": first_line("stat", "-f", "-c", "%T", "/dev/shm"),
        "gcc": first_line("g++", "--version"),
        "clang": first_line("clang++-16", "--version"),
        "rustc": first_line("rustc", "--version"),
        "python": platform.python_version(),
        **versions(root),
        "commit": commit(root),
        "time": now(),
    }


def now():
    """The moment, as the pages name it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def cpu_times():
    """Jiffies of all processors since the start: (all, idle and waiting, stolen)."""
    fields = [int(f) for f in read("/proc/stat", "cpu 0 0 0 0 0 0 0 0").splitlines()[0].split()[1:9]]
    return sum(fields), fields[3] + fields[4], fields[7]


def shares(before, after):
    """(in use, stolen of it) between two cpu_times, as shares of all processors."""
    total, idle, stolen = (b - a for a, b in zip(before, after, strict=True))
    return (1 - idle / total, stolen / total) if total else (0.0, 0.0)


def busy_share(seconds=1.0):
    """Share of all cores that others use (stolen time included) while this program sleeps: (busy, stolen)."""
    before = cpu_times()
    time.sleep(seconds)
    return shares(before, cpu_times())
