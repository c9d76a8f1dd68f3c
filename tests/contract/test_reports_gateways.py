"""Public reports of gateways: the judge finds each wrong capture for its reason, and lets each right one pass."""

from __future__ import annotations

import pytest

from conformance.contract.catalog import CATALOG
from conformance.contract.clause import Outcome
from tests.contract.captures import Capture, verdicts
from tests.contract.reports_asked_answers import HELD
from tests.contract.reports_asked_errors import ASKED_ERRORS
from tests.contract.reports_asked_tools import ASKED_FOR
from tests.contract.reports_forwarded import FORWARDED
from tests.contract.reports_further import FURTHER
from tests.contract.reports_further_endpoints import ENDPOINTS
from tests.contract.reports_further_legs import LEGS
from tests.contract.reports_further_right import PASSING
from tests.contract.reports_further_usage import USED
from tests.contract.reports_gateways import GATEWAYS
from tests.contract.reports_relayed_e import RELAYED_DOWN
from tests.contract.reports_relayed_f import RELAYED
from tests.contract.situation import Report, cases, wrong_capture

_ALL = (
    *GATEWAYS,
    *FURTHER,
    *ENDPOINTS,
    *LEGS,
    *USED,
    *PASSING,
    *HELD,
    *ASKED_FOR,
    *ASKED_ERRORS,
    *FORWARDED,
    *RELAYED,
    *RELAYED_DOWN,
)
_WRONG, _RIGHT = cases(_ALL)


@pytest.mark.parametrize("item", [pytest.param(item, id=name) for name, item in _WRONG])
def test_wrong_reply_is_found(item: Report) -> None:
    """What was reported as wrong violates a clause that names the reason, and gates where a norm decides."""
    found = {name for name, verdict in verdicts(wrong_capture(item)).items() if verdict.outcome is Outcome.VIOLATED}
    assert found & item.clauses, f"violated: {sorted(found)}"
    gating = {name for name in found if CATALOG[name].gates}
    if item.told:
        assert not gating, "it gates: take the reason away"
    else:
        assert gating & item.clauses, f"only reported: {sorted(found)}"


@pytest.mark.parametrize("item", [pytest.param(item, id=name) for name, item in _RIGHT])
def test_right_reply_passes(item: Capture) -> None:
    """A conforming reply to the same situation violates nothing that gates."""
    found = {
        name: [finding.actual for finding in verdict.findings] or verdict.reason
        for name, verdict in verdicts(item).items()
        if verdict.outcome in (Outcome.VIOLATED, Outcome.FAULTY) and CATALOG[name].gates
    }
    assert not found


def test_report_ids_are_unique() -> None:
    """Each report has a name of its own."""
    names = [item.id for item in _ALL]
    assert len(set(names)) == len(names)
