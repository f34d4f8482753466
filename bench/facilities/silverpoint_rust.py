"""The Rust frontend of this project."""

from lib import silverpoint

FACILITY = silverpoint.Facility("silverpoint-rust", lambda bench: bench.rust_driver(), parts=("drivers", "modern", "paced"))
