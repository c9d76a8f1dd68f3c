"""Exchange (or sequence) × clauses -> verdicts: the closed outcomes, each decided in one place.

A fault inside a clause is ours and comes out FAULTY, never as the target's violation.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import islice

from conformance.contract.clause import Basis, Clause, Finding, Outcome, Scope, Undecided, Verdict
from conformance.exchange.model import Exchange
from conformance.exchange.sequence import Sequence

#: Findings kept for one clause on one exchange; the first ones prove the point.
MAX_FINDINGS = 8


def judge_clause(clause: Clause, exchange: Exchange | Sequence) -> Verdict:
    """The verdict of one clause on one exchange, or on one sequence, as its scope says."""
    if clause.basis is Basis.POLICY and clause.capabilities.isdisjoint(exchange.declares):
        return _undeclared(clause.id, clause.capabilities)
    try:
        if not clause.applies(exchange):
            return _inapplicable(clause.id, clause.scope)
        yielded = list(islice(clause.check(exchange), MAX_FINDINGS))
    except Exception as error:
        where = _where(error)
        return Verdict(clause=clause.id, outcome=Outcome.FAULTY, reason=f"{type(error).__name__}: {error} ({where})")
    findings = tuple(item for item in yielded if isinstance(item, Finding))
    if findings:
        return Verdict(clause=clause.id, outcome=Outcome.VIOLATED, findings=findings)
    for item in yielded:
        if isinstance(item, Undecided):
            return Verdict(clause=clause.id, outcome=Outcome.INCONCLUSIVE, reason=item.reason)
    return _held(clause.id)


def judge(exchange: Exchange, clauses: Iterable[Clause]) -> tuple[Verdict, ...]:
    """The verdicts on `exchange` of those `clauses` that are about one exchange, in the clauses' order."""
    return tuple(judge_clause(clause, exchange) for clause in clauses if clause.scope is Scope.EXCHANGE)


def judge_sequence(sequence: Sequence, clauses: Iterable[Clause]) -> tuple[Verdict, ...]:
    """The verdicts on `sequence` of those `clauses` that are about sequences, in the clauses' order."""
    return tuple(judge_clause(clause, sequence) for clause in clauses if clause.scope is Scope.SEQUENCE)


# Nearly every verdict is one of these three, the same for every exchange: each is made once.


@cache
def _held(clause: str) -> Verdict:
    return Verdict(clause=clause, outcome=Outcome.HELD)


@cache
def _inapplicable(clause: str, scope: Scope) -> Verdict:
    return Verdict(clause=clause, outcome=Outcome.NOT_APPLICABLE, reason=f"this {scope} does not meet its condition")


@cache
def _undeclared(clause: str, capabilities: frozenset[str]) -> Verdict:
    names = ", ".join(sorted(capabilities))
    return Verdict(clause=clause, outcome=Outcome.NOT_APPLICABLE, reason=f"the target does not declare {names}")


def _where(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "no traceback"
    return f"{trace.tb_frame.f_code.co_name}:{trace.tb_lineno}"
