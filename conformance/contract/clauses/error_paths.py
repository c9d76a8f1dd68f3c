"""Errors and browsers: what stands at the edge of the API, a path that is not served and the question before a call.

Knows paths, statuses and fields; whether a path is one of the API's is decided in `when`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.envelope import body_of
from conformance.contract.evidence import at_content, at_head, show
from conformance.contract.when import UNSERVED, path_of, speaks_openai, stayed, the_reply
from conformance.exchange.assemble import endpoint_of
from conformance.exchange.model import Endpoint, Exchange, Reply, Request
from conformance.wire.facts import Span

#: A path below the API's root; what a gateway shows to people or to monitors may stand beside its operations.
_BASE = re.compile(r"(?:^|/)v1/\S+")
_PAGES = re.compile(
    r"/(?:docs|redoc|swagger[^/]*|openapi(?:\.\w+)?|ui|dashboard|login|sso|static|assets|health\w*|metrics|status|ready|live|ping)"
    r"(?:/|$)"
)


def _below_root(request: Request) -> bool:
    path = path_of(request)
    return _BASE.search(path) is not None and _PAGES.search(path) is None and speaks_openai(request)


def _unserved(x: Exchange) -> bool:
    """Whether a path is asked for that is no operation of these clauses. A gateway may serve it, or pass it on."""
    if not stayed(x) or x.request.method in ("HEAD", "OPTIONS") or endpoint_of(x.request.target) is not Endpoint.OTHER:
        return False
    return _below_root(x.request) and not the_reply(x).sealed


def _page(x: Exchange) -> bool:
    """Whether a web page is told as what was asked for."""
    wanted = "text/html" in (x.request.head.get("accept") or "") or path_of(x.request).endswith("/content")
    return the_reply(x).ok and the_reply(x).media_type == "text/html" and not wanted


@clause(
    id="error.unserved.envelope",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="A path of the API that is not served is answered with an error object",
    rationale="A web page, under 200 even, or a framework's own body is no answer to an SDK. The API says what is wrong; no norm lists such paths: a SHOULD.",
    source="openai-api/errors",
    applies=_unserved,
)
def unserved_envelope(x: Exchange) -> Iterator[Finding]:
    reply, body = the_reply(x), body_of(x)
    if _page(x):
        yield at_head(reply, "status 404 with an error object", f"status {reply.status} with a page")
    elif reply.status in UNSERVED and not (isinstance(body, dict) and isinstance(body.get("error"), dict)):
        text = reply.content[:80].decode("utf-8", "replace") if body is None else show(body)
        yield at_content(reply, Span(0, min(240, len(reply.content))), '{"error": {...}}', text or "an empty body")


def _preflight(x: Exchange) -> bool:
    head = x.request.head
    asked = head.get("origin") and head.get("access-control-request-method")
    ours = endpoint_of(x.request.target) is not Endpoint.OTHER
    return stayed(x) and x.request.method == "OPTIONS" and bool(asked) and ours


def _words(reply: Reply, name: str) -> set[str]:
    values = reply.message.head.all(name)
    return {word.strip().lower() for value in values for word in value.split(",") if word.strip()}


def _refused_fields(x: Exchange) -> list[str]:
    """The fields that a browser asks for and is not allowed: `*` is every one but Authorization."""
    allowed = _words(the_reply(x), "access-control-allow-headers")
    asked = (x.request.head.get("access-control-request-headers") or "").lower().split(",")
    names = [name.strip() for name in asked if name.strip()]
    return [name for name in names if name not in allowed and ("*" not in allowed or name == "authorization")]


@clause(
    id="http.preflight.allowed",
    level=Level.SHOULD,
    basis=Basis.PROTOCOL,
    title="A browser's preflight for an operation is answered so that the call may follow",
    rationale="Without it no web page can call. A gateway may want no browser for its client: a SHOULD.",
    source="fetch/preflight",
    applies=_preflight,
)
def preflight_allowed(x: Exchange) -> Iterator[Finding]:
    reply, head = the_reply(x), x.request.head
    origin, method = head.get("origin") or "", (head.get("access-control-request-method") or "").lower()
    told = reply.header("access-control-allow-origin") or ""
    allowed = _words(reply, "access-control-allow-methods")
    if not reply.ok:
        yield at_head(reply, "status 204 (or another 2xx)", f"status {reply.status}")
    elif told not in ("*", origin):
        yield at_head(
            reply, f"Access-Control-Allow-Origin: {origin}", told or "none", field="access-control-allow-origin"
        )
    elif method not in {"get", "head", "post", *allowed} and "*" not in allowed:
        what = f"{method.upper()} among the allowed methods"
        yield at_head(reply, what, show(sorted(allowed)), field="access-control-allow-methods")
    elif _refused_fields(x):
        what = f"{_refused_fields(x)[0]} among the allowed fields"
        told = reply.header("access-control-allow-headers") or "none"
        yield at_head(reply, what, told, field="access-control-allow-headers")
