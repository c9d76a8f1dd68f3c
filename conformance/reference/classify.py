"""What a member's error means: from a status and a body, or an error inside a success, to one Failure.

Pure tables and patterns. The words that decide are the members' own, in whatever family of shapes they came.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from email.utils import parsedate_to_datetime

from conformance.reference.failure import CODE_OF_KIND, Failure, Kind, Names, type_of
from conformance.reference.http import ResponseHead
from conformance.reference.reason import Reason, clean_message, read_reason

KIND_OF_STATUS = {
    401: Kind.AUTH, 402: Kind.QUOTA, 403: Kind.AUTH, 404: Kind.RETIRED, 405: Kind.UNAVAILABLE, 408: Kind.UNAVAILABLE,
    409: Kind.UNAVAILABLE, 410: Kind.RETIRED, 421: Kind.UNAVAILABLE, 425: Kind.UNAVAILABLE, 429: Kind.RATE_LIMIT,
}  # fmt: skip
#: Statuses that a client gets as they came; any other becomes the gateway's own word for its kind.
KEPT = frozenset({400, 402, 404, 408, 409, 413, 414, 415, 422, 424, 425, 428, 429, 431, 451, 500, 501, 502, 503, 504})
STATUS_OF_KIND = {Kind.RETIRED: 404, Kind.RATE_LIMIT: 429, Kind.QUOTA: 429, Kind.UNAVAILABLE: 502, Kind.REQUEST: 400}
#: What an in-band error without a status says by its code or type.
STATUS_OF_WORD = {
    "rate_limit_exceeded": 429, "rate_limit_error": 429, "rate_limited": 429, "insufficient_quota": 429,
    "overloaded_error": 503, "server_is_overloaded": 503, "service_unavailable_error": 503,
    "invalid_request_error": 400, "context_length_exceeded": 400, "content_filter": 400,
    "model_not_found": 404, "not_found_error": 404,
    "authentication_error": 401, "invalid_api_key": 401, "permission_error": 403,
}  # fmt: skip

_CONTEXT = re.compile(
    r"context[ _](?:length|size|window)|maximum context|prompt is too long|exceed_context|input is too long"
    r"|too many input tokens|request (?:body )?too (?:long|large)|max(?:imum)? input (?:length|tokens)",
    re.IGNORECASE,
)
_MODEL = re.compile(
    r"not a valid model|no such model|invalid model\b|model[ _]not[ _](?:exist|found|available|supported)"
    r"|non-serverless model|models?\b.{0,120}?(?:does not exist|doesn't exist|not found|no longer available"
    r"|is not supported by any)"
    r"|no endpoints found for|unknown model|invalid_model|requested entity was not found",
    re.IGNORECASE | re.DOTALL,
)
_QUOTA = re.compile(
    r"insufficient|exceeded[ _](?:your |_)?current[ _]quota|requires more credits|paid balance|out of credits"
    r"|余额|欠费",
    re.IGNORECASE,
)
_WAIT = re.compile(r"(?:try again|retry)\s+(?:in|after)\s+(\d{1,5})(?:\.(\d+))?\s*s", re.IGNORECASE)


def from_response(head: ResponseHead, body: bytes, names: Names) -> Failure:
    """The failure that a response other than 200 is."""
    status = head.status if 400 <= head.status <= 599 else 502
    reason = read_reason(body)
    failure = classify(status, reason, names, passed_headers(head.headers))
    return replace(
        failure,
        outage=failure.outage and status == head.status,
        names_model=status in (400, 404) and _names_model(reason),
        wait=seconds_to_wait(head),
    )


def seconds_to_wait(head: ResponseHead) -> float | None:
    """The seconds that a 429 or 503 asks for, None when it asks for none; a date counts from the response's own."""
    told = head.get("retry-after").strip()
    if head.status not in (429, 503) or not told:
        return None
    # RFC 9110 section 10.2.3: delay-seconds, or an HTTP-date.
    if told.isascii() and told.isdigit() and len(told) <= 9:
        return float(told)
    try:
        until, sent = (parsedate_to_datetime(text) for text in (told, head.get("date")))
        return max(0.0, (until - sent).total_seconds())
    except (ValueError, TypeError):
        return None


def _names_model(reason: Reason) -> bool:
    return not reason.html and _MODEL.search(f"{reason.code} {reason.type} {reason.message}") is not None


def from_error(reason: Reason, names: Names, headers: tuple[tuple[str, str], ...] = ()) -> Failure:
    """The failure that an error inside a successful response is."""
    status = reason.status or STATUS_OF_WORD.get(reason.code) or STATUS_OF_WORD.get(reason.type) or 502
    return classify(status, reason, names, headers)


def classify(status: int, reason: Reason, names: Names, headers: tuple[tuple[str, str], ...]) -> Failure:
    """The failure for a status (4xx, 5xx) and the reason given with it."""
    kind = _kind(status, f"{reason.code} {reason.type} {reason.message}")
    in_context = kind is Kind.REQUEST and _CONTEXT.search(f"{reason.code} {reason.type} {reason.message}") is not None
    told = _told_status(status, kind, in_context)
    wait = _WAIT.search(reason.message)
    if told == 429 and wait and not any(name == "retry-after" for name, _ in headers):
        headers = (*headers, ("retry-after", str(int(wait[1]) + (1 if wait[2] else 0))))
    return Failure(
        kind=kind,
        status=told,
        message=_message(status, kind, reason, names),
        type=_type(kind, reason, status, told),
        code="context_length_exceeded" if in_context else _code(kind, reason, status),
        param=reason.param or ("messages" if in_context else "model" if kind is Kind.RETIRED else None),
        headers=headers,
        extra=dict(reason.extra) if kind is Kind.REQUEST else {},
        moves_on=kind is not Kind.REQUEST,
        outage=kind is Kind.UNAVAILABLE and status >= 500,
    )


def passed_headers(headers: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The response fields that a client may see: Retry-After and the rate limit's, each once, short and printable."""
    passed: dict[str, str] = {}
    for name, value in headers:
        wanted = name == "retry-after" or name.startswith("x-ratelimit-")
        if wanted and name not in passed and value and len(value) <= 64 and value.isascii() and value.isprintable():
            passed[name] = value
    return tuple(passed.items())


def _kind(status: int, text: str) -> Kind:
    if _CONTEXT.search(text) and status not in (401, 403, 404, 429):
        return Kind.REQUEST
    if _QUOTA.search(text) and status != 400:
        return Kind.QUOTA
    if status in (400, 422) and _MODEL.search(text):
        return Kind.RETIRED
    if status in KIND_OF_STATUS:
        return KIND_OF_STATUS[status]
    return Kind.REQUEST if status < 500 and status in KEPT else Kind.UNAVAILABLE


def _told_status(status: int, kind: Kind, in_context: bool) -> int:
    if kind is Kind.AUTH:
        return 502
    if kind is Kind.RETIRED:
        return 404
    if kind is Kind.QUOTA:
        return status if status in (402, 429) else 429
    if in_context and status >= 500:
        return 400
    if status == 529:
        return 503
    return status if status in KEPT else STATUS_OF_KIND[kind]


def _message(status: int, kind: Kind, reason: Reason, names: Names) -> str:
    if kind is Kind.RETIRED:
        return f"The model `{names.alias}` does not exist or you do not have access to it."
    if kind is Kind.AUTH:
        return "The gateway could not authenticate with the upstream."
    if reason.html:
        return f"api error {status}: the upstream sent an HTML page"
    if names.raw and reason.message:
        return reason.message
    return clean_message(reason.message, names.hidden) or f"api error {status}: unknown error"


def _code(kind: Kind, reason: Reason, status: int) -> str:
    if kind in (Kind.RETIRED, Kind.AUTH, Kind.QUOTA):
        return CODE_OF_KIND[kind]
    return _word(reason.code, status, status) or CODE_OF_KIND[kind]


def _type(kind: Kind, reason: Reason, status: int, told: int) -> str:
    if kind in (Kind.RETIRED, Kind.AUTH):
        return type_of(told)
    return _word(reason.type, status, told) or type_of(told)


def _word(word: str, *statuses: int) -> str:
    """`word`, unless it only repeats the status."""
    return "" if word in map(str, statuses) else word
