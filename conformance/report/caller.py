"""How one exchange came out for the one who called: from an exchange to its reading. Pure.

Apart from the readings' names, since it knows the catalogue, which a rendering of reports does without.
"""

from __future__ import annotations

from conformance.contract.catalog import CATALOG
from conformance.contract.clause import Finding
from conformance.contract.history import Fate, fate_of
from conformance.contract.kinds import error_object, reason_of
from conformance.contract.when import serving
from conformance.exchange.model import Attempt, Exchange, Reply
from conformance.report.reading import Reading
from conformance.wire.transcript import End

#: Methods that ask for no answer of the API.
_UNANSWERED = ("HEAD", "OPTIONS")


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
    if not reply.readable or _garbled(reply):
        return Reading.BROKEN
    attempts = exchange.attempts or ()
    fates = [_fate(exchange, attempt) for attempt in attempts]
    served = serving(exchange)
    if served is not None and Fate.SUCCESS not in fates:
        if _failed(exchange, served):
            return Reading.TRUNCATED
        # What a member said whole, and a gateway mended: a stream under another media type, an event that is empty.
        fates = [Fate.SUCCESS if one is served else fate for one, fate in zip(attempts, fates, strict=True)]
    if not reply.answer.finished and exchange.request.method not in _UNANSWERED:
        return Reading.TRUNCATED
    failed = [fate for fate in fates if fate not in (Fate.SUCCESS, Fate.ABANDONED)]
    return Reading.RESCUED if failed else Reading.ANSWERED


def _garbled(reply: Reply) -> bool:
    """Whether a stream of events is no text: compressed bytes without their coding's name."""
    faults = reply.stream.faults if reply.stream is not None and not reply.events else ()
    return any(fault.code == "utf8.invalid" for fault in faults)


def _fate(exchange: Exchange, attempt: Attempt) -> Fate:
    """How an attempt ended; one that told the end of every choice said all, however its connection then ended."""
    reply = attempt.reply
    said = reply is not None and reply.ok and reply.answer.finished and reply.readable
    return Fate.SUCCESS if said else fate_of(exchange, attempt)


#: The clauses that a success violates whose member gave an error, a part of an answer, or none.
_MADE_UP = (
    "relay.status.kept",
    "relay.truncation.told",
    "relay.malformed.told",
    "relay.reason.not-laundered",
    "relay.error.told",
    "relay.empty.not-success",
)


def _failed(exchange: Exchange, attempt: Attempt) -> bool:
    """Whether the answer that the client was told as a success was an error, cut or empty where the member gave it."""
    reply = attempt.reply
    if reply is None or not reply.status or (reply.ok and not reply.complete and not reply.answer.told_end):
        return True
    rules = [CATALOG[name] for name in _MADE_UP]
    found = (each for rule in rules if rule.applies(exchange) for each in rule.check(exchange))
    return any(isinstance(each, Finding) for each in found)
