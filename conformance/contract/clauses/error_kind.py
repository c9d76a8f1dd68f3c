"""Errors: the status that an error's own code, or its type, is told under.

A member that said both itself is only relayed; kinds that are known by their words have clauses of their own.
"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.clauses.error_request import faulty_request
from conformance.contract.envelope import enveloped, error_of
from conformance.contract.evidence import at_head, show
from conformance.contract.kinds import Kind, error_object, kind_of_reply
from conformance.contract.when import the_reply
from conformance.exchange.model import Attempt, Exchange

_SERVER = frozenset(range(500, 600))
_CALLER = frozenset(range(400, 500))
#: A gateway whose members all refused, each for a reason of its own, may tell that as an outage.
_OUTAGE = frozenset({424, 502, 503})

#: Kinds whose status clauses of their own decide (error.model-not-found.status and the like).
_DECIDED = frozenset({Kind.MODEL_NOT_FOUND, Kind.CONTEXT_LENGTH, Kind.QUOTA})
#: Codes whose status clauses of their own decide.
_CODES = ("rate_limit_exceeded", "invalid_api_key")

#: What each type is told under, here and by Anthropic, whose types gateways pass on. The API itself has told an
#: overload as a server_error under 429.
_OF_TYPE = {
    "server_error": _SERVER | {408, 429},
    "service_unavailable_error": _SERVER | {408, 429},
    "overloaded_error": _SERVER | {408, 429},
    "timeout_error": _SERVER | {408, 429},
    "rate_limit_error": frozenset({413, 429, 529}) | _OUTAGE,
    "authentication_error": frozenset({401, 403}) | _OUTAGE,
    "permission_error": frozenset({401, 402, 403, 404}) | _OUTAGE,
    "not_found_error": frozenset({400, 404, 410}) | _OUTAGE,
}
_OF_CODE = {
    "server_error": _SERVER | {408, 429},
    "content_filter": _CALLER,
    "content_policy_violation": _CALLER,
}


def _said(x: Exchange, name: str) -> str:
    """The error's `type` or `code`, where it is a text."""
    value = error_of(x).get(name)
    return value if isinstance(value, str) else ""


def _relayed(x: Exchange, name: str) -> bool:
    """Whether a member said the same under this status, or a pool's outage is told in the words of one that refused."""
    return any(_same(attempt, _said(x, name), name, the_reply(x).status) for attempt in x.attempts or ())


def _same(attempt: Attempt, value: str, name: str, status: int) -> bool:
    reply = attempt.reply
    if reply is None or reply.status < 400 or not (reply.status == status or status in _OUTAGE):
        return False
    found = error_object(reply.doc.value if reply.doc is not None and reply.doc.ok else None) or {}
    return bool(found.get(name) == value)


def _coded(x: Exchange, code: str) -> bool:
    return enveloped(x) and _said(x, "code") == code


@clause(
    id="error.rate-limit.status",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="An error with the code rate_limit_exceeded has the status 429",
    rationale="SDKs raise RateLimitError on 429 and wait: as a 500 it is hammered again, as a 400 or 403 it is given up.",
    source="openai-api/errors",
    applies=lambda x: _coded(x, "rate_limit_exceeded"),
)
def rate_limit_status(x: Exchange) -> Iterator[Finding]:
    # 413 is what Groq answers to one request that is larger than the limit; 503 says to come back later as well.
    if the_reply(x).status not in (413, 429, 503) and not _relayed(x, "code"):
        yield at_head(the_reply(x), "status 429", f"status {the_reply(x).status} with code rate_limit_exceeded")


@clause(
    id="error.invalid-key.status",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="An error with the code invalid_api_key has the status 401",
    rationale="SDKs raise AuthenticationError on 401 alone: a 500 is retried with the same key, a 400 or 404 points elsewhere.",
    source="openai-api/errors",
    applies=lambda x: _coded(x, "invalid_api_key"),
)
def invalid_key_status(x: Exchange) -> Iterator[Finding]:
    # A key of the gateway's own that its members refuse is an outage to the client.
    if the_reply(x).status not in _OUTAGE | {401} and not _relayed(x, "code"):
        yield at_head(the_reply(x), "status 401", f"status {the_reply(x).status} with code invalid_api_key")


def _caller_blamed(x: Exchange) -> bool:
    if not enveloped(x) or _said(x, "type") != "invalid_request_error" or _said(x, "code") in _CODES:
        return False
    return kind_of_reply(the_reply(x)) not in _DECIDED and x.terms.key_valid is not False and not faulty_request(x)


@clause(
    id="error.invalid-request.status",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="An invalid_request_error is told under 4xx",
    rationale="Its type blames the caller, a 5xx the server: SDKs go by the status, and send what can never succeed again.",
    source="openai-api/errors",
    applies=_caller_blamed,
)
def invalid_request_status(x: Exchange) -> Iterator[Finding]:
    status = the_reply(x).status
    # RFC 9110, section 15.6.2: what is not implemented is told by 501. Unseen members may be out of order.
    free = status == 501 or (x.attempts is None and status in (502, 503, 504))
    if status >= 500 and not free and not _relayed(x, "type"):
        yield at_head(the_reply(x), "status 400", f"status {the_reply(x).status} with type invalid_request_error")


def _typed(x: Exchange) -> bool:
    if not enveloped(x) or kind_of_reply(the_reply(x)) in _DECIDED or x.terms.key_valid is False or faulty_request(x):
        return False
    return _said(x, "type") in _OF_TYPE or _said(x, "code") in _OF_CODE


@clause(
    id="error.type.status",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="An error's status is one of its type and its code",
    rationale="A server_error under 400 is given up, a content filter under 500 retried. No norm ties types to statuses: a SHOULD.",
    source="openai-api/errors",
    applies=_typed,
)
def type_status(x: Exchange) -> Iterator[Finding]:
    status = the_reply(x).status
    for name, table in (("type", _OF_TYPE), ("code", _OF_CODE)):
        value = _said(x, name)
        if value in table and status not in table[value] and not _relayed(x, name):
            yield at_head(the_reply(x), f"a status of {name} {show(value)}", f"status {status}")
            return
