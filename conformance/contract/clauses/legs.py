"""Both legs of one exchange side by side: what the serving member said, and what the client was told of it.

The conditions and readings that the relay clauses share; no clause stands here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.contract.clauses.chunk import requested_choices
from conformance.contract.clauses.embedded import asked_in_part
from conformance.contract.evidence import show
from conformance.contract.kinds import error_object, reason_of
from conformance.contract.sameness import Messages
from conformance.contract.when import CHOICES, serving, stayed, the_reply
from conformance.exchange.answer import Choice
from conformance.exchange.model import Attempt, Endpoint, Exchange, Reply
from conformance.wire.jsondoc import parse
from conformance.wire.transcript import End

CONVERSATION = (*CHOICES, Endpoint.RESPONSES)


def served(x: Exchange) -> tuple[Attempt, Reply] | None:
    """The serving attempt and its reply, when the client read its own reply to the end.

    An attempt that the gateway itself ended counts only where the member had told its end or an error before.
    """
    attempt = serving(x)
    if attempt is None or attempt.reply is None or not stayed(x) or attempt.reply.sealed or the_reply(x).sealed:
        return None
    answer = attempt.reply.answer
    if attempt.end is End.HANGUP and not (answer.errors or any(choice.reasons for choice in answer.choices)):
        return None
    return attempt, attempt.reply


def speaks(x: Exchange) -> tuple[Attempt, Reply] | None:
    """The same for a 2xx of an endpoint that gives choices, on both legs."""
    found = served(x)
    if found is None or not found[1].ok:
        return None
    asked = found[0].request.endpoint in CONVERSATION or (found[1].answer.choices and _translated(x))
    return found if x.request.endpoint in CONVERSATION and asked else None


def _translated(x: Exchange) -> bool:
    """Whether the member speaks another API, and its answer was read."""
    attempt = serving(x)
    return attempt is not None and attempt.request.endpoint is Endpoint.OTHER


def told_success(x: Exchange) -> bool:
    """Whether the client was told, openly or by a clean end, that all is well."""
    reply = the_reply(x)
    return reply.ok and reply.complete and not reply.answer.errors


def names_timeout(reply: Reply) -> bool:
    """Whether a reply says, by its status or its words, that a member did not answer in time."""
    text = (reply.content[:4000] + reply.content[4000:][-4000:]).lower()
    return reply.status in (408, 504) or any(
        word in text for word in (b"timeout", b"timed out", b"time-out", b"deadline")
    )


def told(x: Exchange) -> str:
    answer = the_reply(x).answer
    reasons = [reason for choice in answer.choices for reason in choice.reasons]
    done = "and [DONE]" if answer.done else "and no [DONE]" if answer.streamed else ""
    text = "".join(choice.text for choice in answer.choices)
    return f"status {the_reply(x).status}, finish_reason {show(reasons[-1]) if reasons else 'none'} {done}, text {show(text, 60)}".replace(
        " ,", ","
    )


def both_whole(x: Exchange) -> tuple[Reply, Reply] | None:
    """Both replies where the upstream's answer was whole and the client's too."""
    found = speaks(x)
    if found is None or not found[0].succeeded or not the_reply(x).ok or not the_reply(x).answer.finished:
        return None
    return found[1], the_reply(x)


def shared_out(x: Exchange) -> bool:
    """Whether several members each gave a part: of a batch, or one of the choices. Then none of them is the whole answer."""
    if asked_in_part(x):
        return True
    gave = [attempt for attempt in x.attempts or () if attempt.succeeded]
    parts = {show(attempt.request.get("input"), 1 << 20) for attempt in gave}
    return len(gave) > 1 and (len(parts) > 1 or requested_choices(x) > 1)


def pairs(x: Exchange) -> Iterator[tuple[Choice, Choice | None]]:
    found = speaks(x)
    if found is None:
        return
    if len(found[1].answer.choices) != requested_choices(x) or _shared_index(found[1]):
        return  # the upstream itself mixed its choices up: there is no one right reading
    mine = {choice.index: choice for choice in the_reply(x).answer.choices}
    for choice in found[1].answer.choices:
        yield choice, mine.get(choice.index)


def _shared_index(reply: Reply) -> bool:
    choices = reply.doc.get("choices") if reply.doc is not None and not reply.events else None
    return isinstance(choices, list) and len(choices) != len(reply.answer.choices)


def speaks_of(x: Exchange, attempt: Attempt) -> bool:
    """Whether one of the client's messages stands in a dispatch; always where either has none."""
    asked, sent = x.request.get("messages"), attempt.request.get("messages")
    if not isinstance(asked, list) or not isinstance(sent, list):
        return True
    arrived = Messages(sent)
    return any(arrived.place(message) is not None for message in asked)


def about(attempt: Attempt, name: str) -> bool:
    """Whether a member's refusal is about the parameter `name`."""
    reply = attempt.reply
    value = reply.doc.value if reply is not None and reply.doc is not None and reply.doc.ok else None
    if (error_object(value) or {}).get("param") == name:
        return True
    quoted = re.search(rf"""['"`]{re.escape(name)}['"`]""", reason_of(value))
    return bool(quoted) or ("_" in name and re.search(rf"\b{re.escape(name)}\b", reason_of(value)) is not None)


def refused_before(x: Exchange, number: int, name: str) -> bool:
    """Whether a member refused the parameter `name` before the attempt with that number: it may be asked without it."""
    earlier = (x.attempts or ())[:number]
    return any(a.reply is not None and a.reply.status in (400, 422) and about(a, name) for a in earlier)


#: Text of an answer in a chunk, whole or not. What was thought may be left out.
_TEXT = re.compile(rb'"(?:content|refusal|arguments|text)"\s*:\s*("(?:[^"\\]|\\.)+")')


def torn_texts(reply: Reply) -> list[str]:
    """The texts that stand in events which are no JSON: chunks that broke off, or were spoilt."""
    broken = (event.event.data for event in reply.events if event.doc is not None and not event.doc.ok)
    texts = (parse(match[1]) for data in broken for match in _TEXT.finditer(data))
    return [text.value for text in texts if text.ok and isinstance(text.value, str) and text.value.strip()]
