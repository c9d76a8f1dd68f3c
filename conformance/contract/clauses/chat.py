"""Chat completions that are not streamed: the object, its choices, the message."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.clauses.chunk import is_seconds, requested_choices
from conformance.contract.evidence import at_path, show
from conformance.contract.shape import problems
from conformance.contract.when import json_of, the_reply
from conformance.exchange.answer import STANDARD_REASONS
from conformance.exchange.model import Endpoint, Exchange

_chat = json_of(Endpoint.CHAT)
_OWNED = ("id", "object", "created", "model", "usage", "service_tier")
_OWNED_IN_CHOICE = ("finish_reason", "index", "logprobs")
_OWNED_IN_MESSAGE = ("role", "content", "tool_calls", "function_call")


def _value(x: Exchange) -> dict[str, Any]:
    doc = the_reply(x).doc
    assert doc is not None and isinstance(doc.value, dict)
    return doc.value


def _choices(x: Exchange) -> Iterator[tuple[int, dict[str, Any]]]:
    choices = _value(x).get("choices")
    for position, choice in enumerate(choices if isinstance(choices, list) else []):
        if isinstance(choice, dict):
            yield position, choice


def _messages(x: Exchange) -> Iterator[tuple[int, dict[str, Any]]]:
    for position, choice in _choices(x):
        if isinstance(choice.get("message"), dict):
            yield position, choice["message"]


def _has_choices(x: Exchange) -> bool:
    return _chat(x) and any(True for _ in _choices(x))


def _has_messages(x: Exchange) -> bool:
    return _chat(x) and any(True for _ in _messages(x))


def _owned(path: tuple[str | int, ...]) -> bool:
    match path:
        case (str() as name, *_) if name in _OWNED:
            return True
        case ("choices",):
            return True
        case ("choices", int(), str() as name, *_) if name in _OWNED_IN_CHOICE:
            return True
        case ("choices", int(), "message", str() as name, *_) if name in _OWNED_IN_MESSAGE:
            return True
    return False


@clause(
    id="chat.shape",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A chat completion has the API's shape",
    rationale="Typed clients read every member by the API's schema; one of another type fails the whole reply.",
    source="openai-spec/chat",
    applies=_chat,
)
def shape(x: Exchange) -> Iterator[Finding]:
    for problem in problems("chat-completion", _value(x)):
        if not _owned(problem.path):
            where = ".".join(map(str, problem.path)) or "the completion"
            yield at_path(the_reply(x), problem.path, f"{where}: {problem.expected}", problem.actual)


@clause(
    id="chat.object",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A chat completion names its object type",
    rationale="Clients tell completions from chunks and errors by `object`.",
    source="openai-api/chat-object",
    applies=_chat,
)
def object_type(x: Exchange) -> Iterator[Finding]:
    if _value(x).get("object") != "chat.completion":
        yield at_path(the_reply(x), ("object",), '"chat.completion"', show(_value(x).get("object")))


@clause(
    id="chat.id",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A chat completion has a non-empty id",
    rationale="The id is what logs, feedback and support refer to.",
    source="openai-api/chat-object",
    applies=_chat,
)
def completion_id(x: Exchange) -> Iterator[Finding]:
    value = _value(x).get("id")
    if not (isinstance(value, str) and value.strip()):
        yield at_path(the_reply(x), ("id",), "a non-empty string", show(value))


@clause(
    id="chat.created",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A chat completion's created is an integer of seconds",
    rationale="Typed clients read an integer: a float, a text or nothing fails the whole reply.",
    source="openai-api/chat-object",
    applies=_chat,
)
def created(x: Exchange) -> Iterator[Finding]:
    value = _value(x).get("created")
    if not is_seconds(value):
        yield at_path(the_reply(x), ("created",), "an integer of seconds", show(value))


@clause(
    id="chat.model",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A chat completion names its model",
    rationale="Clients take the model from the reply for billing and logs.",
    source="openai-api/chat-object",
    applies=_chat,
)
def model(x: Exchange) -> Iterator[Finding]:
    value = _value(x).get("model")
    if not (isinstance(value, str) and value):
        yield at_path(the_reply(x), ("model",), "a non-empty string", show(value))


@clause(
    id="chat.choices.present",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A chat completion has at least one choice",
    rationale="Every client reads choices[0]; without it a success is an IndexError.",
    source="openai-api/chat-object",
    applies=_chat,
)
def choices_present(x: Exchange) -> Iterator[Finding]:
    choices = _value(x).get("choices")
    if not isinstance(choices, list) or not choices:
        yield at_path(
            the_reply(x), ("choices",), "a non-empty array", show(choices) if "choices" in _value(x) else "no `choices`"
        )


@clause(
    id="chat.choices.index",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The choices' indexes are 0 to n-1, each once",
    rationale="The index pairs a choice with its place; two choices that share one overwrite each other.",
    source="openai-api/chat-object",
    applies=_has_choices,
)
def choices_index(x: Exchange) -> Iterator[Finding]:
    seen: set[int] = set()
    count = len(list(_choices(x)))
    for position, choice in _choices(x):
        index = choice.get("index")
        if not isinstance(index, int) or isinstance(index, bool) or index in seen or not 0 <= index < count:
            yield at_path(
                the_reply(x), ("choices", position, "index"), f"a new integer from 0 to {count - 1}", show(index)
            )
        else:
            seen.add(index)


@clause(
    id="chat.choices.count",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A chat completion has as many choices as were asked for",
    rationale="Clients read choices[0] unless they asked for more: text or tool calls in an extra choice are lost.",
    source="openai-api/chat-create",
    applies=_has_choices,
)
def choices_count(x: Exchange) -> Iterator[Finding]:
    count, expected = len(list(_choices(x))), requested_choices(x)
    if count != expected:
        yield at_path(the_reply(x), ("choices",), f"{expected} (n of the request)", f"{count} choices")


@clause(
    id="chat.message.role",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The message's role is assistant",
    rationale="Clients append the message to the conversation as it came; another role is rejected on the next turn.",
    source="openai-api/chat-object",
    applies=_has_messages,
)
def message_role(x: Exchange) -> Iterator[Finding]:
    for position, message in _messages(x):
        if message.get("role") != "assistant":
            yield at_path(
                the_reply(x), ("choices", position, "message", "role"), '"assistant"', show(message.get("role"))
            )


@clause(
    id="chat.message.content-present",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The message has a content member",
    rationale="`content` is required, be it null beside tool calls: strict readers fail on the missing key, others show undefined.",
    source="openai-spec/chat",
    applies=_has_messages,
)
def content_present(x: Exchange) -> Iterator[Finding]:
    for position, message in _messages(x):
        if "content" not in message:
            yield at_path(
                the_reply(x), ("choices", position, "message"), "a member `content`", f"members {', '.join(message)}"
            )


def null_allowed(message: dict[str, Any]) -> bool:
    """Whether content null is right: beside tool calls, the deprecated function call, a refusal or audio."""
    return bool(
        message.get("tool_calls") or message.get("function_call") or message.get("refusal") or message.get("audio")
    )


@clause(
    id="chat.message.content-string",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The content is a string; null only beside tool calls",
    rationale="User code reads it as text: null, a list of parts or an object breaks it far from the cause.",
    source="incident/content-null",
    applies=lambda x: _chat(x) and any("content" in message for _, message in _messages(x)),
)
def content_string(x: Exchange) -> Iterator[Finding]:
    for position, message in _messages(x):
        content = message.get("content", "")
        if isinstance(content, str) or (content is None and null_allowed(message)):
            continue
        expected = 'a string ("" for nothing)' if content is None else "a string"
        yield at_path(the_reply(x), ("choices", position, "message", "content"), expected, show(content))


def _answer_in_reasoning(choice: dict[str, Any], message: dict[str, Any]) -> bool:
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    return (
        choice.get("finish_reason") == "stop"
        and not message.get("content")
        and not null_allowed(message)
        and isinstance(reasoning, str)
        and bool(reasoning.strip())
    )


@clause(
    id="chat.message.answer-in-content",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="A finished answer stands in the content, not in the reasoning alone",
    rationale="Clients read the content and store an empty answer. The API knows no reasoning text, so no norm places it: a SHOULD.",
    source="incident/content-null",
    applies=_has_messages,
)
def answer_in_content(x: Exchange) -> Iterator[Finding]:
    for position, choice in _choices(x):
        message = choice.get("message")
        if isinstance(message, dict) and _answer_in_reasoning(choice, message):
            path = ("choices", position, "message", "content")
            yield at_path(
                the_reply(x), path, "the answer", f"{show(message.get('content'))}, and text in the reasoning"
            )


@clause(
    id="chat.message.optional-not-null",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A message without tool calls has no tool_calls member",
    rationale="The schema knows a non-empty array and an object, no null: validating clients refuse the whole reply.",
    source="openai-spec/chat",
    applies=_has_messages,
)
def optional_not_null(x: Exchange) -> Iterator[Finding]:
    for position, message in _messages(x):
        if "tool_calls" in message and message["tool_calls"] is None:
            path = ("choices", position, "message", "tool_calls")
            yield at_path(the_reply(x), path, "tool_calls absent, or not null", "null")


@clause(
    id="chat.finish-reason.enum",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The finish reason is one of the API's values",
    rationale="Agents branch on it: null, an empty text, another case or a provider's word ends in the default branch or an exception.",
    source="openai-api/chat-object",
    applies=_has_choices,
)
def finish_reason(x: Exchange) -> Iterator[Finding]:
    for position, choice in _choices(x):
        reason = choice.get("finish_reason")
        if not isinstance(reason, str) or reason not in STANDARD_REASONS:
            expected = f"one of {', '.join(sorted(STANDARD_REASONS))}"
            yield at_path(
                the_reply(x),
                ("choices", position, "finish_reason"),
                expected,
                show(reason) if "finish_reason" in choice else "no finish_reason",
            )


@clause(
    id="chat.logprobs.shape",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="Log probabilities have the chat form",
    rationale="Clients read logprobs.content[].token; the legacy form's parallel arrays are another object.",
    source="openai-api/chat-object",
    applies=lambda x: _chat(x) and any(choice.get("logprobs") is not None for _, choice in _choices(x)),
)
def logprobs_shape(x: Exchange) -> Iterator[Finding]:
    for problem in problems("chat-completion", _value(x)):
        if len(problem.path) >= 3 and problem.path[0] == "choices" and problem.path[2] == "logprobs":
            where = ".".join(map(str, problem.path[2:]))
            yield at_path(the_reply(x), problem.path, f"{where}: {problem.expected}", problem.actual)
    for position, choice in _choices(x):
        logprobs = choice.get("logprobs")
        if isinstance(logprobs, dict) and "content" not in logprobs and "refusal" not in logprobs:
            yield at_path(
                the_reply(x), ("choices", position, "logprobs"), "a member `content`", f"members {', '.join(logprobs)}"
            )
