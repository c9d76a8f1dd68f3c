"""Whether a usage counts at all: it is there, and what was read and written is not told as nothing.

What a member did not count, or counted as nothing, a gateway can only relay.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.clauses.inherited import own
from conformance.contract.clauses.responses_course import ended
from conformance.contract.evidence import at_end, at_event, at_path, show
from conformance.contract.when import CHOICES, json_of, serving, stayed, the_reply
from conformance.exchange.counted import counts
from conformance.exchange.members import list_in, texts
from conformance.exchange.model import Endpoint, Exchange, StreamEvent

_SPEAKING = (*CHOICES, Endpoint.RESPONSES)
_completion = json_of(*CHOICES)
_vectors = json_of(Endpoint.EMBEDDINGS)


def _value(x: Exchange) -> dict[str, Any]:
    doc = the_reply(x).doc
    return doc.value if doc is not None and isinstance(doc.value, dict) else {}


def _asked(x: Exchange) -> bool:
    """Whether a request holds text to be read: a legacy prompt may be empty."""
    if x.request.endpoint is Endpoint.CHAT:
        return True
    found = texts(x.request.get("prompt" if x.request.endpoint is Endpoint.COMPLETIONS else "input"))
    return any(isinstance(one, dict) or (isinstance(one, str) and one.strip()) for one in found)


def _said(x: Exchange) -> bool:
    """Whether an answer holds what has to be counted."""
    choices = the_reply(x).answer.choices
    return any(c.text.strip() or any(call.name for call in c.tool_calls) for c in choices)


def _silent(x: Exchange) -> bool:
    """Whether the member counted nothing itself, in whichever API."""
    attempt = serving(x)
    return attempt is not None and (attempt.reply is None or not counts(attempt.reply.answer.usage))


def _counted_by_member(x: Exchange, name: str) -> bool:
    """Whether a member that speaks another API told that number itself; True where that cannot be asked."""
    attempt = serving(x)
    if attempt is None or attempt.reply is None or attempt.request.endpoint is x.request.endpoint:
        return True
    return any(counts(attempt.reply.answer.usage).get(name, ()))


def _counting(x: Exchange) -> bool:
    reply = x.reply
    if reply is None or not stayed(x) or not reply.ok or reply.answer.errors or not counts(reply.answer.usage):
        return False
    if x.attempts == () or _silent(x):
        return False  # what comes from memory costs nothing; what a member did not count has no number
    if x.request.endpoint is Endpoint.EMBEDDINGS:
        return _vectors(x) and bool(list_in(_value(x), "data")) and _asked(x)
    ended = reply.answer.finished and reply.complete
    return x.request.endpoint in _SPEAKING and ended and _said(x)


@clause(
    id="usage.counted",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="What was read and what was written is not counted as zero tokens",
    rationale="Bills, budgets and compaction go by the counters: a zero beside a text is no count, and is believed.",
    source="openai-api/chat-object",
    applies=_counting,
)
@own
def counted(x: Exchange) -> Iterator[Finding]:
    found = {name: told for name, told in counts(the_reply(x).answer.usage).items() if _counted_by_member(x, name)}
    zero = []
    if found.get("prompt") == (0,) and _asked(x):
        zero.append("prompt")
    echoed = x.request.endpoint is Endpoint.COMPLETIONS and x.request.get("echo") is True
    if found.get("completion") == (0,) and x.request.endpoint is not Endpoint.EMBEDDINGS and not echoed:
        zero.append("completion")
    if zero:
        told = show(the_reply(x).answer.usage)
        yield at_end(the_reply(x), f"more than 0 {' and '.join(zero)} tokens", told)


def _owing(x: Exchange) -> list[tuple[StreamEvent | None, dict[str, Any]]]:
    """What owes a usage: a completion that is not streamed, or a completed response, be it a stream's last event."""
    if x.request.endpoint is Endpoint.RESPONSES:
        return [(event, response) for event, response in ended(x) if response.get("status") == "completed"]
    return [(None, _value(x))] if _completion(x) else []


@clause(
    id="usage.present",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="A completion that is not streamed, or a completed response, tells its usage",
    rationale="Who bills or budgets by it counts the request as free. The schema does not require it of chat completions: a SHOULD.",
    source="openai-api/chat-object",
    applies=lambda x: bool(_owing(x)) and not _silent(x),
)
def present(x: Exchange) -> Iterator[Finding]:
    for event, value in _owing(x):
        actual = show(value["usage"]) if "usage" in value else "absent"
        if not isinstance(value.get("usage"), dict) and event is None:
            yield at_path(the_reply(x), ("usage",), "usage: an object", actual)
        elif not isinstance(value.get("usage"), dict) and event is not None:
            yield at_event(the_reply(x), event, "usage: an object", actual)
