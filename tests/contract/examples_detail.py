"""Examples of the clauses on single facts that go astray: keys and their hashes, a wrong parameter, a second wait."""

from __future__ import annotations

from typing import Any

from tests.contract.captures import Capture, Try, ask, capture, chat, error, wire
from tests.contract.example import Example, Examples

OK = wire(chat())
HASH = "d748053a55933f7b" * 4
WRONG = error("Invalid value for 'temperature'.", param="temperature")


def refused(message: str, status: int = 401) -> Capture:
    """A refusal with that message."""
    return capture(ask(), wire(error(message, code="invalid_api_key"), status=status))


def dispatched(*fields: tuple[str, str], key: str = "sk-up-0") -> Capture:
    """A dispatch with more header fields."""
    return capture(ask(), OK, Try(OK, request=ask(model="up-model").headed(*fields), key=key))


def blamed(told: Any, member: Any = WRONG, status: int = 400, **asked: Any) -> Capture:
    """A member's refusal, and what the client is told."""
    return capture(ask(**{"temperature": 5, **asked}), wire(told, status=status), wire(member, status=400))


def waits(*lines: str, upstream: Any = None) -> Capture:
    """A rate limit with those field lines."""
    return capture(ask(), _limit(*lines), upstream)


def _limit(*lines: str) -> Any:
    return wire(error("Rate limit reached", type="requests"), status=429, headers=lines)


BOTH = ("Retry-After: 60", "retry-after-ms: 100")

EXAMPLES: Examples = {
    "error.message.no-key-hash": Example(
        (refused("Incorrect API key provided."), refused(f"Request {HASH}0 was refused."), refused("No.", 403)),
        (refused(f"Key Hash (Token) ={HASH}. Unable to find token."), refused(f"Unknown key {HASH.upper()}", 403)),
    ),
    "relay.request.client-key": Example(
        (dispatched(), dispatched(("x-api-key", "another-key")), dispatched(("x-user", "sk-test"))),
        (
            dispatched(("x-api-key", "sk-test-client")),
            dispatched(("x-forwarded-authorization", "Bearer sk-test-client")),
        ),
    ),
    "relay.error.param-kept": Example(
        (blamed(WRONG), blamed(error("Invalid value for 'temperature'.", param="temperature[0]"))),
        (
            blamed(error("Invalid value for 'temperature'.")),
            blamed(error("Bad request: Invalid value for 'temperature'."), status=422),
            blamed(error("Invalid content."), error("Invalid content.", param="messages[0].content")),
        ),
    ),
    "error.retry-after.agrees": Example(
        (
            waits("Retry-After: 7"),
            waits("Retry-After: 2", "retry-after-ms: 1200"),
            waits("Retry-After: 1", "retry-after-ms: 100"),
            waits("Retry-After: 60", "retry-after-ms: soon"),
            waits(*BOTH, upstream=_limit(*BOTH)),
        ),
        (waits(*BOTH), waits("Retry-After: 1", "retry-after-ms: 60000"), waits(*BOTH, upstream=_limit(BOTH[0]))),
    ),
}

#: Waits that a member tells in ms alone.
MILLISECONDS: Examples = {
    "error.rate-limit.retry-after": Example(
        (
            waits("retry-after-ms: 1500", upstream=_limit("retry-after-ms: 1500")),
            waits("Retry-After: 2", upstream=_limit("retry-after-ms: 1500")),
        ),
        (waits(upstream=_limit("retry-after-ms: 1500")),),
    ),
}

#: What none of these clauses has a say about.
FREE: dict[str, Capture] = {
    "the client's own key is all that a member gets": dispatched(key="sk-test-client"),
    "a member's key that begins as the client's does": dispatched(key="sk-test-client-2"),
    "two keys of the client": capture(
        ask().headed(("x-api-key", "sk-their-own")),
        OK,
        Try(OK, request=ask(model="up-model").headed(("x-api-key", "sk-test-client")), key="sk-their-own"),
    ),
    "a parameter that the client did not send": blamed(WRONG, temperature=None),
    "a reason in other words": blamed(error("The request is not valid.")),
    "a refusal that is no refusal of a key": capture(ask(), wire(error(f"No file {HASH}."), status=404)),
}
