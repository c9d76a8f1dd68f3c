"""Several exchanges of one scenario on one clock: who was asked when, across all of them, in order.

From exchanges, each with its start, to dispatches. Knows what happened, and nothing of what it means for a member.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from conformance.exchange.model import Attempt, Exchange
from conformance.wire.transcript import End


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    """How long the target declares to remember what, in ms (None: not declared); see target.profile.Profile."""

    cooldown_ms: float | None = None
    cooldown_after: int = 1
    quarantine_ms: float | None = None
    retry_after_max_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Turn:
    """One exchange of a sequence, equal only to itself.

    `began` is when its request was sent, in ms on the sequence's clock. `step` and `number` count from 1. `lane` is
    "own", "other" (another alias, members of its own) or "sibling" (another alias, other models at the same origins).
    """

    exchange: Exchange
    began: float
    step: int
    number: int = 1
    lane: str = "own"

    @property
    def ended(self) -> float:
        """When the client's side was over, in ms on the sequence's clock."""
        return self.began + self.exchange.transcript.ended_at

    @property
    def label(self) -> str:
        """ "step.number"."""
        return f"{self.step}.{self.number}"

    @property
    def healthy(self) -> frozenset[str]:
        """The members of its lane whose play is a whole success."""
        return self.exchange.terms.healthy


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatch:
    """One attempt of one turn; times in ms on the sequence's clock. `index` is the attempt's among its exchange's."""

    turn: Turn
    index: int
    attempt: Attempt

    @property
    def member(self) -> str:
        """The member that was asked."""
        return self.attempt.member

    @property
    def lane(self) -> str:
        """The lane that it was asked in."""
        return self.turn.lane

    @property
    def at(self) -> float:
        """When its request head had arrived at the member."""
        return self.turn.began + self.attempt.at

    @property
    def ended(self) -> float:
        """When it was over: the member had done all that it did, or the gateway gave a silent one up."""
        attempt = self.attempt
        given_up = attempt.peer_closed_at if attempt.end is End.STALL else None
        return self.turn.began + max(attempt.ended_at, given_up or 0.0)

    @property
    def known(self) -> float:
        """From when on the gateway certainly knew how it ended: it asked the next member, or both legs were over."""
        later = [other.at for other in (self.turn.exchange.attempts or ())[self.index + 1 :]]
        moved_on = [self.turn.began + at for at in later if at >= self.attempt.ended_at]
        return min([max(self.ended, self.turn.ended), *moved_on])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sequence:
    """What came of a scenario of several steps, equal only to itself; `turns` in order of their beginning."""

    name: str
    turns: tuple[Turn, ...]
    windows: Windows = field(default_factory=Windows)
    capabilities: frozenset[str] = frozenset()

    @property
    def declares(self) -> frozenset[str]:
        """The target's declared capabilities."""
        return self.capabilities

    @property
    def dispatches(self) -> tuple[Dispatch, ...]:
        """Every attempt of every exchange, in order of arrival."""
        return _dispatches(self)

    @property
    def held(self) -> bool:
        """Whether the upstream leg of every turn is held."""
        return all(turn.exchange.attempts is not None for turn in self.turns)

    def lane(self, name: str) -> tuple[Turn, ...]:
        """The turns in one lane."""
        return tuple(turn for turn in self.turns if turn.lane == name)

    @property
    def lanes(self) -> tuple[str, ...]:
        """The lanes that were used, in order of use."""
        return tuple(dict.fromkeys(turn.lane for turn in self.turns))


@lru_cache(maxsize=4)
def _dispatches(sequence: Sequence) -> tuple[Dispatch, ...]:
    found = (
        Dispatch(turn=turn, index=index, attempt=attempt)
        for turn in sequence.turns
        for index, attempt in enumerate(turn.exchange.attempts or ())
    )
    return tuple(sorted(found, key=lambda dispatch: dispatch.at))
