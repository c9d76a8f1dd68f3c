"""The service tier, in a chat completion and in its chunks: a member of its own, since many providers name tiers of theirs.

What else is wrong with a shape is told by the shape clauses, which such a tier would hide in a stream.
"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.evidence import at_event, at_path
from conformance.contract.shape import ShapeProblem, problems
from conformance.contract.when import is_stream, json_of, the_reply
from conformance.exchange.model import Endpoint, Exchange


def _unknown(schema: str, value: object) -> ShapeProblem | None:
    """What is wrong with the tier of a completion or a chunk."""
    if not isinstance(value, dict) or value.get("service_tier") is None:
        return None
    found = problems(schema, {"service_tier": value["service_tier"]})
    return next((problem for problem in found if problem.path[:1] == ("service_tier",)), None)


@clause(
    id="chat.service-tier",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The service tier of a chat completion is one of the API's",
    rationale="It is a closed set of the schema: a client that is typed by it fails on the whole reply for a provider's own word.",
    source="openai-spec/chat",
    applies=json_of(Endpoint.CHAT),
)
def reply_tier(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    problem = _unknown("chat-completion", reply.doc.value if reply.doc is not None else None)
    if problem is not None:
        yield at_path(reply, ("service_tier",), problem.expected, problem.actual)


@clause(
    id="chunk.service-tier",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The service tier of a chunk is one of the API's",
    rationale="It is a closed set of the schema: a client that is typed by it fails on the whole stream for a provider's own word.",
    source="openai-spec/chunk",
    applies=lambda x: is_stream(x) and x.request.endpoint is Endpoint.CHAT,
)
def chunk_tier(x: Exchange) -> Iterator[Finding]:
    for event in the_reply(x).events:
        problem = _unknown("chat-completion-chunk", event.doc.value if event.doc is not None and event.doc.ok else None)
        if problem is not None:
            yield at_event(the_reply(x), event, problem.expected, problem.actual)
            return
