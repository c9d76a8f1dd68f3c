"""Tool calls, whole and as deltas: what an agent needs to call the right function once with the right arguments."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.clauses.chat import _messages
from conformance.contract.clauses.chunk import _choices as chunk_choices
from conformance.contract.evidence import at_content, at_end, at_event, at_path, show
from conformance.contract.when import CHOICES, is_stream, json_of, serving, stayed, the_reply
from conformance.exchange.answer import Choice
from conformance.exchange.model import Endpoint, Exchange, StreamEvent
from conformance.wire.facts import Span

_chat = json_of(Endpoint.CHAT)


def _calls(x: Exchange) -> Iterator[tuple[int, int, Any]]:
    for position, message in _messages(x):
        calls = message.get("tool_calls")
        for number, call in enumerate(calls if isinstance(calls, list) else []):
            yield position, number, call


def _json_calls(x: Exchange) -> bool:
    return _chat(x) and any(True for _ in _calls(x))


@clause(
    id="chat.tool-calls.shape",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A tool call has an id, the type function, a name and arguments as a text",
    rationale="Clients JSON-parse `arguments` and answer by `id`: an object, a missing id or name ends the tool loop.",
    source="openai-api/chat-object",
    applies=_json_calls,
)
def calls_shape(x: Exchange) -> Iterator[Finding]:
    for position, number, call in _calls(x):
        wrong = list(_call_problems(call))
        if wrong:
            path = ("choices", position, "message", "tool_calls", number)
            yield at_path(
                the_reply(x),
                path,
                "id, type, function.name and function.arguments as non-empty texts",
                "; ".join(wrong),
            )


def _call_problems(call: Any) -> Iterator[str]:
    if not isinstance(call, dict):
        yield show(call)
        return
    if not (isinstance(call.get("id"), str) and call["id"].strip()):
        yield f"id {show(call.get('id'))}"
    if call.get("type") == "custom":
        return
    if call.get("type") != "function":
        yield f"type {show(call.get('type'))}"
    function = call.get("function")
    if not isinstance(function, dict):
        yield f"function {show(function)}"
        return
    if not (isinstance(function.get("name"), str) and function["name"].strip()):
        yield f"name {show(function.get('name'))}"
    if not isinstance(function.get("arguments"), str):
        yield f"arguments {show(function.get('arguments'))}"


@clause(
    id="chat.tool-calls.unique-ids",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="Tool calls of one message have different ids",
    rationale="Results are matched to calls by id: two calls that share one are answered with one result.",
    source="openai-api/function-calling",
    applies=_json_calls,
)
def unique_ids(x: Exchange) -> Iterator[Finding]:
    seen: dict[tuple[int, str], int] = {}
    for position, number, call in _calls(x):
        name = call.get("id") if isinstance(call, dict) else None
        if not isinstance(name, str) or not name:
            continue
        if (position, name) in seen:
            path = ("choices", position, "message", "tool_calls", number, "id")
            yield at_path(the_reply(x), path, "an id of its own", f"{show(name)} again")
        seen[position, name] = number


def _deltas(x: Exchange) -> Iterator[tuple[StreamEvent, int, int, dict[str, Any]]]:
    """(event, choice index, position in the delta, call) of every tool call delta."""
    for event, choice in chunk_choices(x):
        delta = choice.get("delta")
        calls = delta.get("tool_calls") if isinstance(delta, dict) else None
        index = choice.get("index")
        for position, call in enumerate(calls if isinstance(calls, list) else []):
            if isinstance(call, dict):
                yield event, index if isinstance(index, int) else 0, position, call


def _stream_calls(x: Exchange) -> bool:
    return is_stream(x) and x.request.endpoint is Endpoint.CHAT and any(True for _ in _deltas(x))


def _place(call: dict[str, Any], position: int) -> int | str:
    """Which call a delta belongs to: its index, else its position; a wrong index is a place of its own."""
    index = call.get("index", position)
    return index if isinstance(index, int) else show(index)


def _function(call: dict[str, Any]) -> dict[str, Any]:
    function = call.get("function")
    return function if isinstance(function, dict) else {}


@clause(
    id="chunk.tool.index",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="Every tool call delta has an index, counted from 0 without gaps",
    rationale="The index is what joins the fragments of one call; without it, or with a hole, clients crash or merge calls.",
    source="openai-api/chat-streaming",
    applies=_stream_calls,
)
def tool_index(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    highest: dict[int, int] = {}
    for event, choice, _, call in _deltas(x):
        index = call.get("index")
        if not isinstance(index, int) or isinstance(index, bool):
            yield at_event(reply, event, "an integer `index`", show(call))
            continue
        top = highest.get(choice, -1)
        if index < 0 or index > top + 1:
            yield at_event(reply, event, f"index {top + 1} for the next call", show(index))
        highest[choice] = max(top, index)


@clause(
    id="chunk.tool.opener",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The first delta of a tool call has its id, type and name",
    rationale="Accumulators open the call with the first delta and take id and name from it alone.",
    source="openai-api/chat-streaming",
    applies=_stream_calls,
)
def tool_opener(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    seen: set[tuple[int, Any]] = set()
    for event, choice, position, call in _deltas(x):
        key = (choice, _place(call, position))
        if key in seen:
            continue
        seen.add(key)
        missing = []
        if not (isinstance(call.get("id"), str) and call["id"].strip()):
            missing.append("id")
        if call.get("type") not in ("function", "custom"):
            missing.append("type")
        if call.get("type") != "custom" and not (
            isinstance(_function(call).get("name"), str) and _function(call)["name"].strip()
        ):
            missing.append("function.name")
        if missing:
            yield at_event(
                reply,
                event,
                "id, type and function.name in the first delta of a call",
                f"no {', '.join(missing)}: {show(call)}",
            )


@clause(
    id="chunk.tool.distinct",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="Each tool call of a stream has an index and an id of its own",
    rationale="Two calls under one index are joined into one whose arguments are two JSON texts.",
    source="openai-api/chat-streaming",
    applies=_stream_calls,
)
def tool_distinct(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    ids: dict[tuple[int, Any], str] = {}
    opened: dict[tuple[int, str], Any] = {}
    for event, choice, position, call in _deltas(x):
        name = call.get("id")
        index = _place(call, position)
        if not isinstance(name, str) or not name.strip():
            continue
        first = ids.setdefault((choice, index), name)
        if first != name:
            yield at_event(reply, event, f"one id at index {index}", f"{show(first)}, then {show(name)}")
        elif opened.setdefault((choice, name), index) != index:
            yield at_event(reply, event, f"id {show(name)} at one index", f"{opened[choice, name]}, then {index}")


@clause(
    id="chunk.tool.continuation",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="Later deltas of a tool call leave out its id and name, and change no type",
    rationale="Deltas are joined: the official SDK appends a repeated id or name to the first; others take an empty one for a new call, or refuse it.",
    source="openai-sdk/accumulation",
    applies=_stream_calls,
)
def tool_continuation(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    seen: set[tuple[int, Any]] = set()
    for event, choice, position, call in _deltas(x):
        key = (choice, _place(call, position))
        renamed = "type" in call and call["type"] not in ("function", "custom")
        if key in seen and ("id" in call or "name" in _function(call) or renamed):
            yield at_event(reply, event, "index and function.arguments alone", show(call))
        seen.add(key)


@clause(
    id="chunk.tool.arguments",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The arguments and names of tool call deltas are texts",
    rationale="Clients concatenate them: an object or null raises in the middle of the stream.",
    source="openai-spec/chunk",
    applies=_stream_calls,
)
def tool_arguments(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    for event, _, _, call in _deltas(x):
        if "function" in call and not isinstance(call["function"], dict):
            yield at_event(reply, event, "`function`: an object", show(call["function"]))
        for name in ("arguments", "name"):
            value = _function(call).get(name, "")
            if not isinstance(value, str):
                yield at_event(reply, event, f"function.{name}: a string or absent", show(value))


def _called(x: Exchange) -> bool:
    reply = x.reply
    return (
        x.request.endpoint in (*CHOICES, Endpoint.RESPONSES)
        and stayed(x)
        and reply is not None
        and reply.ok
        and reply.answer.finished
        and any(choice.tool_calls for choice in reply.answer.choices)
    )


def _finding(x: Exchange, expected: str, actual: str) -> Finding:
    reply = the_reply(x)
    if reply.events:
        return at_end(reply, expected, actual)
    at = max(0, reply.content.find(b'"tool_calls"'))
    return at_content(reply, Span(at, min(len(reply.content), at + 240)), expected, actual)


def _values(arguments: str) -> list[Any]:
    """The JSON values that `arguments` consists of, at most 16 (none where something else stands among them)."""
    text = arguments.strip()
    decoder = json.JSONDecoder()
    values: list[Any] = []
    while text and len(values) < 16:
        try:
            value, end = decoder.raw_decode(text)
        except (ValueError, RecursionError):
            return []
        values.append(value)
        text = text[end:].lstrip()
    return values


def repeated(arguments: str) -> int:
    """How many times `arguments` is one and the same JSON object written again and again (1 for once, 0 for no JSON)."""
    values = _values(arguments)
    if len(values) == 1:
        return 1
    same = bool(values) and all(value == values[0] for value in values) and isinstance(values[0], dict | list)
    return len(values) if same else 0


@clause(
    id="tool.arguments.once",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The arguments of a tool call are delivered once, and are of one call",
    rationale="Arguments that come twice, or those of two calls under one index, join to two JSON texts, and the call fails to parse.",
    source="openai-api/function-calling",
    applies=_called,
)
def arguments_once(x: Exchange) -> Iterator[Finding]:
    for choice in the_reply(x).answer.choices:
        for call in choice.tool_calls:
            values = _values(call.arguments)
            times = len(values) if all(isinstance(value, dict | list) for value in values) else 0
            if times > 1:
                yield _finding(
                    x,
                    f"one JSON text as the arguments of {show(call.name)}",
                    f"there are {times}: {show(call.arguments)}",
                )


@clause(
    id="tool.arguments.json",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="The arguments of a finished tool call are JSON",
    rationale="The API warns that a model may write invalid JSON, so this is a SHOULD.",
    source="openai-api/function-calling",
    applies=lambda x: _called(x) and all("length" not in choice.reasons for choice in the_reply(x).answer.choices),
)
def arguments_json(x: Exchange) -> Iterator[Finding]:
    for choice in the_reply(x).answer.choices:
        for call in choice.tool_calls:
            named = bool(call.name or call.arguments)  # a custom tool's call has an input, which is any text
            if named and repeated(call.arguments) == 0:
                yield _finding(x, f"JSON as the arguments of {show(call.name)}", show(call.arguments))


def _forced(x: Exchange) -> bool:
    """Whether `stop` beside tool calls is right: the API itself answers so when the request forces a call."""
    forced = x.request.get("tool_choice")
    named = isinstance(forced, dict) or forced == "required" or isinstance(x.request.get("function_call"), dict)
    attempt = serving(x)
    return named or (attempt is not None and attempt.request.host.endswith("api.openai.com"))


def _reason_owed(x: Exchange) -> bool:
    reply = x.reply
    if x.request.endpoint is not Endpoint.CHAT or not stayed(x) or reply is None or not reply.ok:
        return False
    return (_called(x) and not _forced(x)) or any(_says_called(choice) for choice in reply.answer.choices)


def _says_called(choice: Choice) -> bool:
    """Whether a choice says that tools are called, and calls none."""
    return "tool_calls" in choice.reasons and not choice.tool_calls


def _legacy(choice: Choice) -> bool:
    return len(choice.tool_calls) == 1 and not choice.tool_calls[0].id


@clause(
    id="tool.finish-reason",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A turn has the finish reason tool_calls exactly when it calls tools",
    rationale="Agents run tools on this reason alone: with stop the loop ends and the tools are never called; without a call there is nothing to run.",
    source="openai-api/chat-object",
    applies=_reason_owed,
)
def tool_finish_reason(x: Exchange) -> Iterator[Finding]:
    for choice in the_reply(x).answer.choices:
        allowed = {"tool_calls", "length", "content_filter"} | ({"function_call"} if _legacy(choice) else set())
        wrong = [reason for reason in choice.reasons if isinstance(reason, str) and reason and reason not in allowed]
        if choice.tool_calls and wrong and not _forced(x):
            yield _finding(x, '"tool_calls"', show(wrong[0]))
        elif _says_called(choice):
            yield _finding(x, "a tool call before the reason tool_calls", "no tool call")


#: What makes the tool calls of an answer the API's own: without it a gateway has to guess which call is meant.
RULES = (calls_shape, unique_ids, tool_index, tool_opener, tool_distinct, tool_arguments, arguments_once)
