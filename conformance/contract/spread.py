"""Whether a member still gets its share of a lane's requests, told from who was asked: exact where that is possible.

A gateway with one member has to ask it. One that spreads its requests, by turns or at random, passes a healthy member
over so often with a chance of less than one in a thousand. One that has another order of its own is not judged.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, log

from conformance.exchange.sequence import Sequence, Turn

#: The chance at which being passed over counts as no accident.
CHANCE = 0.001
#: Statuses with which a gateway refuses a request, or its key, on its own account.
_OWN = frozenset({400, 401, 403, 405, 413, 415, 422})


@dataclass(frozen=True, slots=True)
class Share:
    """What `turns` told: whether the member was asked, or passed over for certain; neither when they are too few."""

    turns: tuple[Turn, ...]
    asked: bool
    passed_over: bool

    @property
    def decided(self) -> bool:
        """Whether it is known."""
        return self.asked or self.passed_over


def enough(members: int) -> int:
    """How many requests a member of so many has to be passed over for it to be no accident."""
    return 1 if members < 2 else ceil(log(CHANCE) / log(1 - 1 / members))


def share_of(sequence: Sequence, member: str, turns: Iterable[Turn], *, each: bool = False) -> Share:
    """The share of `member` in `turns`, all of one lane: those in which it would have answered and somebody had to.

    With `each` a member that is alone is owed every one of them.
    """
    fit = tuple(turn for turn in turns if could_ask(turn, member))
    asked = any(_asked(turn, member) for turn in fit)
    size = max((len(turn.exchange.terms.members or ()) for turn in fit), default=0)
    if size < 2:
        missed = tuple(turn for turn in fit if not _asked(turn, member))
        passed = bool(missed) and (each or not asked)
        return Share(missed if passed else fit, asked and not passed, passed)
    passed = not asked and len(fit) >= enough(size) and takes_turns(sequence, member)
    return Share(fit, asked, passed)


def takes_turns(sequence: Sequence, member: str) -> bool:
    """Whether the gateway is known to ask `member` before healthy others: declared, or seen in this sequence."""
    if "spread" in sequence.declares:
        return True
    return any(
        turn.exchange.attempts and turn.exchange.attempts[0].member == member and turn.healthy - {member}
        for turn in sequence.turns
    )


def could_ask(turn: Turn, member: str) -> bool:
    """Whether this turn could have gone to `member`: it was not answered from memory, nor refused for its own sake."""
    exchange = turn.exchange
    if member not in turn.healthy or exchange.attempts is None:
        return False
    if exchange.attempts:
        return True
    known = exchange.terms.known_models
    served = known is None or exchange.request.model in known
    status = exchange.reply.status if exchange.reply is not None else 0
    return served and exchange.hangup is None and not 200 <= status < 300 and status not in _OWN


def _asked(turn: Turn, member: str) -> bool:
    return any(attempt.member == member for attempt in turn.exchange.attempts or ())
