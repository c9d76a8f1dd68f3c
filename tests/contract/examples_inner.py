"""Examples of the clauses on the inside of a gateway: accounts, redirects, addresses."""

from __future__ import annotations

from typing import Any

from tests.contract.captures import Capture, Try, ask, capture, chat, error, knowing, wire
from tests.contract.example import Example, Examples

BUSY = error("The upstream failed.", type="server_error")
MOVED = ("Location: https://inner.example.com/v1/chat/completions",)
INNER = "10.2.0.7:8000"
OK = wire(chat())
FAILED = wire(BUSY, status=500)


def billed(account: str) -> Any:
    """An answer whose head names the account that is billed."""
    return wire(chat(), headers=(f"OpenAI-Organization: {account}",))


def housed(reply: Any, upstream: Any = OK, host: str = INNER, request: Any = None) -> Capture:
    """A member at an inner address."""
    return capture(request or ask(), reply, Try(upstream, host=host))


def unseen(reply: Any) -> Capture:
    """Members that the target was told of, of which nobody sees whether they were asked."""
    return knowing(capture(ask(), reply, ()), terms={"identities": (b"m-9", b"127.0.0.1:49599")})


EXAMPLES: Examples = {
    "secret.upstream": Example(
        (capture(ask(), wire(chat()), billed("org-1234")),),
        (
            capture(ask(), billed("org-1234"), billed("org-1234")),
            capture(ask(), wire(BUSY, status=502, headers=MOVED), wire(b"", status=302, headers=MOVED)),
            capture(ask(), wire(chat(), headers=("llm_provider-organization: org-1234",)), billed("org-1234")),
        ),
    ),
    "secret.address": Example(
        (
            housed(OK),
            housed(wire(chat(), headers=("x-worker: w7", "x-port: 8000", "x-other: 10.2.0.7:80001, 110.2.0.7:8000"))),
            unseen(wire(BUSY, status=502)),
        ),
        (
            housed(wire(chat(), headers=(f"x-routed-worker-id: http://{INNER}",))),
            housed(wire(chat(), headers=("x-api-base: http://vllm-0.models.svc/v1",)), host="vllm-0.models.svc"),
            housed(wire(chat(), headers=("x-api-base: http://localhost:11434/v1",)), host="localhost:11434"),
            housed(wire(BUSY, status=502, headers=(f"x-upstream: {INNER}",)), FAILED),
            unseen(wire(BUSY, status=502, headers=("x-tried: 127.0.0.1:49599.",))),
        ),
    ),
}
