"""From an exchange and its verdicts to a case of the report, with bounded raw bytes where not all was held.

Also from clauses to the report's requirements. Decides nothing: outcomes and gates are given or stand elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable

from conformance.contract.clause import Clause, Outcome, Verdict
from conformance.contract.sources import SOURCES
from conformance.contract.timeline import LEG, lines, text
from conformance.exchange.model import Attempt, Exchange
from conformance.exchange.sequence import Sequence
from conformance.report.caller import reading_of
from conformance.report.model import Arrival, AttemptLine, Case, ClientLine, Leg, Requirement
from conformance.wire.transcript import Segment

#: Bytes of evidence kept of one leg, and the number of upstream legs kept.
LEG_BYTES, LEGS = 64 * 1024, 16
_TELLING = (Outcome.VIOLATED, Outcome.FAULTY, Outcome.INCONCLUSIVE)


def leg_of(name: str, segments: Iterable[Segment], *, limit: int = LEG_BYTES) -> Leg:
    """The first `limit` bytes of a leg with their times in ms; the rest is counted."""
    kept: list[bytes] = []
    arrivals: list[Arrival] = []
    room, cut = limit, 0
    for segment in segments:
        data = segment.data[:room]
        room -= len(data)
        cut += len(segment.data) - len(data)
        if data:
            kept.append(data)
            arrivals.append(Arrival(segment.at, len(data)))
    return Leg(name=name, data=b"".join(kept), arrivals=tuple(arrivals), cut=cut)


def requirement_of(clause: Clause) -> Requirement:
    """A clause as the report tells it."""
    return Requirement(
        id=clause.id,
        level=clause.level,
        basis=clause.basis,
        title=clause.title,
        rationale=clause.rationale,
        source=clause.source,
        link=SOURCES[clause.source].url,
        capabilities=tuple(sorted(clause.capabilities)),
    )


def case_of(
    exchange: Exchange,
    verdicts: Iterable[Verdict],
    *,
    scenario: str,
    title: str = "",
    case: str = "",
    exercises: tuple[str, ...] = (),
    upstream: tuple[tuple[Segment, ...], ...] = (),
    error: str = "",
) -> Case:
    """One case of the report.

    `case` is its id when it is not "scenario[driver]"; `upstream` are the bytes that each attempt's member sent, in the
    order of the exchange's attempts, with times in ms on the client leg's clock.
    """
    judged = tuple(verdicts)
    telling = error or any(verdict.outcome in _TELLING for verdict in judged)
    return Case(
        id=case or f"{scenario}[{exchange.driver}]",
        scenario=scenario,
        title=title,
        driver=exchange.driver,
        nonce=exchange.nonce,
        duration_ms=exchange.transcript.ended_at,
        client=_client(exchange),
        attempts=None if exchange.attempts is None else tuple(map(_attempt, exchange.attempts)),
        verdicts=judged,
        exercises=exercises,
        evidence=_legs(exchange, upstream) if telling else (),
        error=error,
        reading=reading_of(exchange),
    )


def case_of_sequence(
    sequence: Sequence,
    verdicts: Iterable[Verdict],
    *,
    case: str,
    scenario: str,
    title: str = "",
    driver: str = "",
    exercises: tuple[str, ...] = (),
) -> Case:
    """The case of a sequence as a whole; its evidence is the timeline of who was asked and what the client saw."""
    return Case(
        id=case,
        scenario=scenario,
        title=title,
        driver=driver,
        duration_ms=max((turn.ended for turn in sequence.turns), default=0.0),
        verdicts=tuple(verdicts),
        exercises=exercises,
        evidence=(timeline_of(sequence),),
    )


def timeline_of(sequence: Sequence) -> Leg:
    """A sequence's timeline as a leg: each line with its time in ms, as many whole lines as are kept of a leg."""
    shown = lines(sequence)
    data = [text((line,)) for line in shown]
    return leg_of(LEG, (Segment(line.at, line_bytes) for line, line_bytes in zip(shown, data, strict=True)))


def _legs(exchange: Exchange, upstream: tuple[tuple[Segment, ...], ...]) -> tuple[Leg, ...]:
    transcript = exchange.transcript
    ours = (leg_of("request", transcript.sent), leg_of("client", transcript.received))
    theirs: list[Leg] = []
    for number, (attempt, segments) in enumerate(zip(exchange.attempts or (), upstream, strict=False)):
        if number < LEGS:
            asked = (Segment(attempt.at, attempt.dispatched),) if attempt.dispatched else ()
            theirs += [leg_of(f"dispatch:{number}", asked), leg_of(f"upstream:{number}", segments)]
    return (*ours, *theirs)


def _client(exchange: Exchange) -> ClientLine:
    reply, view = exchange.reply, exchange.client
    return ClientLine(
        status=reply.status if reply else 0,
        end=exchange.end.value,
        ended_at=exchange.transcript.ended_at,
        media_type=reply.media_type if reply else "",
        exception=view.exception if view else "",
    )


def _attempt(attempt: Attempt) -> AttemptLine:
    return AttemptLine(
        member=attempt.member,
        at=attempt.at,
        status=attempt.reply.status if attempt.reply else 0,
        end=attempt.end.value,
        peer_closed=attempt.peer_closed,
    )
