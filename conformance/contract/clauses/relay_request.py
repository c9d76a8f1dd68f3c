"""The request on its way up: what the client asked for is what the member is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.clauses.legs import about, refused_before, speaks_of
from conformance.contract.clauses.translated import lost_parameters, lost_turns, translations
from conformance.contract.evidence import at_content, at_exchange, show
from conformance.contract.kinds import reason_of
from conformance.contract.sameness import Messages, contained, null_beside_calls, same
from conformance.contract.when import failed, stayed, the_reply
from conformance.exchange.model import Attempt, Endpoint, Exchange, Request
from conformance.wire.facts import Span

#: openai-api/chat-create: parameters that change what is generated. A gateway may leave `model` to its configuration.
_PARAMETERS = (
    "temperature",
    "top_p",
    "n",
    "stop",
    "seed",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "tools",
    "tool_choice",
    "functions",
    "function_call",
    "parallel_tool_calls",
    "response_format",
    "reasoning_effort",
    "verbosity",
    "modalities",
    "audio",
    "web_search_options",
    "prompt",
    "suffix",
    "echo",
    "best_of",
    "input",
    "dimensions",
    "instructions",
    "text",
    "reasoning",
    "max_output_tokens",
    "previous_response_id",
)
_CAPS = ("max_tokens", "max_completion_tokens")

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


def _same_operation(x: Exchange) -> list[tuple[int, Attempt]]:
    if x.request.doc is None or not isinstance(x.request.doc.value, dict):
        return []
    found = [
        (number, attempt)
        for number, attempt in enumerate(x.attempts or ())
        if attempt.request.endpoint is x.request.endpoint
        and attempt.request.endpoint is not Endpoint.OTHER
        and attempt.request.doc is not None
        and isinstance(attempt.request.doc.value, dict)
    ]
    # A gateway may ask a model about the request (a guard, a router): that is a request of its own beside the client's.
    mine = [(number, attempt) for number, attempt in found if speaks_of(x, attempt)]
    return mine or found


def _forwarded(x: Exchange) -> bool:
    return bool(_same_operation(x))


def _leg(x: Exchange, number: int, expected: str, actual: str) -> Finding:
    return at_exchange(x, expected, actual, leg=f"upstream:{number}")


#: Parameters that a gateway may spell out (`strict`, `additionalProperties`) as long as all of them arrives.
_STRUCTURED = ("tools", "functions", "response_format")

#: openai-api/chat-create, openai-api/completions: what a parameter that is left out means. None: nothing is sent for it.
_DEFAULTS: dict[str, Any] = {
    "temperature": 1,
    "top_p": 1,
    "n": 1,
    "best_of": 1,
    "presence_penalty": 0,
    "frequency_penalty": 0,
    "logprobs": False,
    "echo": False,
    "parallel_tool_calls": True,
    "response_format": {"type": "text"},
    "stop": [],
    "logit_bias": {},
    "seed": None,
    "suffix": None,
    "dimensions": None,
    "max_tokens": None,
    "max_completion_tokens": None,
    "max_output_tokens": None,
}


def _default(name: str, value: Any) -> bool:
    """Whether `value` says what leaving `name` out says."""
    if name in ("tool_choice", "function_call"):
        return bool(value == "auto")
    return value is None or (_DEFAULTS.get(name) is not None and same(value, _DEFAULTS[name]))


def _successor(name: str, sent: dict[str, Any]) -> Any:
    """What replaced a deprecated parameter: functions as tools."""
    tools = sent.get("tools")
    if name == "functions" and isinstance(tools, list):
        return [tool.get("function") for tool in tools if isinstance(tool, dict)]
    choice = sent.get("tool_choice")
    if name == "function_call":
        return choice.get("function") if isinstance(choice, dict) else choice
    return None


def _succeeds(name: str, value: Any, asked: dict[str, Any]) -> bool:
    """Whether a parameter says what the client said by a deprecated one, and no more."""
    if name == "tools" and isinstance(value, list):
        functions, told = asked.get("functions"), _successor("functions", {"tools": value})
        return isinstance(functions, list) and len(functions) == len(value) and contained(functions, told)
    if name == "tool_choice":
        choice = asked.get("function_call")
        return choice is not None and same(choice, _successor("function_call", {"tool_choice": value}))
    if name == "parallel_tool_calls":  # of functions a model calls one at a time
        return value is False and bool(asked.get("functions"))
    return name == "prompt_cache_key" and asked.get("user") is not None and same(asked["user"], value)


def _lost(asked: dict[str, Any], sent: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    for name in _PARAMETERS:
        if asked.get(name) is None or (name not in sent and _default(name, asked[name])):
            continue
        value = sent.get(name, _successor(name, sent))
        if value is None:
            yield name, show(asked[name]), "absent"
        elif not (contained(asked[name], value) if name in _STRUCTURED else same(asked[name], value)):
            yield name, show(asked[name]), show(value)
    # openai-api/chat-create: max_tokens is deprecated in favour of max_completion_tokens, which counts where both stand.
    cap = next((asked[name] for name in reversed(_CAPS) if asked.get(name) is not None), None)
    if cap is not None and not any(same(sent.get(name), cap) for name in _CAPS):
        told = {name: sent[name] for name in _CAPS if name in sent}
        yield _CAPS[asked.get(_CAPS[1]) is not None], show(cap), show(told) if told else "absent"


def _shared_out(x: Exchange, name: str) -> bool:
    """Whether one request became several: a choice each, or the parts of a batch."""
    attempts = [attempt for _, attempt in _same_operation(x)]
    asked = x.request.get(name)
    if name == "n":
        return isinstance(asked, int) and len(attempts) >= asked
    parts = [attempt.request.get(name) for attempt in attempts]
    if not isinstance(asked, list) or len(parts) < 2:
        return False
    return all(part in asked or (isinstance(part, list) and all(item in asked for item in part)) for part in parts)


@clause(
    id="relay.request.fields",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The client's parameters reach the member",
    rationale="A stop text, token cap, seed or tool that is dropped on the way is a request that nobody made.",
    source="openai-api/chat-create",
    applies=lambda x: _forwarded(x) or bool(translations(x)),
)
def fields(x: Exchange) -> Iterator[Finding]:
    for number, _, mine, sent in translations(x):
        for name, expected, actual in lost_parameters(mine, sent):
            if not refused_before(x, number, name):
                yield _leg(x, number, f"{name}: {expected}", actual)
    if _forwarded(x):
        yield from _fields_forwarded(x)


def _fields_forwarded(x: Exchange) -> Iterator[Finding]:
    assert x.request.doc is not None
    for number, attempt in _same_operation(x):
        assert attempt.request.doc is not None
        for name, expected, actual in _lost(x.request.doc.value, attempt.request.doc.value):
            if name in ("n", "input", "prompt") and _shared_out(x, name):
                continue
            if refused_before(x, number, name):
                continue  # a member that refuses a parameter may be asked without it
            yield _leg(x, number, f"{name}: {expected}", actual)


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
    applies=lambda x: (_forwarded(x) and _has_messages(x)) or bool(translations(x)),
)
def messages(x: Exchange) -> Iterator[Finding]:
    for number, _, mine, sent in translations(x):
        for name, expected, actual in lost_turns(mine, sent):
            yield _leg(x, number, f"{name}: {expected}", actual)
    if _forwarded(x) and _has_messages(x):
        yield from _messages_forwarded(x)


def _has_messages(x: Exchange) -> bool:
    return x.request.doc is not None and _messages(x.request.doc.value) is not None


def _messages_forwarded(x: Exchange) -> Iterator[Finding]:
    assert x.request.doc is not None
    asked = _messages(x.request.doc.value) or []
    said = Messages(asked)
    for number, attempt in _same_operation(x):
        assert attempt.request.doc is not None
        sent = _messages(attempt.request.doc.value) or []
        arrived, position = Messages(sent), 0
        for message in asked:
            found = arrived.place(message, position)
            if found is None:
                nearest = sent[position] if position < len(sent) else "no message"
                yield _leg(x, number, show(message), show(nearest))
                break
            position = found + 1
            if _null_left_out(message, sent[found]) and _asks_for_content(attempt):
                yield _leg(x, number, show(message), f"{show(sent[found])}, which the member refuses")
        once = {show(message, 1 << 30): message for message in asked}
        for message in once.values():
            times = said.times(message), arrived.times(message)
            if times[0] < times[1]:
                yield _leg(x, number, f"{times[0]} times {show(message)}", f"{times[1]} times")
                break


def _null_left_out(asked: Any, sent: Any) -> bool:
    return null_beside_calls(asked) and "content" not in sent


def _asks_for_content(attempt: Attempt) -> bool:
    """Whether a member refused a dispatch and says something of a content."""
    reply = attempt.reply
    if reply is None or reply.status not in (400, 422) or reply.doc is None or not reply.doc.ok:
        return False
    return re.search(r"\bcontent\b", reason_of(reply.doc.value)) is not None


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
    applies=lambda x: _forwarded(x) and bool(_null_turns(x)),
)
def null_content(x: Exchange) -> Iterator[Finding]:
    for number, attempt in _same_operation(x):
        assert attempt.request.doc is not None
        sent = _messages(attempt.request.doc.value) or []
        arrived = Messages(sent)
        for message in _null_turns(x):
            place = arrived.place(message)
            if place is not None and _null_left_out(message, sent[place]):
                yield _leg(x, number, f"content: null in {show(message)}", show(sent[place]))


@clause(
    id="relay.request.nothing-added",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="The member is sent no parameter that the client did not send",
    rationale="An added default changes the answer or is refused by strict members. Gateways may have policies: a SHOULD.",
    source="openai-api/chat-create",
    applies=_forwarded,
)
def nothing_added(x: Exchange) -> Iterator[Finding]:
    assert x.request.doc is not None
    asked = x.request.doc.value
    for number, attempt in _same_operation(x):
        assert attempt.request.doc is not None
        for name, value in attempt.request.doc.value.items():
            known = name in asked or name in _HARMLESS or name in _DEFAULTS or _default(name, value)
            if not known and not _succeeds(name, value, asked):
                yield _leg(x, number, f"no `{name}`", f"{name}: {show(value)}")


@clause(
    id="relay.request.defaults",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A parameter that the client left out keeps the API's default",
    rationale="An invented cap cuts answers, an invented temperature changes them: the client asked for what the API says.",
    source="openai-api/chat-create",
    applies=_forwarded,
)
def defaults(x: Exchange) -> Iterator[Finding]:
    assert x.request.doc is not None
    asked = x.request.doc.value
    capped = any(asked.get(name) is not None for name in _CAPS)
    for number, attempt in _same_operation(x):
        assert attempt.request.doc is not None
        for name, value in attempt.request.doc.value.items():
            left_out = name in _DEFAULTS and asked.get(name) is None and not (capped and name in _CAPS)
            if left_out and not _default(name, value) and not _succeeds(name, value, asked):
                yield _leg(x, number, f"no `{name}`: the client sent none", f"{name}: {show(value)}")


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
        for number, attempt in _same_operation(x)
        if attempt.reply is not None and attempt.reply.status in (400, 422) and _added(x, attempt)
    ]


@clause(
    id="relay.request.not-spoiled",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A request does not fail for a parameter that the client did not send",
    rationale="The client cannot take away what it never sent: the request is valid and can never succeed.",
    source="openai-api/errors",
    applies=lambda x: failed(x) and bool(_refused_for_added(x)),
)
def not_spoiled(x: Exchange) -> Iterator[Finding]:
    for number, attempt in _refused_for_added(x):
        for name in _added(x, attempt):
            if about(attempt, name):
                yield _leg(x, number, f"no `{name}`: the client sent none", f"the member refuses {name}")


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
            yield _leg(x, number, f"the key of {attempt.member}", "a key that is neither its own nor the client's")


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
            yield _leg(x, number, f"model {show(model)}", show(attempt.request.model))
