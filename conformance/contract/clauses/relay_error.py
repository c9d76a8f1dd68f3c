"""Relay: an upstream's error reaches the client under a status of its kind, with its reason and its code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.clauses.legs import speaks_of
from conformance.contract.evidence import at_content, at_end, at_exchange, at_head, at_path, show
from conformance.contract.kinds import Kind, error_object, inner_status, kind_of, kind_of_reply, reason_of
from conformance.contract.when import serving, stayed, the_reply
from conformance.exchange.answer import error_place
from conformance.exchange.dialects import vendor_error
from conformance.exchange.model import Endpoint, Exchange, Reply, StreamEvent
from conformance.wire.facts import Span


def _errors(x: Exchange) -> list[Reply]:
    """What members refused of the client's request; what a guard or a router is asked is a request of its own."""
    asked = [a for a in x.attempts or () if a.request.endpoint is not x.request.endpoint or speaks_of(x, a)]
    return [a.reply for a in asked if a.reply is not None and not a.reply.ok and a.reply.status > 0]


_SERVER = frozenset({500, 502, 503, 504})

#: What a client may see for each upstream status; 5xx may become another 5xx, the rest keeps its class.
_ALLOWED: dict[int, frozenset[int]] = {
    400: frozenset({400, 422}),
    401: frozenset({401, 403, 424, 500, 502, 503}),
    402: frozenset({402, 403, 429, 502, 503}),
    403: frozenset({401, 402, 403, 424, 429, 502, 503}),
    404: frozenset({400, 404, 410, 424, 502, 503}),
    408: frozenset({408, 429}) | _SERVER,
    409: frozenset({409, 429, 502, 503}),
    413: frozenset({400, 413, 422}),
    422: frozenset({400, 422}),
    429: frozenset({402, 403, 429, 503}),
    503: frozenset({429}) | _SERVER,
    504: frozenset({408}) | _SERVER,
    529: frozenset({429}) | _SERVER,
}
_BY_KIND: dict[Kind, frozenset[int]] = {
    Kind.MODEL_NOT_FOUND: frozenset({400, 404, 502, 503}),
    Kind.CONTEXT_LENGTH: frozenset({400, 413, 422}),
    Kind.QUOTA: frozenset({402, 403, 429, 502, 503}),
    Kind.RATE_LIMIT: frozenset({429, 503}),
    Kind.OVERLOADED: frozenset({429, 503, 529}),
    Kind.AUTHENTICATION: frozenset({401, 403, 500, 502, 503}),
    Kind.CONTENT_FILTER: frozenset({400, 403, 422}),
}


def allowed_statuses(reply: Reply) -> frozenset[int]:
    """The statuses that tell a client what an upstream's error reply says."""
    status = reply.status
    allowed = {status} | _ALLOWED.get(status, frozenset())
    if status >= 500:
        allowed |= _SERVER
    elif status not in _ALLOWED:
        allowed |= _SERVER if status < 400 else {400, 502}
    allowed |= _BY_KIND.get(kind_of_reply(reply), frozenset())
    stated = inner_status(reply.doc.value if reply.doc is not None and reply.doc.ok else None)
    return frozenset(allowed | ({stated} if stated else set()))


def _all_failed(x: Exchange) -> bool:
    if x.request.endpoint in (Endpoint.MODELS, Endpoint.MODEL):
        return False  # a gateway may know its models without asking
    return stayed(x) and bool(_errors(x)) and not any(attempt.succeeded for attempt in x.attempts or ())


#: What tells a client that no upstream answered: an outage, a time-out, a dependency that failed, a limit for now.
_OUTAGES = _SERVER | {408, 424, 429}


def _unanswered(x: Exchange) -> bool:
    """Whether members were asked and none sent so much as a status, or all have their ports closed."""
    if not stayed(x) or x.request.endpoint in (Endpoint.MODELS, Endpoint.MODEL) or x.attempts is None:
        return False
    if x.attempts:
        return not any(attempt.reply is not None and attempt.reply.status for attempt in x.attempts)
    terms, doc = x.terms, x.request.doc
    served = terms.known_models is not None and x.request.model in terms.known_models and doc is not None and doc.ok
    return bool(terms.members) and set(terms.members or ()) == terms.closed and served and terms.key_valid is not False


@clause(
    id="relay.status.kept",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="An upstream error reaches the client under a status of its kind",
    rationale="Clients retry by status: a 400 told as 5xx is retried for ever, a 429 told as 400 never, a 200 is an answer.",
    source="openai-api/errors",
    applies=lambda x: _all_failed(x) or _unanswered(x),
)
def status_kept(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    if not _errors(x):
        if reply.status >= 400 and reply.status < 500 and reply.status not in _OUTAGES:  # 2xx: relay.empty.not-success
            yield at_head(reply, "a status of 5xx: no upstream answered", f"status {reply.status}")
        return
    allowed: frozenset[int] = frozenset().union(*(allowed_statuses(error) for error in _errors(x)))
    if len(_errors(x)) < len(x.attempts or ()):
        allowed |= _SERVER
    if reply.status in allowed or (reply.ok and reply.events and reply.answer.errors):
        return
    if reply.ok and 300 <= _errors(x)[-1].status < 400:
        return  # the gateway followed the redirect, out of the capture's sight
    answered = serving(x)
    if reply.ok and answered is not None and answered.reply is not None and answered.reply.ok:
        return  # it is told the 2xx of a member that was asked after the error: what that was worth is judged elsewhere
    told = ", ".join(str(error.status) for error in _errors(x))
    yield at_head(
        reply, f"one of {', '.join(map(str, sorted(allowed)))} (the upstream answered {told})", f"status {reply.status}"
    )


def _own_key_refused(x: Exchange) -> bool:
    """Whether members refused nothing but the key that the gateway has of its own."""
    errors = _errors(x)
    return _all_failed(x) and all(
        error.status == 401 or kind_of_reply(error) is Kind.AUTHENTICATION for error in errors
    )


@clause(
    id="relay.status.own-key",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="A member that refuses the gateway's key is not told as a breakdown of the gateway",
    rationale="500 sends people to look for a bug: 502, 503 or 401 say where. Any 5xx is true, so it is no MUST.",
    source="rfc9110/status",
    applies=_own_key_refused,
)
def own_key_told(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    if reply.status == 500:
        yield at_head(reply, "401, 403, 502 or 503: a member refused the key", "status 500")


def _reason_owed(x: Exchange) -> bool:
    if not _all_failed(x) or the_reply(x).status < 400:
        return False
    last = _errors(x)[-1]
    text = _upstream_reason(last)
    if _blind(x) and (last.status not in (400, 422) or kind_of_reply(last) is Kind.MODEL_NOT_FOUND):
        return False  # what is the member's own matter stays inside; what is wrong with the request is the client's
    if kind_of_reply(last) is Kind.QUOTA and the_reply(x).status >= 500:
        return False  # the member's balance is empty, not the client's
    return last.status not in (401, 402, 403) and 8 <= len(text) <= 400 and not text.startswith(("{", "["))


def _blind(x: Exchange) -> bool:
    return "provider-blind" in x.declares


#: What another clause may ask to be taken out of a reason: quoted names, and words with digits or signs within.
_NAMES = re.compile(r"`[^`]*`|'[^']*'|\"[^\"]*\"|\S*[^\W_](?:\d|[/:@_.-]+\w)\S*")


def _retold(reason: str, text: str, *, reworded: bool) -> bool:
    """Whether `text` tells a reason: as it begins, a part of it, or most of its words that name nobody.

    With `reworded` one word is enough: who hides the member may say it in words of its own.
    """
    if reason[:40] in text or (len(text) >= 8 and text in reason):
        return bool(reason)
    if reworded:
        return any(word in text.lower() for word in re.findall(r"[^\W\d_]{5,}", reason.lower()))
    words = re.findall(r"[^\W\d_]{4,}", _NAMES.sub(" ", reason).lower())
    return 2 * sum(word in text.lower() for word in words) >= len(words) > 0


def _texts(value: Any) -> Iterator[str]:
    """Every text that stands in a JSON value."""
    rest = [value]
    while rest:
        found = rest.pop()
        if isinstance(found, str):
            yield found
        elif isinstance(found, dict | list):
            rest += found.values() if isinstance(found, dict) else found


def _stands(reason: str, reply: Reply) -> bool:
    """Whether a reason stands, as it begins, anywhere in a body, whose form other clauses judge."""
    doc = reply.doc.value if reply.doc is not None and reply.doc.ok else None
    texts = [*_texts(doc), reply.content.decode("utf-8", "replace")]
    return len(reason) >= 8 and any(reason[:40] in " ".join(text.split()) for text in texts)


def _upstream_reason(reply: Reply) -> str:
    return " ".join(reason_of(reply.doc.value if reply.doc is not None and reply.doc.ok else None).split())


@clause(
    id="relay.error.reason-kept",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="The upstream's reason reaches the client",
    rationale="Without the reason nobody can tell a bad request from an outage. Redaction can be on purpose: a SHOULD.",
    source="incident/errors",
    applies=_reason_owed,
)
def reason_text_kept(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    text = " ".join(reason_of(reply.doc.value if reply.doc is not None and reply.doc.ok else None).split())
    reasons = [_upstream_reason(error) for error in _errors(x)]
    told = any(_retold(reason, text, reworded=_blind(x)) for reason in reasons)
    if not told and not any(_stands(reason, reply) for reason in reasons):
        yield at_content(reply, Span(0, min(240, len(reply.content))), show(reasons[-1]), show(text))


#: Codes that clients branch on; openai-api/errors and the official clients name them.
_CODES = frozenset(
    {
        "context_length_exceeded",
        "content_filter",
        "rate_limit_exceeded",
        "insufficient_quota",
        "model_not_found",
        "invalid_api_key",
    }
)


#: The API's other name for a refused prompt.
_SAME_CODE = {"content_filter": "content_policy_violation"}


def _code(reply: Reply) -> str | None:
    found = error_object(reply.doc.value if reply.doc is not None and reply.doc.ok else None) or {}
    value = found.get("code")
    return value if isinstance(value, str) and value in _CODES else None


def _code_owed(x: Exchange) -> bool:
    if not _all_failed(x) or len(_errors(x)) != len(x.attempts or ()):
        return False
    code = _code(_errors(x)[-1])
    if code == "rate_limit_exceeded":  # openai-sdk/errors: a 429 or 503 is retried by its status alone
        return the_reply(x).status not in (429, 503)
    if code == "insufficient_quota":  # told as an outage: the member's balance is empty, not the client's
        return the_reply(x).status < 500
    return code in ("context_length_exceeded", "content_filter")


@clause(
    id="relay.error.code-kept",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A code that clients branch on survives the gateway",
    rationale="Agents compact on context_length_exceeded and stop on insufficient_quota; without the code they retry.",
    source="openai-api/errors",
    applies=_code_owed,
)
def code_kept(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    codes = {_code(error) for error in _errors(x)}
    codes |= {"content_policy_violation"} & {_SAME_CODE.get(code) for code in codes if code}
    found = error_object(reply.doc.value if reply.doc is not None and reply.doc.ok else None) or {}
    event = next((error for error in reply.answer.errors if isinstance(error, dict)), {})
    if not any(isinstance(code, str) and code in codes for code in (found.get("code"), event.get("code"))):
        path: tuple[str | int, ...] = ("error", "code")
        told = show(found.get("code")) if found else "no error object"
        if reply.doc is None:
            yield at_exchange(x, show(_code(_errors(x)[-1])), told)
        else:
            yield at_path(reply, path, show(_code(_errors(x)[-1])), told)


#: Kinds that a client acts on: it compacts its history, waits, tops its account up, or words its prompt anew.
_ACTED_ON = frozenset({Kind.CONTEXT_LENGTH, Kind.RATE_LIMIT, Kind.QUOTA, Kind.CONTENT_FILTER})
_LIMITS = frozenset({Kind.RATE_LIMIT, Kind.QUOTA})


def _kinds_said(x: Exchange) -> frozenset[Kind]:
    """The kinds of error of the member that served, or of all where each of them refused for such a reason."""
    replies = [attempt.reply for attempt in x.attempts or ()]
    if not replies or replies[-1] is None:
        return frozenset()
    if replies[-1].ok:
        if any(_foreign(replies[-1].events[number]) for number in replies[-1].answer.event_errors):
            return frozenset()
        return _ACTED_ON & {kind_of(show(error, 2000)) for error in replies[-1].answer.errors}
    kinds = {_kind_of_refusal(reply) for reply in replies if reply is not None}
    return frozenset(kinds) if kinds <= _ACTED_ON and None not in replies else frozenset()


def _foreign(event: StreamEvent) -> bool:
    """Whether an event is an error by its vendor's own form: what kind it is of, no API says."""
    value = event.doc.value if event.doc is not None and event.doc.ok else None
    return error_place(value) is None and vendor_error(value) is not None


def _kind_of_refusal(reply: Reply) -> Kind:
    kind = kind_of_reply(reply)
    return Kind.RATE_LIMIT if reply.status == 429 and kind not in _ACTED_ON else kind


def _kind_owed(x: Exchange) -> bool:
    if not stayed(x) or any(attempt.succeeded for attempt in x.attempts or ()):
        return False
    reply = the_reply(x)
    told = not reply.complete or bool(reply.answer.errors)  # one that is told as a success is relay.error.told's
    return reply.ok and bool(reply.events) and told and bool(_kinds_said(x))


@clause(
    id="relay.error.kind-kept",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="What kind of error broke a stream off reaches the client",
    rationale="After output there is no status: a rate limit, or a full context, told as an outage or a cut is tried again at once.",
    source="incident/streams",
    applies=_kind_owed,
)
def kind_kept(x: Exchange) -> Iterator[Finding]:
    reply, kinds = the_reply(x), _kinds_said(x)
    told = [kind_of(show(error, 2000)) for error in reply.answer.errors]
    if kinds & _LIMITS:
        kinds |= _LIMITS  # the API itself tells both as 429
    if not kinds.intersection(told):
        names = " or ".join(sorted(kind.value for kind in kinds))
        what = show(reply.answer.errors[0]) if reply.answer.errors else "no error: the stream is cut"
        yield at_end(reply, f"an error that says {names}", what)
