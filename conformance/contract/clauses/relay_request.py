"""The request on its way up: what the client asked for is what the member is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.evidence import at_exchange, show
from conformance.exchange.model import Attempt, Endpoint, Exchange

#: openai-api/chat-create: parameters that change what is generated. A gateway may leave `model` to its configuration.
_PARAMETERS = (
    "temperature",
    "top_p",
    "n",
    "stop",
    "seed",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "tools",
    "tool_choice",
    "functions",
    "function_call",
    "parallel_tool_calls",
    "response_format",
    "reasoning_effort",
    "prompt",
    "suffix",
    "echo",
    "best_of",
    "input",
    "dimensions",
    "instructions",
    "text",
    "reasoning",
    "max_output_tokens",
    "previous_response_id",
)
_CAPS = ("max_tokens", "max_completion_tokens")

#: Members that a gateway adds for its own book-keeping without changing what is generated.
_HARMLESS = (
    "model",
    "stream",
    "stream_options",
    "user",
    "metadata",
    "extra_body",
    "timeout",
    "store",
    "safety_identifier",
)


def _same_operation(x: Exchange) -> list[tuple[int, Attempt]]:
    if x.request.doc is None or not isinstance(x.request.doc.value, dict):
        return []
    return [
        (number, attempt)
        for number, attempt in enumerate(x.attempts or ())
        if attempt.request.endpoint is x.request.endpoint
        and attempt.request.endpoint is not Endpoint.OTHER
        and attempt.request.doc is not None
        and isinstance(attempt.request.doc.value, dict)
    ]


def _forwarded(x: Exchange) -> bool:
    return bool(_same_operation(x))


def _leg(x: Exchange, number: int, expected: str, actual: str) -> Finding:
    return at_exchange(x, expected, actual, leg=f"upstream:{number}")


def _same(left: Any, right: Any) -> bool:
    """JSON equality in which 1 and 1.0 are one number, true is not 1, and a lone stop text is a list of it."""
    if isinstance(left, bool) != isinstance(right, bool):
        return False
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[name], right[name]) for name in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(_same(a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, str) and isinstance(right, list):
        return right == [left]
    return bool(left == right)


def _lost(asked: dict[str, Any], sent: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    for name in _PARAMETERS:
        if asked.get(name) is None:
            continue
        if name not in sent:
            yield name, show(asked[name]), "absent"
        elif not _same(asked[name], sent[name]):
            yield name, show(asked[name]), show(sent[name])
    caps = [asked[name] for name in _CAPS if asked.get(name) is not None]
    if caps and not any(sent.get(name) in caps for name in _CAPS):
        told = {name: sent[name] for name in _CAPS if name in sent}
        yield "max_tokens", show(caps[-1]), show(told) if told else "absent"


@clause(
    id="relay.request.fields",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The client's parameters reach the member",
    rationale="A stop text, token cap, seed or tool that is dropped on the way is a request that nobody made.",
    source="openai-api/chat-create",
    applies=_forwarded,
)
def fields(x: Exchange) -> Iterator[Finding]:
    assert x.request.doc is not None
    for number, attempt in _same_operation(x):
        assert attempt.request.doc is not None
        for name, expected, actual in _lost(x.request.doc.value, attempt.request.doc.value):
            yield _leg(x, number, f"{name}: {expected}", actual)


def _messages(doc: Any) -> list[Any] | None:
    messages = doc.get("messages") if isinstance(doc, dict) else None
    return messages if isinstance(messages, list) else None


def _plain(message: Any) -> Any:
    """A message with a content of one text part read as that text."""
    if isinstance(message, dict) and isinstance(message.get("content"), list):
        parts = message["content"]
        if len(parts) == 1 and isinstance(parts[0], dict) and parts[0].get("type") == "text":
            return {**message, "content": parts[0].get("text")}
    return message


@clause(
    id="relay.request.messages",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The client's messages reach the member whole and in order",
    rationale="A turn that loses its content key, its tool call or its place is refused upstream, or answered wrongly.",
    source="openai-api/chat-create",
    applies=lambda x: _forwarded(x) and x.request.doc is not None and _messages(x.request.doc.value) is not None,
)
def messages(x: Exchange) -> Iterator[Finding]:
    assert x.request.doc is not None
    asked = _messages(x.request.doc.value) or []
    for number, attempt in _same_operation(x):
        assert attempt.request.doc is not None
        sent = [_plain(message) for message in _messages(attempt.request.doc.value) or []]
        position = 0
        for message in asked:
            found = next((at for at in range(position, len(sent)) if _same(_plain(message), sent[at])), None)
            if found is None:
                nearest = sent[position] if position < len(sent) else "no message"
                yield _leg(x, number, show(message), show(nearest))
                break
            position = found + 1


@clause(
    id="relay.request.nothing-added",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="The member is sent no parameter that the client did not send",
    rationale="An added default changes the answer or is refused by strict members. Gateways may have policies: a SHOULD.",
    source="openai-api/chat-create",
    applies=_forwarded,
)
def nothing_added(x: Exchange) -> Iterator[Finding]:
    assert x.request.doc is not None
    asked = x.request.doc.value
    capped = any(name in asked for name in _CAPS)
    for number, attempt in _same_operation(x):
        assert attempt.request.doc is not None
        for name, value in attempt.request.doc.value.items():
            known = name in asked or name in _HARMLESS or (capped and name in _CAPS) or value is None
            if not known:
                yield _leg(x, number, f"no `{name}`", f"{name}: {show(value)}")
