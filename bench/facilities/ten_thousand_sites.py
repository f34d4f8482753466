"""Ten thousand tracepoints of C in one process, of which one is switched from outside."""

from lib import scaling

SITES = 10_000
FACILITY = scaling.Driver(None, {"BENCH_SITES": SITES}, "silverpoint-c, 10,000 sites", scaling.built)
