"""What became of each member over a sequence: how each dispatch ended, and the windows that its failures opened.

From a Sequence to fates, cooldowns and quarantines as the incidents define them. Decides nothing about right or wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from math import inf

from conformance.contract.failover import PROMISE, Cause, cause_of, promised
from conformance.contract.kinds import Kind, kind_of, kind_of_reply, reason_of
from conformance.exchange.model import Attempt, Exchange, Reply
from conformance.exchange.sequence import Dispatch, Sequence
from conformance.wire.transcript import End

#: A gateway that keeps its memory in a task of its own may learn of a failure so many ms after the client did.
GRACE_MS = 50.0
#: A wait of more seconds is taken for a slip.
DAY = 86_400.0


class Fate(StrEnum):
    """How a dispatch ended, as far as a gateway's memory of the member is concerned."""

    SUCCESS = "success"
    FAILURE = "failure"  # 5xx, a broken or silent connection, a success that is empty or broken: it counts
    MODEL_REJECTED = "model-rejected"  # 400 or 404 whose words name the model
    REJECTED = "rejected"  # any other 4xx
    LIMITED = "limited"  # 429, or a quota that is used up
    ABANDONED = "abandoned"  # the client hung up, or another member was faster


#: Fates that say nothing against a member's health (incidents D and F).
HARMLESS = frozenset({Fate.REJECTED, Fate.LIMITED, Fate.ABANDONED})


def fate_of(exchange: Exchange, attempt: Attempt) -> Fate:
    """How `attempt`, one of `exchange`, ended."""
    reply = attempt.reply
    told = reply is not None and reply.ok and reply.answer.finished and attempt.end in (End.HANGUP, End.STALL)
    if attempt.succeeded or told:  # all was said, and the connection is left to itself
        return Fate.SUCCESS
    if attempt.end in (End.HANGUP, End.STALL) and _left(exchange, attempt):
        return Fate.ABANDONED
    if reply is None or not reply.status:
        return Fate.FAILURE
    return _fate_of_success(reply) if reply.ok else _fate_of_error(reply)


def _left(exchange: Exchange, attempt: Attempt) -> bool:
    """Whether the gateway had a reason of its own to go away: the client's hang-up, or another member's success, of one
    that was asked at the same time.
    """
    others = (other for other in exchange.attempts or () if other is not attempt)
    return exchange.hangup is not None or any(other.succeeded and other.at < attempt.ended_at for other in others)


def _fate_of_success(reply: Reply) -> Fate:
    """A 2xx that is no success: what its error says, else a failure."""
    for error in reply.answer.errors:
        kind = kind_of(f"{error.get('code')} {error.get('type')}" if isinstance(error, dict) else "")
        kind = kind if kind is not Kind.OTHER else kind_of(reason_of({"error": error}))
        if kind in (Kind.RATE_LIMIT, Kind.QUOTA):
            return Fate.LIMITED
        if kind not in (Kind.OTHER, Kind.OVERLOADED):
            return Fate.REJECTED
    return Fate.FAILURE


def _fate_of_error(reply: Reply) -> Fate:
    kind = kind_of_reply(reply)
    if reply.status in (402, 429) or kind is Kind.QUOTA:
        return Fate.LIMITED
    if reply.status in (400, 404) and kind is Kind.MODEL_NOT_FOUND:
        return Fate.MODEL_REJECTED
    if reply.status >= 500:
        return Fate.REJECTED if kind is Kind.CONTEXT_LENGTH else Fate.FAILURE
    return Fate.REJECTED


@dataclass(frozen=True, slots=True)
class Record:
    """One dispatch and how it ended."""

    dispatch: Dispatch
    fate: Fate


#: A lane and a member of it.
Key = tuple[str, str]


@lru_cache(maxsize=4)
def histories(sequence: Sequence) -> dict[Key, tuple[Record, ...]]:
    """The records of each member, in the order in which they ended."""
    found: dict[Key, list[Record]] = {}
    for dispatch in sorted(sequence.dispatches, key=lambda dispatch: dispatch.ended):
        fate = fate_of(dispatch.turn.exchange, dispatch.attempt)
        found.setdefault((dispatch.lane, dispatch.member), []).append(Record(dispatch, fate))
    return {key: tuple(records) for key, records in found.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A time in which a member is left alone: a cooldown or a quarantine.

    It was `opened` by `cause` at the earliest, with the member's last byte; the gateway certainly knows it from `known`
    on; it lasts until `until` at least. `closed` is when a success, or a failure that opens the next one, ended it
    (infinity for neither). `series` counts the windows since the last success, from 0.
    """

    lane: str
    member: str
    cause: Dispatch
    opened: float
    until: float
    closed: float = float("inf")
    series: int = 0

    @property
    def known(self) -> float:
        """From when on a dispatch to the member is no oversight."""
        return self.cause.known + GRACE_MS

    def point(self, share: float) -> float:
        """The moment at which `share` of the window is over."""
        return self.opened + share * (self.until - self.opened)

    def covers(self, at: float) -> bool:
        """Whether the member is to be left alone at `at`, or might be."""
        return self.opened <= at < min(self.until, self.closed)


@lru_cache(maxsize=4)
def cooldowns(sequence: Sequence) -> tuple[Memory, ...]:
    """The cooldowns that failures opened: `cooldown_after` in a row, or any while one is open."""
    length = sequence.windows.cooldown_ms
    if not length:
        return ()
    made = (
        window
        for key, records in histories(sequence).items()
        for window in _cooldowns(key, _promised(records, sequence), length, sequence.windows.cooldown_after)
    )
    return tuple(sorted(made, key=lambda window: window.opened))


def _promised(records: Iterable[Record], sequence: Sequence) -> Iterator[Record]:
    """The records, with the failures harmless that a target, which names those it passes over, does not name."""
    named = any(name.startswith(f"{PROMISE}:") for name in sequence.declares)
    for record in records:
        # A member that broke off after output failed too late for another one, and is as broken as one before it.
        cause = cause_of(record.dispatch.attempt) or Cause.BROKEN_ANSWER
        other = named and record.fate is Fate.FAILURE and not promised(cause, sequence.declares)
        yield replace(record, fate=Fate.REJECTED) if other else record


def _cooldowns(key: Key, records: Iterable[Record], length: float, after: int) -> Iterator[Memory]:
    failures = series = 0
    window: Memory | None = None
    for record in records:
        ended = record.dispatch.ended
        if record.fate is Fate.SUCCESS:
            failures = series = 0
            if window is not None:
                yield _closed(window, ended)
            window = None
        elif record.fate is Fate.FAILURE:
            failures += 1
            if window is not None or failures >= after:
                if window is not None:
                    yield _closed(window, ended)
                    # A failure of a request that was on its way before is no further one.
                    series += record.dispatch.at >= window.opened
                window = _memory(key, record.dispatch, length, series)
        elif window is None:
            failures = 0
    if window is not None:
        yield window


@lru_cache(maxsize=4)
def quarantines(sequence: Sequence) -> tuple[Memory, ...]:
    """The quarantines: two rejections by name in a row, nothing between them, within one window."""
    length = sequence.windows.quarantine_ms
    if not length:
        return ()
    made = (
        _memory(key, second.dispatch, length, 0)
        for key, records in histories(sequence).items()
        for second, lone in rejections(records, length)
        if not lone
    )
    return tuple(sorted(made, key=lambda window: window.opened))


def rejections(records: Iterable[Record], length: float) -> Iterator[tuple[Record, bool]]:
    """Each rejection that names the model, and whether it stands alone: the budget is then not used up."""
    before: Record | None = None
    for record in records:
        if record.fate is not Fate.MODEL_REJECTED:
            before = None
            continue
        second = before is not None and record.dispatch.ended - before.dispatch.ended < length
        yield record, not second
        before = None if second else record


def wait_told(reply: Reply) -> tuple[float, float] | None:
    """How many seconds a reply asks to wait, at least and at most: None where it does not say, or in no way that
    anybody reads alike. A date has whole seconds, so that clocks that agree read up to one less from it."""
    told = (reply.header("retry-after") or "").strip()
    if told.isascii() and told.isdigit():
        least = most = float(told) if len(told) < 6 else inf
    else:
        # RFC 9110 section 10.2.3: a date, which counts from when the reply was made.
        until, made = _date(told), _date((reply.header("date") or "").strip())
        if until is None or made is None:
            return None
        most = max(0.0, (until - made).total_seconds())
        least = max(0.0, most - 1.0)
    return (least, most) if most <= DAY else None


def _date(text: str) -> datetime | None:
    """A date in the one form that is sent (RFC 9110, section 5.6.7)."""
    try:
        return datetime.strptime(text, "%a, %d %b %Y %H:%M:%S GMT")
    except ValueError:
        return None


def told_at(dispatch: Dispatch) -> float:
    """The earliest moment at which the gateway can have known how a dispatch ended."""
    attempt = dispatch.attempt
    if attempt.end in (End.HANGUP, End.STALL):  # the gateway itself gave it up; the member saw it a little later
        return max(dispatch.at, dispatch.ended - GRACE_MS)
    return dispatch.turn.began + (attempt.sent[-1].at if attempt.sent else attempt.at)


def _memory(key: Key, cause: Dispatch, length: float, series: int) -> Memory:
    opened = told_at(cause)
    return Memory(lane=key[0], member=key[1], cause=cause, opened=opened, until=opened + length, series=series)


def _closed(window: Memory, at: float) -> Memory:
    return replace(window, closed=at)
