"""Examples of the clauses on error messages, in bodies and in streams."""

from __future__ import annotations

from typing import Any

from tests.contract.captures import Capture, Try, ask, capture, error, opening, stream, wire
from tests.contract.example import Example, Examples


def said(message: Any, upstream: Any = None, status: int = 502) -> Capture:
    """An error reply with that message."""
    return capture(ask(), wire(error(message, type="api_error"), status=status), upstream)


def streamed(message: Any, upstream: Any = None) -> Capture:
    """An error event with that message."""
    return capture(ask(stream=True), wire(stream(opening(), error(message, type="api_error"), done=False)), upstream)


PLAIN = "The upstream failed: temperature is out of range."
PAGE = "<!DOCTYPE html>\n<html><head><title>502</title></head><body><h1>Bad Gateway</h1></body></html>"
WORDY = wire({"error": {"message": "Invalid value for temperature, ask your account team."}}, status=400)


def keyed(key: str) -> Try:
    """A refusal of a member that was asked with that key."""
    return Try(wire(error("No."), status=401), key=key)


REFUSED = wire(error("Incorrect API key provided: sk-up-****abcd."), status=401)
ORG = wire(error("Rate limit reached in organization org-a1b2c3d4 on tokens"), status=429)
BOTH = (said(PLAIN), streamed(PLAIN))

EXAMPLES: Examples = {
    "error.message.one-line": Example(BOTH, (said("Bad.\nVery bad."), streamed("Bad.\r\nVery bad."))),
    "error.message.bounded": Example(BOTH, (said("x" * 2001), streamed("x" * 2001))),
    "error.message.no-html": Example(
        (*BOTH, said("a < b and b > c"), said("Expected <string>, got <int>.")),
        (said(PAGE), streamed(PAGE), said("403: <h1>Forbidden</h1>")),
    ),
    "error.message.no-raw-body": Example(
        (*BOTH, said("Invalid value: {x}"), said("Expected {'a': 1}, got [1, 2].")),
        (
            said('Error code: 400 - {"error": {"message": "Bad."}}'),
            said("Error code: 400 - {'error': {'message': 'Bad.'}}"),
            streamed('{"message":"Bad."}'),
            said('Received: data: {"id":"c"}'),
            said("Bad body: " + WORDY.body.decode(), WORDY),
        ),
    ),
    "error.message.readable": Example(
        (*BOTH, said("é 中 😀\tok")), (said("\x1f\ufffd\x08\x00"), streamed("caf\ufffd"))
    ),
    "error.message.no-trace": Example(
        BOTH,
        (
            said('Traceback (most recent call last):\n  File "/app/a.py", line 1'),
            streamed("panic: nil\n\ngoroutine 7 [running]:"),
            said("boom\n\tat com.foo.Bar.baz(Bar.java:10)"),
            said("boom\n   at A.B() in C:\\a.cs:line 12"),
        ),
    ),
    "error.message.no-address": Example(
        (*BOTH, said("See https://platform.example.com/docs/errors."), said("Version 1.2.3.4 is not supported.")),
        (
            said("dial tcp 10.0.0.5:18182: connect: connection refused"),
            said('Post "https://internal.example.com/v1/chat/completions": EOF'),
            said("m0.test refused", Try(wire(status=0, end="reset"), host="m0.test")),
            streamed("http://localhost:8000/v1 is down"),
            said("Cannot reach http://vllm:8000/v1"),
            said("HTTPConnectionPool(host='vllm-1', port=8000): Max retries exceeded"),
            said("Connection to 10.0.0.5 timed out"),
        ),
    ),
    "error.message.no-key": Example(
        (
            said("Incorrect API key provided.", REFUSED),
            said("Refused: sk-test-x.", keyed("sk-test-member-0001")),
            said("Refused: Bearer sk-test-client.", keyed("gw1-lane-000007")),
            said("Refused: sk-test-client.", keyed("gw1-lane-000007")),
        ),
        (
            said("Refused (key gw1-lane***)", keyed("gw1-lane-000007")),
            said("Incorrect API key provided: sk-up-****abcd.", REFUSED),
            streamed("Bad key sk-abcdefgh1234", REFUSED),
            capture(ask(), wire(error("Refused: sk-proj-a1b2c3d4e5f6g7h8"), status=401)),
        ),
    ),
    "error.message.no-account": Example(
        (said("Rate limit reached on tokens", ORG),),
        (said("Rate limit reached in organization org-a1b2c3d4 on tokens", ORG),),
    ),
}
