"""What the tests have in common."""

from __future__ import annotations

import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
VECTORS = ROOT / "spec" / "vectors"


@pytest.fixture
def vectors() -> pathlib.Path:
    """The directory of the vectors."""
    return VECTORS


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line for whoever adds results up."""
    count = {name: len(terminalreporter.stats.get(name, [])) for name in ("passed", "failed", "error", "skipped")}
    failed = count["failed"] + count["error"]
    terminalreporter.write_line(f"python: {count['passed']} passed, {failed} failed, {count['skipped']} skipped")
