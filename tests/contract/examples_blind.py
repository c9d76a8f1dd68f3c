"""Examples of the clauses on blindness, secrets and isolation."""

from __future__ import annotations

from typing import Any

from tests.contract.captures import Capture, Try, ask, capture, chat, error, stream, wire, words
from tests.contract.example import Example, Examples

STREAM = ask(stream=True)
MEMBER = wire(chat(model="maker/model-9", provider="Maker"))

ECHOED = wire(chat(), headers=("x-goog-api-key: AIza-0123456789",))


def blind(reply: Any, upstream: Any = MEMBER, request: Any = None) -> Capture:
    """A target that promises not to tell who serves."""
    return capture(request or ask(), reply, upstream, "provider-blind")


def keyed(reply: Any, key: str = "sk-up-0123456789") -> Capture:
    """A member that was asked with that key."""
    return capture(ask(), reply, Try(wire(chat()), key=key))


EXAMPLES: Examples = {
    "blind.model.alias": Example(
        (blind(wire(chat())), blind(wire(stream(*words("Hi"))), wire(stream(*words("Hi", model="m-9"))), STREAM)),
        (
            blind(wire(chat(model="maker/model-9"))),
            blind(wire(stream(*words("Hi", model="m-9"))), wire(stream(*words("Hi", model="m-9"))), STREAM),
        ),
    ),
    "blind.identity.body": Example(
        (
            blind(wire(chat())),
            blind(wire(chat("I am maker/model-9.")), wire(chat("I am maker/model-9.", model="maker/model-9"))),
        ),
        (
            blind(wire(chat(note="served by maker/model-9"))),
            blind(wire(error("up-model is overloaded"), status=503)),
            blind(wire(error("litellm.RateLimitError: GroqException - Rate limit reached"), status=429)),
            blind(wire(error("Groq is down"), status=503), wire(error("Groq is down"), status=503)),
            blind(wire(error("m0.test is down"), status=502), Try(MEMBER, host="m0.test")),
        ),
    ),
    "blind.identity.headers": Example(
        (
            blind(wire(chat(), headers=("x-request-id: req_1", "CF-RAY: 1a2b", "Via: 1.1 edge"))),
            blind(wire(chat(), headers=("Set-Cookie: REDACTED",)), wire(chat(), headers=("set-cookie: REDACTED",))),
        ),
        (
            blind(wire(chat(), headers=("openai-organization: org-1",))),
            blind(wire(chat(), headers=("x-model: maker/model-9",))),
            blind(wire(chat(), headers=("CF-RAY: 8d3f",)), wire(chat(), headers=("cf-ray: 8d3f",))),
        ),
    ),
    "blind.members.vendor": Example(
        (blind(wire(chat())),),
        (
            blind(wire(chat(provider="Maker"))),
            blind(wire(chat(choice={"native_finish_reason": "STOP"}))),
            blind(wire(stream(*words("Hi", x_groq={"id": "req_1"}))), MEMBER, STREAM),
        ),
    ),
    "secret.never-shown": Example(
        (keyed(wire(chat())), keyed(wire(chat("My key is sk-test-client.")))),
        (
            keyed(wire(chat("sk-up-0123456789"))),
            keyed(wire(chat(), headers=("x-goog-api-key: sk-up-0123456789",))),
            keyed(wire(error("Bad key: sk-up-0123456789"), status=401)),
            # A key that a member's head echoes is nobody's to see, whoever's it is.
            capture(ask(), ECHOED, ECHOED),
        ),
    ),
    "isolation.nonce": Example(
        (capture(ask(), wire(chat("cf-q8w3zd"))), capture(ask(), wire(chat()))),
        (capture(ask(), wire(chat("cf-z9y8x7"))), capture(STREAM, wire(stream(*words("cf-q8w3zd", "cf-z9y8x7"))))),
    ),
}
