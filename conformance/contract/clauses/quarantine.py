"""Quarantines over sequences: a model that a member rejects by name twice in a row is skipped for a while (incident C)."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.contract.clause import Basis, Finding, Level, sequence_clause
from conformance.contract.history import GRACE_MS, Fate, Memory, Record, histories, quarantines, rejections
from conformance.contract.spread import Share, share_of
from conformance.contract.timeline import at_dispatch, at_turn
from conformance.exchange.sequence import Dispatch, Sequence, Turn

#: Statuses of requests that are bad by themselves.
_REQUESTS = frozenset({400, 404, 413, 422})
#: A quarantine holds for certain up to this share of its length, and is over for certain from the second one on.
HOLDS, OVER = 0.95, 1.05


def _skipping(s: Sequence, window: Memory) -> list[Turn]:
    """The turns that began in a quarantine and could go to another member."""
    others = {w.member for w in quarantines(s) if w.lane == window.lane} | {window.member}
    return [
        turn
        for turn in s.lane(window.lane)
        if window.known <= turn.began < window.point(HOLDS) and turn.healthy - others
    ]


@sequence_clause(
    id="quarantine.skips",
    level=Level.MUST,
    basis=Basis.POLICY,
    title="A model that a member rejected by name twice in a row is skipped",
    rationale="A retired model fails every request that is sent to it: one wasted round trip per call, for ever.",
    source="incident/quarantine",
    applies=lambda s: any(_skipping(s, window) for window in quarantines(s)),
    capabilities=("quarantine",),
)
def quarantine_skips(s: Sequence) -> Iterator[Finding]:
    for window in quarantines(s):
        turns = _skipping(s, window)
        for dispatch in s.dispatches:
            if dispatch.turn in turns and dispatch.member == window.member and dispatch.at < window.point(HOLDS):
                yield at_dispatch(
                    s,
                    dispatch,
                    f"no dispatch to {window.member} after its second rejection in {window.cause.turn.label}",
                    f"asked {dispatch.at - window.opened:.0f} ms after it",
                )


def _lone(s: Sequence) -> Iterator[tuple[Record, Share]]:
    """Each rejection that stands alone, and the member's share in what came after it within the window."""
    length = s.windows.quarantine_ms or 0.0
    for (lane, member), records in histories(s).items():
        if not all(record.fate in (Fate.SUCCESS, Fate.MODEL_REJECTED) or _bars_nobody(s, record) for record in records):
            continue
        for record, alone in rejections(records, length):
            if alone:
                turns = _until_next(s.lane(lane), record, records, length)
                yield record, share_of(s, member, turns)


def _bars_nobody(s: Sequence, record: Record) -> bool:
    """Whether a dispatch that failed gives no other ground to leave the member alone: a cooldown, or a wait."""
    reply = record.dispatch.attempt.reply
    if record.fate is Fate.FAILURE or (reply is not None and reply.header("retry-after") is not None):
        return False
    return "breaker-outages-only" in s.declares or (reply is not None and reply.status in _REQUESTS)


def _until_next(
    turns: tuple[Turn, ...], record: Record, records: tuple[Record, ...], length: float
) -> tuple[Turn, ...]:
    """The turns after `record` whose routing no later rejection of the member can have changed."""
    ended = record.dispatch.ended
    later = [r.dispatch.turn.began for r in records if r.fate is Fate.MODEL_REJECTED and r.dispatch.ended > ended]
    end = min([ended + length, *later])
    return tuple(turn for turn in turns if record.dispatch.known < turn.began < end)


@sequence_clause(
    id="quarantine.lone",
    level=Level.MUST,
    basis=Basis.POLICY,
    title="A single rejection by name quarantines nothing, and a success or the window clears it",
    rationale="A provider's one passing 404 would take a healthy model away.",
    source="incident/quarantine",
    applies=lambda s: any(share.decided for _, share in _lone(s)),
    capabilities=("quarantine",),
)
def quarantine_lone(s: Sequence) -> Iterator[Finding]:
    for record, share in _lone(s):
        if share.passed_over:
            member = record.dispatch.member
            yield at_turn(
                s,
                share.turns[-1],
                f"{member} serves on after its one rejection in {record.dispatch.turn.label}",
                f"not asked in {len(share.turns)} requests",
            )


def _other_failures(s: Sequence) -> Iterator[tuple[Dispatch, Share]]:
    """The members that failed twice in a row in ways that do not name the model, after their last failure."""
    for (lane, member), records in histories(s).items():
        unlucky = [record for record in records if record.fate is not Fate.SUCCESS]
        if len(unlucky) < 2 or any(record.fate is Fate.MODEL_REJECTED for record in unlucky):
            continue
        since = _blameless(s, unlucky)
        if since is not None:
            turns = (turn for turn in s.lane(lane) if turn.began > since)
            yield unlucky[-1].dispatch, share_of(s, member, turns)


def _blameless(s: Sequence, unlucky: list[Record]) -> float | None:
    """From when on nothing but a quarantine can keep the member out; None when that cannot be told."""
    last = unlucky[-1].dispatch
    fates = {record.fate for record in unlucky}
    if Fate.FAILURE in fates:
        return _after_cooldown(s, [record.dispatch for record in unlucky if record.fate is Fate.FAILURE])
    statuses = {record.dispatch.attempt.reply.status for record in unlucky if record.dispatch.attempt.reply is not None}
    # Gateways leave a member alone for its 401, 403 or 429, too, unless they promise that only outages count.
    told = "breaker-outages-only" in s.declares or statuses <= _REQUESTS
    waits = any(r.dispatch.attempt.reply and r.dispatch.attempt.reply.header("retry-after") for r in unlucky)
    return last.known if told and not waits else None


@sequence_clause(
    id="quarantine.never-for",
    level=Level.MUST,
    basis=Basis.POLICY,
    title="Failures that do not name the model quarantine nothing",
    rationale="401, 403, 429, 5xx, a bad request and an unreadable body say nothing about whether the member serves the model.",
    source="incident/quarantine",
    applies=lambda s: any(share.decided for _, share in _other_failures(s)),
    capabilities=("quarantine",),
)
def quarantine_never_for(s: Sequence) -> Iterator[Finding]:
    for last, share in _other_failures(s):
        if share.passed_over:
            yield at_turn(
                s,
                share.turns[-1],
                f"{last.member} serves on: nothing named its model",
                f"not asked in {len(share.turns)} requests after {last.turn.label}",
            )


def _after_cooldown(s: Sequence, failures: list[Dispatch]) -> float | None:
    """When the cooldown that these failures opened is over; None when they opened several, which may be longer."""
    cooldown, first = s.windows.cooldown_ms, failures[: s.windows.cooldown_after]
    known = first[-1].ended + GRACE_MS
    if not cooldown or any(failure.at > known for failure in failures):
        return None
    return max(failure.ended for failure in failures) + cooldown * OVER + GRACE_MS


def _expired(s: Sequence) -> Iterator[tuple[Memory, Share]]:
    for window in quarantines(s):
        later = [w.opened for w in quarantines(s) if w.member == window.member and w.opened > window.opened]
        end = min(later, default=float("inf"))
        turns = (t for t in s.lane(window.lane) if window.point(OVER) + GRACE_MS < t.began < end)
        yield window, share_of(s, window.member, turns)


@sequence_clause(
    id="quarantine.expires",
    level=Level.MUST,
    basis=Basis.POLICY,
    title="A quarantined model is tried again when the window is over",
    rationale="Providers bring models back; what is skipped for ever is found by nobody.",
    source="incident/quarantine",
    applies=lambda s: any(share.decided for _, share in _expired(s)),
    capabilities=("quarantine",),
)
def quarantine_expires(s: Sequence) -> Iterator[Finding]:
    for window, share in _expired(s):
        if share.passed_over:
            yield at_turn(
                s,
                share.turns[-1],
                f"{window.member} is asked again {window.until - window.opened:.0f} ms after its quarantine began",
                f"not asked in {len(share.turns)} requests after that",
            )


def _neighbours(s: Sequence) -> Iterator[tuple[Memory, Share]]:
    """The other models at the same origin, and the members of the same name, while one is quarantined."""
    for window in quarantines(s):
        for lane in set(s.lanes) - {window.lane}:
            turns = (t for t in s.lane(lane) if window.known <= t.began < window.point(HOLDS))
            yield window, share_of(s, window.member, turns)


@sequence_clause(
    id="quarantine.scope",
    level=Level.MUST,
    basis=Basis.POLICY,
    title="A quarantine is one model's at one origin; another model there stays usable",
    rationale="A provider that dropped one model serves its others.",
    source="incident/quarantine",
    applies=lambda s: any(share.decided for _, share in _neighbours(s)),
    capabilities=("quarantine",),
)
def quarantine_scope(s: Sequence) -> Iterator[Finding]:
    for window, share in _neighbours(s):
        if share.passed_over:
            yield at_turn(
                s,
                share.turns[-1],
                f"{window.member} of the {share.turns[0].lane} lane serves: another model is quarantined",
                f"not asked in {len(share.turns)} requests",
            )
