"""A member's embeddings become the list that the client asked for: its encoding, its order, one entry for each input.

Pure. `encoding_format` is honoured here, whatever form the member chose: base64 is little-endian 32-bit floats.
"""

from __future__ import annotations

import base64
import binascii
import math
import struct
from typing import Any

from conformance.reference.call import Call
from conformance.reference.failure import Kind, UpstreamFailed, own_failure
from conformance.reference.shape import error_of, usage_of
from conformance.reference.steps import Step

Doc = dict[str, Any]


def embeddings_reply(doc: Any, call: Call) -> Doc:
    """Our embeddings list for a member's. Raises UpstreamFailed when it is none."""
    if not isinstance(doc, dict):
        raise UpstreamFailed(own_failure(Kind.BROKEN, "The upstream's answer is not a JSON object."))
    if call.does(Step.REFUSE_ERROR_IN_SUCCESS) and (error := error_of(doc, call)):
        raise error
    data = doc.get("data")
    entries = [item for item in data if isinstance(item, dict)] if isinstance(data, list) else []
    if call.does(Step.REFUSE_EMPTY_EMBEDDINGS) and len(entries) != call.inputs:
        raise UpstreamFailed(own_failure(Kind.EMPTY, "The upstream did not return one embedding for each input."))
    reply: Doc = {} if call.does(Step.KNOWN_MEMBERS) else dict(doc)
    reply |= {
        "object": "list" if call.does(Step.OBJECT) else doc.get("object"),
        "data": [_entry(item, position, call) for position, item in enumerate(_ordered(entries, call))],
        "model": call.alias if call.does(Step.MODEL) else doc.get("model"),
    }
    usage = usage_of(doc.get("usage"), ("prompt_tokens",)) if call.does(Step.USAGE) else doc.get("usage")
    return reply | ({"usage": usage} if usage else {})


def _ordered(entries: list[Doc], call: Call) -> list[Doc]:
    indexes = [item.get("index") for item in entries]
    whole = all(isinstance(index, int) for index in indexes) and len(set(map(str, indexes))) == len(indexes)
    return sorted(entries, key=lambda item: item["index"]) if whole and call.does(Step.DATA_ORDER) else entries


def _entry(item: Doc, position: int, call: Call) -> Doc:
    if not call.does(Step.ENCODING):
        return {"object": "embedding", "index": position, "embedding": item.get("embedding")}
    values = _values(item.get("embedding"))
    form: Any = values
    if call.doc.get("encoding_format") == "base64":
        form = base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode()
    return {
        "object": "embedding",
        "index": position if call.does(Step.DATA_ORDER) else item.get("index"),
        "embedding": form,
    }


def _values(value: Any) -> list[float]:
    """The vector, from either form."""
    if isinstance(value, str):
        try:
            raw = base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            raw = b""
        value = list(struct.unpack(f"<{len(raw) // 4}f", raw)) if raw and len(raw) % 4 == 0 else []
    numbers = isinstance(value, list) and all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in value)
    if not numbers or not value or not all(abs(v) < 3.4e38 and not math.isnan(v) for v in value):
        raise UpstreamFailed(own_failure(Kind.BROKEN, "The upstream returned an unusable embedding."))
    return list(value)
