"""Examples of the clauses on header fields that are one connection's, one hop's or one attempt's alone."""

from __future__ import annotations

from typing import Any

from conformance.cassette.model import Envelope
from tests.contract.captures import Ask, Capture, Try, ask, capture, chat, error, stream, wire, words
from tests.contract.example import Example, Examples

OK = wire(chat())
SHARD = ("Connection: close, X-Shard", "X-Shard: b7")
LIMITED = wire(error("Rate limit reached."), status=429, headers=("Retry-After: 30", "X-Error: rate"))
DOWN = wire(error("The server had an error.", type="server_error"), status=503)


def headed(*lines: str, status: int = 200) -> Envelope:
    """A whole answer with those header lines."""
    return wire(chat() if status < 400 else error(), status=status, headers=lines)


def down(upstream: tuple[str, ...], client: tuple[str, ...], **how: Any) -> Capture:
    """A relayed answer: what the member's head said, and what the client's."""
    return capture(ask(), headed(*client, **how), headed(*upstream, **how))


def up(client: dict[str, str], dispatched: dict[str, str]) -> Capture:
    """A relayed request: what the client's head said, and what the dispatch's."""
    sent = ask(model="up-model").headed(*dispatched.items())
    return capture(ask().headed(*client.items()), OK, Try(OK, request=sent))


def moved(location: str, *, host: str, key: str, first: str = "sk-up-0") -> Capture:
    """A member that redirects, and who is asked then, with which key."""
    there = Try(wire(b"", status=307, media="", headers=(f"Location: {location}",)), "m0", 2.0, key=first)
    return capture(ask(), OK, (there, Try(OK, "m1", 9.0, key=key, host=host)))


STREAM = ask(stream=True)
FAILED = error("No member is there.", type="server_error")

EXAMPLES: Examples = {
    "relay.header.connection": Example(
        (
            down(SHARD, ()),
            # A field of that name with a value of the gateway's own; one that is listed for what it is.
            down(SHARD, ("X-Shard: c1",)),
            down((*SHARD, "Keep-Alive: timeout=5"), ("Connection: keep-alive", "Keep-Alive: timeout=5")),
            up({"Connection": "close, X-Hop", "X-Hop": "1"}, {}),
        ),
        (
            down(SHARD, SHARD),
            down(SHARD, ("x-shard: b7",)),
            down(("Connection: x-a", "Connection: X-Shard", "X-Shard: b7"), ("X-Shard: b7",), status=400),
            up({"Connection": "close, X-Hop", "X-Hop": "1"}, {"X-Hop": "1"}),
        ),
    ),
    "relay.header.hop-by-hop": Example(
        (
            down(("Keep-Alive: timeout=5, max=83",), ("Keep-Alive: timeout=5, max=100",)),
            down(("Upgrade: h2,h2c", "Connection: Upgrade"), ()),
            up({"TE": "trailers", "Connection": "te"}, {}),
            up({"Proxy-Authorization": "Basic dTpw"}, {"Proxy-Authorization": "Basic bWU6cHc="}),
        ),
        (
            down(("Keep-Alive: timeout=5, max=83",), ("Keep-Alive: timeout=5, max=83",)),
            down(("Upgrade: h2,h2c", "Connection: Upgrade"), ("Upgrade: h2,h2c", "Connection: Upgrade")),
            down(('Proxy-Authenticate: Basic realm="inner"',), ('Proxy-Authenticate: Basic realm="inner"',)),
            up({"TE": "trailers", "Connection": "te"}, {"TE": "trailers", "Connection": "te"}),
            up({"Proxy-Authorization": "Basic dTpw"}, {"Proxy-Authorization": "Basic dTpw"}),
        ),
    ),
    "relay.header.retry-after": Example(
        (capture(ask(), OK, (LIMITED, OK)), capture(ask(), headed("Retry-After: 1"), (LIMITED, OK))),
        (capture(ask(), headed("Retry-After: 30"), (LIMITED, OK)),),
    ),
    "relay.redirect.key": Example(
        (
            moved("https://other.test/v1/chat/completions", host="other.test", key="sk-up-1"),
            moved("http://other.test:80/v1", host="other.test", key=""),
        ),
        (
            moved("https://other.test/v1/chat/completions", host="other.test", key="sk-up-0"),
            moved("HTTPS://me@Other.test:443", host="other.test", key="sk-up-0"),
        ),
    ),
    "stream.error.early": Example(
        (
            capture(STREAM, wire(FAILED, status=502), (DOWN, DOWN)),
            # A comment kept the stream open while members were asked; it was too late for a status then.
            capture(STREAM, wire(stream(b": waiting\n\n", FAILED, done=False)), (DOWN, DOWN)),
            capture(STREAM, wire(stream(*words("Hel")[:2], FAILED, done=False)), (DOWN,)),
        ),
        (
            capture(STREAM, wire(stream(FAILED, done=False)), (DOWN, DOWN)),
            capture(STREAM, wire(stream(FAILED)), wire(status=0, end="reset")),
        ),
    ),
}


def _free(item: Ask, reply: Envelope, *upstream: Envelope | Try) -> Capture:
    return capture(item, reply, upstream)


#: Captures on which the clause says nothing.
FREE: dict[str, tuple[Capture, ...]] = {
    # What many servers say of their connections alike; what a change of protocol says; a list of nothing that is there.
    "relay.header.hop-by-hop": (
        down(("Keep-Alive: timeout=5",), ("Keep-Alive: timeout=5",)),
        down(("Upgrade: TLS/1.2",), ("Upgrade: TLS/1.2",), status=426),
    ),
    "relay.header.connection": (
        down(("Connection: keep-alive", "Keep-Alive: timeout=5"), ("Keep-Alive: timeout=5",)),
        down(("Connection: close, x-shard",), ("X-Shard: b7",)),
        down(("Connection: content-type",), ()),
    ),
    # The member that served says itself when to come again.
    "relay.header.retry-after": (_free(ask(), headed("Retry-After: 30"), LIMITED, headed("Retry-After: 30")),),
    # Another way at the same host, and a failover.
    "relay.redirect.key": (
        moved("/v2/chat/completions", host="m0.test", key="sk-up-0"),
        moved("https://m0.test:443/v2", host="m0.test", key="sk-up-0"),
        moved("https://other.test/", host="m1.test", key="sk-up-0"),
        moved("https://[::1/", host="m1.test", key="sk-up-0"),
    ),
    "stream.error.early": (_free(STREAM, wire(stream(FAILED, done=False)), wire(stream(FAILED, done=False))),),
}
