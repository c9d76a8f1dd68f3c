"""Cooldowns over sequences: a member that failed is left alone, then probed, then serves again (incidents D and F)."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from conformance.contract.clause import Basis, Finding, Level, sequence_clause
from conformance.contract.history import (
    GRACE_MS,
    HARMLESS,
    Fate,
    Memory,
    Record,
    cooldowns,
    fate_of,
    histories,
    wait_told,
)
from conformance.contract.spread import Share, share_of
from conformance.contract.timeline import at_dispatch, at_turn
from conformance.exchange.sequence import Dispatch, Sequence, Turn

#: Within this share of a window the member is silent; from there on it may be probed.
HALF = 0.5
#: Where the target promises no probe, it is silent for certain up to this share.
WHOLE = 0.9
#: A window is over for certain at this share of its declared length.
OVER = 1.05


def _silence(s: Sequence) -> float:
    """Up to which share of a window a member is left alone."""
    return HALF if "probe" in s.declares else WHOLE


def _silent_turns(s: Sequence, window: Memory) -> list[Turn]:
    """The turns that began while the member was to be silent and had no reason to ask the member."""
    return [
        turn
        for turn in s.lane(window.lane)
        if window.known <= turn.began < window.point(_silence(s)) and _elsewhere(s, turn, window.member)
    ]


def _elsewhere(s: Sequence, turn: Turn, member: str) -> bool:
    """Whether another member could answer, or the target promises to leave even a lone one alone until its probe."""
    return "probe" in s.declares or bool(_others(s, turn, member))


def _others(s: Sequence, turn: Turn, member: str) -> frozenset[str]:
    """The other members that are healthy by their play and in no cooldown of their own."""
    cooling = {w.member for w in cooldowns(s) if w.lane == turn.lane and w.covers(turn.began)}
    return turn.healthy - cooling - {member}


def _oversight(s: Sequence, turn: Turn, member: str) -> Dispatch | None:
    """The dispatch of `turn` to `member`, unless every better member was asked in vain before."""
    for dispatch in s.dispatches:
        if dispatch.turn is turn and dispatch.member == member:
            tried = {other.member for other in (turn.exchange.attempts or ())[: dispatch.index]}
            excused = "probe" not in s.declares and not _others(s, turn, member) - tried
            return None if excused else dispatch
    return None


@sequence_clause(
    id="cooldown.silent",
    level=Level.MUST,
    basis=Basis.POLICY,
    title="A member in cooldown is left alone: half of the window, or all of it where no probe is declared",
    rationale="Each request that is sent to a member known to be down costs its client a round trip, and keeps the member down.",
    source="incident/scheduler",
    applies=lambda s: any(_silent_turns(s, window) for window in cooldowns(s)),
    capabilities=("cooldown",),
)
def cooldown_silent(s: Sequence) -> Iterator[Finding]:
    for window in cooldowns(s):
        for turn in _silent_turns(s, window):
            dispatch = _oversight(s, turn, window.member)
            # A turn may begin in the silence and be dispatched after it.
            if dispatch is not None and dispatch.at < window.point(_silence(s)):
                after = dispatch.at - window.opened
                silent = (window.until - window.opened) * _silence(s)
                yield at_dispatch(
                    s,
                    dispatch,
                    f"no dispatch to {window.member} within {silent:.0f} ms of its failure",
                    f"asked {after:.0f} ms after it",
                )


def _probe_turns(s: Sequence, window: Memory) -> list[Turn]:
    """The turns that began in the second half of a window, before anything ended it."""
    end = min(window.until, window.closed)
    begin = max(window.known, window.cause.ended + window.point(HALF) - window.opened)
    return [turn for turn in s.lane(window.lane) if begin <= turn.began < end]


def _crowded(s: Sequence, window: Memory) -> bool:
    turns = _probe_turns(s, window)
    return any(a is not b and a.began <= b.began < a.ended for a in turns for b in turns)


@sequence_clause(
    id="cooldown.probe-once",
    level=Level.MUST,
    basis=Basis.POLICY,
    title="Past the middle of a cooldown one request at a time tries the member",
    rationale="A probe is a real request: one tells whether the member is back, the others would fail with it.",
    source="incident/scheduler",
    applies=lambda s: any(_crowded(s, window) for window in cooldowns(s)),
    capabilities=("probe",),
)
def probe_once(s: Sequence) -> Iterator[Finding]:
    for window in cooldowns(s):
        turns = _probe_turns(s, window)
        probes = [d for d in s.dispatches if d.turn in turns and d.member == window.member and d.at < window.until]
        for number, probe in enumerate(probes):
            if any(earlier.at <= probe.at < earlier.ended for earlier in probes[:number]):
                expected = f"one request to {window.member} until it has answered"
                yield at_dispatch(s, probe, expected, "asked while a probe was on its way")


def _early_probes(s: Sequence) -> Iterator[tuple[Memory, Turn]]:
    """The turns in the second half of a window that another member, well and in no window, could answer: it did so
    since the window opened."""
    for window in cooldowns(s):
        for turn in _probe_turns(s, window):
            if _others(s, turn, window.member) & _served(s, window, turn):
                yield window, turn


def _served(s: Sequence, window: Memory, turn: Turn) -> set[str]:
    """The members of the lane that answered between the opening of a window and a turn."""
    known = window.cause.ended + GRACE_MS
    between = (d for d in s.dispatches if d.lane == window.lane and known <= d.at and d.ended <= turn.began)
    return {d.member for d in between if fate_of(d.turn.exchange, d.attempt) is Fate.SUCCESS}


@sequence_clause(
    id="cooldown.probe-last",
    level=Level.SHOULD,
    basis=Basis.POLICY,
    title="A member is probed after those that are well",
    rationale="A probe of a member that is still down costs its client a round trip. Other orders are sound, too: a SHOULD.",
    source="incident/scheduler",
    applies=lambda s: any(True for _ in _early_probes(s)),
    capabilities=("probe",),
)
def probe_last(s: Sequence) -> Iterator[Finding]:
    for window, turn in _early_probes(s):
        for dispatch in s.dispatches:
            if dispatch.turn is not turn or dispatch.member != window.member or dispatch.at >= window.until:
                continue
            tried = {other.member for other in (turn.exchange.attempts or ())[: dispatch.index]}
            if left := sorted(_others(s, turn, window.member) & _served(s, window, turn) - tried):
                yield at_dispatch(s, dispatch, f"{', '.join(left)} asked before the probe", "the probe was first")


def _unsettled(s: Sequence) -> Iterator[tuple[Memory, Record]]:
    """The probes that tell nothing of the member's health, each with the window of which it was the probe: those that
    their client gave up, and where only outages count those whose request was rejected.
    """
    fates = {Fate.ABANDONED, *((Fate.REJECTED,) if "breaker-outages-only" in s.declares else ())}
    for window in cooldowns(s):
        for record in histories(s)[window.lane, window.member]:
            if record.fate in fates and window.point(HALF) <= record.dispatch.at < window.until:
                yield window, record


def _after_unsettled(s: Sequence) -> Iterator[tuple[Memory, Turn]]:
    for window, record in _unsettled(s):
        for turn in s.lane(window.lane):
            alone = turn.exchange.terms.members == (window.member,) and window.member in turn.healthy
            if alone and record.dispatch.known + GRACE_MS < turn.began < min(window.until, window.closed):
                yield window, turn


@sequence_clause(
    id="cooldown.probe-returned",
    level=Level.MUST,
    basis=Basis.POLICY,
    title="A probe that tells nothing of the member leaves room for the next probe",
    rationale="A permit that is lost with its client, or with a request that is bad by itself, leaves the member out for good.",
    source="incident/scheduler",
    applies=lambda s: any(True for _ in _after_unsettled(s)),
    capabilities=("probe",),
)
def probe_returned(s: Sequence) -> Iterator[Finding]:
    for window, turn in _after_unsettled(s):
        if not turn.exchange.attempts:
            yield at_turn(s, turn, f"a dispatch to {window.member}, whose probe told nothing", "no dispatch")


def _returns(s: Sequence) -> Iterator[tuple[Memory, Share]]:
    """The members that are owed their share again: after a success, or past the end of a first window."""
    for window in cooldowns(s):
        later = s.lane(window.lane)
        records = histories(s)[window.lane, window.member]
        back = [r.dispatch for r in records if r.dispatch.ended == window.closed and r.fate is Fate.SUCCESS]
        if back:
            yield window, share_of(s, window.member, (t for t in later if t.began > back[0].known), each=True)
        elif window.closed == float("inf") and not window.series:
            yield window, share_of(s, window.member, (t for t in later if t.began > window.point(OVER)))


@sequence_clause(
    id="cooldown.recovers",
    level=Level.MUST,
    basis=Basis.POLICY,
    title="A member serves again after a success, and after its cooldown",
    rationale="A member that is never asked again is lost, though it is healthy: the others carry its load.",
    source="incident/scheduler",
    applies=lambda s: any(share.decided for _, share in _returns(s)),
    capabilities=("cooldown",),
)
def cooldown_recovers(s: Sequence) -> Iterator[Finding]:
    for window, share in _returns(s):
        if share.passed_over:
            yield at_turn(
                s,
                share.turns[-1],
                f"{window.member} serves again",
                f"not asked in {len(share.turns)} requests after its cooldown was over",
            )


def _neighbours(s: Sequence) -> Iterator[tuple[Memory, Share]]:
    """The members of the same name in another lane, while one is in cooldown."""
    for window in cooldowns(s):
        for lane in set(s.lanes) - {window.lane, "sibling"}:
            end = min(window.until, window.closed)
            turns = (turn for turn in s.lane(lane) if window.known <= turn.began < end)
            yield window, share_of(s, window.member, turns)


@sequence_clause(
    id="cooldown.scope",
    level=Level.MUST,
    basis=Basis.POLICY,
    title="A cooldown in one lane touches no member of another",
    rationale="State that is kept under too short a key takes healthy members of other models out.",
    source="incident/scheduler",
    applies=lambda s: any(share.decided for _, share in _neighbours(s)),
    capabilities=("cooldown",),
)
def cooldown_scope(s: Sequence) -> Iterator[Finding]:
    for window, share in _neighbours(s):
        if share.passed_over:
            yield at_turn(
                s,
                share.turns[-1],
                f"{window.member} of the {share.turns[0].lane} lane serves, whatever failed in the {window.lane} lane",
                f"not asked in {len(share.turns)} requests",
            )


def _harmless(s: Sequence) -> Iterator[tuple[Dispatch, Share]]:
    """The members against whose health nothing was ever said, each after the last thing that could be mistaken for it."""
    for (lane, member), records in histories(s).items():
        before = [r for r in records if r.fate is not Fate.SUCCESS]
        # A model that is rejected by name is a 4xx, too; a second one may be a quarantine's.
        lone = sum(r.fate is Fate.MODEL_REJECTED for r in before) < 2
        kind = HARMLESS | ({Fate.MODEL_REJECTED} if lone else frozenset())
        if before and all(r.fate in kind for r in before):
            last = before[-1].dispatch
            free = max(last.known, *(_waited(r) for r in before))
            turns = (turn for turn in s.lane(lane) if turn.began > free)
            yield last, share_of(s, member, turns)


def _waited(record: Record) -> float:
    """When what a member said of waiting is over: at once where it said nothing, never where nobody can tell."""
    reply = record.dispatch.attempt.reply
    if reply is None or reply.header("retry-after") is None:
        return 0.0
    told = wait_told(reply)
    return inf if told is None else record.dispatch.known + OVER * told[1] * 1000 + bool(told[1]) * GRACE_MS


def _below(s: Sequence) -> Iterator[tuple[Dispatch, Share]]:
    """The members that failed, but never so often in a row that a cooldown opens, each after its last failure."""
    after = s.windows.cooldown_after
    if after < 2:
        return
    opened = {(window.lane, window.member) for window in cooldowns(s)}
    for (lane, member), records in histories(s).items():
        failures = [record.dispatch for record in records if record.fate is Fate.FAILURE]
        plain = all(record.fate in (Fate.FAILURE, Fate.SUCCESS) and not _waited(record) for record in records)
        if failures and plain and (lane, member) not in opened and _most_in_a_row(records) < after:
            # A lone member is owed each request after a failure; one of several its share after the last.
            alone = len(s.lane(lane)[0].exchange.terms.members or ()) < 2
            free = (failures[0] if alone else failures[-1]).known + GRACE_MS
            turns = (t for t in s.lane(lane) if t.began > free and not (alone and _bounded(s, t)))
            yield failures[-1], share_of(s, member, turns, each=True)


def _most_in_a_row(records: tuple[Record, ...]) -> int:
    """How many failures of a member may have been counted in a row: nobody knows in which order a gateway counts what
    was on its way at one time, so that a success is between two failures where it was asked for after the one's end,
    and the other after its own.
    """
    failures = [record.dispatch for record in records if record.fate is Fate.FAILURE]
    successes = [record.dispatch for record in records if record.fate is Fate.SUCCESS]

    def row_from(first: Dispatch) -> int:
        reset = min((one.known for one in successes if one.at >= first.known), default=inf)
        return sum(first.known <= other.known and other.at < reset for other in failures)

    return max(map(row_from, failures), default=0)


def _bounded(s: Sequence, turn: Turn) -> bool:
    """Whether a turn without a dispatch began while one was open in its lane: a gateway may bound how many are."""
    return not turn.exchange.attempts and any(
        other.lane == turn.lane and other.at < turn.ended and turn.began < other.known for other in s.dispatches
    )


@sequence_clause(
    id="cooldown.threshold",
    level=Level.MUST,
    basis=Basis.POLICY,
    title="Fewer failures in a row than the target declares open no cooldown",
    rationale="A count that no success resets, or that several members share, takes a healthy member out for a single failure.",
    source="target/declaration",
    applies=lambda s: any(share.decided for _, share in _below(s)),
    capabilities=("cooldown",),
)
def cooldown_threshold(s: Sequence) -> Iterator[Finding]:
    for last, share in _below(s):
        if share.passed_over:
            yield at_turn(
                s,
                share.turns[-1],
                f"{last.member} serves on: it never failed {s.windows.cooldown_after} times in a row",
                f"not asked in {len(share.turns)} requests",
            )


@sequence_clause(
    id="breaker.counts",
    level=Level.MUST,
    basis=Basis.POLICY,
    title="429, other 4xx and the client's own hang-ups open no window",
    rationale="They say nothing about the member's health: one client's bad requests would take it away from all.",
    source="incident/streams",
    applies=lambda s: any(share.decided for _, share in _harmless(s)),
    capabilities=("breaker-outages-only",),
)
def breaker_counts(s: Sequence) -> Iterator[Finding]:
    for last, share in _harmless(s):
        if share.passed_over:
            yield at_turn(
                s,
                share.turns[-1],
                f"{last.member} serves on: only server errors and broken connections count",
                f"not asked in {len(share.turns)} requests after {last.turn.label}",
            )
