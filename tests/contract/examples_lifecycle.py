"""Examples of the clauses on the life of one request in a pool."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conformance.exchange.model import Exchange, HangUp
from conformance.wire.transcript import End, Segment
from tests.contract.captures import Try, ask, capture, chat, chunk, error, exchange, opening, stream, wire
from tests.contract.example import Example, Examples, told

OK = wire(chat())
DOWN = wire(error("The server had an error.", type="server_error"), status=500)
LIMITED = wire(error("Rate limit reached.", type="rate_limit_error"), status=429)
GONE = wire(error("The model does not exist.", code="model_not_found"), status=404)
BAD = wire(error("temperature: range: 0..1", param="temperature"), status=400)
RESET = wire(status=0, end="reset")
CUT = wire(b'{"error": {"mess', status=502, headers=("Content-Length: 400",), framing="none", end="close")
STREAM = ask(stream=True)
MIB = 1 << 20


KEYLESS = wire(error("Incorrect API key provided.", code="invalid_api_key"), status=401)


def dead(reply: Any, *attempts: Any, took: float = 20.0, request: Any = None) -> Exchange:
    """A pool whose members are all bad by their plays; the client had its reply after `took` ms."""
    seen = told(capture(request or ask(), reply, attempts, "failover"), members=("m0", "m1"), healthy=frozenset())
    return replace(seen, transcript=replace(seen.transcript, ended_at=took))


def asked(*times: float, reply: Any = DOWN) -> Any:
    """One member that was asked at these times."""
    return capture(ask(), DOWN, [Try(reply, "m0", at) for at in times])


def left(*times: float, hangup: float = 100.0) -> Exchange:
    """A client that hung up at 100 ms, and members that were asked at these times."""
    seen = exchange(capture(ask(), wire(status=0, end="reset"), [Try(DOWN, f"m{n}", at) for n, at in enumerate(times)]))
    return replace(seen, reply=None, hangup=HangUp(after="send", at=hangup))


def closed(at: float | None, limit: float = 200.0) -> Exchange:
    """A client that hung up at 100 ms, and when the upstream connection closed; the target declares `limit` ms."""
    seen = told(capture(ask(), OK, [OK], "cancel"), cancel_ms=limit)
    attempt = replace(
        (seen.attempts or ())[0],
        ended_at=9000.0 if at is None else at,
        end=End.COMPLETE if at is None else End.HANGUP,
        peer_closed_at=at,
    )
    return replace(seen, attempts=(attempt,), hangup=HangUp(after="send", at=100.0))


def slow(sent: int, read: int) -> Exchange:
    """A client that left after it had read `read` bytes of a stream of which the member had sent `sent`."""
    seen = exchange(capture(STREAM, wire(stream(opening(), chunk("x"), done=False)), [wire(stream(opening()))]))
    attempt = replace((seen.attempts or ())[0], sent=(Segment(5.0, bytes(sent)),), end=End.HANGUP)
    transcript = replace(seen.transcript, received=(Segment(9.0, bytes(read)),))
    return replace(seen, attempts=(attempt,), transcript=transcript, hangup=HangUp(after="head", at=1500.0))


EXAMPLES: Examples = {
    "pool.exhausted.told": Example(
        held=(
            dead(DOWN, DOWN, DOWN),
            dead(LIMITED, LIMITED, RESET),
            dead(GONE, GONE, GONE),
            dead(wire(error("No member is available."), status=503), RESET, RESET),
            dead(wire(stream(error("No member answered."), done=False)), DOWN, DOWN, request=STREAM),
        ),
        violated=(
            dead(RESET, DOWN, DOWN),
            dead(wire(status=0, end="stall"), DOWN, DOWN),
            dead(CUT, DOWN, DOWN),
            dead(wire(chat("")), DOWN, DOWN),
            dead(wire(b"<html>502</html>", status=502, media="text/html"), DOWN, DOWN),
            dead(wire(b"", status=502), DOWN, DOWN),
            dead(DOWN, DOWN, DOWN, took=9000.0),
        ),
    ),
    "pool.exhausted.telling": Example(
        held=(
            dead(LIMITED, LIMITED, GONE),
            dead(wire(error("Rate limit reached."), status=503), DOWN, LIMITED),
            dead(BAD, LIMITED, BAD),
            capture(ask(), LIMITED, (LIMITED, BAD)),
            capture(ask(), BAD, (LIMITED, BAD)),
            capture(ask(), DOWN, (DOWN, KEYLESS)),
        ),
        violated=(
            capture(ask(), GONE, (LIMITED, GONE)),
            capture(ask(), KEYLESS, (DOWN, KEYLESS)),
            dead(GONE, LIMITED, GONE),
            dead(DOWN, LIMITED, DOWN),
            dead(DOWN, DOWN, BAD),
        ),
    ),
    "pool.no-hammering": Example(
        held=(asked(2), asked(2, 10, 20), asked(2, 50, 150, 400, 900)),
        violated=(asked(2, 6, 10, 14), asked(2, 100, 200, 300, 400)),
    ),
    "pool.hangup.final": Example(held=(left(2, 90), left(2, 300)), violated=(left(2, 90, 1200),)),
    "cancel.in-time": Example(held=(closed(150), closed(299)), violated=(closed(900), closed(None))),
    "backpressure.bounded": Example(held=(slow(6 * MIB, 4096),), violated=(slow(40 * MIB, 4096),)),
}
