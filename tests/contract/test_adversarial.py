"""No false alarm: whatever is legal, however odd, violates nothing that gates."""

from __future__ import annotations

import pytest

from conformance.contract.catalog import CATALOG
from conformance.contract.clause import Outcome
from tests.contract.adversarial import ERRORS, STREAMS, WHOLE
from tests.contract.captures import Capture, verdicts


@pytest.mark.parametrize("item", [pytest.param(item, id=name) for name, item in {**STREAMS, **WHOLE, **ERRORS}.items()])
def test_a_legal_reply_passes(item: Capture) -> None:
    """A reply that takes a freedom which no norm denies is no violation."""
    found = {
        name: [f"{finding.expected} <> {finding.actual}" for finding in verdict.findings] or verdict.reason
        for name, verdict in verdicts(item).items()
        if verdict.outcome in (Outcome.VIOLATED, Outcome.FAULTY) and CATALOG[name].gates
    }
    assert not found
