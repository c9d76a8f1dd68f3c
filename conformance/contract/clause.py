"""The form of a clause, and the closed set of what judging one can come to.

A clause is one requirement: who asks for it, when it applies, and a check that yields findings. It never asserts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from conformance.contract.sources import SOURCES
from conformance.exchange.model import Exchange
from conformance.exchange.sequence import Sequence
from conformance.wire.facts import Span


class Level(StrEnum):
    """How binding a clause is (RFC 2119). It never changes an outcome; the gate is the report's."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"


class Basis(StrEnum):
    """Who asks: the OpenAI API, the protocols under it, or a promise that the target declares."""

    CONTRACT = "contract"
    PROTOCOL = "protocol"
    POLICY = "policy"


class Scope(StrEnum):
    """What a clause is judged on: one exchange, or several of one scenario on one clock."""

    EXCHANGE = "exchange"
    SEQUENCE = "sequence"


class Outcome(StrEnum):
    """What judging one clause on one exchange came to."""

    HELD = "held"
    VIOLATED = "violated"
    NOT_APPLICABLE = "not-applicable"
    INCONCLUSIVE = "inconclusive"
    FAULTY = "faulty"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One place where a clause does not hold.

    `expected` and `actual` are one line each. `leg` is whose bytes prove it: "client", "request" (what the client
    sent), "upstream:K" (what the K-th attempt's member sent), "dispatch:K" (what it got), or "timeline" for a sequence
    (see contract.timeline). `span` covers offsets of that leg's raw bytes, `at` is when they were there (ms).
    """

    expected: str
    actual: str
    leg: str = "client"
    span: Span | None = None
    at: float | None = None
    excerpt: bytes = b""


@dataclass(frozen=True, slots=True)
class Undecided:
    """Yielded instead of findings by a check that cannot tell from this exchange; the reason in one line."""

    reason: str


Found = Iterator["Finding | Undecided"]
Check = Callable[[Exchange], Found]
Applies = Callable[[Exchange], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One requirement of the contract.

    `applies` and `check` take what `scope` says. `capabilities`: a policy clause applies to a target that declares one
    of them.
    """

    id: str
    level: Level
    basis: Basis
    title: str
    rationale: str
    source: str
    applies: Callable[[Any], bool]
    check: Callable[[Any], Found]
    capabilities: frozenset[str] = frozenset()
    scope: Scope = Scope.EXCHANGE

    @property
    def gates(self) -> bool:
        """Whether a violation makes a target non-conforming: a MUST, or a policy that the target itself declared."""
        return self.level is Level.MUST or self.basis is Basis.POLICY


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A clause's outcome on one exchange; `findings` when violated, `reason` when it is neither held nor violated."""

    clause: str
    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    reason: str = ""


def clause(
    *,
    id: str,
    level: Level,
    basis: Basis,
    title: str,
    rationale: str,
    source: str,
    applies: Applies,
    capabilities: tuple[str, ...] = (),
) -> Callable[[Check], Clause]:
    """Make a Clause of a check function. Raises ValueError for a declaration that is not whole."""
    _whole(id, basis, title, source, capabilities)

    def make(check: Check) -> Clause:
        return Clause(
            id=id,
            level=level,
            basis=basis,
            title=title,
            rationale=rationale,
            source=source,
            applies=applies,
            check=check,
            capabilities=frozenset(capabilities),
        )

    return make


def sequence_clause(
    *,
    id: str,
    level: Level,
    basis: Basis,
    title: str,
    rationale: str,
    source: str,
    applies: Callable[[Sequence], bool],
    capabilities: tuple[str, ...] = (),
) -> Callable[[Callable[[Sequence], Found]], Clause]:
    """Make a Clause over sequences of a check function. Raises ValueError for a declaration that is not whole."""
    _whole(id, basis, title, source, capabilities)

    def make(check: Callable[[Sequence], Found]) -> Clause:
        return Clause(
            id=id,
            level=level,
            basis=basis,
            title=title,
            rationale=rationale,
            source=source,
            applies=applies,
            check=check,
            capabilities=frozenset(capabilities),
            scope=Scope.SEQUENCE,
        )

    return make


def _whole(id: str, basis: Basis, title: str, source: str, capabilities: tuple[str, ...]) -> None:
    if source not in SOURCES:
        raise ValueError(f"clause {id}: source {source!r} is not in contract/sources.py")
    if (basis is Basis.POLICY) != bool(capabilities):
        raise ValueError(f"clause {id}: a policy names the capabilities that it judges, and only a policy does")
    if " should " in f" {title.lower()} ":
        raise ValueError(f"clause {id}: a title states a fact, without 'should'")
