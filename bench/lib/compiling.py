"""What `#include <silverpoint/silverpoint.hpp>` adds to a compilation."""

import os
import random
import resource
import subprocess

from . import build as building
from .numbers import median
from .plan import turns

# What a C++ program includes anyway. Containers and text, no chrono, filesystem, iostream or thread.
STANDARD = ("array", "atomic", "cstdint", "cstdio", "cstdlib", "cstring", "functional", "map", "memory", "optional", "set", "string",
            "string_view", "tuple", "type_traits", "unordered_map", "utility", "vector")
PLAIN = "".join(f"#include <{name}>\n" for name in STANDARD) + "int main() { return 0; }\n"
WITH = "#include <silverpoint/silverpoint.hpp>\n" + PLAIN
# Ten tracepoints more: what using it costs, shown beside.
USING = WITH.replace("return 0;", "".join(
    f'SP_INFO("number {{}} of {{}} at {{}}", {i}, "text", {i}.5); ' for i in range(10)) + "return 0;")


def cpu_seconds(compiler, source):
    """CPU time (user and system) of one compilation: unlike wall time it hardly depends on what else runs."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([compiler, "-std=c++20", "-O2", f"-I{building.ROOT / 'cpp/include'}", "-x", "c++", "-c", "-", "-o", os.devnull],
                          input=source, text=True, capture_output=True)
    if done.returncode != 0:
        raise building.Failed(f"{compiler} on the header:\n{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def measure(compiler, times, until):
    """Medians in seconds over up to `times` interleaved compilations: {plain, header, using}."""
    sources = {"plain": PLAIN, "header": WITH, "using": USING}
    found = {name: [] for name in sources}
    for name in sources:
        cpu_seconds(compiler, sources[name])  # files into the page cache
    for name in turns(sorted(sources), times, until, random):
        found[name].append(cpu_seconds(compiler, sources[name]))
    return {name: median(values) for name, values in found.items()} | {
        "pairs": list(zip(found["header"], found["plain"], strict=True))}
