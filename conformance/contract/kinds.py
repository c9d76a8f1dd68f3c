"""Kinds of failure, recognised from an error's status and words: what a provider meant, whatever envelope it chose.

From any error body to its reason text, its code and its kind. The patterns come from public reports; none is a norm.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Any

from conformance.exchange.members import text_in
from conformance.exchange.model import Reply


class Kind(StrEnum):
    """What went wrong, as far as the words tell."""

    MODEL_NOT_FOUND = "model-not-found"
    CONTEXT_LENGTH = "context-length"
    QUOTA = "quota"
    RATE_LIMIT = "rate-limit"
    CONTENT_FILTER = "content-filter"
    AUTHENTICATION = "authentication"
    OVERLOADED = "overloaded"
    OTHER = "other"


_PATTERNS: tuple[tuple[Kind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        (
            Kind.CONTEXT_LENGTH,
            r"context[ _]length|maximum context|available context size|exceed_context|prompt is too long|request too long"
            r"|context window|too many input tokens|max(imum)? input (length|tokens)|request body too large for",
        ),
        (
            Kind.QUOTA,
            r"insufficient (balance|credits?|quota|funds)|insufficient_(quota|balance)|balance is too low|exceeded (your |its )?current quota"
            r"|exceeded_current_quota|requires more credits|requires paid balance|account .{0,60}(not active|suspended)"
            r"|余额不足|已欠费|billing details",
        ),
        (
            Kind.CONTENT_FILTER,
            r"content[_ ]filter|content management policy|responsible ?ai|content_policy|prohibited_content",
        ),
        (
            Kind.MODEL_NOT_FOUND,
            r"is not a valid model|no such model|model_not_found|model not (found|exist)|unknown model|invalid model\b"
            r"|\bmodels?\b[^.]{0,120}\b(does not exist|do(es)?n't exist|not found|not available|not supported by any|is not available|not exist)"
            r"|no endpoints found for\b|requested entity was not found|model_not_(available|supported)|non-serverless model",
        ),
        (
            Kind.RATE_LIMIT,
            r"rate.?limit|too many requests|receiving too many|retry after \d|tokens per min|try again in \d",
        ),
        (Kind.OVERLOADED, r"overloaded|over capacity|high demand|capacity exceeded|unavailable"),
        (
            Kind.AUTHENTICATION,
            r"incorrect api key|invalid api key|api key not valid|authentication fails|invalid_api_key|unauthori[sz]ed|no auth",
        ),
    )
)


_FAILING = re.compile(
    r"err(or)?\b|error|fail|time.?out|abort|cancel|interrupt|unavailable|overload|malformed|exception", re.IGNORECASE
)


def failing(reason: Any) -> bool:
    """Whether a provider's own finish reason says that the generation failed."""
    return isinstance(reason, str) and _FAILING.search(reason) is not None


#: So much of a text is searched for what it speaks of.
_SEARCHED = 4000


def kind_of(text: str) -> Kind:
    """The kind that `text` speaks of."""
    text = text[:_SEARCHED]
    for kind, pattern in _PATTERNS:
        if pattern.search(text):
            return kind
    return Kind.OTHER


def error_object(value: Any) -> dict[str, Any] | None:
    """The object that holds an error's fields, in any of the families seen, or None."""
    if isinstance(value, list) and value:
        value = value[0]
    if not isinstance(value, dict):
        return None
    error = value.get("error")
    if isinstance(error, dict):
        return error
    errors = value.get("errors")
    if isinstance(errors, list) and errors and isinstance(errors[0], dict):
        return errors[0]
    return value


def reason_of(value: Any) -> str:
    """The words of an error body for a person: message, msg, error or detail; "" when there are none.

    A detail may be a list: what is wrong with each of several members.
    """
    found = error_object(value)
    for candidate in (found, value if isinstance(value, dict) else None):
        if candidate is None:
            continue
        for name in ("message", "msg", "error", "detail", "title"):
            text = candidate.get(name)
            if name == "detail" and isinstance(text, list):
                text = "; ".join(text_in(item, "msg") for item in text if text_in(item, "msg"))
            if isinstance(text, str) and text.strip():
                return text.strip()
    return ""


def kind_of_reply(reply: Reply) -> Kind:
    """The kind of an error reply, by its code, its words, or its text."""
    value = reply.doc.value if reply.doc is not None and reply.doc.ok else None
    found = error_object(value) or {}
    words = " ".join(str(found.get(name) or "") for name in ("code", "type"))
    text = reason_of(value) or reply.content[:2000].decode("utf-8", "replace")
    kind = kind_of(words)
    return kind if kind is not Kind.OTHER else kind_of(text)


_NO_MODEL = re.compile(
    r"not exist|n't exist|not found|no such|unknown model|invalid model|not a valid model|model_not_found", re.I
)


def says_no_model(reply: Reply) -> bool:
    """Whether an error says that there is no such model, not merely that it is not available now."""
    return _NO_MODEL.search(reply.content[:4000].decode("utf-8", "replace")) is not None


def inner_status(value: Any) -> int | None:
    """The HTTP status that an error body itself states (a code of three digits), or None."""
    found = error_object(value)
    for candidate in (found, value if isinstance(value, dict) else None):
        if candidate is None:
            continue
        for name in ("code", "status", "status_code", "raw_status_code", "http_code"):
            stated = candidate.get(name)
            if isinstance(stated, str) and stated.isdigit():
                stated = int(stated)
            if isinstance(stated, int) and not isinstance(stated, bool) and 400 <= stated <= 599:
                return stated
    return None
