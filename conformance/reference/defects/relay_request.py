"""Defects of the request on its way to a member: parameters lost, changed, added, or kept from somebody else's."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from conformance.reference.behaviour import Behaviour, Fields
from conformance.reference.call import Call, Operation
from conformance.reference.config import Member
from conformance.reference.defects.entry import defect
from conformance.reference.defects.hooks import Doc
from conformance.reference.errors import refuse


def _sending(edit: Callable[[Doc, Call], None]) -> Behaviour:
    """A gateway that does `edit` to every request document before a member gets it."""

    def hook(body: bytes, member: Member, call: Call) -> bytes:
        doc = json.loads(body)
        edit(doc, call)
        return json.dumps(doc).encode()

    return Behaviour(request_body=hook)


def _without(*names: str) -> Callable[[Doc, Call], None]:
    def edit(doc: Doc, call: Call) -> None:
        for name in names:
            doc.pop(name, None)

    return edit


def _with(name: str, value: object, operation: Operation = Operation.CHAT) -> Callable[[Doc, Call], None]:
    def edit(doc: Doc, call: Call) -> None:
        if call.operation is operation:
            doc.setdefault(name, value)

    return edit


def _strip_null_content(doc: Doc, call: Call) -> None:
    for message in doc.get("messages", ()):
        if message.get("content", "") is None:
            del message["content"]


def _strip_thoughts(doc: Doc, call: Call) -> None:
    for message in doc.get("messages", ()):
        message.pop("reasoning_content", None)


def _instructions_last(doc: Doc, call: Call) -> None:
    if "messages" in doc:
        doc["messages"].sort(key=lambda message: message["role"] in ("system", "developer"))


def _falsy_dropped(doc: Doc, call: Call) -> None:
    for name in ("temperature", "top_p", "seed", "n", "max_tokens"):
        if name in doc and not doc[name]:
            del doc[name]


@asynccontextmanager
async def _zero_refused(call: Call) -> AsyncIterator[None]:
    if call.doc.get("top_p") == 0:
        raise refuse(400, "top_p must be above 0.", param="top_p")
    yield


def _clamped(doc: Doc, call: Call) -> None:
    if doc.get("temperature", 0) > 1:
        doc["temperature"] = 1


def _instructions_first(doc: Doc, call: Call) -> None:
    if "messages" in doc:
        doc["messages"].sort(key=lambda message: message["role"] not in ("system", "developer"))


def _trimmed(doc: Doc, call: Call) -> None:
    for message in doc.get("messages", ()):
        if isinstance(message.get("content"), str):
            message["content"] = message["content"].strip()


def _key_of_first(headers: Fields, member: Member, call: Call) -> Fields:
    first = call.lane.members[0] if call.lane else member
    return tuple((name, f"Bearer {first.api_key}" if name == "Authorization" else value) for name, value in headers)


def _with_clients_key(headers: Fields, member: Member, call: Call) -> Fields:
    return (*headers, ("x-api-key", call.headers.get("authorization", "").removeprefix("Bearer ")))


def _model_of_first(body: bytes, member: Member, call: Call) -> bytes:
    first = call.lane.members[0] if call.lane else member
    return body.replace(json.dumps(member.model).encode(), json.dumps(first.model).encode(), 1)


TABLE = (
    # BerriAI/litellm#32202
    defect(
        "clients-key-passed-on",
        "The client's key for the gateway goes to the members beside their own",
        "relay.request.client-key",
        Behaviour(request_headers=_with_clients_key),
    ),
    defect(
        "key-follows-failover",
        "Every member of a pool is asked with the first one's key",
        "relay.request.key",
        Behaviour(request_headers=_key_of_first),
        shown_by="pool.three-retired-404",
    ),
    defect(
        "model-follows-failover",
        "Every member of a pool is asked for the first one's model",
        "relay.request.model",
        Behaviour(request_body=_model_of_first),
        shown_by="pool.three-retired-404",
    ),
    defect(
        "zeros-not-forwarded",
        "A parameter that is zero is taken for one that is not there",
        "relay.request.fields",
        _sending(_falsy_dropped),
        shown_by="relay-request.zeros",
    ),
    # smg 1.13.0 takes 0 for out of range
    defect(
        "zero-top-p-refused",
        "top_p 0, which the API accepts, is refused",
        "relay.request.accepted",
        Behaviour(around=_zero_refused),
        shown_by="relay-request.zeros",
    ),
    # Portkey 1.15.2 clamps what it takes for out of range
    defect(
        "temperature-clamped",
        "A temperature above 1 reaches the member as 1",
        "relay.request.fields",
        _sending(_clamped),
        shown_by="relay-request.extremes",
    ),
    defect(
        "instructions-first",
        "Instructions reach the member before all other messages",
        "relay.request.messages",
        _sending(_instructions_first),
        shown_by="relay-request.late-instructions",
    ),
    defect(
        "prompt-trimmed",
        "White space at the ends of a message does not reach the member",
        "relay.request.messages",
        _sending(_trimmed),
        shown_by="relay-request.white-space",
    ),
    # openclaw/openclaw#80867
    defect(
        "token-caps-not-forwarded",
        "The client's token caps do not reach the member",
        "relay.request.fields",
        _sending(_without("max_tokens", "max_completion_tokens")),
        shown_by="relay-request.max-tokens",
    ),
    # Shelpuk-AI-Technology-Consulting/kitty-bridge#92
    defect(
        "stop-not-forwarded",
        "The client's stop texts do not reach the member",
        "relay.request.fields",
        _sending(_without("stop")),
        shown_by="relay-request.stop",
    ),
    # BerriAI/litellm#39268
    defect(
        "null-content-stripped",
        "The null content of a tool call's message does not reach the member",
        "relay.request.null-content",
        _sending(_strip_null_content),
        shown_by="relay-request.history-null-content",
    ),
    # can1357/oh-my-pi#1157
    defect(
        "thoughts-stripped",
        "What was thought before a tool call does not reach the member",
        "relay.request.thoughts",
        _sending(_strip_thoughts),
        shown_by="relay-request.history-thoughts",
    ),
    defect(
        "instructions-last",
        "Instructions reach the member after all other messages",
        "relay.request.messages",
        _sending(_instructions_last),
        shown_by="relay-request.developer-role",
    ),
    defect(
        "embedding-purpose-added",
        "A request for embeddings gets a parameter that the client did not send",
        "relay.request.nothing-added",
        _sending(_with("input_type", "query", Operation.EMBEDDINGS)),
    ),
    # BerriAI/litellm#38774: the SDK's default was injected
    defect(
        "encoding-format-added",
        "A request without encoding_format reaches the member with one",
        "relay.request.nothing-added relay.request.not-spoiled",
        _sending(_with("encoding_format", "base64", Operation.EMBEDDINGS)),
        shown_by="embeddings.no-format-added embeddings.no-format-refused",
    ),
    defect(
        "temperature-zero-added",
        "A request without temperature reaches the member with 0",
        "relay.request.defaults",
        _sending(_with("temperature", 0)),
    ),
)
