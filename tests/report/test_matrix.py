"""Reports side by side: what each gateway violates, and how each scenario came out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.contract.clause import Outcome
from conformance.report import matrix
from conformance.report.model import AttemptLine, Case, ClientLine, Report
from conformance.report.reading import Reading

from . import sample


def _named(name: str, *cases: Case) -> Report:
    report = sample.report(*cases)
    return replace(report, header=replace(report.header, target=name))


ONE = _named("one", sample.VIOLATED, replace(sample.VIOLATED, id="other[wire]"))
TWO = _named("two", replace(sample.HELD, verdicts=(sample.verdict("stream.done.once", Outcome.HELD),)))


def test_a_row_for_each_violated_clause() -> None:
    """A number where it is violated, a word where it held, nothing where it never applied."""
    text = matrix.render([ONE, TWO])
    assert "| clause | level | requires | one 1.2.3 | two 1.2.3 |" in text
    (row,) = [line for line in text.splitlines() if line.startswith("| `stream.done.once` ")]
    assert row.endswith("| **2** | held |")


def test_a_scenario_by_readings_and_attempts() -> None:
    """How many requests came out how, who went away, and how often each member was asked."""
    asked = (
        AttemptLine(member="m0", at=1.0, status=404, end="complete"),
        AttemptLine(member="m1", at=2.0, status=200, end="complete"),
    )
    away = ClientLine(status=0, end="hangup", ended_at=5.0)
    played = replace(sample.HELD, attempts=asked, reading=Reading.RESCUED)
    left = replace(sample.HELD, attempts=asked[:1], reading=None, client=away)
    assert matrix.outcome((played, played, left)) == "2 rescued, 1 went away (m0:3 m1:2)"
    assert matrix.outcome((replace(sample.HELD, skipped="it declares no cache"),)) == "it declares no cache"
    assert matrix.outcome(()) == ""


def test_one_report_at_least() -> None:
    """Of nothing there is no matrix."""
    with pytest.raises(ValueError, match="needs a report"):
        matrix.render([])
