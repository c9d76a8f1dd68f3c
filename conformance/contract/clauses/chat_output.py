"""What a chat completion says for the tokens that it counts, and what of the model's own notation stands in it.

A member that answered so itself is at fault itself: a gateway is only held to what it relays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.clauses.inherited import own
from conformance.contract.evidence import at_end, show
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


def _hides_thoughts(x: Exchange) -> bool:
    """Whether thoughts may be counted, though not apart, that are not to be shown."""
    hidden = x.request.get("include_reasoning") is False or x.request.get("reasoning", "exclude") is True
    thinks = hidden or x.request.get("reasoning_format") == "hidden" or bool(x.request.get("reasoning_effort"))
    return thinks and "reasoning" not in counts(the_reply(x).answer.usage)


def _owes(x: Exchange) -> bool:
    if not answered(x):
        return False
    choices = the_reply(x).answer.choices
    # What a stop text took away, or a prediction that was not kept, is counted, too.
    exempt = x.request.get("stop") or x.request.get("prediction") or _hides_thoughts(x)
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


#: What ends a turn, opens one, or names a channel in the models' own notations.
_CONTROL = re.compile(
    r"<\|(?:im_start|im_end|eot_id|eom_id|end_of_text|endoftext|start_header_id|end_header_id|begin_of_text|channel|message"
    r"|start|end|return|call|END_OF_TURN_TOKEN|START_OF_TURN_TOKEN)\|>|<(?:start|end)_of_turn>|<｜[^｜<>]{1,30}｜>"
)
#: The end of a sequence, as many models spell it, where no HTML begins.
_LAST = re.compile(r"</s>\s*\Z")
#: What is quoted is spoken of.
_QUOTED = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.S)


def _control(text: str) -> str:
    plain = _QUOTED.sub("", text)
    found = _CONTROL.search(plain) or (None if "<s" in plain else _LAST.search(plain))
    return found.group().strip() if found is not None else ""


def _named(x: Exchange, token: str) -> bool:
    """Whether the request itself holds a token: then it is spoken of."""
    return token in show(x.request.doc.value if x.request.doc is not None else None, len(x.request.body) * 2)


@clause(
    id="chat.text.no-control-tokens",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="No token of the model's chat template stands in the text",
    rationale="It is the mark between turns: users see it, and it comes back in the next prompt. A text may speak of it: a SHOULD.",
    source="openai-api/chat-object",
    applies=lambda x: answered(x) and any(choice.text for choice in the_reply(x).answer.choices),
)
@own
def no_control_tokens(x: Exchange) -> Iterator[Finding]:
    for choice in the_reply(x).answer.choices:
        token = _control(choice.text)
        if token and not _named(x, token):
            yield at_end(the_reply(x), f"a text without {show(token)}", show(choice.text))
