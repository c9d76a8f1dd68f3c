"""The conversation on its way up: what was said, called, given and thought reaches the member, whole and in order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.clauses.dispatched import at_request, forwarded, same_operation
from conformance.contract.clauses.translated import lost_turns, mispaired, translations
from conformance.contract.evidence import show
from conformance.contract.kinds import reason_of
from conformance.contract.sameness import Messages, null_beside_calls, says_nothing
from conformance.exchange.asking import asking
from conformance.exchange.members import list_in, text_in
from conformance.exchange.model import Attempt, Endpoint, Exchange


def _messages(doc: Any) -> list[Any] | None:
    messages = doc.get("messages") if isinstance(doc, dict) else None
    return messages if isinstance(messages, list) else None


@clause(
    id="relay.request.messages",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The client's messages reach the member whole and in order",
    rationale="A turn that loses its content key, its tool call or its place is refused upstream, or answered wrongly.",
    source="openai-api/chat-create",
    applies=lambda x: (forwarded(x) and _has_messages(x)) or bool(translations(x)),
)
def messages(x: Exchange) -> Iterator[Finding]:
    for number, _, mine, sent in translations(x):
        for name, expected, actual in lost_turns(mine, sent):
            yield at_request(x, number, f"{name}: {expected}", actual)
    if forwarded(x) and _has_messages(x):
        yield from _messages_forwarded(x)


def _has_messages(x: Exchange) -> bool:
    return x.request.doc is not None and _messages(x.request.doc.value) is not None


def _messages_forwarded(x: Exchange) -> Iterator[Finding]:
    assert x.request.doc is not None
    asked = _messages(x.request.doc.value) or []
    said = Messages(asked)
    for number, attempt in same_operation(x):
        assert attempt.request.doc is not None
        sent = _messages(attempt.request.doc.value) or []
        arrived, position = Messages(sent), 0
        for message in asked:
            found = arrived.place(message, position)
            if found is None and says_nothing(message):
                continue
            if found is None:
                nearest = sent[position] if position < len(sent) else "no message"
                yield at_request(x, number, show(message), show(nearest))
                break
            position = found + 1
            if _null_left_out(message, sent[found]) and _asks_for_content(attempt):
                yield at_request(x, number, show(message), f"{show(sent[found])}, which the member refuses")
        else:
            yield from _mispaired(x, number, attempt)
        once = {show(message, 1 << 30): message for message in asked} if len(sent) > len(asked) else {}
        for message in once.values():
            times = said.times(message), arrived.times(message)
            if times[0] < times[1]:
                yield at_request(x, number, f"{times[0]} times {show(message)}", f"{times[1]} times")
                break


def _mispaired(x: Exchange, number: int, attempt: Attempt) -> Iterator[Finding]:
    """The results that stand under another call's id: a gateway may give calls new ids, and then results the same."""
    mine, sent = asking(x.request), asking(attempt.request)
    if mine is not None and sent is not None:
        yield from (at_request(x, number, f"{what}: {told}", found) for what, told, found in mispaired(mine, sent))


def _null_left_out(asked: Any, sent: Any) -> bool:
    return null_beside_calls(asked) and "content" not in sent


def _asks_for_content(attempt: Attempt) -> bool:
    """Whether a member refused a dispatch and says something of a content."""
    reply = attempt.reply
    if reply is None or reply.status not in (400, 422) or reply.doc is None or not reply.doc.ok:
        return False
    return re.search(r"\bcontent\b", reason_of(reply.doc.value)) is not None


def _in_order(turns: list[Any], sent: list[Any]) -> Iterator[tuple[Any, int]]:
    """The turns that stand in a dispatch, each behind the one before, with their places."""
    arrived, position = Messages(sent), 0
    for turn in turns:
        place = arrived.place(turn, position)
        if place is not None:
            position = place + 1
            yield turn, place


def _null_turns(x: Exchange) -> list[Any]:
    asked = _messages(x.request.doc.value) if x.request.doc is not None else None
    return [message for message in asked or () if null_beside_calls(message)]


@clause(
    id="relay.request.null-content",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="A tool turn whose content is null keeps its content key on the way to the member",
    rationale="Strict members refuse a turn without the key. The API's schema lets it be left out beside tool calls: a SHOULD.",
    source="openai-api/chat-create",
    applies=lambda x: forwarded(x) and bool(_null_turns(x)),
)
def null_content(x: Exchange) -> Iterator[Finding]:
    for number, attempt in same_operation(x):
        assert attempt.request.doc is not None
        sent = _messages(attempt.request.doc.value) or []
        for message, place in _in_order(_null_turns(x), sent):
            if _null_left_out(message, sent[place]):
                yield at_request(x, number, f"content: null in {show(message)}", show(sent[place]))


#: What an assistant's turn thought, under the names that members give it.
_THOUGHTS = ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks")


def _thoughtful(x: Exchange) -> list[Any]:
    """The turns of the client's that call tools and say what was thought."""
    asked = _messages(x.request.doc.value) if x.request.doc is not None else None
    called = [message for message in asked or () if isinstance(message, dict) and message.get("tool_calls")]
    return [message for message in called if any(message.get(name) for name in _THOUGHTS)]


def _sealed(x: Exchange) -> list[str]:
    """What was thought, sealed by the member, in the items of a Responses request."""
    items = list_in(x.request.doc.value if x.request.doc is not None else None, "input")
    sealed = (text_in(item, "encrypted_content") for item in items if isinstance(item, dict))
    return [text for text in sealed if text] if x.request.endpoint is Endpoint.RESPONSES else []


@clause(
    id="relay.request.thoughts",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="What was thought before a tool call goes back to the member with it",
    rationale="Members that think refuse the next turn without it, or think again. The API does not define it, and others refuse it: a SHOULD.",
    source="openai-api/responses",
    applies=lambda x: forwarded(x) and bool(_thoughtful(x) or _sealed(x)),
)
def thoughts(x: Exchange) -> Iterator[Finding]:
    for number, attempt in same_operation(x):
        assert attempt.request.doc is not None
        sent = _messages(attempt.request.doc.value) or []
        for message, place in _in_order(_thoughtful(x), sent):
            if not any(sent[place].get(name) for name in _THOUGHTS):
                yield at_request(x, number, show(message), show(sent[place]))
        for text in _sealed(x):
            if text.encode("utf-8", "surrogatepass") not in attempt.request.body:
                yield at_request(x, number, f"encrypted_content {show(text, 60)}", "absent")
