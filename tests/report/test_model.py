"""The words of a report: requirements, cases, legs."""

from __future__ import annotations

from conformance.contract.clause import Outcome

from . import sample


def test_area_is_the_first_word() -> None:
    """The area of a requirement and of a case is the first word of its id."""
    assert [need.area for need in sample.REQUIREMENTS] == ["stream", "stream", "chat", "pool", "cache"]
    assert sample.VIOLATED.area == "stream"


def test_must_and_policy_gate() -> None:
    """A MUST and every policy gate; SHOULD and MAY of the other bases do not."""
    assert [need.gates for need in sample.REQUIREMENTS] == [True, False, False, True, True]


def test_case_picks() -> None:
    """Verdicts are picked by outcome, evidence by leg."""
    assert [verdict.clause for verdict in sample.VIOLATED.of(Outcome.INCONCLUSIVE)] == ["chat.id.present"]
    assert sample.VIOLATED.leg("client") is sample.CLIENT
    assert sample.VIOLATED.leg("upstream:0") is None
