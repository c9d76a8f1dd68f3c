"""Isolation over sequences: no member is sent what only another request brought, be it a key or a conversation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, sequence_clause
from conformance.contract.clauses.cache import document_of
from conformance.contract.evidence import show
from conformance.contract.sameness import Messages
from conformance.contract.timeline import at_dispatch
from conformance.exchange.members import list_in, text_in, texts
from conformance.exchange.model import Exchange, Request
from conformance.exchange.sequence import Dispatch, Sequence, Turn

#: Where a key stands in a request: header fields, and a member that some gateways take it from.
_KEY_FIELDS = ("authorization", "x-api-key", "api-key", "x-goog-api-key")
_KEY_MEMBER = "api_key"
#: What a recorder writes where a key stood is nobody's.
_HIDDEN = re.compile(
    r"redact|filtered|dummy|hidden|\*{3}|x{4}|^.{0,3}$|^(?:empty|none|null|ollama|not-needed|no-?key(?:-required)?)$",
    re.I,
)


def keys_of(request: Request) -> dict[str, str]:
    """The keys that a request brings, without their scheme, each with where it stands."""
    found = {value.split()[-1]: name for name in _KEY_FIELDS for value in request.head.all(name) if value.split()}
    member = text_in(request.doc.value if request.doc is not None and request.doc.ok else None, _KEY_MEMBER)
    return {key: name for key, name in (*found.items(), (member, _KEY_MEMBER)) if not _HIDDEN.search(key)}


def _busy(s: Sequence) -> list[Turn]:
    """The turns for which a member was asked."""
    return [turn for turn in s.turns if turn.exchange.attempts]


def _own_keys(s: Sequence) -> Iterator[tuple[Turn, str]]:
    """The keys that one turn brought first, with it: those that a member was sent before, or has, are the gateway's."""
    gone: set[str] = {key for turn in s.turns for _, key, _ in turn.exchange.terms.assigned}
    for turn in s.turns:
        for key in sorted(keys_of(turn.exchange.request).keys() - gone):
            if not any(key in keys_of(d.attempt.request) for d in s.dispatches if d.turn.began < turn.began):
                yield turn, key
        gone |= keys_of(turn.exchange.request).keys()


def _brought(s: Sequence, first: Turn, key: str, dispatch: Dispatch) -> bool:
    """Whether a key is certainly the caller's, and not the gateway's own that one caller has, too: it was brought
    beside another one, a later caller brings his own in its place, or members were sent another one before."""
    brought, own = keys_of(first.exchange.request), keys_of(dispatch.turn.exchange.request)
    before = (d for d in s.dispatches if d.turn.began < first.began and d.member == dispatch.member)
    return len(brought) > 1 or brought[key] in own.values() or any(True for _ in before)


@sequence_clause(
    id="isolation.key",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A key that one request brings reaches no member with a later one",
    rationale="A caller's own key that sticks to a client object pays for strangers, and opens its account to them.",
    source="report/isolation-key",
    applies=lambda s: s.held and len(_busy(s)) > 1 and any(True for _ in _own_keys(s)),
)
def isolation_key(s: Sequence) -> Iterator[Finding]:
    brought: dict[str, Turn] = {}
    for turn, key in _own_keys(s):
        brought.setdefault(key, turn)
    for dispatch in s.dispatches:
        own = keys_of(dispatch.turn.exchange.request)
        for key in sorted(keys_of(dispatch.attempt.request).keys() - own.keys()):
            first = brought.get(key)
            if first is None or first.began >= dispatch.turn.began:
                continue
            if _brought(s, first, key, dispatch):
                yield at_dispatch(s, dispatch, "a key of its own", f"the key that {first.label} brought")


#: Members and header fields by which a client names a conversation that the gateway keeps: it goes along then.
_KEPT = ("previous_response_id", "conversation", "conversation_id", "session_id", "thread_id", "chat_id", "user_id")
_KEPT_FIELD = re.compile(rb"session|conversation|thread|chat-id|user-id|cookie", re.I)
#: Instructions that many write alike: a gateway may have them from itself.
_STOCK = re.compile(r".{0,40}\bassistant\b.{0,40}", re.I | re.S)


def _keeps(exchange: Exchange) -> bool:
    if any(name in document_of(exchange) for name in _KEPT):
        return True
    return any(_KEPT_FIELD.search(line.name) for line in exchange.request.head.headers)


def _messages(request: Request) -> list[Any]:
    return list_in(request.doc.value if request.doc is not None and request.doc.ok else None, "messages")


def _text(message: Any) -> str:
    content = message.get("content") if isinstance(message, dict) else None
    return "".join(part if isinstance(part, str) else text_in(part, "text") for part in texts(content)).strip()


def strange_messages(s: Sequence) -> Iterator[tuple[Dispatch, str]]:
    """The dispatches that carry a message, or the answer, of an earlier turn that is none of their own request's; what
    a member was sent before that turn is the gateway's own."""
    heard: dict[str, list[Turn]] = {}
    for turn in s.turns:
        for text in {_text(message) for message in _messages(turn.exchange.request)} | set(_answered(turn)):
            if text:
                heard.setdefault(text, []).append(turn)
    for dispatch in s.dispatches:
        exchange = dispatch.turn.exchange
        mine = _messages(exchange.request)
        if not mine or _keeps(exchange):
            continue
        known, said = Messages(mine), "\n".join(map(_text, mine))
        for message in _messages(dispatch.attempt.request):
            text = _text(message)
            if text not in heard or text in said or _STOCK.fullmatch(text) or known.place(message) is not None:
                continue
            first = next((t for t in heard[text] if t.ended <= dispatch.turn.began), None)
            if first is not None and not _alike(first, dispatch.turn) and not _sent_before(s, first, text):
                yield dispatch, f"{show(text, 60)} of {first.label}"
                break


def _answered(turn: Turn) -> Iterator[str]:
    reply = turn.exchange.reply
    for choice in reply.answer.choices if reply is not None else ():
        yield choice.text.strip()


def _alike(first: Turn, turn: Turn) -> bool:
    """Whether both name one user: a gateway may keep what it knows of one."""
    users = [document_of(one.exchange).get("user") for one in (first, turn)]
    return users[0] is not None and users[0] == users[1]


def _sent_before(s: Sequence, turn: Turn, text: str) -> bool:
    before = (d for d in s.dispatches if d.turn.began < turn.began)
    return any(text == _text(message) for d in before for message in _messages(d.attempt.request))
