"""Which failures of a member another one can make good, and what a target promises by naming some of them."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.contract.clause import Outcome
from conformance.contract.failover import Cause, cause_of, promised
from tests.contract.captures import ask, capture, chat, exchange, stream, verdicts, wire

ROUTER = "No fallback model group found for original model_group=a. Available Model Group Fallbacks=None"


def said(message: str) -> dict[str, Any]:
    """An error envelope."""
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}


@pytest.mark.parametrize(
    ("upstream", "cause"),
    [
        (wire(chat()), None),
        (wire(said("The model `m` does not exist"), status=404), Cause.MODEL_404),
        (wire(said("No endpoints found for maker/m:free."), status=404), Cause.MODEL_404),
        (wire(said(ROUTER), status=404), Cause.ROUTER_404),
        (wire(b"<html>gone</html>", status=410, media="text/html"), Cause.ROUTER_404),
        (wire(said("m is not a valid model ID"), status=400), Cause.MODEL_400),
        (wire(said("'messages' is a required property"), status=400), None),
        (wire(said("maximum context length is 8192 tokens"), status=500), None),
        (wire(said("Rate limit reached"), status=429), Cause.RATE_LIMIT),
        (wire(said("Overloaded"), status=503), Cause.SERVER_ERROR),
        (wire(said("conflict"), status=409), Cause.OTHER_STATUS),
        (wire(said("Overloaded"), status=529), Cause.OTHER_STATUS),
        (wire(said("Incorrect API key provided"), status=401), Cause.CREDENTIALS),
        (wire(said("This account may not use it"), status=403), Cause.CREDENTIALS),
        (wire(said("Your text was blocked"), status=403), None),
        (wire(status=0, end="reset"), Cause.CONNECTION),
        (wire(status=0, end="stall"), Cause.TIMEOUT),
        (wire(said("timed out"), status=408), Cause.TIMEOUT),
        (wire(stream(b": waiting\n\n", done=False), end="stall"), Cause.TIMEOUT),
        (wire(stream(said("Overloaded"), done=False)), Cause.BROKEN_ANSWER),
        (wire(stream(done=False)), Cause.BROKEN_ANSWER),
    ],
)
def test_what_a_member_failed_with(upstream: Any, cause: Cause | None) -> None:
    """By status and words, and by how a reply without one ended; what would fail at any member has no cause."""
    attempts = exchange(capture(ask(), wire(chat()), upstream)).attempts
    assert attempts is not None
    assert cause_of(attempts[0]) is cause


def test_a_promise_for_some_failures() -> None:
    """Naming none promises all; naming some promises those."""
    assert all(promised(cause, {"failover"}) for cause in Cause)
    assert not any(promised(cause, {"cooldown"}) for cause in Cause)
    assert [cause for cause in Cause if promised(cause, {"failover", "failover:429", "failover:5xx"})] == [
        Cause.RATE_LIMIT,
        Cause.SERVER_ERROR,
    ]


@pytest.mark.parametrize(
    ("declared", "outcome"),
    [
        (("failover",), Outcome.VIOLATED),
        (("failover", "failover:404-model"), Outcome.VIOLATED),
        (("failover", "failover:429"), Outcome.NOT_APPLICABLE),
        ((), Outcome.NOT_APPLICABLE),
    ],
)
def test_a_gateway_is_judged_on_the_failures_that_it_named(declared: tuple[str, ...], outcome: Outcome) -> None:
    """A retired member's 404 that is passed on breaks the promise of who promised failover for it."""
    gone = wire(said("The model `m` does not exist"), status=404)
    judged = verdicts(capture(ask(), gone, gone, *declared))
    assert judged["pool.failover.answers"].outcome is outcome
