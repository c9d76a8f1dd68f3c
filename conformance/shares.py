"""Which upstream attempts of a capture belong to which of its client requests: by nonce or prompt, by what each asks
for and was answered, then by the order.

From exchanges without their attempts, and the attempts, to one share for each exchange. What cannot be told is None:
the leg counts as not held.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from conformance.exchange.model import Attempt, Exchange, Reply
from conformance.exchange.prompts import NONCE, key_of
from conformance.wire.jsondoc import parse

Share = tuple[Attempt, ...] | None

#: So many ways are looked at in which equal requests can share their attempts: more are told by number and clock alone.
_WAYS = 1 << 16


def shared_out(asked: Sequence[Exchange], attempts: Sequence[Attempt]) -> list[Share]:
    """The attempts of each client request, in the order of `asked`.

    An attempt belongs to the requests of its own words; a single request has those that no word of its own denies it.
    """
    keys = [key_of(exchange.request.body) for exchange in asked]
    theirs = [_key_among(keys, attempt.request.body) for attempt in attempts]
    if len(asked) == 1:
        return [_of_one(keys[0], attempts, theirs)]
    shares: list[Share] = [() for _ in asked]
    for key in set(keys):
        places = [place for place, other in enumerate(keys) if other == key]
        mine = [attempt for attempt, other in zip(attempts, theirs, strict=True) if other == key]
        for place, share in zip(places, _of_key([asked[place] for place in places], mine), strict=True):
            shares[place] = share
    return shares if _all_told(keys, theirs) else [share or None for share in shares]


def _key_among(keys: Sequence[bytes], body: bytes) -> bytes:
    """The key of an attempt: its own, or the nonce of a request that stands elsewhere in it (in another order)."""
    own = key_of(body)
    inside = (key for key in keys if NONCE.fullmatch(key) and key in body)
    return own if own in keys else next(inside, own)


def _of_one(key: bytes, attempts: Sequence[Attempt], theirs: Sequence[bytes]) -> tuple[Attempt, ...]:
    """All attempts, but those with another nonce where some have this one (a leg that holds several requests')."""
    if not NONCE.fullmatch(key) or key not in theirs:
        return tuple(attempts)
    pairs = zip(attempts, theirs, strict=True)
    return tuple(attempt for attempt, other in pairs if other == key or not NONCE.fullmatch(other))


#: What a gateway sets for itself: two requests that differ in no more than that are not told apart by it.
_ITS_OWN = ("model", "stream_options", "user", "metadata")


def _document(body: bytes) -> dict[str, Any] | None:
    doc = parse(body) if body else None
    value = doc.value if doc is not None and doc.ok else None
    return {name: item for name, item in value.items() if name not in _ITS_OWN} if isinstance(value, dict) else None


def _of_key(asked: Sequence[Exchange], attempts: Sequence[Attempt]) -> list[Share]:
    """The attempts of requests of one key: by what they ask for, where each attempt asks for what one of them does."""
    if len(asked) == 1:
        return [tuple(attempts)]
    wanted = [_document(exchange.request.body) for exchange in asked]
    sent = [_document(attempt.request.body) for attempt in attempts]
    if any(document is None for document in wanted) or any(document not in wanted for document in sent):
        return _parts(asked, attempts)
    shares: list[Share] = [() for _ in asked]
    for number, document in enumerate(wanted):
        if document in wanted[:number]:
            continue
        places = [place for place, other in enumerate(wanted) if other == document]
        mine = [attempt for attempt, other in zip(attempts, sent, strict=True) if other == document]
        for place, share in zip(places, _parts([asked[place] for place in places], mine), strict=True):
            shares[place] = share
    # A gateway that leaves a member out makes one request's words another's: then one seems to be answered twice.
    twice = any(sum(attempt.succeeded for attempt in share or ()) > 1 for share in shares)
    return _parts(asked, attempts) if twice and () in shares else shares


def _parts(asked: Sequence[Exchange], attempts: Sequence[Attempt]) -> list[Share]:
    """The attempts of equal requests, one after the other: cut where the clock starts again, or as the answers say, or
    one each."""
    count = len(asked)
    if count == 1 or not attempts:
        return [tuple(attempts) for _ in asked]
    cuts = [place for place, (before, after) in enumerate(pairwise(attempts), 1) if after.at < before.at]
    if len(cuts) + 1 == count:
        bounds = [0, *cuts, len(attempts)]
        return [tuple(attempts[start:end]) for start, end in pairwise(bounds)]
    told = _by_answer(asked, attempts)
    if told:
        return told
    return [(attempt,) for attempt in attempts] if len(attempts) == count else [None] * count


def _by_answer(asked: Sequence[Exchange], attempts: Sequence[Attempt]) -> list[Share]:
    """The one way in which equal requests can have had these attempts, in order, by what both legs were answered; []
    where there is none, or several.

    A request was given what its last attempt said, the only one of its that succeeded. One without an attempt was
    given what the gateway remembers: somebody was asked before it.
    """
    if len(asked) * len(attempts) ** 2 > _WAYS or not _alike(asked):
        return []
    ways: dict[tuple[int, int], int] = {(len(asked), len(attempts)): 1}
    for number in reversed(range(len(asked))):
        for start in range(len(attempts) + 1):
            ends = _ends(asked, attempts, number, start)
            ways[number, start] = min(2, sum(ways.get((number + 1, end), 0) for end in ends))
    if ways[0, 0] != 1:
        return []
    shares: list[Share] = []
    start = 0
    for number in range(len(asked)):
        end = next(end for end in _ends(asked, attempts, number, start) if ways.get((number + 1, end), 0))
        shares.append(tuple(attempts[start:end]))
        start = end
    return shares


def _alike(asked: Sequence[Exchange]) -> bool:
    """Whether the requests differ in nothing that may tell whose an attempt is: what a gateway sets for itself."""
    first = asked[0].request
    return all(first.get(name) == other.request.get(name) for other in asked[1:] for name in ("user", "metadata"))


def _ends(asked: Sequence[Exchange], attempts: Sequence[Attempt], number: int, start: int) -> Iterator[int]:
    """Where the attempts of a request, which begin at `start`, can end."""
    if start:
        yield start
    for end in range(start + 1, len(attempts) + 1):
        last = attempts[end - 1]
        if not _from(asked, number, last):
            return
        if _gives(last, asked[number].reply):
            yield end
        if last.succeeded:
            return


_KEYS = ("authorization", "x-api-key", "api-key", "openai-organization", "openai-project")


def _from(asked: Sequence[Exchange], number: int, attempt: Attempt) -> bool:
    """Whether an attempt can be this request's: it carries nothing that another of them sent, and this one did not."""
    for name in _KEYS:
        value = attempt.request.head.get(name)
        sent = [exchange.request.head.get(name) for exchange in asked]
        if value is not None and value in sent and value != sent[number]:
            return False
    return True


def _gives(attempt: Attempt, reply: Reply | None) -> bool:
    """Whether a client that got `reply` can have been told of `attempt`, its last one."""
    mine = attempt.reply
    if mine is None or reply is None:
        return reply is None or not reply.ok or bool(reply.answer.errors)
    if not attempt.succeeded:
        failed = not reply.ok or bool(reply.answer.errors)
        return failed or (mine.ok and bool(mine.answer.output) and _said(mine) == _said(reply))
    return reply.ok and _said(mine) == _said(reply)


def _said(reply: Reply) -> Any:
    """What a reply says, whatever its form: its choices, else its embeddings, else its content."""
    if reply.answer.choices:
        return [
            (choice.index, choice.text, choice.refusal, [(call.name, call.arguments) for call in choice.tool_calls])
            for choice in reply.answer.choices
        ]
    value = reply.doc.value if reply.doc is not None and reply.doc.ok else None
    data = value.get("data") if isinstance(value, dict) else None
    return reply.content if data is None else data


def _all_told(keys: Sequence[bytes], theirs: Sequence[bytes]) -> bool:
    """Whether every attempt found its request: else who has none may have one that was not recognised."""
    return set(theirs) <= set(keys)
