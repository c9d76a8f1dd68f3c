"""Defects of discretion: what a client learns of members, of keys, or of other clients."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from conformance.reference.behaviour import Behaviour, ErrorReply, Fields
from conformance.reference.call import Call, Operation
from conformance.reference.config import Member
from conformance.reference.defects.entry import defect
from conformance.reference.defects.hooks import Doc, each_reply, with_member_field
from conformance.reference.steps import Step


def _note_member(body: bytes, member: Member, call: Call) -> bytes:
    call.memo["member"] = member
    return body


def _provider(reply: Doc) -> None:
    reply["provider"] = "OpenRouter"


def _deployment(error: ErrorReply, call: Call) -> ErrorReply:
    """An error names the deployment that failed last."""
    if member := call.memo.get("member"):
        error.doc["error"]["message"] += f" (deployment {member.model})"
    return error


def _served_by(fields: Fields, status: int, call: Call) -> Fields:
    member = call.memo.get("member")
    return (*fields, ("x-served-by", member.host)) if member else fields


def _key_field(fields: Fields, status: int, call: Call) -> Fields:
    member = call.memo.get("member")
    return (*fields, ("x-goog-api-key", member.api_key)) if member else fields


@asynccontextmanager
async def _traced(call: Call) -> AsyncIterator[None]:
    """The prompt of the last request stays in an object that the next one finds."""
    call.memo["trace"], call.shared["trace"] = call.shared.get("trace", ""), call.text
    yield


def _trace(doc: Any, call: Call) -> Any:
    if call.operation is Operation.CHAT and call.memo.get("trace"):
        doc["metadata"] = {"trace": call.memo["trace"]}
    return doc


TABLE = (
    # yuezhiai/jonex#34
    defect(
        "model-leaks-member",
        "The model of an answer is the member's own name",
        "blind.model.alias blind.identity.body chunk.model",
        Behaviour(skip=frozenset({Step.MODEL})),
    ),
    defect(
        "error-names-deployment",
        "An error's message names the deployment that failed",
        "blind.identity.body",
        Behaviour(request_body=_note_member, error=_deployment),
    ),
    defect(
        "member-in-field",
        "A response field names the member that served",
        "secret.address blind.identity.headers",
        Behaviour(request_body=_note_member, headers=_served_by),
    ),
    defect(
        "provider-fields-relayed",
        "A provider's own response fields are passed on",
        "blind.identity.headers",
        Behaviour(headers=with_member_field("openai-processing-ms")),
    ),
    # Portkey-AI/gateway#1259
    defect(
        "provider-member-added",
        "An answer has a member `provider`",
        "blind.members.vendor",
        Behaviour(doc=each_reply(_provider)),
    ),
    # maximhq/bifrost#3954
    defect(
        "member-key-in-field",
        "The member's key stands in a response field",
        "secret.never-shown blind.identity.headers",
        Behaviour(request_body=_note_member, headers=_key_field),
    ),
    # maximhq/bifrost#3954
    defect(
        "echoed-key-relayed",
        "A key that the member's head echoes is passed on",
        "secret.never-shown blind.identity.headers",
        Behaviour(headers=with_member_field("x-goog-api-key")),
        "http.echoed-key",
    ),
    defect(
        "account-relayed",
        "The organisation that the member bills is passed on",
        "secret.upstream blind.identity.headers",
        Behaviour(headers=with_member_field("openai-organization")),
        "errors.openai-model-not-found",
    ),
    # Wei-Shaw/sub2api#5650
    defect(
        "redirect-relayed",
        "Where a member redirects to is passed on",
        "secret.upstream",
        Behaviour(headers=with_member_field("location")),
        "http.redirect",
    ),
    # BerriAI/litellm#25447, #40124
    defect(
        "prompt-of-the-last-client",
        "An answer shows the prompt of the request before it",
        "isolation.nonce",
        Behaviour(around=_traced, doc=_trace),
    ),
)
