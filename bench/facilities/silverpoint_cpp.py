"""The C++ frontend of this project."""

from lib import build, silverpoint

FACILITY = silverpoint.Facility(
    "silverpoint-cpp", lambda bench: bench.cxx_driver(build.BENCH / "cpp/driver.cpp", "silverpoint-cpp-driver"), parts=("drivers", "modern", "paced"))
