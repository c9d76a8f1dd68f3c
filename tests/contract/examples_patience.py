"""Examples of the clauses on patience."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conformance.exchange.model import Exchange
from conformance.wire.transcript import End, Segment
from tests.contract.captures import Try, ask, capture, chat, chunk, error, exchange, opening, stream, wire, words
from tests.contract.example import Example, Examples

STREAM = ask(stream=True)
OK = wire(chat())
WORDS = wire(stream(*words("Hel", "lo.")))
TIMED_OUT = wire(error("The upstream timed out.", type="server_error"), status=504)

SILENT = wire(status=0, end="stall")
PART = wire(stream(opening(), chunk("Hel"), done=False), end="stall")
BROKEN = wire(stream(opening(), chunk("Hel"), done=False), end="close")
CUT = wire(stream(opening(), chunk("Hel"), error("The request timed out.", code="timeout"), done=False))


def left(reply: Any, first: Any, closed: float, *others: Try, request: Any = None, healthy: str = "m0 m1") -> Exchange:
    """A target that declares 2 s of both; its first member is well, and was left at `closed`."""
    seen = exchange(capture(request or ask(), reply, (Try(first, "m0", 2.0), *others), *CAPS))
    given_up = replace((seen.attempts or ())[0], end=End.HANGUP, ended_at=closed, peer_closed_at=closed)
    return declaring(replace(seen, attempts=(given_up, *(seen.attempts or ())[1:])), healthy)


def answering(seen: Exchange, first: float, last: float) -> Exchange:
    """The same, and the last member's first and last bytes came then."""
    attempt = (seen.attempts or ())[-1]
    sent = (Segment(first, b"HTTP/1.1 200 OK"), Segment(last, b""))
    return replace(seen, attempts=(*(seen.attempts or ())[:-1], replace(attempt, sent=sent, ended_at=last)))


def waited(reply: Any, upstream: Any, ended: float, request: Any = None) -> Exchange:
    """The same, and the member had its time."""
    seen = exchange(capture(request or ask(), reply, (Try(upstream, "m0", 2.0),), *CAPS))
    return declaring(replace(seen, attempts=tuple(replace(a, ended_at=ended) for a in seen.attempts or ())), "m0")


def declaring(seen: Exchange, healthy: str) -> Exchange:
    limits = {"first_token_timeout_ms": 2000.0, "idle_timeout_ms": 2000.0}
    return replace(seen, terms=replace(seen.terms, healthy=frozenset(healthy.split()), **limits))


CAPS = ("first-token-timeout", "idle-timeout")
EXAMPLES: Examples = {
    "timeout.not-early": Example(
        (
            waited(OK, OK, 1500.0),
            waited(WORDS, WORDS, 5000.0, STREAM),
            # The declared time, and another member that was faster.
            left(TIMED_OUT, SILENT, 2003.0),
            left(OK, SILENT, 2003.0, Try(OK, "m1", 2005.0)),
            # Asked side by side: the slower one is left once the other is heard, or just after its end.
            answering(left(OK, SILENT, 505.0, Try(OK, "m1", 400.0)), 500.0, 502.0),
            answering(left(OK, SILENT, 505.0, Try(OK, "m1", 2.0)), 503.0, 503.0),
            answering(left(WORDS, SILENT, 505.0, Try(WORDS, "m1", 400.0), request=STREAM), 503.0, 900.0),
            answering(left(CUT, SILENT, 505.0, Try(BROKEN, "m1", 400.0), request=STREAM), 503.0, 900.0),
        ),
        (
            left(TIMED_OUT, SILENT, 500.0),
            left(OK, SILENT, 500.0, Try(OK, "m1", 502.0)),
            # The other was asked in its stead, a little before the close was seen; or had failed before.
            answering(left(OK, SILENT, 500.0, Try(OK, "m1", 499.0)), 510.0, 511.0),
            left(OK, SILENT, 500.0, Try(TIMED_OUT, "m1", 100.0), Try(OK, "m2", 502.0)),
            left(WORDS, SILENT, 500.0, Try(BROKEN, "m1", 100.0), Try(WORDS, "m2", 502.0), request=STREAM),
            left(CUT, PART, 1500.0, request=STREAM),
        ),
    ),
}
