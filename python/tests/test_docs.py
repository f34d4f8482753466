"""The examples of the documentation."""

from __future__ import annotations

import doctest
import pathlib

import pytest

import silverpoint.recording


def test_the_page_of_the_guide(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SILVERPOINT_OFF", "1")
    page = pathlib.Path(__file__).parents[2] / "docs" / "python.md"
    # The ends of fences are no output.
    examples = doctest.DocTestParser().get_doctest(page.read_text().replace("\n```\n", "\n\n"), {}, "python.md", str(page), 0)
    assert len(examples.examples) > 20
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(examples)
    assert runner.failures == 0


def test_docstrings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SILVERPOINT_OFF", "1")
    for module in (silverpoint, silverpoint.recording):
        assert doctest.testmod(module).failed == 0
