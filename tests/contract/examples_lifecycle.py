"""Examples of the clauses on the life of one request in a pool: all dead, the client gone, the client slow."""

from __future__ import annotations

from typing import Any

from conformance.exchange.model import HangUp
from conformance.wire.transcript import End, Segment
from tests.contract.captures import Capture, Try, ask, capture, chat, error, knowing, opening, stream, wire, words
from tests.contract.example import Example, Examples

STREAM = ask(stream=True)
BUSY = wire(error("busy", type="server_error"), status=503)
LIMIT = wire(error("Rate limit reached", type="requests"), status=429)
RESET = wire(status=0, end="reset")
FAILED = error("All members failed.", type="server_error")
WORDS = wire(stream(*words("Hel", "lo.")))
LEFT = wire(stream(opening(), done=False), end="close")
MEMBERS = {"members": ("m0", "m1"), "healthy": frozenset()}


def dead(reply: Any, *attempts: Any) -> Capture:
    """A pool that promises failover and has no healthy member."""
    return knowing(capture(ask(), reply, attempts, "failover"), terms=MEMBERS)


def asked(*times: float) -> Capture:
    """One member, asked at those times."""
    return capture(ask(), BUSY, tuple(Try(BUSY, "m0", at) for at in times))


def left(*attempts: Try, cancel: float | None = None, **last: Any) -> Capture:
    """A client that hung up 100 ms after its request."""
    item = capture(STREAM, LEFT, attempts, "cancel")
    return knowing(item, attempt=last, hangup=HangUp(after="head", at=100.0), terms={"cancel_ms": cancel})


def pushed(mebibytes: int) -> Capture:
    """A member of which so much was taken for a client that left without reading."""
    sent = (Segment(2.0, b"x" * (mebibytes << 20)),)
    return left(Try(WORDS, "m0", 2.0), sent=sent)


def closed(at: float | None) -> Capture:
    """A target that promises to close within 50 ms, and the moment at which it did."""
    gone = {"end": End.HANGUP, "ended_at": 9000.0, "peer_closed": "mid-body", "peer_closed_at": at}
    return left(Try(WORDS, "m0", 2.0), cancel=50.0, **gone)


EXAMPLES: Examples = {
    "pool.exhausted.told": Example(
        (dead(BUSY, BUSY, LIMIT), dead(wire(FAILED, status=502), RESET, RESET)),
        (
            dead(wire(chat("")), BUSY, LIMIT),
            dead(wire(status=0, end="close"), RESET, RESET),
            dead(wire(b"", status=502), BUSY, BUSY),
            dead(wire(FAILED, status=502, headers=("Content-Length: 900",), framing=" "), BUSY, BUSY),
        ),
    ),
    "pool.exhausted.telling": Example((dead(LIMIT, LIMIT, BUSY),), (dead(wire(FAILED, status=500), LIMIT, BUSY),)),
    "pool.no-hammering": Example(
        (asked(2.0, 4.0, 6.0), asked(2.0, 102.0, 402.0, 1602.0)), (asked(2.0, 4.0, 6.0, 8.0, 10.0),)
    ),
    "pool.hangup.final": Example(
        (left(Try(WORDS, "m0", 2.0)),), (left(Try(BUSY, "m0", 2.0), Try(WORDS, "m1", 900.0)),)
    ),
    "cancel.in-time": Example((closed(120.0),), (closed(400.0), closed(None))),
    "backpressure.bounded": Example((pushed(2),), (pushed(17),)),
}
