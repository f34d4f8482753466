"""The C frontend of this project."""

from lib import build, silverpoint

FACILITY = silverpoint.Facility(
    "silverpoint-c", lambda bench: bench.c_driver(build.BENCH / "c/driver.c", "silverpoint-c-driver"), parts=("drivers",))
