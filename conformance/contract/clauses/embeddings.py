"""Embeddings: one vector for each input, in the asked-for encoding, whole."""

from __future__ import annotations

import base64
import binascii
import math
import struct
import sys
from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.clauses.inherited import own
from conformance.contract.evidence import at_path, show
from conformance.contract.shape import problems
from conformance.contract.when import json_of, serving, the_reply
from conformance.exchange.model import Endpoint, Exchange

_embeddings = json_of(Endpoint.EMBEDDINGS)

#: The largest double; a longer integer is none of an embedding's numbers.
_LARGEST = sys.float_info.max


def _value(x: Exchange) -> dict[str, Any]:
    doc = the_reply(x).doc
    assert doc is not None and isinstance(doc.value, dict)
    return doc.value


def _data(x: Exchange) -> list[Any]:
    data = _value(x).get("data")
    return data if isinstance(data, list) else []


def _some(x: Exchange) -> bool:
    return _embeddings(x) and any(isinstance(item, dict) for item in _data(x))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST


def vector(value: Any) -> list[float] | None:
    """The numbers of an embedding: an array as it is, base64 of little-endian float32 decoded, else None."""
    if isinstance(value, list):
        return [float(number) for number in value] if all(map(_is_number, value)) else None
    if isinstance(value, str):
        try:
            raw = base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            return None
        return list(struct.unpack(f"<{len(raw) // 4}f", raw)) if len(raw) % 4 == 0 else None
    return None


def inputs(x: Exchange) -> int | None:
    """How many inputs the request has, or None when that cannot be told."""
    value = x.request.get("input")
    if isinstance(value, str):
        return 1
    if isinstance(value, list) and value:
        return 1 if isinstance(value[0], int) else len(value)
    return None


def _usage_owed(x: Exchange) -> bool:
    """Whether a usage is missing that the member (where it is known) had counted; one that is there has its own clause."""
    attempt = serving(x)
    uncounted = attempt is not None and (attempt.reply is None or attempt.reply.answer.usage is None)
    return _value(x).get("usage") is None and not uncounted


@clause(
    id="embeddings.shape",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="An embeddings reply has the API's shape",
    rationale="Typed clients read a list object of embedding objects.",
    source="openai-api/embeddings",
    applies=_embeddings,
)
def shape(x: Exchange) -> Iterator[Finding]:
    for problem in problems("embedding-list", _value(x)):
        if (problem.path[:1] == ("usage",) and not _usage_owed(x)) or (
            len(problem.path) >= 3 and problem.path[2] in ("embedding", "index")
        ):
            continue
        where = ".".join(map(str, problem.path)) or "the list"
        yield at_path(the_reply(x), problem.path, f"{where}: {problem.expected}", problem.actual)


@clause(
    id="embeddings.count",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="There is one embedding for each input",
    rationale="Callers pair vectors with texts by position: a missing one shifts all that follow, none at all crashes.",
    source="openai-api/embeddings-create",
    applies=lambda x: _embeddings(x) and inputs(x) is not None,
)
def count(x: Exchange) -> Iterator[Finding]:
    if len(_data(x)) != inputs(x):
        yield at_path(the_reply(x), ("data",), f"{inputs(x)} embeddings", f"{len(_data(x))}")


@clause(
    id="embeddings.index",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The embeddings' indexes count from 0 in order",
    rationale="SDKs hand out the array as it came; callers pair by position, the index is what proves it.",
    source="openai-api/embeddings",
    applies=_some,
)
def index(x: Exchange) -> Iterator[Finding]:
    for position, item in enumerate(_data(x)):
        value = item.get("index") if isinstance(item, dict) else None
        if not isinstance(value, int) or isinstance(value, bool) or value != position:
            yield at_path(the_reply(x), ("data", position, "index"), str(position), show(value))


@clause(
    id="embeddings.encoding",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The embedding comes in the encoding that was asked for",
    rationale="SDKs decode base64 when they asked for it: an array of floats is read as bytes and gives a quarter of the numbers.",
    source="openai-api/embeddings-create",
    applies=_some,
)
def encoding(x: Exchange) -> Iterator[Finding]:
    asked = x.request.get("encoding_format")
    kind, name = (str, "a base64 string") if asked == "base64" else (list, "an array of numbers")
    for position, item in enumerate(_data(x)):
        value = item.get("embedding") if isinstance(item, dict) else None
        if not isinstance(value, kind):
            path = ("data", position, "embedding")
            yield at_path(
                the_reply(x),
                path,
                f"{name} (encoding_format {show(asked)})",
                f"{type(value).__name__}: {show(value, 60)}",
            )


@clause(
    id="embeddings.values",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="An embedding is a non-empty vector of numbers",
    rationale="null, texts, broken base64 or no number at all end in a vector store's dimension error, or in its index.",
    source="openai-api/embeddings",
    applies=_some,
)
def values(x: Exchange) -> Iterator[Finding]:
    for position, item in enumerate(_data(x)):
        value = item.get("embedding") if isinstance(item, dict) else None
        numbers = vector(value)
        if not numbers or any(number != number for number in numbers):
            yield at_path(the_reply(x), ("data", position, "embedding"), "numbers", show(value, 60))


@clause(
    id="embeddings.dimensions",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="All embeddings have one length, the asked-for one if any",
    rationale="A vector store refuses a vector of another length, or worse, pads it.",
    source="openai-api/embeddings-create",
    applies=_some,
)
def dimensions(x: Exchange) -> Iterator[Finding]:
    asked = x.request.get("dimensions")
    lengths = [len(vector(item.get("embedding")) or ()) for item in _data(x) if isinstance(item, dict)]
    expected = asked if isinstance(asked, int) and not isinstance(asked, bool) else lengths[0]
    for position, length in enumerate(lengths):
        if length and length != expected:
            yield at_path(the_reply(x), ("data", position, "embedding"), f"{expected} numbers", f"{length} numbers")


@clause(
    id="embeddings.direction",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="An embedding is not all zeros",
    rationale="It is like no other vector, and fails where it is made a unit long. No norm says what the numbers are: a SHOULD.",
    source="openai-api/embeddings",
    applies=_some,
)
@own
def direction(x: Exchange) -> Iterator[Finding]:
    for position, item in enumerate(_data(x)):
        numbers = vector(item.get("embedding")) if isinstance(item, dict) else None
        if numbers and not any(numbers):
            yield at_path(the_reply(x), ("data", position, "embedding"), "a number beside 0", f"{len(numbers)} zeros")


def _unit(raw: bytes, order: str, size: int) -> bool:
    """Whether bytes are a vector of length one, read as numbers of `size` bytes in that order of them."""
    if not raw or len(raw) % size:
        return False
    length = math.hypot(*struct.unpack(f"{order}{len(raw) // size}{'f' if size == 4 else 'd'}", raw))
    return abs(length - 1) < 0.001


def _encoded(x: Exchange) -> Iterator[tuple[int, bytes]]:
    """The bytes of each embedding that is base64."""
    for position, item in enumerate(_data(x)):
        value = item.get("embedding") if isinstance(item, dict) else None
        try:
            raw = base64.b64decode(value, validate=True) if isinstance(value, str) else b""
        except (binascii.Error, ValueError):
            raw = b""
        if raw and len(raw) % 4 == 0:
            yield position, raw


@clause(
    id="embeddings.float32",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="A base64 embedding holds single floats, lowest byte first",
    rationale="The official SDKs read it so: of doubles they make twice as many other numbers. The reference does not say it: a SHOULD.",
    source="openai-sdk/embeddings",
    applies=lambda x: _embeddings(x) and any(True for _ in _encoded(x)),
)
@own
def float32(x: Exchange) -> Iterator[Finding]:
    for position, raw in _encoded(x):
        # A vector is known for what it is where only one way to read it makes it one unit long.
        for order, size, what in (("<", 8, "doubles"), (">", 4, "floats, highest byte first")):
            if _unit(raw, order, size) and not _unit(raw, "<", 4):
                yield at_path(the_reply(x), ("data", position, "embedding"), "float32, lowest byte first", what)
