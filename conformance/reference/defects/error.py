"""Defects of errors: the envelope, and the status under which a failure is told."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from conformance.reference.behaviour import Behaviour, ErrorReply, Fields
from conformance.reference.call import Call
from conformance.reference.defects.entry import defect
from conformance.reference.defects.hooks import Doc, each_error, put, with_media, without, without_field
from conformance.reference.steps import Step

When = Callable[[ErrorReply, Call], bool]


def _edited(edit: Callable[[Doc], None]) -> Behaviour:
    """A gateway that does `edit` to every error object."""
    return Behaviour(error=each_error(edit))


def _shaped(shape: Callable[[Doc], Any]) -> Behaviour:
    """A gateway whose error documents are what `shape` makes of the error object."""

    def hook(error: ErrorReply, call: Call) -> ErrorReply:
        return dataclasses.replace(error, doc=shape(error.doc["error"]))

    return Behaviour(error=hook)


def _status(status: int, when: When) -> Behaviour:
    """A gateway that tells some errors under `status`."""

    def hook(error: ErrorReply, call: Call) -> ErrorReply:
        return dataclasses.replace(error, status=status) if when(error, call) else error

    return Behaviour(error=hook)


def _coded(code: str) -> When:
    return lambda error, call: bool(error.doc["error"]["code"] == code)


def _without_code(code: str) -> Callable[[Doc], None]:
    """The edit that leaves null in the place of `code`."""

    def edit(error: Doc) -> None:
        error["code"] = None if error["code"] == code else error["code"]

    return edit


def _code_as_number(error: ErrorReply, call: Call) -> ErrorReply:
    error.doc["error"]["code"] = error.status
    return error


def _none_texts(error: Doc) -> None:
    for name in ("type", "param", "code"):
        error[name] = error[name] or "None"


def _as_text(body: bytes, status: int, call: Call) -> bytes:
    return b"Bad Gateway\n" if status >= 400 else body


def _text_fields(fields: Fields, status: int, call: Call) -> Fields:
    return with_media("application/json", "text/plain; charset=utf-8")(fields, 200, call) if status >= 400 else fields


def _peek_alone(error: ErrorReply, call: Call) -> ErrorReply:
    """What the member said, as far as the peeked prefix goes."""
    body = call.answered_body
    return dataclasses.replace(error, doc=body[:4096]) if len(body) > 4096 else error


def _members_status(error: ErrorReply, call: Call) -> ErrorReply:
    """The member's own status where it is one of a provider's own."""
    status = call.answered.status if call.answered else 0
    return dataclasses.replace(error, status=status) if status in (520, 524, 529, 498) else error


def _inner_status(error: ErrorReply, call: Call) -> ErrorReply:
    error.doc["error"]["status"] = 500 if error.status == 502 else error.status
    return error


def _with_unit(fields: Fields, status: int, call: Call) -> Fields:
    return tuple((name, f"{value}s" if name == "retry-after" else value) for name, value in fields)


def _another_wait(fields: Fields, status: int, call: Call) -> Fields:
    return (*fields, ("retry-after-ms", "100")) if any(name == "retry-after" for name, _ in fields) else fields


def _hash_told(error: Doc) -> None:
    if error["code"] == "invalid_api_key":
        error["message"] += f" Key hash (token): {'d748053a55933f7b' * 4}."


def _param_lost(error: ErrorReply, call: Call) -> ErrorReply:
    error.doc["error"]["param"] = error.doc["error"]["param"] if call.answered is None else None
    return error


def _in_milliseconds(fields: Fields, status: int, call: Call) -> Fields:
    return tuple((name, f"{value}000" if name == "retry-after" else value) for name, value in fields)


def _as_a_time(fields: Fields, status: int, call: Call) -> Fields:
    return tuple((name, str(1785402847 + int(value)) if name == "retry-after" else value) for name, value in fields)


def _own_wrong_request(error: ErrorReply, call: Call) -> bool:
    return call.answered is None and error.status == 400


def _upstream(error: ErrorReply, call: Call) -> bool:
    return call.answered is not None and call.answered.status >= 400 and not call.stream


def _own_fault(error: ErrorReply, call: Call) -> bool:
    """Whether a member refused a request for a fault that no other status clause is about."""
    told = error.doc["error"]
    return _upstream(error, call) and error.status == 400 and told["code"] not in _OTHER_KINDS


_OTHER_KINDS = ("context_length_exceeded", "model_not_found", "insufficient_quota", "content_filter")


def _timeout(error: ErrorReply, call: Call) -> bool:
    return bool(error.doc["error"]["code"] == "upstream_timeout")


def _no_head(error: ErrorReply, call: Call) -> bool:
    return call.lane is not None and call.answered is None and error.doc["error"]["code"].startswith("upstream_")


def _cancelled_chunk(chunks: list[Doc], call: Call) -> list[Doc]:
    for chunk in chunks:
        if isinstance(chunk.get("error"), dict):
            _cancelled(chunk["error"])
    return chunks


def _cancelled(error: Doc) -> None:
    if error["code"] == "upstream_timeout":
        error["message"] = "Request was cancelled: context canceled"


ENVELOPE = (
    # songquanpeng/one-api#90, azrtydxb/Fastllm-proxy#28
    defect(
        "error-as-200",
        "A member's error reaches the client under the status 200",
        "error.in-success relay.status.kept",
        _status(200, _upstream),
    ),
    defect(
        "error-as-plain-text",
        "An error is a line of plain text that calls itself JSON",
        "error.body.json pool.exhausted.told relay.error.code-kept relay.error.reason-kept error.unserved.envelope",
        Behaviour(body=_as_text),
    ),
    defect(
        "error-labelled-text",
        "An error's JSON is labelled as plain text",
        "error.content-type",
        Behaviour(headers=_text_fields),
    ),
    # incident A: the peeked prefix of a large 404 went out without its rest
    defect(
        "error-body-cut-at-peek",
        "Of a large error body only the peeked beginning reaches the client",
        "error.body.json pool.exhausted.told",
        Behaviour(error=_peek_alone),
    ),
    # Gemini's OpenAI surface wraps its errors in an array
    defect(
        "error-as-array",
        "An error body is an array",
        "error.envelope.object error.unserved.envelope",
        _shaped(lambda error: [{"error": error}]),
    ),
    # kortix-ai/suna#5986: no `error` around it
    defect(
        "error-without-wrapper",
        "An error body has message and code, and no object error around them",
        "error.envelope.object error.unserved.envelope",
        _shaped(lambda error: error),
    ),
    # ARahim3/DeltaLLM#297: a framework's own body
    defect(
        "error-as-detail",
        "An error stands under `detail`",
        "error.envelope.object relay.error.code-kept error.unserved.envelope",
        _shaped(lambda error: {"detail": error["message"]}),
    ),
    # incident E: with no reason there was an empty text
    defect(
        "error-message-empty",
        "An error has an empty message",
        "error.message.text pool.exhausted.told relay.error.reason-kept",
        _edited(put("message", "")),
    ),
    defect("error-type-null", "An error's type is null", "error.type.string", _edited(put("type", None))),
    defect(
        "error-without-param",
        "An error has no param",
        "error.param.valid relay.error.param-kept",
        _edited(without("param")),
    ),
    # OpenRouter's and many proxies' way
    defect(
        "error-code-number",
        "An error's code is the status as a number",
        "error.code.valid error.model-not-found.code error.context-length.code relay.error.code-kept",
        Behaviour(error=_code_as_number),
    ),
    # BerriAI/litellm#27823: type and param are the text None
    defect(
        "error-none-texts",
        "Where an error has nothing to say it says None",
        "error.members.no-placeholder",
        _edited(_none_texts),
    ),
)

STATUS = (
    # Anthropic's 529 and a CDN's 520 were passed on as they came
    defect(
        "provider-status-relayed",
        "A member's unregistered status is passed on",
        "error.status.registered",
        Behaviour(error=_members_status),
    ),
    defect(
        "error-states-other-status",
        "The status inside an error is another one than the reply's",
        "error.status.agrees",
        Behaviour(error=_inner_status),
    ),
    defect(
        "model-not-found-as-500",
        "A model that does not exist is told as a server error",
        "error.model-not-found.status error.unknown-model.status relay.status.kept",
        _status(500, _coded("model_not_found")),
    ),
    defect(
        "own-key-refused-as-500",
        "A member's refusal of the gateway's key is told as an internal error",
        "relay.status.own-key",
        _status(500, _coded("upstream_authentication_failed")),
        "errors.openai-bad-key",
    ),
    defect(
        "model-not-found-without-code",
        "A model that does not exist is told without its code",
        "error.model-not-found.code",
        _edited(_without_code("model_not_found")),
    ),
    # coddy-project/coddy-agent#322: HTTP 500 for every upstream error
    defect(
        "context-length-as-500",
        "A prompt that is too long is told as a server error",
        "error.context-length.status relay.status.kept",
        _status(500, _coded("context_length_exceeded")),
    ),
    defect(
        "context-length-without-code",
        "A prompt that is too long is told without its code",
        "error.context-length.code relay.error.code-kept",
        _edited(_without_code("context_length_exceeded")),
    ),
    # BerriAI/litellm#37599
    defect(
        "rate-limit-as-400",
        "A rate limit is told as a bad request",
        "error.rate-limit.status relay.status.kept error.type.status",
        _status(400, lambda error, call: _coded("rate_limit_exceeded")(error, call) and not call.stream),
    ),
    # BerriAI/litellm#23901
    defect(
        "bad-request-as-500",
        "What a member refuses for a fault of the request is told as a server error",
        "error.invalid-request.status relay.status.kept",
        _status(500, _own_fault),
    ),
    defect(
        "quota-as-500",
        "An exhausted balance is told as a server error",
        "error.quota.status relay.status.kept",
        _status(500, _coded("insufficient_quota")),
    ),
    # BerriAI/litellm#27823
    defect(
        "retry-after-dropped",
        "A member's Retry-After does not reach the client",
        "error.rate-limit.retry-after",
        Behaviour(headers=without_field("retry-after")),
        shown_by="errors.openai-rate-limit",
    ),
    defect(
        "retry-after-in-milliseconds",
        "Retry-After tells a member's seconds in milliseconds",
        "error.rate-limit.retry-after",
        Behaviour(headers=_in_milliseconds),
        shown_by="errors.rate-limit-seconds",
    ),
    defect(
        "retry-after-with-unit",
        "Retry-After tells its seconds with a unit",
        "error.retry-after.valid",
        Behaviour(headers=_with_unit),
        shown_by="errors.openai-rate-limit",
    ),
    # openclaw/clawhub#407
    defect(
        "retry-after-as-a-time",
        "Retry-After tells a time of the Unix clock in place of seconds",
        "error.retry-after.valid error.rate-limit.retry-after",
        Behaviour(headers=_as_a_time),
        shown_by="errors.openai-rate-limit",
    ),
    defect(
        "retry-after-ms-differs",
        "Beside a Retry-After stands another wait in ms",
        "error.retry-after.agrees",
        Behaviour(headers=_another_wait),
        shown_by="errors.rate-limit-seconds",
    ),
    # BerriAI/litellm#39787
    defect(
        "wrong-key-hash-told",
        "The message of a refused key shows the key's hash",
        "error.message.no-key-hash",
        _edited(_hash_told),
    ),
    defect(
        "member-param-lost",
        "The parameter that a member names in its refusal is not told",
        "relay.error.param-kept",
        Behaviour(error=_param_lost),
    ),
    defect(
        "wrong-key-accepted",
        "A request with a wrong key is answered",
        "error.auth.status",
        Behaviour(skip=frozenset({Step.AUTHENTICATE})),
    ),
    # vllm-project/aibrix#671
    defect(
        "wrong-key-as-500",
        "A wrong key is told as a server error",
        "error.auth.status error.invalid-key.status",
        _status(500, lambda error, call: error.status == 401),
    ),
    defect(
        "malformed-request-as-500",
        "A request that cannot be read is told as a server error",
        "error.request.status",
        _status(500, _own_wrong_request),
    ),
    defect(
        "unknown-model-as-503",
        "A model that the gateway does not serve is told as an outage",
        "error.unknown-model.status error.model-not-found.status",
        _status(503, lambda error, call: call.lane is None and error.status == 404),
    ),
    # incident F: a read timeout of the upstream was told as the caller's cancellation
    defect(
        "timeout-as-cancellation",
        "A member's timeout is told as the client's cancellation",
        "error.not-cancelled",
        _edited(_cancelled),
    ),
    defect(
        "timeout-as-499",
        "A member's timeout is told under the status of a client that closed its request",
        "error.not-cancelled error.status.registered error.type.status relay.status.kept",
        _status(499, _timeout),
    ),
    defect(
        "stream-timeout-as-cancellation",
        "A stream that fell silent is told as one that its client cancelled",
        "error.not-cancelled",
        Behaviour(chunks=_cancelled_chunk),
        "timeouts.idle-after-text",
    ),
    # a failed fetch is a bad request to some relays
    defect(
        "no-answer-as-400",
        "Members that cannot be reached, or break off before a head, are told as a bad request",
        "error.type.status relay.status.kept",
        _status(400, _no_head),
        "pool.all-refused lifecycle.all-resets",
    ),
)

TABLE = (*ENVELOPE, *STATUS)
