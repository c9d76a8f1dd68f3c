"""Caches over sequences: what is answered from memory is the answer to this very request (incident F)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, sequence_clause
from conformance.contract.history import Fate, fate_of
from conformance.contract.timeline import at_turn
from conformance.exchange.model import Exchange
from conformance.exchange.sequence import Sequence, Turn

#: Header fields that say who asks: what is answered to one is not another's.
IDENTITY = ("authorization", "openai-organization", "openai-project", "x-api-key", "cookie")
#: Members that change the form of an answer and not what it says.
FORM = frozenset({"stream", "stream_options"})


def _pairs(s: Sequence) -> Iterator[tuple[Turn, Turn]]:
    """Each turn, with each earlier one of the same prompt (the same nonce)."""
    for number, turn in enumerate(s.turns):
        for earlier in s.turns[:number]:
            same = turn.exchange.nonce and turn.exchange.nonce == earlier.exchange.nonce
            if same and earlier.ended <= turn.began:
                yield earlier, turn


def _document(exchange: Exchange) -> dict[str, Any]:
    value = exchange.request.doc.value if exchange.request.doc is not None and exchange.request.doc.ok else None
    return value if isinstance(value, dict) else {}


def _difference(first: Exchange, second: Exchange) -> list[str]:
    """The names of the members and identity fields in which two requests differ, the form of the answer apart."""
    one, other = _document(first), _document(second)
    names = [name for name in {**one, **other} if name not in FORM and one.get(name) != other.get(name)]
    return names + [name for name in IDENTITY if first.request.head.all(name) != second.request.head.all(name)]


def _from_memory(turn: Turn) -> bool:
    """Whether the client got a success for which no member was asked."""
    exchange = turn.exchange
    return exchange.attempts == () and exchange.reply is not None and exchange.reply.ok


@sequence_clause(
    id="cache.key",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="Two requests that differ in one field are never answered from one another",
    rationale="An answer made for other tools, another limit, another format or another caller is not an answer to this request.",
    source="incident/streams",
    applies=lambda s: s.held and any(_difference(a.exchange, b.exchange) for a, b in _pairs(s)),
)
def cache_key(s: Sequence) -> Iterator[Finding]:
    told = set()
    for earlier, turn in _pairs(s):
        names = _difference(earlier.exchange, turn.exchange)
        others = [e for e, t in _pairs(s) if t is turn and not _difference(e.exchange, turn.exchange)]
        if names and _from_memory(turn) and not others and turn.label not in told:
            told.add(turn.label)
            yield at_turn(
                s,
                turn,
                f"a dispatch: the request differs from {earlier.label} in {', '.join(names)}",
                "answered, and no member was asked",
            )


def _failed_before(s: Sequence) -> Iterator[tuple[Turn, Turn]]:
    """Equal requests, the first of which came to no whole success by the fault of its member."""
    for earlier, turn in _pairs(s):
        attempts = earlier.exchange.attempts or ()
        failed = bool(attempts) and not any(attempt.succeeded for attempt in attempts)
        if failed and not _difference(earlier.exchange, turn.exchange):
            yield earlier, turn


@sequence_clause(
    id="cache.errors-not-stored",
    level=Level.MUST,
    basis=Basis.POLICY,
    title="An error or a broken answer is never kept as an answer",
    rationale="One bad moment of a member would be repeated to everybody who asks the same.",
    source="incident/streams",
    applies=lambda s: s.held and any(True for _ in _failed_before(s)),
    capabilities=("cache",),
)
def cache_errors(s: Sequence) -> Iterator[Finding]:
    for earlier, turn in _failed_before(s):
        between = [
            t for t in s.turns if earlier.ended <= t.began < turn.began and t.exchange.nonce == turn.exchange.nonce
        ]
        if _from_memory(turn) and not any(fate is Fate.SUCCESS for t in between for fate in _fates(t)):
            yield at_turn(
                s, turn, f"a dispatch: {earlier.label} came to no answer", "answered, and no member was asked"
            )


def _fates(turn: Turn) -> list[Fate]:
    return [fate_of(turn.exchange, attempt) for attempt in turn.exchange.attempts or ()]


@sequence_clause(
    id="cache.stream-form",
    level=Level.MUST,
    basis=Basis.POLICY,
    title="An answer from memory comes in the form that is asked for",
    rationale="A client that asked for a stream reads events; a client that did not reads one JSON text.",
    source="incident/streams",
    applies=lambda s: any(a.exchange.request.stream != b.exchange.request.stream for a, b in _pairs(s)),
    capabilities=("cache",),
)
def cache_form(s: Sequence) -> Iterator[Finding]:
    for turn in s.turns:
        reply = turn.exchange.reply
        if reply is None or not reply.ok or turn.exchange.attempts:
            continue
        if turn.exchange.request.stream and not (reply.events and reply.answer.told_end):
            yield at_turn(
                s,
                turn,
                "a stream of events with its end",
                f"{reply.media_type or 'no media type'}, {len(reply.events)} events",
            )
        elif not turn.exchange.request.stream and reply.events:
            yield at_turn(s, turn, "one JSON text", f"a stream of {len(reply.events)} events")
