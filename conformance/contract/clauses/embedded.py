"""Embeddings that a gateway asks a member for in part: what is in its memory, and an input that stands twice, is not
asked for again.

Which inputs went to a member, and which vectors came of them; no clause stands here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.exchange.members import list_in
from conformance.exchange.model import Attempt, Endpoint, Exchange, Request
from conformance.exchange.prompts import text_of


def inputs_of(request: Request) -> list[str]:
    """The inputs of an embeddings request, each as JSON; [] where they cannot be told."""
    value = request.get("input")
    if isinstance(value, list) and value and all(isinstance(item, int) for item in value):
        value = [value]
    items = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    told = [text_of(item) for item in items]
    return told if all(told) else []


def dispatched(x: Exchange) -> Iterator[tuple[Attempt, list[str]]]:
    """The attempts that asked for embeddings, each with its inputs."""
    for attempt in x.attempts or ():
        if attempt.request.endpoint is Endpoint.EMBEDDINGS:
            yield attempt, inputs_of(attempt.request)


def asked_in_part(x: Exchange) -> bool:
    """Whether members were asked for some of the inputs alone, or for each once: the rest is from memory, where the
    target declares one."""
    if x.request.endpoint is not Endpoint.EMBEDDINGS:
        return False
    wanted, parts = inputs_of(x.request), [inputs for _, inputs in dispatched(x)]
    sent = {item for inputs in parts for item in inputs}
    if not sent or not sent <= set(wanted) or all(inputs == wanted for inputs in parts):
        return False
    return sent == set(wanted) or "cache" in x.declares


def decoded(request: Request, sent: Request) -> bool:
    """Whether inputs that were tokens went on as texts, as members need it that know no tokens of the client's."""
    asked, told = list_in(request.doc and request.doc.value, "input"), list_in(sent.doc and sent.doc.value, "input")
    tokens = [item for item in asked if isinstance(item, list) and item and all(isinstance(n, int) for n in item)]
    return bool(asked) and len(tokens) == len(asked) == len(told) and all(isinstance(item, str) for item in told)


def same_vector(one: list[Any], other: list[Any]) -> bool:
    """Whether two vectors are one, but for their rounding."""
    return len(one) == len(other) and all(
        abs(a - b) <= 1e-6 * max(1.0, abs(a)) for a, b in zip(one, other, strict=True)
    )
