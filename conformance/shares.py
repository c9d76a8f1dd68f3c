"""Which upstream attempts of a capture belong to which of its client requests: by nonce or prompt, then by the order.

From request bodies and attempts to one share for each request. What cannot be told is None: the leg counts as not held.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from conformance.exchange.model import Attempt
from conformance.wire.jsondoc import parse

NONCE = re.compile(rb"cf-[a-z0-9]{6,}")
_PROMPTS = ("messages", "input", "prompt")

Share = tuple[Attempt, ...] | None


def shared_out(bodies: Sequence[bytes], attempts: Sequence[Attempt]) -> list[Share]:
    """The attempts of each client request, in the order of `bodies`.

    An attempt belongs to the requests of its own words; a single request has those that no word of its own denies it.
    """
    keys = [key_of(body) for body in bodies]
    theirs = [_key_among(keys, attempt.request.body) for attempt in attempts]
    if len(bodies) == 1:
        return [_of_one(keys[0], attempts, theirs)]
    shares: list[Share] = [() for _ in bodies]
    for key in set(keys):
        places = [place for place, other in enumerate(keys) if other == key]
        mine = [attempt for attempt, other in zip(attempts, theirs, strict=True) if other == key]
        told = _by_document([bodies[place] for place in places], mine)
        for place, share in zip(places, told or _parts(mine, len(places)), strict=True):
            shares[place] = share
    return shares if _all_told(keys, theirs) else [share or None for share in shares]


def nonce_of(body: bytes) -> str:
    """The last nonce in a request's body, or ""."""
    found = NONCE.findall(body)
    return found[-1].decode() if found else ""


def _key_among(keys: Sequence[bytes], body: bytes) -> bytes:
    """The key of an attempt: its own, or the nonce of a request that stands elsewhere in it (in another order)."""
    own = key_of(body)
    inside = (key for key in keys if NONCE.fullmatch(key) and key in body)
    return own if own in keys else next(inside, own)


def key_of(body: bytes) -> bytes:
    """What tells a request apart: its last nonce, else its prompt, else nothing."""
    nonce = nonce_of(body)
    if nonce:
        return nonce.encode()
    doc = parse(body) if body else None
    value = doc.value if doc is not None and doc.ok else None
    prompt = [value.get(name) for name in _PROMPTS] if isinstance(value, dict) else []
    return json.dumps(prompt, sort_keys=True).encode() if any(item is not None for item in prompt) else b""


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


def _by_document(bodies: Sequence[bytes], attempts: Sequence[Attempt]) -> list[Share]:
    """The attempts of requests of one key that differ in what they ask for; [] where that does not tell them apart."""
    documents = [_document(body) for body in bodies]
    if len(bodies) == 1 or any(documents.count(document) > 1 or document is None for document in documents):
        return []
    asked = [_document(attempt.request.body) for attempt in attempts]
    if any(document not in documents for document in asked):
        return []
    pairs = list(zip(attempts, asked, strict=True))
    return [tuple(attempt for attempt, other in pairs if other == document) for document in documents]


def _parts(attempts: list[Attempt], count: int) -> list[Share]:
    """The attempts of `count` equal requests, one after the other: one each, or cut where the clock starts again."""
    if count == 1 or not attempts:
        return [tuple(attempts) for _ in range(count)]
    if len(attempts) == count:
        return [(attempt,) for attempt in attempts]
    cuts = [place for place, (before, after) in enumerate(pairwise(attempts), 1) if after.at < before.at]
    if len(cuts) + 1 != count:
        return [None] * count
    bounds = [0, *cuts, len(attempts)]
    return [tuple(attempts[start:end]) for start, end in pairwise(bounds)]


def _all_told(keys: Sequence[bytes], theirs: Sequence[bytes]) -> bool:
    """Whether every attempt found its request: else who has none may have one that was not recognised."""
    return set(theirs) <= set(keys)
