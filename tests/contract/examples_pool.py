"""Examples of the clauses on pools and timeouts."""

from __future__ import annotations

from typing import Any

from conformance.exchange.model import Exchange, HangUp
from conformance.wire.transcript import End
from tests.contract.captures import (
    Ask,
    Capture,
    Try,
    ask,
    capture,
    chat,
    chunk,
    error,
    knowing,
    opening,
    stream,
    wire,
    words,
)
from tests.contract.example import Example, Examples, told

STREAM = ask(stream=True)
OK = wire(chat())
WORDS = wire(stream(*words("Hel", "lo.")))
BUSY = wire(error("busy", type="server_error"), status=503)
BAD = wire(error("Bad.", param="temperature"), status=400)
GONE = wire({"error": {"message": "No endpoints found for maker/model:free.", "code": 404}}, status=404)
EXHAUSTED = wire(error("No fallback model group found for original model_group=pool."), status=404)
FAILED = error("The upstream failed.", type="api_error")
RESET = wire(status=0, end="reset")
SILENT = wire(status=0, end="stall")
THREE = {"members": ("m0", "m1", "m2"), "healthy": frozenset({"m2"})}
PAUSED = wire(stream(opening(), chunk("One "), done=False), end="stall")


def pooled(reply: Any, *attempts: Any, request: Ask | None = None) -> Capture:
    """A pool that promises failover."""
    return capture(request or ask(), reply, attempts, "failover")


def on_a_wire(reply: Any, *attempts: Try) -> Capture:
    """A streamed exchange of the wire driver."""
    return knowing(capture(STREAM, reply, attempts), driver="wire")


def served(reply: Any, *attempts: Any, closed: str = "", caps: str = "") -> Exchange:
    """A request for a model that is served, with one healthy member, and perhaps one whose port is closed."""
    known = frozenset({"alias-1"})
    members, shut = ("m0", closed) if closed else ("m0",), frozenset({closed} if closed else ())
    made = capture(ask(), reply, attempts, caps)
    return told(made, members=members, healthy=frozenset({"m0"}), closed=shut, known_models=known)


def hung_up(closed: float | None, ended: float = 9000.0) -> Capture:
    """A client that hung up 100 ms after its request; the upstream connection closed at `closed`."""
    end = End.HANGUP if closed is not None else End.COMPLETE
    left = {
        "end": end,
        "ended_at": ended,
        "peer_closed": "mid-body" if closed is not None else "",
        "peer_closed_at": closed,
    }
    item = capture(STREAM, wire(stream(opening(), done=False), end="close"), WORDS)
    return knowing(item, attempt=left, hangup=HangUp(after="event:1", at=100.0))


def patient(every: float) -> Capture:
    """A target that declares 2 s of silence, and the events of its stream, of which the last is an error."""
    told = wire(stream(opening(), chunk("One "), FAILED, done=False, every=every))
    return knowing(capture(STREAM, told, PAUSED, "idle-timeout"), terms={"idle_timeout_ms": 2000.0})


def let_go(closed: float | None) -> Capture:
    """A pool whose second member never answered and was closed at `closed`; the first one's answer was told."""
    silent = {"end": End.STALL if closed is None else End.HANGUP, "peer_closed_at": closed, "reply": None}
    made = pooled(OK, Try(OK, "m0", 2.0), Try(SILENT, "m1", 3.0))
    return knowing(made, attempt=silent, terms={"members": ("m0", "m1"), "healthy": frozenset({"m0"})})


EXAMPLES: Examples = {
    "pool.failover.answers": Example(
        (
            pooled(OK, BUSY, OK),
            pooled(OK, GONE, OK),
            served(OK, OK, closed="m1", caps="failover"),
            pooled(WORDS, wire(stream(opening(), done=False), end="reset"), WORDS, request=STREAM),
        ),
        (
            pooled(BUSY, BUSY),
            pooled(GONE, GONE),
            served(wire(FAILED, status=500), closed="m1", caps="failover"),
            pooled(wire(FAILED, status=502), RESET),
            # It says that it asks three times, and asked twice.
            knowing(pooled(BUSY, BUSY, BUSY), terms=THREE | {"max_attempts": 3}),
            pooled(BUSY, Try(BUSY, "m0", 2.0), Try(BUSY, "m0", 300.0)),
            pooled(wire(stream(FAILED, done=False)), wire(stream(done=False), end="close"), request=STREAM),
        ),
    ),
    "pool.attempts.bounded": Example(
        (pooled(OK, *(Try(BUSY, f"m{n}", 2.0 + n) for n in range(9)), Try(OK, "m9", 90.0)),),
        (
            pooled(BUSY, *(Try(BUSY, f"m{n % 4}", 2.0 + n) for n in range(11))),
            knowing(pooled(OK, BUSY, BUSY, OK), terms={"max_attempts": 2}),
        ),
    ),
    "pool.success.final": Example(
        (
            pooled(OK, OK),
            pooled(
                WORDS,
                Try(wire(stream(*words("Hel", "lo."), every=90.0)), "m0", 2.0),
                Try(WORDS, "m1", 30.0),
                request=STREAM,
            ),
        ),
        (pooled(OK, OK, OK), pooled(WORDS, WORDS, WORDS, request=STREAM)),
    ),
    "pool.success.alone": Example(
        (pooled(OK, OK), knowing(pooled(OK, Try(OK, "m0", 2.0), Try(OK, "m1", 2.0)), attempt={"ended_at": 303.0})),
        (knowing(pooled(OK, Try(OK, "m0", 2.0), Try(OK, "m1", 2.0)), attempt={"ended_at": 903.0}),),
    ),
    "pool.output.final": Example(
        (on_a_wire(WORDS, Try(WORDS, "m0", 2.0)), on_a_wire(WORDS, Try(BUSY, "m0", 0.0), Try(WORDS, "m1", 1.0))),
        (
            on_a_wire(
                wire(stream(opening(), chunk("One "), chunk("Hel"), chunk("lo."), chunk(reason="stop"))),
                Try(wire(stream(opening(), chunk("One "), done=False), end="close"), "m0", 0.0),
                Try(WORDS, "m1", 15.0),
            ),
        ),
    ),
    "pool.given-up.closed": Example(
        (
            let_go(40.0),
            # A hedge: both are asked, and the slower one is left when the other has answered.
            let_go(900.0),
        ),
        (let_go(None), let_go(4000.0)),
    ),
    "pool.rejection.once": Example(
        (
            capture(ask(), BAD, BAD),
            capture(ask(), OK, (GONE, OK)),
            # A router that is asked again picks another deployment (incident A).
            capture(ask(), OK, (Try(EXHAUSTED, "m0"), Try(EXHAUSTED, "m0", 300.0), Try(GONE, "m0", 1100.0), OK)),
            capture(ask(), BAD, (Try(EXHAUSTED, "m0"), Try(BAD, "m0", 300.0))),
        ),
        (
            capture(ask(), BAD, (Try(BAD, "m0"), Try(BAD, "m0", 300.0))),
            capture(ask(), OK, (Try(GONE, "m0"), Try(OK, "m0", 300.0))),
            capture(ask(), BAD, (Try(EXHAUSTED, "m0"), Try(BAD, "m0", 300.0), Try(BAD, "m0", 1100.0))),
        ),
    ),
    "pool.unknown-model.no-dispatch": Example(
        (knowing(capture(ask(model="nope"), GONE, ()), terms={"known_models": frozenset({"alias-1"})}),),
        (knowing(capture(ask(model="nope"), OK, OK), terms={"known_models": frozenset({"alias-1"})}),),
    ),
    "pool.healthy.asked": Example(
        (served(OK, OK), served(BUSY)),
        (served(wire(error("No connection was free.", type="server_error"), status=500)), served(RESET)),
    ),
    "pool.hangup.closes": Example((hung_up(150.0),), (hung_up(4000.0), hung_up(None))),
    "timeout.idle.told": Example(
        (
            capture(STREAM, wire(stream(opening(), chunk("One "), FAILED, done=False)), PAUSED, "idle-timeout"),
            patient(1000.0),
        ),
        (
            capture(STREAM, wire(stream(opening(), chunk("One "), done=False), end="stall"), PAUSED, "idle-timeout"),
            capture(STREAM, wire(stream(opening(), chunk("One "), done=False)), PAUSED, "idle-timeout"),
            patient(3000.0),
        ),
    ),
    "timeout.first-token.told": Example(
        (
            capture(
                ask(),
                wire(error("The upstream timed out.", type="timeout_error"), status=504),
                SILENT,
                "first-token-timeout",
            ),
            capture(ask(), OK, (SILENT, OK, Try(SILENT, "m2", 9.0)), "first-token-timeout"),
        ),
        (
            capture(ask(), wire(status=0, end="stall"), SILENT, "first-token-timeout"),
            knowing(
                capture(STREAM, wire(((9000.0, b"data: [DONE]\n\n"),)), SILENT, "first-token-timeout"),
                terms={"first_token_timeout_ms": 500.0},
            ),
        ),
    ),
}
