"""SDKs: what the official client made of the bytes, where one was the driver."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.evidence import at_exchange, at_head, show
from conformance.contract.when import failed, stayed, the_reply
from conformance.exchange.model import Exchange

#: openai-sdk/errors: the exceptions that the SDK documents; any other one is a parser's or a transport's.
_DOCUMENTED = (
    "APIError",
    "APIStatusError",
    "APIConnectionError",
    "APITimeoutError",
    "BadRequestError",
    "AuthenticationError",
    "PermissionDeniedError",
    "NotFoundError",
    "ConflictError",
    "UnprocessableEntityError",
    "RateLimitError",
    "InternalServerError",
)


def _by_sdk(x: Exchange) -> bool:
    return x.client is not None and x.client.name.startswith("openai") and stayed(x)


@clause(
    id="sdk.reads",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The official SDK reads a whole success",
    rationale="A JSON or decode error out of the SDK is what most users meet first when a gateway's stream is off.",
    source="openai-sdk/errors",
    applies=lambda x: _by_sdk(x) and the_reply(x).ok and the_reply(x).complete and not the_reply(x).answer.errors,
)
def reads(x: Exchange) -> Iterator[Finding]:
    assert x.client is not None
    if x.client.exception:
        message = show(x.client.fields.get("message", ""))
        yield at_exchange(
            x, f"{x.client.name} {x.client.version} returns the reply", f"it raises {x.client.exception}: {message}"
        )


@clause(
    id="sdk.error.body",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The official SDK finds the error's body",
    rationale="Without an `error` object the SDK shows a bare status: users and maintainers cannot see the cause.",
    source="openai-sdk/errors",
    applies=lambda x: _by_sdk(x) and failed(x),
)
def error_body(x: Exchange) -> Iterator[Finding]:
    assert x.client is not None
    if x.client.exception not in _DOCUMENTED:
        yield at_head(the_reply(x), "one of the SDK's documented exceptions", x.client.exception or "no exception")
    elif not isinstance(x.client.fields.get("body"), dict):
        yield at_head(
            the_reply(x),
            "an exception with the error object as its body",
            f"{x.client.exception} with body {show(x.client.fields.get('body'))}",
        )
