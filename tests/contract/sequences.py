"""Sequences in a line for each request: when it began, who was asked with what result, what the client got.

Short words become the envelopes of attempts and replies; the exchanges are those that a capture gives, with what only a
run knows. Knows no clause.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from conformance.cassette.model import Envelope
from conformance.exchange.model import Exchange, HangUp
from conformance.exchange.sequence import Sequence, Turn, Windows
from conformance.wire.transcript import End
from tests.contract.captures import Ask, Try, ask, capture, chat, chunk, error, exchange, opening, stream, wire, words

SPENT = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}
#: What a member answered, by its word.
ANSWERS: dict[str, Envelope] = {
    "ok": wire(chat()),
    "spent": wire(chat(usage={**SPENT, "completion_tokens_details": {"reasoning_tokens": 3}})),
    "stream": wire(stream(*words("Hel", "lo."))),
    "cut": wire(stream(opening(), chunk("Hel"), done=False), end="close"),
    "500": wire(error("The server had an error.", type="server_error"), status=500),
    "529": wire({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, status=529),
    "reset": wire(status=0, end="reset"),
    "silent": wire(status=0, end="stall"),
    "empty": wire(stream(done=False)),
    "429": wire(error("Rate limit reached.", type="rate_limit_error"), status=429),
    "wait": wire(error("Rate limit reached."), status=429, headers=("Retry-After: 1",)),
    "402": wire(error("Insufficient credits."), status=402),
    "400": wire(error("temperature: range: 0..1", param="temperature"), status=400),
    "401": wire(error("Incorrect API key provided."), status=401),
    "403": wire(error("You may not do this."), status=403),
    "named": wire(error("ghost/ghost-model-v9 is not a valid model ID"), status=400),
    "gone": wire(error("The model `x` does not exist.", code="model_not_found"), status=404),
    "404": wire(b"404 page not found", status=404, media="text/plain"),
    "busy": wire(error("No member is available.", type="server_error"), status=503),
}
WINDOWS = Windows(cooldown_ms=600.0, quarantine_ms=1200.0)
PROMISES = frozenset(
    {"failover", "cooldown", "probe", "breaker-outages-only", "quarantine", "honours-retry-after", "cache", "spread"}
    | {"reports-serving-model"}
)


def request(nonce: str = "cf-q8w3zd", **params: Any) -> Ask:
    """A chat request whose prompt carries `nonce`."""
    return ask(**{"messages": [{"role": "user", "content": f"Ticket {nonce}: say hello."}], **params})


def turn(
    began: float,
    *tried: str,
    got: str | Envelope = "",
    sent: Ask | None = None,
    healthy: str = "m0 m1",
    members: str = "m0 m1",
    lane: str = "own",
    took: float = 10.0,
    hangup: float | None = None,
    **terms: Any,
) -> Turn:
    """One request at `began` ms.

    `tried` are "member:answer", or "member:answer:from:to" with times in ms (by default one after the other).
    The client `got` the last answer, by default; without any the gateway's own 503. `hangup` is when it went away: what
    was open then is given up.
    """
    asked = sent or request(f"cf-turn{int(began):06d}")
    rows = [row.split(":") for row in tried]
    tries = tuple(
        Try(ANSWERS[row[1]], row[0], float(row[2]) if len(row) > 2 else 2.0 + 4 * n) for n, row in enumerate(rows)
    )
    reply = got if isinstance(got, Envelope) else ANSWERS[got or (rows[-1][1] if rows else "busy")]
    if isinstance(got, str) and not got and reply.end.value != "complete":
        reply = ANSWERS["busy"]
    seen = exchange(capture(asked, reply, tries))
    attempts = tuple(
        _timed(attempt, float(row[3]) if len(row) > 3 else attempt.at + 2.0, hangup)
        for attempt, row in zip(seen.attempts or (), rows, strict=True)
    )
    known = {"members": tuple(members.split()), "healthy": frozenset(healthy.split()), **terms}
    made = replace(
        seen,
        attempts=attempts,
        transcript=replace(seen.transcript, ended_at=took if hangup is None else hangup),
        hangup=None if hangup is None else HangUp(after="send", at=hangup),
        terms=replace(seen.terms, **known),
    )
    return Turn(exchange=made, began=began, step=1, number=1, lane=lane)


def _timed(attempt: Any, ended: float, hangup: float | None) -> Any:
    """The attempt that ended then; one that was open when the client went was given up."""
    if hangup is None or ended < hangup:
        return replace(attempt, ended_at=ended)
    return replace(attempt, ended_at=hangup + 2.0, end=End.HANGUP, reply=None, peer_closed_at=hangup + 2.0)


def many(count: int, began: float, *tried: str, every: float = 12.0, **how: Any) -> list[Turn]:
    """The same request so many times; `tried` may be one list for all, or is dealt in turns with "|" between."""
    dealt = [part.split() for part in " ".join(tried).split("|")]
    return [turn(began + every * n, *dealt[n % len(dealt)], **how) for n in range(count)]


def sequence(*turns: Turn | Iterable[Turn], caps: Iterable[str] = PROMISES, windows: Windows = WINDOWS) -> Sequence:
    """The sequence of these turns; each is a step of its own."""
    flat = [one for item in turns for one in ([item] if isinstance(item, Turn) else item)]
    ordered = sorted(flat, key=lambda one: one.began)
    numbered = tuple(replace(one, step=number) for number, one in enumerate(ordered, 1))
    declared = frozenset(caps)
    return Sequence(
        name="sequence",
        turns=tuple(replace(one, exchange=_declaring(one.exchange, declared)) for one in numbered),
        windows=windows,
        capabilities=declared,
    )


def _declaring(seen: Exchange, declared: frozenset[str]) -> Exchange:
    return replace(seen, terms=replace(seen.terms, capabilities=declared))
