"""What providers were reported to send, judged: the wrong ones are found, the right ones pass."""

from __future__ import annotations

import pytest

from conformance.contract.catalog import CATALOG
from tests.contract.captures import violated
from tests.contract.report import Trial, right_trials, wrong_trials
from tests.contract.reports_providers import REPORTS


def _name(trial: Trial) -> str:
    return trial.name.replace(" ", "-")


def test_every_report_is_told_once() -> None:
    """Ids are unique, and clauses are those of the catalogue."""
    assert len({report.id for report in REPORTS}) == len(REPORTS)
    assert {name for report in REPORTS for name in report.clauses} <= set(CATALOG)
    assert all(report.why for report in REPORTS if not (report.gates and report.direct and report.relayed))


@pytest.mark.parametrize("trial", wrong_trials(REPORTS), ids=_name)
def test_a_wrong_answer_is_found(trial: Trial) -> None:
    """At least one of the clauses that the report names is violated; it gates unless no norm decides the case."""
    found = violated(trial.capture, gating=trial.report.gates)
    assert set(found) & set(trial.report.clauses), f"violated instead: {sorted(found)}"
    if not trial.report.gates:
        assert not violated(trial.capture)


@pytest.mark.parametrize("trial", right_trials(REPORTS), ids=_name)
def test_a_right_answer_passes(trial: Trial) -> None:
    """Nothing that gates is violated."""
    found = violated(trial.capture)
    assert {name: verdict.findings[0] for name, verdict in found.items()} == {}
