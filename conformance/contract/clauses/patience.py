"""Patience: how long a gateway waits for a member. No longer than the target declares, and no shorter."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.clauses.legs import names_timeout
from conformance.contract.evidence import at_end, at_event, at_exchange
from conformance.contract.when import replied, the_reply
from conformance.exchange.model import Attempt, Exchange
from conformance.wire.transcript import End

#: A member that took longer than this (ms) tried the gateway's patience.
SLOW_MS = 200.0
#: So much of the declared time a gateway has to wait: its clock starts a little earlier than the member's.
SHARE = 0.8


def _slow(x: Exchange) -> list[tuple[int, Attempt]]:
    """The dispatches to members that are well by their play, and took their time or were left."""
    if x.hangup is not None:
        return []
    return [
        (number, attempt)
        for number, attempt in enumerate(x.attempts or ())
        if attempt.member in x.terms.healthy and (attempt.ended_at - attempt.at > SLOW_MS or _left(x, number, attempt))
    ]


def _left(x: Exchange, number: int, attempt: Attempt) -> bool:
    """Whether the gateway gave a dispatch up for its silence: it went on to another one, or says so itself."""
    reply, closed = attempt.reply, attempt.peer_closed_at
    if closed is None or attempt.succeeded or (reply is not None and (reply.answer.told_end or reply.answer.errors)):
        return False
    others = (x.attempts or ())[:number] + (x.attempts or ())[number + 1 :]
    if any(_faster(other, attempt.at, closed) for other in others):
        return False
    went_on = not _spoke(attempt) and any(other.at >= attempt.at for other in (x.attempts or ())[number + 1 :])
    return went_on or (number == len(others) and replied(x) and names_timeout(the_reply(x)))


def _faster(other: Attempt, asked: float, closed: float) -> bool:
    """Whether another dispatch, under way beside one that was asked and closed then, was the first to be heard: one
    that was asked in its stead is not heard before the close.
    """
    first = other.sent[0].at if other.sent else other.ended_at
    beside = other.at < closed and first <= closed and asked < other.ended_at
    ok = other.reply is not None and other.reply.ok
    return beside and ok and (other.succeeded or closed < other.ended_at)


def _spoke(attempt: Attempt) -> bool:
    return attempt.reply is not None and bool(attempt.reply.content)


@clause(
    id="timeout.not-early",
    level=Level.MUST,
    basis=Basis.POLICY,
    title="A member that is well is not given up before the declared time",
    rationale="A limit on the whole answer cuts long ones in their middle, and an early one asks, and pays, a second time.",
    source="target/declaration",
    applies=lambda x: bool(_slow(x)),
    capabilities=("first-token-timeout", "idle-timeout"),
)
def not_early(x: Exchange) -> Iterator[Finding]:
    for number, attempt in _slow(x):
        limit = (x.terms.idle_timeout_ms if _spoke(attempt) else x.terms.first_token_timeout_ms) or 0.0
        if not _left(x, number, attempt) or attempt.peer_closed_at is None:
            continue
        since = attempt.sent[-1].at if _spoke(attempt) and attempt.sent else attempt.at
        waited = attempt.peer_closed_at - since
        if waited < SHARE * limit:
            yield at_exchange(
                x,
                f"{attempt.member} waited for until it was silent for about {limit:.0f} ms",
                f"given up {waited:.0f} ms after its last byte"
                if _spoke(attempt)
                else f"given up after {waited:.0f} ms",
                leg=f"upstream:{number}",
            )


def _silent_after(x: Exchange, output: bool) -> bool:
    if not x.attempts or x.hangup is not None:
        return False
    last = x.attempts[-1]
    told = last.reply is not None and (last.reply.answer.told_end or bool(last.reply.answer.errors))
    silent = last.end in (End.STALL, End.HANGUP) and not told
    return silent and (last.reply is not None and bool(last.reply.events)) is output


@clause(
    id="timeout.idle.told",
    level=Level.MUST,
    basis=Basis.POLICY,
    title="A stream that falls silent is ended with an error in the declared time",
    rationale="Without an idle timeout a client waits for ever on a socket that will never speak again.",
    source="target/declaration",
    applies=lambda x: _silent_after(x, True) and replied(x),
    capabilities=("idle-timeout",),
)
def idle_told(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    limit, last_sent = x.terms.idle_timeout_ms or 0.0, (x.attempts or ())[-1].sent
    waited = x.transcript.ended_at - last_sent[-1].at if last_sent else 0.0
    expected = f"an error within about {limit:.0f} ms of silence"
    if x.end is End.STALL:
        yield at_end(reply, expected, f"silence until our {x.transcript.deadline} deadline")
    elif limit > 0 and waited > 2 * limit + 1000:
        yield at_end(reply, expected, f"the end after {waited:.0f} ms of silence")
    elif reply.ok and reply.complete and not reply.answer.errors:
        last = reply.events[-1] if reply.events else None
        found = (
            at_event(reply, last, "an error event", "the stream ends without one")
            if last
            else at_end(reply, "an error event", "the body ends without one")
        )
        yield found


@clause(
    id="timeout.first-token.told",
    level=Level.MUST,
    basis=Basis.POLICY,
    title="A member that sends nothing is given up in the declared time",
    rationale="A member that accepts and never answers holds the client for as long as the gateway lets it.",
    source="target/declaration",
    applies=lambda x: _silent_after(x, False),
    capabilities=("first-token-timeout",),
)
def first_token_told(x: Exchange) -> Iterator[Finding]:
    limit = x.terms.first_token_timeout_ms or 0.0
    last = (x.attempts or ())[-1]
    waited = x.transcript.ended_at - last.at
    late = limit > 0 and waited > 2 * limit + 1000
    if not replied(x) or x.end is End.STALL or late:
        yield at_exchange(
            x, f"an answer or an error within about {limit:.0f} ms", f"{x.end.value} after {waited:.0f} ms"
        )
