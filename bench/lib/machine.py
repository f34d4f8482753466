"""What the figures were measured on, and whether it was quiet."""

import os
import pathlib
import platform
import subprocess
import time


def first_line(*command):
    try:
        out = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return "absent"
    return (out.stdout or out.stderr).strip().splitlines()[0] if (out.stdout or out.stderr).strip() else "absent"


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


def describe(root):
    """A dictionary of facts, all text or numbers."""
    cpu = cpu_fields()
    flags = cpu.get("flags", "").split()
    stat_filesystem = first_line("stat", "-f", "-c", "%T", "/dev/shm")
    return {
        "cpu": cpu.get("model name", platform.machine()),
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "virtualised": "hypervisor" in flags,
        "tsc": " ".join(f for f in ("constant_tsc", "nonstop_tsc", "tsc_known_freq") if f in flags) or "none of the useful flags",
        "clocksource": read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "governor": read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "not visible"),
        "memory_mib": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20,
        "shared_memory": stat_filesystem,
        "gcc": first_line("g++", "--version"),
        "clang": first_line("clang++-16", "--version"),
        "rustc": first_line("rustc", "--version"),
        "python": platform.python_version(),
        "commit": first_line("git", "-C", str(root), "describe", "--always", "--dirty"),
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _cpu_times():
    fields = [int(f) for f in read("/proc/stat", "cpu 0 0 0 0 0 0 0 0").splitlines()[0].split()[1:9]]
    return sum(fields), fields[3] + fields[4], fields[7]  # all, idle and waiting, stolen


def busy_share(seconds=1.0):
    """Share of all cores that others use (stolen time included) while this program sleeps: (busy, stolen)."""
    before = _cpu_times()
    time.sleep(seconds)
    total, idle, stolen = (b - a for a, b in zip(before, _cpu_times()))
    return (1 - idle / total, stolen / total) if total else (0.0, 0.0)
