"""Header fields that are one connection's, one hop's or one attempt's alone: they go no further, up or down."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.evidence import at_exchange, at_head
from conformance.contract.when import replied, serving, the_reply
from conformance.exchange.model import Attempt, Exchange, Reply
from conformance.wire.http1 import Head

#: RFC 9110, section 7.6.1: what intermediaries take off whether it is listed or not, and what proxies ask and answer
#: of one another (sections 11.7.1 and 11.7.2). Transfer-Encoding is judged by the framing.
_HOP = ("keep-alive", "te", "upgrade", "proxy-connection", "proxy-authenticate", "proxy-authorization")
#: Names that Connection lists for what it is itself, or that each side writes anew.
_UNTOLD = frozenset(
    {"close", "transfer-encoding", "trailer", "connection", "http2-settings", "content-type", "content-length", *_HOP}
    | {"content-encoding", "date", "server", "host", "cache-control", "vary", "via", "user-agent", "accept"}
)

#: From a head to those of its fields that are of one sort, with their values.
Fields = Callable[[Head], Iterator[tuple[str, str]]]

#: What speaks of another protocol says so to the client itself.
_CHANGES = (101, 407, 426)


def _listed(head: Head) -> Iterator[tuple[str, str]]:
    """The fields that a message's Connection names, with their values."""
    names = (name.strip().lower() for value in head.all("connection") for name in value.split(","))
    for name in dict.fromkeys(names):
        if name and name not in _UNTOLD:
            yield from ((name, value) for value in head.all(name))


def _hop(head: Head) -> Iterator[tuple[str, str]]:
    """The fields of a message that are one hop's, with their values; how long a connection is kept many say alike."""
    for name in _HOP:
        for value in head.all(name):
            if name != "keep-alive" or "=" not in value or "," in value:
                yield name, value


def _answered(x: Exchange) -> Attempt | None:
    """The serving attempt, where both sides have a response that is no change of protocol."""
    attempt = serving(x) if replied(x) and the_reply(x).status not in _CHANGES else None
    return attempt if attempt is not None and attempt.reply is not None and attempt.reply.status else None


def _reply_of(attempt: Attempt) -> Reply:
    assert attempt.reply is not None
    return attempt.reply


def _up(x: Exchange, fields: list[tuple[str, str]], why: str) -> Iterator[Finding]:
    """The dispatches that carry one of the client's `fields`."""
    for number, attempt in enumerate(x.attempts or ()):
        for name, value in fields:
            if value in attempt.request.head.all(name):
                actual = f"{name}: {value}" if name != "proxy-authorization" else f"the client's {name}"
                yield at_exchange(x, f"no {name}: {why}", actual, leg=f"upstream:{number}")


def _down(x: Exchange, fields: list[tuple[str, str]], why: str) -> Iterator[Finding]:
    """Those of a member's `fields` that the client got."""
    reply = the_reply(x)
    for name, value in fields:
        if value in reply.message.head.all(name):
            yield at_head(reply, f"no {name}: {why}", f"{name}: {value}", field=name)


def _sent(x: Exchange, fields: Fields) -> list[tuple[str, str]]:
    """Those of the client's fields that are of that sort."""
    return list(fields(x.request.head)) if x.attempts else []


def _got(x: Exchange, fields: Fields) -> list[tuple[str, str]]:
    """The same of the member's."""
    attempt = _answered(x)
    return list(fields(_reply_of(attempt).message.head)) if attempt is not None else []


def _passed_on(x: Exchange, fields: Fields, why: str) -> Iterator[Finding]:
    yield from _up(x, _sent(x, fields), why)
    yield from _down(x, _got(x, fields), why)


@clause(
    id="relay.header.connection",
    level=Level.MUST,
    basis=Basis.PROTOCOL,
    title="A field that Connection names goes no further than that connection",
    rationale="Such a field is between two neighbours: passed on it speaks to somebody for whom it was not meant.",
    source="rfc9110/connection",
    applies=lambda x: bool(_sent(x, _listed) or _got(x, _listed)),
)
def connection(x: Exchange) -> Iterator[Finding]:
    yield from _passed_on(x, _listed, "Connection names it")


@clause(
    id="relay.header.hop-by-hop",
    level=Level.SHOULD,
    basis=Basis.PROTOCOL,
    title="A field that is one hop's is not passed on",
    rationale="It offers or asks for what the other hop does not have, or shows it a password; the norm takes it off by a SHOULD.",
    source="rfc9110/connection",
    applies=lambda x: bool(_sent(x, _hop) or _got(x, _hop)),
)
def hop_by_hop(x: Exchange) -> Iterator[Finding]:
    yield from _passed_on(x, _hop, "it is one hop's")


def _waits(x: Exchange) -> list[str]:
    """What failed attempts said of waiting, where another member then gave an answer that says nothing of it."""
    attempt = _answered(x)
    if attempt is None or not attempt.succeeded or not the_reply(x).ok or _reply_of(attempt).header("retry-after"):
        return []
    failed = (other.reply for other in x.attempts or () if other is not attempt and other.reply is not None)
    return [value for reply in failed if not reply.ok for value in reply.message.head.all("retry-after")]


@clause(
    id="relay.header.retry-after",
    level=Level.SHOULD,
    basis=Basis.PROTOCOL,
    title="An answer does not carry the Retry-After of a member that failed before",
    rationale="The client has its answer and is told to wait: clients that heed the field pause for nothing. On a success the norm gives it no meaning, so it is no MUST.",
    source="rfc9110/retry-after",
    applies=lambda x: bool(_waits(x)),
)
def retry_after(x: Exchange) -> Iterator[Finding]:
    yield from _down(x, [("retry-after", value) for value in _waits(x)], "the answer is there")


def _places(attempt: Attempt) -> str:
    """The host to which a member's redirect leads, "" for its own or none."""
    reply = attempt.reply
    if reply is None or not 300 <= reply.status < 400:
        return ""
    found = _AUTHORITY.match((reply.header("location") or "").strip())
    host = _host(found[1]) if found is not None else ""
    return host if host != _host(attempt.request.host) else ""


#: An absolute reference's host and port, without who asks.
_AUTHORITY = re.compile(r"https?://(?:[^/?#]*@)?([^/?#]+)", re.I)


def _host(name: str) -> str:
    """A host, without its port: who can bind one there has the key already."""
    return re.sub(r":\d*$", "", name.lower())


_KEYS = ("authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie")


def _followed(x: Exchange) -> Iterator[tuple[Attempt, int, Attempt]]:
    """The dispatches that follow a member's redirect to another host, each after that member's."""
    attempts = x.attempts or ()
    for number, attempt in enumerate(attempts):
        host = _places(attempt)
        for later in range(number + 1, len(attempts)) if host else ():
            if _host(attempts[later].request.host) == host:
                yield attempt, later, attempts[later]


@clause(
    id="relay.redirect.key",
    level=Level.SHOULD,
    basis=Basis.PROTOCOL,
    title="A key does not follow a redirect to another host",
    rationale="Whoever can answer once in a member's name gets its key. The norm asks to consider it: a SHOULD.",
    source="rfc9110/redirect",
    applies=lambda x: any(_places(attempt) for attempt in x.attempts or ()),
)
def redirect_key(x: Exchange) -> Iterator[Finding]:
    for redirecting, number, attempt in _followed(x):
        for name in _KEYS:
            value = redirecting.request.head.get(name)
            if value and value == attempt.request.head.get(name):
                expected = f"no {name} of {redirecting.request.host} for {attempt.request.host}"
                yield at_exchange(x, expected, f"the same {name}", leg=f"upstream:{number}")
                break
