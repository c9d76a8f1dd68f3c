"""How one exchange came out for the one who called: answered, rescued, a clean error, or something worse. Pure.

A reading sums an exchange up for a person who compares gateways; it is no verdict, and turns none.
"""

from __future__ import annotations

from enum import StrEnum

from conformance.contract.history import Fate, fate_of
from conformance.contract.kinds import error_object, reason_of
from conformance.exchange.model import Attempt, Exchange, Reply
from conformance.wire.transcript import End


class Reading(StrEnum):
    """The readings, best first."""

    ANSWERED = "answered"  # a whole answer at the first attempt
    RESCUED = "rescued"  # a whole answer after at least one failed attempt
    CLEAN_ERROR = "clean error"  # an error that the client can read, by its status or in its stream
    TRUNCATED = "truncated success"  # part of an answer, or none, that looks whole
    BROKEN = "broken"  # no response, a cut one, or one that cannot be read
    HANG = "hang"  # the client waited until its own deadline


def reading_of(exchange: Exchange) -> Reading | None:
    """The reading of an exchange; None when the client went away itself."""
    reply = exchange.reply
    if exchange.hangup is not None or exchange.end is End.HANGUP:
        return None
    if exchange.end is End.STALL:
        return Reading.HANG
    if reply is None or not reply.status or not reply.complete:
        return Reading.BROKEN
    return _of_success(exchange, reply) if reply.ok else _of_error(reply)


def _of_error(reply: Reply) -> Reading:
    value = reply.doc.value if reply.doc is not None and reply.doc.ok else None
    told = reply.status >= 400 and error_object(value) is not None and bool(reason_of(value))
    return Reading.CLEAN_ERROR if told else Reading.BROKEN


def _of_success(exchange: Exchange, reply: Reply) -> Reading:
    if reply.answer.errors:
        return Reading.CLEAN_ERROR
    if not reply.readable:
        return Reading.BROKEN
    whole = reply.answer.finished
    fates = [_fate(exchange, attempt) for attempt in exchange.attempts or ()]
    if not whole or (fates and Fate.SUCCESS not in fates):
        return Reading.TRUNCATED
    failed = [fate for fate in fates if fate not in (Fate.SUCCESS, Fate.ABANDONED)]
    return Reading.RESCUED if failed else Reading.ANSWERED


def _fate(exchange: Exchange, attempt: Attempt) -> Fate:
    """How an attempt ended; one that told the end of every choice said all, however its connection then ended."""
    reply = attempt.reply
    said = reply is not None and reply.ok and reply.answer.finished and reply.readable
    return Fate.SUCCESS if said else fate_of(exchange, attempt)
