"""Examples of the clauses on embeddings."""

from __future__ import annotations

import base64
import struct
from typing import Any

from tests.contract.captures import Capture, ask, capture, embeddings, wire
from tests.contract.example import Example, Examples

ONE = ask("embeddings")
PAIR = ask("embeddings", input=["a", "b"])
TOKENS = ask("embeddings", input=[1, 2, 3])
PACKED = ask("embeddings", encoding_format="base64")
SIZED = ask("embeddings", dimensions=2)
FLOATS = [0.5, -1.0]


def packed(numbers: list[float]) -> str:
    """base64 of little-endian float32."""
    return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()


def embedded(*vectors: Any, asked: Any = ONE, **more: Any) -> Capture:
    """An embeddings reply."""
    return capture(asked, wire(embeddings(*vectors, **more)))


def item(index: Any, vector: Any = None) -> dict[str, Any]:
    """One entry."""
    return {"object": "embedding", "index": index, "embedding": FLOATS if vector is None else vector}


EMBEDDED = embedded(FLOATS)
EXAMPLES: Examples = {
    "embeddings.shape": Example(
        (EMBEDDED, embedded(packed(FLOATS), asked=PACKED)),
        (
            embedded(FLOATS, object="embeddings"),
            embedded(FLOATS, model=None),
            embedded(data=None),
            embedded(FLOATS, usage=None),
            embedded(data=[{"embedding": FLOATS, "index": 0}]),
        ),
    ),
    "embeddings.count": Example(
        (EMBEDDED, embedded(FLOATS, FLOATS, asked=PAIR), embedded(FLOATS, asked=TOKENS)),
        (embedded(), embedded(FLOATS, asked=PAIR), embedded(FLOATS, FLOATS)),
    ),
    "embeddings.index": Example(
        (EMBEDDED, embedded(FLOATS, FLOATS, asked=PAIR)),
        (
            embedded(data=[item(1)]),
            embedded(data=[item(0), item(0)], asked=PAIR),
            embedded(data=[item(1), item(0)], asked=PAIR),
            embedded(data=[item(None)]),
        ),
    ),
    "embeddings.encoding": Example(
        (EMBEDDED, embedded(packed(FLOATS), asked=PACKED)),
        (embedded(FLOATS, asked=PACKED), embedded(packed(FLOATS)), embedded(data=[item(0, {"float": FLOATS})])),
    ),
    "embeddings.values": Example(
        (EMBEDDED, embedded([1, 2]), embedded(packed(FLOATS), asked=PACKED)),
        (
            embedded([]),
            embedded([0.5, None]),
            embedded(["0.5"]),
            embedded("@@@@", asked=PACKED),
            embedded(data=[{"index": 0}]),
        ),
    ),
    "embeddings.dimensions": Example(
        (EMBEDDED, embedded(FLOATS, asked=SIZED), embedded(FLOATS, FLOATS, asked=PAIR)),
        (embedded([0.5], asked=SIZED), embedded(FLOATS, [0.5], asked=PAIR)),
    ),
}
