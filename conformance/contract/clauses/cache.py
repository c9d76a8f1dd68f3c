"""Caches over sequences: what is answered from memory is the answer to this very request (incident F)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, sequence_clause
from conformance.contract.history import Fate, fate_of
from conformance.contract.parameters import is_default
from conformance.contract.timeline import at_turn
from conformance.exchange.model import Exchange
from conformance.exchange.prompts import key_of
from conformance.exchange.sequence import Sequence, Turn

#: Header fields that say who asks: what is answered to one is not another's.
IDENTITY = ("authorization", "openai-organization", "openai-project", "x-api-key", "cookie")
#: Members that change the form of an answer and not what it says.
FORM = frozenset({"stream", "stream_options"})


def _pairs(s: Sequence) -> Iterator[tuple[Turn, Turn]]:
    """Each turn, with each earlier one of the same prompt (the same nonce, where there is one)."""
    before: dict[bytes, list[Turn]] = {}
    for turn in s.turns:
        key = _key(turn)
        for earlier in before.get(key, ()):
            if key and earlier.ended <= turn.began:
                yield earlier, turn
        before.setdefault(key, []).append(turn)


def _key(turn: Turn) -> bytes:
    return turn.exchange.nonce.encode() or key_of(turn.exchange.request.body)


def equals(s: Sequence) -> Iterator[tuple[Turn, Turn]]:
    """Each turn, with each earlier one that asked for the same, whatever its form."""
    for earlier, turn in _pairs(s):
        if not _difference(earlier.exchange, turn.exchange):
            yield earlier, turn


def document_of(exchange: Exchange) -> dict[str, Any]:
    """The members of the client's request."""
    value = exchange.request.doc.value if exchange.request.doc is not None and exchange.request.doc.ok else None
    return value if isinstance(value, dict) else {}


def _difference(first: Exchange, second: Exchange) -> list[str]:
    """The names of the members and identity fields in which two requests differ, the form of the answer apart. A default
    that is spelt out is no difference."""
    one, other = document_of(first), document_of(second)
    names = [
        name
        for name in {**one, **other}
        if name not in FORM
        and one.get(name) != other.get(name)
        and not (is_default(name, one.get(name)) and is_default(name, other.get(name)))
    ]
    names += [name for name in IDENTITY if first.request.head.all(name) != second.request.head.all(name)]
    return names + (["the operation"] if _operation(first) != _operation(second) else [])


def _operation(exchange: Exchange) -> str:
    """The end of the path, which names the operation wherever a gateway's paths begin."""
    return exchange.request.target.partition("?")[0].rstrip("/").rpartition("/")[2]


def from_memory(turn: Turn) -> bool:
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
    others: dict[str, tuple[Turn, list[tuple[Turn, list[str]]]]] = {}
    for earlier, turn in _pairs(s):
        if from_memory(turn):
            others.setdefault(turn.label, (turn, []))[1].append((earlier, _difference(earlier.exchange, turn.exchange)))
    for turn, found in others.values():
        earlier, names = found[0]
        if all(names for _, names in found):
            yield at_turn(
                s,
                turn,
                f"a dispatch: the request differs from {earlier.label} in {', '.join(names)}",
                "answered, and no member was asked",
            )


def _failed_before(s: Sequence) -> Iterator[tuple[Turn, Turn]]:
    """Equal requests, the first of which came to no whole success by the fault of its member."""
    for earlier, turn in equals(s):
        attempts = earlier.exchange.attempts or ()
        if attempts and not any(attempt.succeeded for attempt in attempts):
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
        if not from_memory(turn):
            continue
        between = [t for t in s.turns if earlier.ended <= t.began < turn.began and _key(t) == _key(turn)]
        if not any(fate is Fate.SUCCESS for t in between for fate in _fates(t)):
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
