"""Pools: what is let go once nobody wants its answer: the member of a client that went, one that was given up."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.evidence import at_exchange
from conformance.contract.when import replied
from conformance.exchange.model import Attempt, Exchange
from conformance.wire.transcript import End

#: How soon after the client's hang-up the upstream sees its connection close, in ms (public reports ask for 2 s).
HANGUP_MS = 2000.0


def _left_open(x: Exchange) -> bool:
    if x.hangup is None or not x.attempts:
        return False
    last = x.attempts[-1]
    if x.terms.members is None and last.peer_closed_at is None and last.end not in (End.COMPLETE, End.CLOSE):
        return False  # a capture that does not tell when the gateway went away
    # A member that had finished before the time was up leaves nothing to close.
    finished = last.end in (End.COMPLETE, End.CLOSE) and last.ended_at <= x.hangup.at + HANGUP_MS
    return not finished and (last.end in (End.HANGUP, End.STALL) or last.ended_at > x.hangup.at)


def _course(attempt: Attempt) -> str:
    """What a member did whose connection nobody closed."""
    if attempt.end in (End.COMPLETE, End.CLOSE):
        return f"had sent all by {attempt.ended_at:.0f} ms"
    if attempt.end is End.RESET:
        return f"reset it at {attempt.ended_at:.0f} ms"
    if attempt.reply is None or not attempt.reply.status:
        return "had sent no response head"
    return f"had sent {len(attempt.reply.message.body)} bytes of its body, and no end"


@clause(
    id="pool.hangup.closes",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The upstream connection closes soon after the client hangs up",
    rationale="Ending the connection is how the API cancels a request: a generation that nobody reads is paid, and holds a slot.",
    source="openai-api/responses-cancel",
    applies=_left_open,
)
def hangup_closes(x: Exchange) -> Iterator[Finding]:
    assert x.hangup is not None and x.attempts
    number = len(x.attempts) - 1
    last = x.attempts[number]
    closed = last.peer_closed_at
    if closed is None:
        yield at_exchange(
            x,
            f"the upstream connection closed within {HANGUP_MS:.0f} ms of the hang-up at {x.hangup.at:.0f} ms",
            f"still open; the member {_course(last)}",
            leg=f"upstream:{number}",
        )
    elif closed - x.hangup.at > HANGUP_MS:
        yield at_exchange(
            x,
            f"closed within {HANGUP_MS:.0f} ms of the hang-up at {x.hangup.at:.0f} ms",
            f"closed {closed - x.hangup.at:.0f} ms after it",
            leg=f"upstream:{number}",
        )


def _given_up(x: Exchange) -> Iterator[tuple[int, Attempt, float]]:
    """The attempts at silent members that were over for the client, each with its number and when: another member was
    asked, or the client had its end.
    """
    attempts = x.attempts or ()
    for number, attempt in enumerate(attempts):
        said = attempt.reply is not None and (attempt.reply.answer.told_end or attempt.reply.answer.finished)
        if attempt.end in (End.STALL, End.HANGUP) and not said:
            later = [other.at for other in attempts[number + 1 :] if other.at > attempt.at]
            yield number, attempt, min([*later, x.transcript.ended_at])


def _over(x: Exchange) -> bool:
    watched = x.hangup is None and x.terms.members is not None  # a capture does not tell when a connection closed
    return watched and replied(x) and x.end in (End.COMPLETE, End.CLOSE) and any(True for _ in _given_up(x))


@clause(
    id="pool.given-up.closed",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A silent member that was given up is let go: its connection closes",
    rationale="What is left open is a generation that goes on, is paid, and holds a slot, though its answer is no longer wanted.",
    source="openai-api/responses-cancel",
    applies=_over,
)
def given_up_closed(x: Exchange) -> Iterator[Finding]:
    for number, attempt, at in _given_up(x):
        closed, leg = attempt.peer_closed_at, f"upstream:{number}"
        expected = f"closed within {HANGUP_MS:.0f} ms of being given up at {at:.0f} ms"
        # A member that was asked at once with others may answer until one of them has.
        if closed is None:
            yield at_exchange(x, expected, f"{attempt.member} still open", leg=leg)
        elif closed > max(at, x.transcript.ended_at) + HANGUP_MS:
            yield at_exchange(x, expected, f"closed {closed - at:.0f} ms after it", leg=leg)
