"""One test for each scenario and driver: play it, judge the exchange by every clause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.contract.clause import Outcome

if TYPE_CHECKING:
    from conformance.run.plan import PlannedCase
    from conformance.suite.session import SuiteSession


def test_scenario(conformance_case: PlannedCase, conformance_suite: SuiteSession) -> None:
    """No clause that gates is violated in any request, and the scenario reached what it exists for."""
    cases = conformance_suite.play(conformance_case)
    for case in cases:
        if case.skipped:
            pytest.skip(case.skipped)
        if case.error:
            raise RuntimeError(f"harness fault: {case.error}")
        for faulty in case.of(Outcome.FAULTY):
            raise RuntimeError(f"harness fault in {faulty.clause}: {faulty.reason}")
    failures = [failure for case in cases if (failure := conformance_suite.failure(case))]
    if failures:
        pytest.fail("\n".join(failures), pytrace=False)
    known = dict.fromkeys(reason for case in cases if (reason := conformance_suite.known(case)))
    if known:
        pytest.xfail("; ".join(known))
