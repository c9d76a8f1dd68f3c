"""Embeddings: which inputs went to which member, in whichever API, and which vectors came of them.

A gateway may ask for them in part: what is in its memory, and an input that stands twice, is not asked for again. No
clause stands here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.contract.clauses.embeddings import vector
from conformance.contract.evidence import show
from conformance.exchange.members import list_in, object_in, text_in
from conformance.exchange.model import Attempt, Endpoint, Exchange, Reply, Request


def vectors(reply: Reply | None) -> list[list[float]]:
    """The vectors of an embeddings reply, by their indexes where every one has its own; those of another API too."""
    value = reply.doc.value if reply is not None and reply.doc is not None else None
    items = [item for item in list_in(value, "data") if isinstance(item, dict)]
    if {item.get("index") for item in items if isinstance(item.get("index"), int)} == set(range(len(items))):
        items.sort(key=lambda item: int(item["index"]))
    told = [item.get("embedding") for item in items] or _foreign_vectors(value)
    return [found for found in map(vector, told) if found]


def _foreign_vectors(value: Any) -> list[Any]:
    """Those of Gemini (`embedding`, or `embeddings` of `values`), Ollama (`embeddings`), and Cohere (of floats)."""
    found = list_in(value, "embeddings") or list_in(object_in(value, "embeddings"), "float")
    found = found or ([value["embedding"]] if isinstance(value, dict) and "embedding" in value else [])
    return [item.get("values") if isinstance(item, dict) else item for item in found]


def inputs(request: Request) -> list[str]:
    """The inputs that a request wants vectors for, in whichever API, each as JSON; [] where they cannot be told."""
    body = request.doc.value if request.doc is not None and request.doc.ok else None
    if list_in(body, "requests") or object_in(body, "content"):
        parts = [list_in(object_in(item, "content"), "parts") for item in list_in(body, "requests") or [body]]
        return [show("".join(text_in(part, "text") for part in each), _WHOLE) for each in parts]
    told = next((body[name] for name in ("input", "texts", "prompt") if name in body), None) if body else None
    several = isinstance(told, list) and not all(isinstance(item, int) for item in told)
    return [show(item, _WHOLE) for item in (told if several and isinstance(told, list) else [told])] if told else []


_WHOLE = 1 << 20


def embedded(x: Exchange) -> dict[str, list[list[float]]]:
    """By input, the vectors that members gave for it."""
    found: dict[str, list[list[float]]] = {}
    for attempt in x.attempts or ():
        asked, given = inputs(attempt.request), vectors(attempt.reply)
        if attempt.succeeded and len(asked) == len(given):
            for one, numbers in zip(asked, given, strict=True):
                found.setdefault(one, []).append(numbers)
    return found


def dispatched(x: Exchange) -> Iterator[tuple[Attempt, list[str]]]:
    """The attempts that asked for embeddings, each with its inputs."""
    for attempt in x.attempts or ():
        if attempt.request.endpoint is Endpoint.EMBEDDINGS:
            yield attempt, inputs(attempt.request)


def asked_in_part(x: Exchange) -> bool:
    """Whether members were asked for some of the inputs alone, or for each once: the rest is from memory, where the
    target declares one."""
    if x.request.endpoint is not Endpoint.EMBEDDINGS:
        return False
    wanted, parts = inputs(x.request), [asked for _, asked in dispatched(x)]
    sent = {item for asked in parts for item in asked}
    if not sent or not sent <= set(wanted) or all(asked == wanted for asked in parts):
        return False
    return sent == set(wanted) or "cache" in x.declares


def same_vector(one: list[Any], other: list[Any]) -> bool:
    """Whether two vectors are one, but for their rounding."""
    return len(one) == len(other) and all(
        abs(a - b) <= 1e-6 * max(1.0, abs(a)) for a, b in zip(one, other, strict=True)
    )
