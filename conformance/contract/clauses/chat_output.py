"""What a chat completion says for the tokens that it counts, and what of the model's own notation stands in it.

A member that answered so itself is at fault itself: a gateway is only held to what it relays.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.clauses.inherited import own
from conformance.contract.evidence import at_end
from conformance.contract.when import good_stream, json_of, stayed, the_reply
from conformance.exchange.counted import counts
from conformance.exchange.members import list_in, object_in
from conformance.exchange.model import Endpoint, Exchange

_json = json_of(Endpoint.CHAT)
#: The tokens that end an answer which says nothing, and which some servers count.
_ENDING = 4
#: Members that a message has besides what it says.
_FRAME = ("role",)


def answered(x: Exchange) -> bool:
    """A whole chat completion, streamed or not, without an error."""
    return x.request.endpoint is Endpoint.CHAT and stayed(x) and (_json(x) or good_stream(x))


def said(x: Exchange) -> Iterator[dict[str, Any]]:
    """Every message, or delta, of a reply."""
    reply = the_reply(x)
    for doc in [event.doc for event in reply.events] or [reply.doc]:
        for choice in list_in(doc.value if doc is not None else None, "choices"):
            yield object_in(choice, "message") or object_in(choice, "delta")


def _spent(x: Exchange) -> int:
    """How many tokens a reply counts besides those of its reasoning."""
    found = counts(the_reply(x).answer.usage)
    return min(found.get("completion", (0,))) - max(found.get("reasoning", (0,)))


def _owes(x: Exchange) -> bool:
    choices = the_reply(x).answer.choices if answered(x) else ()
    # What a stop text took away, or a prediction that was not kept, is counted, too.
    exempt = x.request.get("stop") or x.request.get("prediction")
    return bool(choices) and not exempt and _spent(x) > _ENDING and all(c.reasons == ("stop",) for c in choices)


@clause(
    id="chat.output.present",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A chat completion that stopped and counts tokens says something",
    rationale="The tokens are paid and the text is nowhere: clients take the empty content for the answer.",
    source="openai-api/chat-object",
    applies=_owes,
)
@own
def output_present(x: Exchange) -> Iterator[Finding]:
    empty = all(choice.empty for choice in the_reply(x).answer.choices)
    if empty and not any(value for message in said(x) for name, value in message.items() if name not in _FRAME):
        yield at_end(the_reply(x), f"what {_spent(x)} tokens were generated for", "no text, call, refusal or thought")
