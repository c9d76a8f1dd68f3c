"""One test for each scenario and driver: play it, judge the exchange by every clause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.contract.clause import Outcome

if TYPE_CHECKING:
    from conformance.run.plan import PlannedCase
    from conformance.suite.session import SuiteSession


def test_scenario(conformance_case: PlannedCase, conformance_suite: SuiteSession) -> None:
    """No clause that gates is violated, and the scenario reached what it exists for."""
    case = conformance_suite.play(conformance_case)
    if case.skipped:
        pytest.skip(case.skipped)
    if case.error:
        raise RuntimeError(f"harness fault: {case.error}")
    faulty = case.of(Outcome.FAULTY)
    if faulty:
        raise RuntimeError(f"harness fault in {faulty[0].clause}: {faulty[0].reason}")
    failure = conformance_suite.failure(case)
    if failure:
        pytest.fail(failure, pytrace=False)
