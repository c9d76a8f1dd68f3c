"""Relay: the output items of a response: what was searched, drawn or thought reaches the client beside the text.

Messages and calls of functions are compared by the clauses on text and calls. Judged where a member of the same API
gave a whole response; an item that nobody asked for is not owed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.clauses.calling import output_of
from conformance.contract.clauses.legs import both_whole
from conformance.contract.evidence import at_end, show
from conformance.contract.when import serving, the_reply
from conformance.exchange.members import list_in, text_in, texts
from conformance.exchange.model import Endpoint, Exchange, Reply

#: Where an item holds what nothing else in the answer tells.
_BLOBS = ("encrypted_content", "result")


def _owed(x: Exchange, item: Any) -> bool:
    """Whether the client asked for an item: by a tool of its kind, or by what it wants included."""
    kind = text_in(item, "type")
    if kind == "reasoning":
        return bool(text_in(item, "encrypted_content")) and _ENCRYPTED in texts(x.request.get("include"))
    body = x.request.doc.value if x.request.doc is not None and x.request.doc.ok else None
    asked = [text_in(tool, "type") for tool in list_in(body, "tools")]
    name = "mcp" if kind.startswith("mcp_") else kind.removesuffix("_tool_call").removesuffix("_call")
    return kind not in _JUDGED and bool(name) and any(tool.startswith(name) for tool in asked)


_ENCRYPTED = "reasoning.encrypted_content"
_JUDGED = ("message", "function_call")


def _items(x: Exchange, reply: Reply) -> list[Any]:
    return [item for item in output_of(reply) if _owed(x, item)]


def _items_owed(x: Exchange) -> bool:
    both, attempt = both_whole(x), serving(x)
    same = attempt is not None and attempt.request.endpoint is Endpoint.RESPONSES
    return x.request.endpoint is Endpoint.RESPONSES and same and both is not None and bool(_items(x, both[0]))


@clause(
    id="relay.items.kept",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The output items that a response was asked for reach the client",
    rationale="An image, what was searched, or thoughts that have to be sent back are a part of the answer: paid, and gone.",
    source="openai-api/responses",
    applies=_items_owed,
)
def items_kept(x: Exchange) -> Iterator[Finding]:
    both = both_whole(x)
    assert both is not None
    upstream, mine = _items(x, both[0]), output_of(both[1])
    lost = Counter(text_in(item, "type") for item in upstream) - Counter(text_in(item, "type") for item in mine)
    for kind, times in lost.items():
        yield at_end(the_reply(x), f"{times} more of type {show(kind)}", show([text_in(item, "type") for item in mine]))
    kept = {text_in(item, name) for item in mine for name in _BLOBS}
    for item in upstream:
        for name in _BLOBS:
            if text_in(item, name) not in kept and text_in(item, "type") not in lost:
                yield at_end(the_reply(x), f"{name} {show(item[name], 40)}", "not as the upstream sent it")
