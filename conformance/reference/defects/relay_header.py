"""Defects of what belongs to one connection, one hop or one attempt: passed on, kept for the next, told too late."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from conformance.reference.behaviour import Behaviour, ErrorReply, Fields
from conformance.reference.call import Call
from conformance.reference.config import Member
from conformance.reference.defects.entry import defect
from conformance.reference.failure import Failure


def _passing(*names: str) -> Callable[[Fields, int, Call], Fields]:
    """The member's fields of those names go on to the client."""

    def hook(headers: Fields, status: int, call: Call) -> Fields:
        told = call.answered.headers if call.answered is not None else ()
        return (*headers, *((name, value) for name, value in told if name.lower() in names))

    return hook


def _noted(failure: Failure, call: Call) -> Failure:
    call.memo["waits"] = [field for field in failure.headers if field[0] == "retry-after"]
    return failure


def _merged(headers: Fields, status: int, call: Call) -> Fields:
    """What a failed attempt said of waiting stays in the response that is being built."""
    return (*headers, *call.memo.get("waits", ())) if status < 400 else headers


def _following(members: Sequence[Member], call: Call) -> Sequence[Member]:
    """Who is asked next is reached by another name, as a redirect would have it, with the first one's key."""
    first, *rest = members
    return first, *(replace(member, base_url=_elsewhere(member.base_url), api_key=first.api_key) for member in rest)


def _elsewhere(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=f"localhost:{parts.port}").geturl()


def _begun(failure: Failure, failures: Sequence[Failure], call: Call) -> Failure:
    call.memo["begun"] = call.stream
    return failure


def _in_stream(error: ErrorReply, call: Call) -> ErrorReply:
    return replace(error, status=200, headers=()) if call.memo.get("begun") else error


def _event(body: bytes, status: int, call: Call) -> bytes:
    return b"data: " + body + b"\n\n" if call.memo.get("begun") else body


def _as_events(headers: Fields, status: int, call: Call) -> Fields:
    if not call.memo.get("begun"):
        return headers
    kept = (field for field in headers if field[0] not in ("content-type", "content-length"))
    return ("content-type", "text/event-stream"), *kept


TABLE = (
    # http-party/node-http-proxy#1488
    defect(
        "connection-fields-passed-on",
        "A field that the member's Connection names reaches the client",
        "relay.header.connection",
        Behaviour(headers=_passing("x-shard")),
        "http.connection-listed",
    ),
    # carapaceproxy#583
    defect(
        "hop-fields-passed-on",
        "The member's Keep-Alive reaches the client",
        "relay.header.hop-by-hop",
        Behaviour(headers=_passing("keep-alive")),
        "http.hop-by-hop",
    ),
    # spring-cloud/spring-cloud-gateway#1957
    defect(
        "wait-of-failed-merged",
        "An answer carries the Retry-After of a member that failed before",
        "relay.header.retry-after",
        Behaviour(failure=_noted, headers=_merged),
        "retry-after.pool",
    ),
    defect(
        "key-follows-redirect",
        "A redirect is followed to another host with the key of the member that redirects",
        "relay.redirect.key relay.request.key",
        Behaviour(members=_following),
        "pool.redirected-elsewhere",
    ),
    # headroomlabs-ai/headroom#3083
    defect(
        "stream-begun-too-early",
        "When all members failed, a stream is begun with 200 to tell it",
        "stream.error.early",
        Behaviour(conclusion=_begun, error=_in_stream, body=_event, headers=_as_events),
        "lifecycle.all-server-errors-stream",
    ),
)
