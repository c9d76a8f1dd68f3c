"""Which failures of a member another member can make good, each with the name that a target declares it by. Pure.

"failover" promises them all; a target that names some ("failover:429") promises those. Knows nothing of how a request
came out.
"""

from __future__ import annotations

import re
from collections.abc import Set
from enum import StrEnum

from conformance.contract.evidence import show
from conformance.contract.kinds import Kind, kind_of, kind_of_reply
from conformance.exchange.model import Attempt, Reply
from conformance.wire.transcript import End

PROMISE = "failover"


class Cause(StrEnum):
    """Why a member's answer is no answer, by what a gateway can tell apart."""

    MODEL_404 = "404-model"  # 404 or 410 that names the model
    ROUTER_404 = "404-router"  # any other 404 or 410: a router behind the member has nobody left
    MODEL_400 = "400-model"  # 400 that says that there is no such model
    RATE_LIMIT = "429"
    SERVER_ERROR = "5xx"  # 500, 502, 503 or 504, which every list of retryable statuses has
    OTHER_STATUS = "other-status"  # any other 5xx (529: overloaded), 409 or 425: a state that passes
    CREDENTIALS = "401-403"  # and 402: the member's own key or account
    CONNECTION = "connection"  # refused, reset or closed before a response head
    TIMEOUT = "timeout"  # no head, or no output, in time; or 408
    BROKEN_ANSWER = "broken-answer"  # 2xx that ends without output: empty, broken, or only an error

    @property
    def capability(self) -> str:
        """The word by which a target promises it."""
        return f"{PROMISE}:{self.value}"


#: How routers word that all of their own deployments failed, or are left alone for now (incident A).
_ROUTER = re.compile(r"no fallback model group|available model group|no deployments available", re.I)
_ACCOUNT_WORDS = ("organization", "account", "api key", "api_key", "permission_error", "billing", "quota", "key")


def router_exhausted(reply: Reply) -> bool:
    """Whether an error is a router's word that it has nobody left for now: asked again, it picks another deployment."""
    return reply.status == 404 and _ROUTER.search(reply.content[:4000].decode("utf-8", "replace")) is not None


def promised(cause: Cause, declared: Set[str]) -> bool:
    """Whether a target that declares this promises failover for `cause`: by its name, or by naming none at all."""
    named = any(name.startswith(f"{PROMISE}:") for name in declared)
    return (cause.capability if named else PROMISE) in declared


def cause_of(attempt: Attempt) -> Cause | None:
    """Why another member should be asked after this attempt; None when it succeeded, or would fail everywhere."""
    if attempt.succeeded:
        return None
    reply = attempt.reply
    if reply is None or not reply.status:
        return Cause.TIMEOUT if attempt.end in (End.STALL, End.HANGUP) else Cause.CONNECTION
    if reply.sealed:
        return None  # nobody knows what it says
    if reply.ok:
        # An error inside a 2xx that is about the request itself fails the same way everywhere.
        about_request = any(kind_of(show(error, 2000)) is Kind.CONTEXT_LENGTH for error in reply.answer.errors)
        if reply.answer.output or about_request:
            return None
        silent = attempt.end in (End.STALL, End.HANGUP) and not reply.answer.errors and not reply.answer.finished
        return Cause.TIMEOUT if silent else Cause.BROKEN_ANSWER
    kind = kind_of_reply(reply)
    return None if kind is Kind.CONTEXT_LENGTH else _by_status(reply, kind)


def _by_status(reply: Reply, kind: Kind) -> Cause | None:
    status, text = reply.status, reply.content[:2000].decode("utf-8", "replace").lower()
    if status in (404, 410):
        named = kind is Kind.MODEL_NOT_FOUND and not _ROUTER.search(text)
        return Cause.MODEL_404 if named else Cause.ROUTER_404
    if status == 400:
        # openai-api/errors: a 400 is the caller's, unless it names the model: then this member does not serve it.
        return Cause.MODEL_400 if kind is Kind.MODEL_NOT_FOUND else None
    if status == 403:
        return Cause.CREDENTIALS if any(word in text for word in _ACCOUNT_WORDS) else None
    fixed = {401: Cause.CREDENTIALS, 402: Cause.CREDENTIALS, 408: Cause.TIMEOUT, 429: Cause.RATE_LIMIT}
    if status in (500, 502, 503, 504):
        return Cause.SERVER_ERROR
    return fixed.get(status, Cause.OTHER_STATUS if status >= 500 or status in (409, 425) else None)
