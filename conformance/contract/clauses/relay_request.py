"""The request on its way up: what the client asked for is what the member is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.clauses.dispatched import at_request, forwarded, same_operation
from conformance.contract.clauses.embedded import asked_in_part
from conformance.contract.clauses.legs import about, refused_before
from conformance.contract.clauses.translated import lost_parameters, lost_turns, translations
from conformance.contract.evidence import at_content, show
from conformance.contract.parameters import CAPS, DEFAULTS, is_default, lost, succeeds
from conformance.contract.sameness import contained
from conformance.contract.when import failed, stayed, the_reply
from conformance.exchange.asking import asking
from conformance.exchange.members import list_in
from conformance.exchange.model import Attempt, Endpoint, Exchange, Request
from conformance.wire.facts import Span

#: Members that a gateway adds for its own book-keeping without changing what is generated.
_HARMLESS = (
    "model",
    "stream",
    "stream_options",
    "user",
    "metadata",
    "extra_body",
    "timeout",
    "store",
    "safety_identifier",
)


def _emptied(x: Exchange) -> list[tuple[int, Attempt]]:
    """The dispatches whose body is gone, or cut off, though others of the request have one."""
    if x.request.doc is None or not isinstance(x.request.doc.value, dict):
        return []
    same_path = [(n, a) for n, a in enumerate(x.attempts or ()) if a.request.endpoint is x.request.endpoint]
    if x.request.endpoint is Endpoint.OTHER or not any(attempt.request.body for _, attempt in same_path):
        return []  # a leg that holds no request bodies at all
    return [(n, a) for n, a in same_path if a.request.doc is None or not a.request.doc.ok]


def _shared_out(x: Exchange, name: str) -> bool:
    """Whether one request became several: a choice each, or the parts of a batch."""
    attempts = [attempt for _, attempt in same_operation(x)]
    asked = x.request.get(name)
    if name == "n":
        return isinstance(asked, int) and len(attempts) >= asked
    parts = [attempt.request.get(name) for attempt in attempts]
    if not isinstance(asked, list) or len(parts) < 2:
        return False
    known = {show(item, 1 << 30) for item in asked}
    return all(
        show(part, 1 << 30) in known or (isinstance(part, list) and all(show(item, 1 << 30) in known for item in part))
        for part in parts
    )


@clause(
    id="relay.request.fields",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The client's parameters reach the member",
    rationale="A stop text, token cap, seed or tool that is dropped on the way is a request that nobody made.",
    source="openai-api/chat-create",
    applies=lambda x: forwarded(x) or bool(_emptied(x) or translations(x)),
)
def fields(x: Exchange) -> Iterator[Finding]:
    for number, attempt in _emptied(x):
        size = len(attempt.request.body)
        yield at_request(x, number, "the client's request", f"{size} bytes that are no JSON" if size else "no body")
    for number, _, mine, sent in translations(x):
        for name, expected, actual in lost_parameters(mine, sent):
            if not refused_before(x, number, name):
                yield at_request(x, number, f"{name}: {expected}", actual)
    if forwarded(x):
        yield from _fields_forwarded(x)


def _fields_forwarded(x: Exchange) -> Iterator[Finding]:
    assert x.request.doc is not None
    for number, attempt in same_operation(x):
        assert attempt.request.doc is not None
        for name, expected, actual in lost(x.request.doc.value, attempt.request.doc.value):
            if name in ("n", "input", "prompt") and _shared_out(x, name):
                continue
            if name in _CONVERSATION and _conversed(x, attempt):
                continue
            if name == "input" and asked_in_part(x):
                continue
            if refused_before(x, number, name):
                continue  # a member that refuses a parameter may be asked without it
            yield at_request(x, number, f"{name}: {expected}", actual)


#: What says a conversation in the Responses API, where a text is an item of the user's, instructions are the
#: developer's, ids of items go with what is not stored, and earlier turns may be spelled out.
_CONVERSATION = ("input", "instructions", "previous_response_id", "conversation")


def _conversed(x: Exchange, attempt: Attempt) -> bool:
    """Whether a dispatch in the Responses API says all that the client says, in order, be it in other items."""
    mine, sent = asking(x.request), asking(attempt.request)
    if x.request.endpoint is not Endpoint.RESPONSES or mine is None or sent is None:
        return False
    earlier = x.request.get("previous_response_id"), attempt.request.get("previous_response_id")
    spelled_out = len(sent.turns) > len(mine.turns)
    kept = earlier[0] is None or spelled_out or earlier[1] is not None  # a gateway may have ids of its own
    items = [_bare_items(request) for request in (x.request, attempt.request)]
    kept = kept and all(any(contained(one, other) for other in items[1]) for one in items[0])
    return kept and not any(True for _ in lost_turns(mine, sent))


#: Items that `asking` reads, those that refer to what is kept elsewhere, and thoughts, which have a clause of their own.
_READ = frozenset(
    {
        "message",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "item_reference",
        "reasoning",
    }
)


def _bare_items(request: Request) -> list[dict[str, Any]]:
    """The items of an input that hold more than a conversation's words, without their ids and states."""
    body = request.doc.value if request.doc is not None else None
    items = [item for item in list_in(body, "input") if isinstance(item, dict)]
    return [
        {name: value for name, value in item.items() if name not in ("id", "status")}
        for item in items
        if str(item.get("type", "message")) not in _READ
    ]


#: Refusals that are about something else than what the request asks for.
_OTHER_REFUSALS = (401, 403, 404, 408, 429)


@clause(
    id="relay.request.accepted",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="A request within the API's bounds is not refused before a member is asked",
    rationale="A bound of the gateway's own refuses what the member would have answered. Models and gateways know less than the API at times: a SHOULD.",
    source="openai-api/chat-create",
    applies=lambda x: x.terms.request_valid is True and stayed(x) and x.attempts is not None,
)
def accepted(x: Exchange) -> Iterator[Finding]:
    status = the_reply(x).status
    if not x.attempts and 400 <= status < 500 and status not in _OTHER_REFUSALS:
        yield at_content(
            the_reply(x),
            Span(0, min(240, len(the_reply(x).content))),
            "the request at a member",
            f"status {status}, none asked",
        )


@clause(
    id="relay.request.nothing-added",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="The member is sent no parameter that the client did not send",
    rationale="An added default changes the answer or is refused by strict members. Gateways may have policies: a SHOULD.",
    source="openai-api/chat-create",
    applies=forwarded,
)
def nothing_added(x: Exchange) -> Iterator[Finding]:
    assert x.request.doc is not None
    asked = x.request.doc.value
    for number, attempt in same_operation(x):
        assert attempt.request.doc is not None
        for name, value in attempt.request.doc.value.items():
            known = name in asked or name in _HARMLESS or name in DEFAULTS or is_default(name, value)
            if not known and not succeeds(name, value, asked):
                yield at_request(x, number, f"no `{name}`", f"{name}: {show(value)}")


@clause(
    id="relay.request.defaults",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A parameter that the client left out keeps the API's default",
    rationale="An invented cap cuts answers, an invented temperature changes them: the client asked for what the API says.",
    source="openai-api/chat-create",
    applies=forwarded,
)
def defaults(x: Exchange) -> Iterator[Finding]:
    assert x.request.doc is not None
    asked = x.request.doc.value
    capped = any(asked.get(name) is not None for name in CAPS)
    for number, attempt in same_operation(x):
        assert attempt.request.doc is not None
        for name, value in attempt.request.doc.value.items():
            left_out = name in DEFAULTS and asked.get(name) is None and not (capped and name in CAPS)
            if left_out and not is_default(name, value) and not succeeds(name, value, asked):
                yield at_request(x, number, f"no `{name}`: the client sent none", f"{name}: {show(value)}")


def _added(x: Exchange, attempt: Attempt) -> list[str]:
    asked, sent = x.request.doc, attempt.request.doc
    if asked is None or sent is None:
        return []
    return [
        name for name, value in sent.value.items() if name not in asked.value and value is not None and name != "model"
    ]


def _refused_for_added(x: Exchange) -> list[tuple[int, Attempt]]:
    return [
        (number, attempt)
        for number, attempt in same_operation(x)
        if attempt.reply is not None and attempt.reply.status in (400, 422) and _added(x, attempt)
    ]


#: What has another name, or another place, in the other of the API's two ways of asking.
_ELSEWHERE = {
    Endpoint.RESPONSES: ("reasoning_effort", "response_format", "max_tokens", "max_completion_tokens", "messages"),
    Endpoint.CHAT: ("reasoning", "text", "max_output_tokens", "input", "instructions"),
}


def _refused_for_words(x: Exchange) -> list[tuple[int, str]]:
    """The dispatches that a member refused for a parameter that is the client's, in words which are not its own API's."""
    return [
        (number, name)
        for number, attempt in enumerate(x.attempts or ())
        if attempt.request.endpoint is not x.request.endpoint
        and attempt.reply is not None
        and attempt.reply.status in (400, 422)
        for name in _ELSEWHERE.get(attempt.request.endpoint, ())
        if None not in (x.request.get(name), attempt.request.get(name)) and about(attempt, name)
    ]


@clause(
    id="relay.request.not-spoiled",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A request does not fail for a parameter that the client did not send",
    rationale="The client cannot take away what it never sent: the request is valid and can never succeed.",
    source="openai-api/errors",
    applies=lambda x: failed(x) and bool(_refused_for_added(x) or _refused_for_words(x)),
)
def not_spoiled(x: Exchange) -> Iterator[Finding]:
    for number, name in _refused_for_words(x):
        yield at_request(x, number, f"`{name}` in the words of the member's API", f"the member refuses {name}")
    for number, attempt in _refused_for_added(x):
        for name in _added(x, attempt):
            if about(attempt, name):
                yield at_request(x, number, f"no `{name}`: the client sent none", f"the member refuses {name}")


def _assigned(x: Exchange) -> Iterator[tuple[int, Attempt, str, str]]:
    """Each dispatch with the key and the model that its member is to be asked with, "" where that is not known."""
    told = {name: (key, model) for name, key, model in x.terms.assigned}
    for number, attempt in enumerate(x.attempts or ()):
        key, model = told.get(attempt.member, ("", ""))
        if key or model:
            yield number, attempt, key, model


def _bearer(request: Request) -> str:
    return (request.head.get("authorization") or "").removeprefix("Bearer").strip()


@clause(
    id="relay.request.key",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="No member is asked with another member's key",
    rationale="A key that follows a failover to the next provider is given away, and the request is refused or billed to the wrong account.",
    source="openai-api/production-safety",
    applies=lambda x: any(key for _, _, key, _ in _assigned(x)),
)
def member_key(x: Exchange) -> Iterator[Finding]:
    for number, attempt, key, _ in _assigned(x):
        # A transparent gateway passes the client's own key on; some send none, or in a field of another name.
        if key and _bearer(attempt.request) not in (key, _bearer(x.request), ""):
            yield at_request(
                x, number, f"the key of {attempt.member}", "a key that is neither its own nor the client's"
            )


@clause(
    id="relay.request.model",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A member is asked for its own model",
    rationale="A member that is asked for another's model refuses it, or answers with a model that nobody chose.",
    source="openai-api/chat-create",
    applies=lambda x: any(model and attempt.request.model for _, attempt, _, model in _assigned(x)),
)
def member_model(x: Exchange) -> Iterator[Finding]:
    for number, attempt, _, model in _assigned(x):
        if model and attempt.request.model and attempt.request.model not in (model, x.request.model):
            yield at_request(x, number, f"model {show(model)}", show(attempt.request.model))
