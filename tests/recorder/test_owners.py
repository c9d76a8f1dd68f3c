"""conformance.recorder.owners: whose attempt an attempt is."""

from __future__ import annotations

import json

from conformance.recorder.exchange import Exchange
from conformance.recorder.owners import KEPT, Owners
from tests.upstream.peer import post


def asked(owners: Owners, began: float, prompt: str) -> tuple[Exchange, bytes]:
    """A request of the client that began then."""
    request = post(json.dumps({"model": "alias", "messages": [{"role": "user", "content": prompt}]}).encode())
    exchange = Exchange(method="POST", began=began, reused=False)
    exchange.sent(request, began)
    owners.began(exchange)
    return exchange, request


def attempt(prompt: str) -> bytes:
    """What the gateway sends for it."""
    return post(
        json.dumps({"messages": [{"role": "user", "content": prompt}], "model": "up"}).encode(), headers="A: b\r\n"
    )


def test_by_words_and_by_time() -> None:
    """The request with the same prompt that was open when the attempt began; before and after there is none."""
    owners = Owners()
    one, request = asked(owners, 1.0, "Say one.")
    asked(owners, 2.0, "Say two.")
    assert owners.of(1.5, attempt("Say one.")) == [0]
    assert owners.of(2.5, attempt("Say two.")) == [1]
    assert owners.of(0.5, attempt("Say one.")) == []
    assert owners.of(2.5, attempt("Say three.")) == []
    assert owners.ended(one, 3.0, request) == 0
    assert owners.of(2.9, attempt("Say one.")) == [0]
    assert owners.of(3.1, attempt("Say one.")) == []
    assert owners.after(0, 1.25) == 250.0


def test_equal_words_at_one_time_are_not_told_apart() -> None:
    """Both may be asked for; a nonce tells them apart, in whatever order the gateway puts it."""
    owners = Owners()
    asked(owners, 1.0, "Say hello.")
    asked(owners, 1.1, "Say hello.")
    assert owners.of(1.5, attempt("Say hello.")) == [0, 1]
    asked(owners, 1.0, "Say cf-aaaaaa.")
    asked(owners, 1.1, "Say cf-bbbbbb.")
    assert owners.of(1.5, attempt("A system prompt of the gateway. Say cf-aaaaaa.")) == [2]


def test_what_is_spoilt_stays_so() -> None:
    """For the first reason, also when so many others have ended that the request itself is forgotten."""
    owners = Owners()
    one, request = asked(owners, 1.0, "Say one.")
    owners.spoil([0], "first")
    owners.spoil([0], "second")
    owners.ended(one, 2.0, request)
    for number in range(KEPT + 1):
        other, request = asked(owners, 3.0 + number, "Say other.")
        owners.ended(other, 3.5 + number, request)
    assert owners.of(1.5, attempt("Say one.")) == []
    assert owners.spoilt(0) == "first"
    assert owners.spoilt(1) == ""
