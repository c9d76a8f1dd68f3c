"""Streams: what went wrong before anything was sent is told by the status."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.evidence import at_head
from conformance.contract.when import CHOICES, stayed, the_reply
from conformance.exchange.model import Endpoint, Exchange, Reply


def _all_failed(x: Exchange) -> bool:
    """Whether a stream was asked for, and no member gave a head of success."""
    asked = x.request.stream and x.request.endpoint in (*CHOICES, Endpoint.RESPONSES) and stayed(x)
    return asked and bool(x.attempts) and all(a.reply is None or not a.reply.ok for a in x.attempts or ())


def _error_alone(reply: Reply) -> bool:
    """Whether a stream holds an error and nothing else: no chunk, and no comment that kept it open meanwhile."""
    told = set(reply.answer.event_errors)
    alone = all(event.done or index in told for index, event in enumerate(reply.events))
    return bool(told) and alone and reply.stream is not None and not reply.stream.comments


@clause(
    id="stream.error.early",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="An error before any output is told by the status, not inside a stream of 200",
    rationale="Clients, SDKs and proxies retry, count and fall back by the status. No norm says when a stream has begun: a SHOULD.",
    source="openai-api/errors",
    applies=_all_failed,
)
def error_early(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    if reply.ok and _error_alone(reply):
        yield at_head(
            reply, "a status of 4xx or 5xx: no member gave an answer", f"status {reply.status}, then an error"
        )
