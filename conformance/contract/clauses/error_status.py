"""Errors: the status, the code and the wait that go with each kind of failure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import unquote

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.envelope import body_of, enveloped, error_of
from conformance.contract.evidence import at_content, at_head, at_path, show
from conformance.contract.kinds import Kind, inner_status, kind_of_reply, says_no_model
from conformance.contract.when import api_failure, stayed, the_reply
from conformance.exchange.model import Endpoint, Exchange, Reply
from conformance.wire.facts import Span

#: Status codes that RFC 9110 and the IANA registry know; a client's retry table has no entry for others (529, 499, 520).
_REGISTERED = frozenset(
    {*range(400, 419), 421, 422, 423, 424, 425, 426, 428, 429, 431, 451, *range(500, 509), 510, 511}
)


def _of_kind(kind: Kind) -> Any:
    def condition(x: Exchange) -> bool:
        return api_failure(x) and kind_of_reply(the_reply(x)) is kind

    return condition


@clause(
    id="error.status.registered",
    level=Level.SHOULD,
    basis=Basis.PROTOCOL,
    title="An error's status is a registered one",
    rationale="Retry tables know 429, 500, 502, 503 and 504. Unregistered codes are legal and read as x00: a SHOULD.",
    source="rfc9110/status",
    applies=api_failure,
)
def status_registered(x: Exchange) -> Iterator[Finding]:
    if the_reply(x).status not in _REGISTERED:
        yield at_head(the_reply(x), "a registered status code", str(the_reply(x).status))


@clause(
    id="error.status.agrees",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="A status that the error states is the status of the reply",
    rationale="Two statuses are two retry decisions. The API states none in its body, so this is a SHOULD.",
    source="openai-api/errors",
    applies=lambda x: enveloped(x) and inner_status(body_of(x)) is not None,
)
def status_agrees(x: Exchange) -> Iterator[Finding]:
    stated = inner_status(body_of(x))
    if stated != the_reply(x).status:
        yield at_path(the_reply(x), ("error",), f"status {the_reply(x).status}", f"the body says {stated}")


@clause(
    id="error.model-not-found.status",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A model that does not exist is the caller's error",
    rationale="A 5xx is retried for ever, a 401 or 429 points at the key: 404 (or 400) says that the name is wrong.",
    source="openai-api/errors",
    applies=_of_kind(Kind.MODEL_NOT_FOUND),
)
def model_not_found_status(x: Exchange) -> Iterator[Finding]:
    # 403 is what the API answers when the model exists and the project may not use it.
    status = the_reply(x).status
    if status in (429, 502, 503) and not says_no_model(the_reply(x)):
        return  # a model that is not available now is an outage
    from_pool = x.attempts is not None and len(x.attempts) > 0 and status in (502, 503)
    if status not in (400, 403, 404, 410) and not from_pool:
        yield at_head(the_reply(x), "status 404", f"status {status}")


@clause(
    id="error.model-not-found.code",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="A model that does not exist has the code model_not_found",
    rationale="Clients switch models on this code. The API's text is prose about a table of codes: a SHOULD.",
    source="openai-api/errors",
    applies=lambda x: (
        enveloped(x) and kind_of_reply(the_reply(x)) is Kind.MODEL_NOT_FOUND and the_reply(x).status in (400, 404)
    ),
)
def model_not_found_code(x: Exchange) -> Iterator[Finding]:
    if error_of(x).get("code") != "model_not_found":
        yield at_path(the_reply(x), ("error", "code"), '"model_not_found"', show(error_of(x).get("code")))


@clause(
    id="error.context-length.status",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A prompt that is too long is the caller's error",
    rationale="As a 5xx or 429 it is retried with the same prompt, which fails the same way each time.",
    source="openai-api/errors",
    applies=_of_kind(Kind.CONTEXT_LENGTH),
)
def context_length_status(x: Exchange) -> Iterator[Finding]:
    if the_reply(x).status not in (400, 413, 422):
        yield at_head(the_reply(x), "status 400", f"status {the_reply(x).status}")


@clause(
    id="error.context-length.code",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="A prompt that is too long has the code context_length_exceeded",
    rationale="Agents compact their history on this code alone. It stands in no table of the API's text: a SHOULD.",
    source="openai-api/errors",
    applies=lambda x: enveloped(x) and kind_of_reply(the_reply(x)) is Kind.CONTEXT_LENGTH,
)
def context_length_code(x: Exchange) -> Iterator[Finding]:
    if error_of(x).get("code") != "context_length_exceeded":
        yield at_path(the_reply(x), ("error", "code"), '"context_length_exceeded"', show(error_of(x).get("code")))


@clause(
    id="error.quota.status",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="An exhausted quota or balance is no server error",
    rationale="As a 500 it is retried with backoff for nothing. The API uses 429, others 402 or 403: a SHOULD.",
    source="openai-api/errors",
    applies=_of_kind(Kind.QUOTA),
)
def quota_status(x: Exchange) -> Iterator[Finding]:
    status = the_reply(x).status
    if status not in (402, 403, 429, 503) and not (x.attempts and status == 502):
        yield at_head(the_reply(x), "status 429 (or 402)", f"status {status}")


def _upstream_retry_after(x: Exchange) -> str | None:
    for attempt in reversed(x.attempts or ()):
        if attempt.reply is not None and attempt.reply.status in (429, 503):
            return attempt.reply.header("retry-after") or _in_seconds(attempt.reply.header("retry-after-ms"))
    return None


def _in_seconds(told: str | None) -> str | None:
    """A wait that is told in ms, as the official clients read it, in the form of a Retry-After."""
    read = told is not None and told.isascii() and told.isdigit() and len(told) < 12
    return str(-(-int(told or 0) // 1000)) if read else None


#: A gateway may wait longer than a member asks, for reasons of its own; seconds that became milliseconds are longer still.
_MUCH_LONGER = 100


def _upstream_waits(x: Exchange) -> list[int]:
    """The seconds that members asked to be left alone for, where every refusal says so; two at least."""
    refusals = [a.reply for a in x.attempts or () if a.reply is not None and a.reply.status in (429, 503)]
    fields = [reply.header("retry-after") or "" for reply in refusals]
    told = [int(field) for field in fields if field.isascii() and field.isdigit() and len(field) < 10]
    return told if len(told) == len(fields) and min(told, default=0) >= 2 else []


@clause(
    id="error.rate-limit.retry-after",
    level=Level.SHOULD,
    basis=Basis.PROTOCOL,
    title="An upstream's Retry-After reaches the client with the 429",
    rationale="SDKs wait as long as it says, else they guess and hammer. RFC 9110 leaves the field to the server: a SHOULD.",
    source="rfc9110/retry-after",
    applies=lambda x: api_failure(x) and the_reply(x).status in (429, 503) and _upstream_retry_after(x) is not None,
)
def retry_after(x: Exchange) -> Iterator[Finding]:
    told = the_reply(x).header("retry-after")
    if told is None and _in_seconds(the_reply(x).header("retry-after-ms")) is None:
        yield at_head(the_reply(x), f"Retry-After: {_upstream_retry_after(x)}", "no Retry-After")
    if told is None:
        return
    waits = _upstream_waits(x)
    if not waits or not told.isascii() or not told.isdigit():
        return
    seconds = int(told[:20])  # a number of twenty digits is far too long, whatever follows
    if seconds < min(waits) / 2 or seconds > max(waits) * _MUCH_LONGER:
        yield at_head(the_reply(x), f"about {_upstream_retry_after(x)} s, as the upstream said", f"Retry-After: {told}")


def _two_waits(reply: Reply) -> tuple[int, float] | None:
    """The seconds of a Retry-After and those of the ms beside it, where there are both."""
    told, beside = reply.header("retry-after") or "", reply.header("retry-after-ms") or ""
    if not all(text.isascii() and text.isdigit() and len(text) < 12 for text in (told, beside)):
        return None
    return int(told), int(beside) / 1000


@clause(
    id="error.retry-after.agrees",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="A wait that is told in ms beside Retry-After is the same wait",
    rationale="The official clients go by the ms, others by the seconds: half of them come too early. RFC 9110 knows no ms: a SHOULD.",
    source="openai-sdk/retries",
    applies=lambda x: api_failure(x) and (the_reply(x).header("retry-after") or "").isdigit(),
)
def retry_after_agrees(x: Exchange) -> Iterator[Finding]:
    waits = _two_waits(the_reply(x))
    relayed = [_two_waits(attempt.reply) for attempt in x.attempts or () if attempt.reply is not None]
    if waits is not None and waits not in relayed and abs(waits[0] - waits[1]) > max(1, waits[0] / 2):
        what = f"retry-after-ms: {the_reply(x).header('retry-after-ms')}"
        yield at_head(the_reply(x), f"about {waits[0]} s, as Retry-After says", what, field="retry-after-ms")


#: RFC 9110 section 5.6.7: the one form of a date that may be sent.
_DATE = re.compile(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT")


def _dated(value: str) -> bool:
    """Whether a text is such a date, and there is such a day; the second 60 of some days counts as their 59th."""
    try:
        return bool(_DATE.fullmatch(value) and parsedate_to_datetime(value.replace(":60 ", ":59 ")))
    except ValueError:
        return False


#: A number of seconds of ten digits is more than thirty years: it is a time of the Unix clock.
_LIFETIME = 9


@clause(
    id="error.retry-after.valid",
    level=Level.MUST,
    basis=Basis.PROTOCOL,
    title="A Retry-After is a number of seconds or a date",
    rationale="SDKs that cannot read it guess their own delay: with a fraction, a unit or a text the server's word is lost.",
    source="rfc9110/retry-after",
    applies=lambda x: api_failure(x) and the_reply(x).header("retry-after") is not None,
)
def retry_after_valid(x: Exchange) -> Iterator[Finding]:
    value = (the_reply(x).header("retry-after") or "").strip()
    if not (value.isascii() and value.isdigit()) and not _dated(value):
        yield at_head(the_reply(x), "whole seconds, or an HTTP date", show(value), field="retry-after")
    elif value.isdigit() and len(value.lstrip("0")) > _LIFETIME:
        yield at_head(the_reply(x), "how many seconds to wait, not a time", show(value), field="retry-after")


@clause(
    id="error.auth.status",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A wrong client key is answered with 401",
    rationale="SDKs raise AuthenticationError on 401: a 500 is retried, a 403 or 400 points elsewhere.",
    source="openai-api/authentication",
    applies=lambda x: stayed(x) and x.terms.key_valid is False,
)
def auth_status(x: Exchange) -> Iterator[Finding]:
    if the_reply(x).status != 401:
        yield at_head(the_reply(x), "status 401", f"status {the_reply(x).status}")


def _model_asked(x: Exchange) -> str | None:
    """The model that the request is about: its body's, or the one in the path of a single model."""
    if x.request.endpoint is not Endpoint.MODEL:
        return x.request.model
    return unquote(x.request.target.split("?", 1)[0].split("/models/", 1)[-1])


@clause(
    id="error.unknown-model.status",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A model that the target does not serve is answered with 404 or 400",
    rationale="SDKs raise NotFoundError on 404; a 5xx is retried, a 2xx means that another model answered.",
    source="openai-api/errors",
    applies=lambda x: (
        stayed(x)
        and x.terms.known_models is not None
        and _model_asked(x) is not None
        and _model_asked(x) not in x.terms.known_models
        and x.request.endpoint is not Endpoint.OTHER
    ),
)
def unknown_model_status(x: Exchange) -> Iterator[Finding]:
    if the_reply(x).status not in (400, 403, 404):
        yield at_head(the_reply(x), "status 404", f"status {the_reply(x).status}")


#: How gateways word that it was the client who went away, in messages and as codes.
_CANCELLED = re.compile(
    r"request (was )?cancel|context cancell?ed|client closed request|client disconnect|cancell?ed by (the )?(client|user)"
)
_CANCELLED_CODES = frozenset(
    {
        "499",
        "cancelled",
        "canceled",
        "request_cancelled",
        "request_canceled",
        "client_closed_request",
        "client_disconnected",
    }
)


def _failures_told(x: Exchange) -> list[dict[str, Any]]:
    """The error objects that the client was told, as a reply or in a stream."""
    inside = the_reply(x).answer.errors if the_reply(x).ok else ()
    return [error for error in ((error_of(x),) if api_failure(x) else inside) if isinstance(error, dict)]


def _cancelled_owed(x: Exchange) -> bool:
    return stayed(x) and (api_failure(x) or bool(_failures_told(x)))


@clause(
    id="error.not-cancelled",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A failure is not told as the client's cancellation",
    rationale="Callers do not retry what they cancelled themselves: an upstream timeout told so is lost.",
    source="incident/streams",
    applies=_cancelled_owed,
)
def not_cancelled(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    if reply.status == 499:
        yield at_head(reply, "a status that names the failure", "status 499 (client closed request)")
        return
    for error in _failures_told(x):
        codes = {str(error.get(name)).lower() for name in ("code", "type")}
        if _CANCELLED.search(str(error.get("message") or "").lower()) or codes & _CANCELLED_CODES:
            yield at_content(reply, _place(reply, error), "the failure's own name", show(error))
            return


def _place(reply: Reply, error: dict[str, Any]) -> Span:
    """Where an error's message stands in the content; its beginning where it is escaped there."""
    text = json.dumps(error.get("message"), ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass")
    at = max(0, reply.content.find(text))
    return Span(at, min(len(reply.content), at + len(text)))
