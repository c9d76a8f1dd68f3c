"""The judge: closed outcomes, each decided in one place; what goes wrong in a clause is ours."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.contract.catalog import CATALOG
from conformance.contract.clause import Basis, Clause, Finding, Level, Outcome, Undecided, Verdict, clause
from conformance.contract.judge import MAX_FINDINGS, judge, judge_clause
from conformance.exchange.model import Exchange
from tests.contract.captures import ask, capture, chat, exchange, wire

_X = exchange(capture(ask(), wire(chat())))
_DECLARING = exchange(capture(ask(), wire(chat()), None, "failover"))


def _clause(*yields: Finding | Undecided | Exception, applies: bool | Exception = True, policy: str = "") -> Clause:
    def condition(_: Exchange) -> bool:
        if isinstance(applies, Exception):
            raise applies
        return applies

    def check(_: Exchange) -> Iterator[Finding | Undecided]:
        for item in yields:
            if isinstance(item, Exception):
                raise item
            yield item

    basis = Basis.POLICY if policy else Basis.CONTRACT
    declare = clause(
        id="test.clause",
        level=Level.MUST,
        basis=basis,
        title="A test's clause",
        rationale="Test.",
        source="openai-api/errors",
        applies=condition,
        capabilities=(policy,) if policy else (),
    )
    return declare(check)


_FOUND = Finding(expected="this", actual="that")


def _outcome(item: Clause, x: Exchange = _X) -> Verdict:
    return judge_clause(item, x)


def test_no_finding_is_held() -> None:
    """A clause that applies and yields nothing is held."""
    assert _outcome(_clause()) == Verdict(clause="test.clause", outcome=Outcome.HELD)


def test_a_finding_is_a_violation() -> None:
    """One finding violates; an undecided word beside it changes nothing."""
    verdict = _outcome(_clause(Undecided("cannot tell"), _FOUND))
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.findings == (_FOUND,)


def test_undecided_alone_is_inconclusive() -> None:
    """A check that cannot tell says why."""
    verdict = _outcome(_clause(Undecided("cannot tell")))
    assert (verdict.outcome, verdict.reason) == (Outcome.INCONCLUSIVE, "cannot tell")


def test_a_condition_that_is_not_met_is_not_applicable() -> None:
    """Applicability is separate from success."""
    verdict = _outcome(_clause(_FOUND, applies=False))
    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert verdict.reason


def test_a_policy_that_nobody_declared_is_not_applicable() -> None:
    """A target is judged on its own promises, whatever the clause would find."""
    item = _clause(_FOUND, policy="failover")
    assert _outcome(item).outcome is Outcome.NOT_APPLICABLE
    assert "failover" in _outcome(item).reason
    assert _outcome(item, _DECLARING).outcome is Outcome.VIOLATED


@pytest.mark.parametrize(
    "item",
    [
        pytest.param(_clause(ValueError("oops")), id="in the check"),
        pytest.param(_clause(_FOUND, ValueError("oops")), id="after a finding"),
        pytest.param(_clause(applies=ValueError("oops")), id="in the condition"),
    ],
)
def test_an_exception_is_faulty(item: Clause) -> None:
    """An exception in a clause is our own bug, told with its place, and never the target's violation."""
    verdict = _outcome(item)
    assert verdict.outcome is Outcome.FAULTY
    assert verdict.findings == ()
    assert "ValueError: oops" in verdict.reason
    assert "test_judge" in verdict.reason or ":" in verdict.reason


def test_findings_are_bounded() -> None:
    """An endless check is cut after a few findings."""
    verdict = _outcome(_clause(*[_FOUND] * 100))
    assert len(verdict.findings) == MAX_FINDINGS


def test_verdicts_keep_the_order_of_the_clauses() -> None:
    """There is one verdict for each clause, in the order given."""
    items = tuple(item for item in CATALOG.values() if getattr(item, "scope", "exchange") == "exchange")
    assert [verdict.clause for verdict in judge(_X, items)] == [item.id for item in items]


def test_a_clause_that_is_not_whole_is_refused() -> None:
    """A source that is not listed, a policy without capability or a title with "should" raise at once."""
    with pytest.raises(ValueError, match="capabilities"):
        clause(
            id="a.b",
            level=Level.MUST,
            basis=Basis.POLICY,
            title="A",
            rationale="B.",
            source="openai-api/errors",
            applies=bool,
        )
    with pytest.raises(ValueError, match="source"):
        clause(
            id="a.b", level=Level.MUST, basis=Basis.CONTRACT, title="A", rationale="B.", source="nowhere", applies=bool
        )
    with pytest.raises(ValueError, match="should"):
        clause(
            id="a.b",
            level=Level.MUST,
            basis=Basis.CONTRACT,
            title="It should hold",
            rationale="B.",
            source="openai-api/errors",
            applies=bool,
        )
