"""Defects of error messages: what of the inside, and of a member's own words, a message shows."""

from __future__ import annotations

import re
from collections.abc import Callable

from conformance.reference.behaviour import Behaviour, ErrorReply
from conformance.reference.call import Call
from conformance.reference.defects.entry import defect
from conformance.reference.reason import read_reason
from conformance.reference.steps import Step

TRACE = (
    'Traceback (most recent call last): File "/app/router.py", line 411, in dispatch raise UpstreamError(response) '
    "UpstreamError"
)


def _worded(words: Callable[[str, Call], str], *skip: Step) -> Behaviour:
    """A gateway whose error messages are what `words` makes of the right ones."""

    def hook(error: ErrorReply, call: Call) -> ErrorReply:
        error.doc["error"]["message"] = words(error.doc["error"]["message"], call)
        return error

    return Behaviour(error=hook, skip=frozenset(skip))


def _said(call: Call) -> str:
    """The text of the member's error body."""
    return call.answered_body.decode("utf-8", "replace")


def _is_page(call: Call) -> bool:
    return call.answered_body.lstrip()[:1] == b"<"


def _page(message: str, call: Call) -> str:
    return f"upstream error: {' '.join(_said(call)[:600].split())}" if _is_page(call) else message


def _document(message: str, call: Call) -> str:
    body = _said(call).strip()
    return f"upstream error: {' '.join(body.split())}" if body[:1] in ("{", "[") else message


def _compressed(message: str, call: Call) -> str:
    coded = call.answered is not None and call.answered.get("content-encoding") == "gzip"
    return _said(call) if coded and call.answered_body else message


def _address(message: str, call: Call) -> str:
    member = call.lane.members[0] if call.lane else None
    return f'Post "{member.base_url}/chat/completions": {message}' if member else message


def _with_key(message: str, call: Call) -> str:
    member = call.lane.members[0] if call.lane and call.answered else None
    return f"{message} (key {member.api_key[:8]}***)" if member else message


def _uncut(message: str, call: Call) -> str:
    """All that a member's validator listed, in words without brackets."""
    said = re.sub(r"[\[\](){}'\"]", " ", read_reason(call.answered_body).message)
    return " ".join(said.split()) if "validation error" in said else message


def _reason_of(*statuses: int) -> Callable[[str, Call], str]:
    """The member's own words, as they came, where it answered one of `statuses`."""

    def words(message: str, call: Call) -> str:
        told = call.answered is not None and call.answered.status in statuses
        return (told and read_reason(call.answered_body).message) or message

    return words


TABLE = (
    defect(
        "message-over-two-lines",
        "A message has the request's id on a line of its own",
        "error.message.one-line",
        _worded(lambda message, call: f"{message}\nrequest id: {call.request_id}"),
    ),
    defect(
        "validation-errors-uncut",
        "Hundreds of validation errors become one message",
        "error.message.bounded",
        _worded(_uncut),
        shown_by="responses.validation-repr-400",
    ),
    # incident E, BerriAI/litellm#27175: a WAF's block page reached clients
    defect(
        "page-as-message",
        "A member's HTML page becomes the message",
        "error.message.no-html",
        _worded(_page),
    ),
    # incident E, coddy-project/coddy-agent#322: JSON quota payloads reached clients
    defect(
        "document-as-message",
        "A member's JSON body becomes the message",
        "error.message.no-raw-body error.message.bounded error.message.no-account error.message.no-key "
        "blind.identity.body",
        _worded(_document),
        shown_by="errors.openai-bad-key",
    ),
    # router-for-me/CLIProxyAPI#1895
    defect(
        "compressed-message",
        "The compressed bytes of a member's error become the message",
        "error.message.readable relay.error.reason-kept",
        _worded(_compressed, Step.DECODE_CONTENT),
        shown_by="http.gzip-error",
    ),
    defect(
        "trace-in-message",
        "A message ends with the gateway's stack trace",
        "error.message.no-trace",
        _worded(lambda message, call: f"{message} {TRACE}"),
    ),
    # Wei-Shaw/sub2api#5650
    defect(
        "address-in-message",
        "A message starts with the address of the member",
        "error.message.no-address blind.identity.body",
        _worded(_address),
    ),
    defect(
        "key-head-in-message",
        "A message names the member's key by its first letters",
        "error.message.no-key",
        _worded(_with_key),
    ),
    # OpenAI echoes a masked key in its 401
    defect(
        "member-401-echoed",
        "The words of a member that refused the gateway's key reach the client",
        "error.message.no-key blind.identity.body",
        _worded(_reason_of(401)),
        shown_by="errors.openai-bad-key",
    ),
    defect(
        "member-account-echoed",
        "The words of a member that names the gateway's account reach the client",
        "error.message.no-account",
        _worded(_reason_of(402, 403, 429)),
    ),
)
