"""What answer an upstream of another API gives: Anthropic's messages, Gemini's contents, Bedrock's Converse, Ollama's
chat and Cohere's, whole or streamed as text (Bedrock's binary events are not read).

From parsed JSON values to the same Answer that the OpenAI API's replies become, so that the relay clauses can compare
both legs. Knows these shapes alone; whatever else is None.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from conformance.exchange.answer import Answer, Choice, ToolCall
from conformance.exchange.members import list_in, object_in, text_in

#: Reasons that have no entry among the synonyms, because only here they mean that.
_REASONS = {
    "pause_turn": "stop",
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
    "ERROR_TOXIC": "content_filter",
    "SPII": "content_filter",
    "IMAGE_SAFETY": "content_filter",
    "LANGUAGE": "content_filter",
}


@dataclass(slots=True)
class _Draft:
    """One choice while it is read."""

    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: dict[int, list[str]] = field(default_factory=dict)
    reasons: list[Any] = field(default_factory=list)
    plain: bool = True

    def end(self, reason: Any) -> None:
        if reason is not None:
            self.reasons.append(_REASONS.get(reason, reason) if isinstance(reason, str) else reason)

    def call(self, identity: str, name: str, arguments: Any) -> None:
        """Note a call that comes whole, its arguments as an object or as text."""
        given = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
        self.calls[len(self.calls)] = [identity, name, given]

    def choice(self, index: int) -> Choice:
        calls = (
            ToolCall(index=key, id=id_, name=name, arguments=arguments)
            for key, (id_, name, arguments) in sorted(self.calls.items())
        )
        return Choice(
            index=index,
            text="".join(self.text),
            reasoning="".join(self.reasoning),
            tool_calls=tuple(calls),
            reasons=tuple(self.reasons),
            plain=self.plain,
        )


def _take_block(draft: _Draft, position: int, block: Any) -> None:
    """One block of an Anthropic message, whole or at its start."""
    kind = text_in(block, "type")
    if kind == "text":
        draft.text.append(text_in(block, "text"))
    elif kind in ("thinking", "redacted_thinking"):
        draft.reasoning.append(text_in(block, "thinking"))
    elif kind == "tool_use":
        given = block.get("input")
        arguments = json.dumps(given) if given else ""
        draft.calls[position] = [text_in(block, "id"), text_in(block, "name"), arguments]
    else:
        draft.plain = False


def _take_delta(draft: _Draft, position: int, delta: Any) -> None:
    kind = text_in(delta, "type")
    if kind == "text_delta":
        draft.text.append(text_in(delta, "text"))
    elif kind == "thinking_delta":
        draft.reasoning.append(text_in(delta, "thinking"))
    elif kind == "input_json_delta" and position in draft.calls:
        draft.calls[position][2] += text_in(delta, "partial_json")


def _finished(choices: tuple[Choice, ...], errors: tuple[Any, ...]) -> bool:
    return bool(choices) and all(choice.finished for choice in choices) and not errors


def _position(value: Any) -> int:
    found = value.get("index") if isinstance(value, dict) else None
    return found if isinstance(found, int) else 0


def _anthropic(values: list[Any], errors: tuple[Any, ...], *, streamed: bool) -> Answer:
    draft, done = _Draft(), 0
    usage: dict[str, Any] = {}
    for value in values:
        kind = text_in(value, "type")
        if kind == "message":
            for position, block in enumerate(list_in(value, "content")):
                _take_block(draft, position, block)
            draft.end(value.get("stop_reason"))
        elif kind == "content_block_start":
            _take_block(draft, _position(value), value.get("content_block"))
        elif kind == "content_block_delta":
            _take_delta(draft, _position(value), value.get("delta"))
        elif kind == "message_delta":
            draft.end(object_in(value, "delta").get("stop_reason"))
        done += kind == "message_stop"
        # A stream tells what went in with its first event, what came out with its last ones.
        usage |= object_in(object_in(value, "message"), "usage") | object_in(value, "usage")
    for call in draft.calls.values():
        call[2] = call[2] or "{}"
    choices = (draft.choice(0),)
    return Answer(
        choices=choices,
        errors=errors,
        usage=usage or None,
        done=done,
        finished=_finished(choices, errors),
        streamed=streamed,
    )


def _gemini(values: list[Any], errors: tuple[Any, ...], *, streamed: bool) -> Answer:
    drafts: dict[int, _Draft] = {}
    usage = None
    for value in values:
        for candidate in list_in(value, "candidates"):
            draft = drafts.setdefault(_position(candidate), _Draft())
            for part in list_in(object_in(candidate, "content"), "parts"):
                _take_part(draft, part)
            draft.end(candidate.get("finishReason") if isinstance(candidate, dict) else None)
        if text_in(object_in(value, "promptFeedback"), "blockReason"):
            drafts.setdefault(0, _Draft()).end("content_filter")
        usage = object_in(value, "usageMetadata") or usage
    choices = tuple(draft.choice(index) for index, draft in sorted(drafts.items()))
    return Answer(choices=choices, errors=errors, usage=usage, finished=_finished(choices, errors), streamed=streamed)


def _take_part(draft: _Draft, part: Any) -> None:
    called = object_in(part, "functionCall")
    if called:
        draft.call(text_in(called, "id"), text_in(called, "name"), called.get("args"))
    elif isinstance(part, dict) and isinstance(part.get("text"), str):
        (draft.reasoning if part.get("thought") is True else draft.text).append(part["text"])
    else:
        draft.plain = False


def _converse(value: dict[str, Any], errors: tuple[Any, ...], *, streamed: bool) -> Answer:
    draft = _Draft()
    for block in list_in(object_in(object_in(value, "output"), "message"), "content"):
        used, thought = object_in(block, "toolUse"), object_in(block, "reasoningContent")
        if used:
            draft.call(text_in(used, "toolUseId"), text_in(used, "name"), used.get("input"))
        elif thought:
            draft.reasoning.append(text_in(object_in(thought, "reasoningText"), "text"))
        elif isinstance(block, dict) and isinstance(block.get("text"), str):
            draft.text.append(block["text"])
        else:
            draft.plain = False
    draft.end(value.get("stopReason"))
    return _one(draft, errors, object_in(value, "usage"), streamed=streamed)


def _ollama(values: list[Any], errors: tuple[Any, ...]) -> Answer:
    """One value, or one for each line; `done` ends it."""
    draft, done = _Draft(), 0
    for value in values:
        message = object_in(value, "message")
        draft.text.append(text_in(message, "content"))
        draft.reasoning.append(text_in(message, "thinking"))
        for called in list_in(message, "tool_calls"):
            function = object_in(called, "function")
            draft.call("", text_in(function, "name"), function.get("arguments"))  # its ids have no way back
        if isinstance(value, dict) and value.get("done") is True:
            done += 1
            draft.end(value.get("done_reason") or "stop")
    last = values[-1]
    usage = last if isinstance(last, dict) else {}
    return _one(draft, errors, usage, streamed=len(values) > 1 or not done, done=done if len(values) > 1 else 0)


def _cohere(value: dict[str, Any], errors: tuple[Any, ...], *, streamed: bool) -> Answer:
    draft, message = _Draft(), object_in(value, "message")
    draft.text.append(text_in(message, "content"))
    for part in list_in(message, "content"):
        kind = text_in(part, "type")
        if kind in ("text", "thinking"):
            (draft.text if kind == "text" else draft.reasoning).append(text_in(part, kind))
        else:
            draft.plain = False
    for called in list_in(message, "tool_calls"):
        function = object_in(called, "function")
        draft.call(text_in(called, "id"), text_in(function, "name"), function.get("arguments"))
    if list_in(message, "tool_calls"):
        draft.plain = False  # a plan of its calls may be told as text, or not
    draft.end(value.get("finish_reason"))
    return _one(draft, errors, object_in(value, "usage"), streamed=streamed)


def _one(draft: _Draft, errors: tuple[Any, ...], usage: dict[str, Any], *, streamed: bool, done: int = 0) -> Answer:
    """The answer of an API that gives one choice."""
    choices = (draft.choice(0),)
    finished = _finished(choices, errors)
    return Answer(choices=choices, errors=errors, usage=usage or None, done=done, finished=finished, streamed=streamed)


_ANTHROPIC_TYPES = ("message", "message_start", "content_block_start", "content_block_delta", "message_delta")


def _of_ollama(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("done"), bool) and "message" in value


def answer_of_dialect(values: list[Any], errors: tuple[Any, ...], *, streamed: bool) -> Answer | None:
    """The answer of another API's reply (its one JSON value, or that of each event or line); None for any other."""
    if any(text_in(value, "type") in _ANTHROPIC_TYPES for value in values):
        return _anthropic(values, errors, streamed=streamed)
    if any(isinstance(value, dict) and ("candidates" in value or "promptFeedback" in value) for value in values):
        return _gemini(values, errors, streamed=streamed)
    if any(_of_ollama(value) for value in values):
        return _ollama(values, errors)
    only = values[0] if len(values) == 1 else None
    if object_in(object_in(only, "output"), "message"):
        return _converse(object_in({"one": only}, "one"), errors, streamed=streamed)
    if object_in(only, "message") and text_in(only, "finish_reason"):
        return _cohere(object_in({"one": only}, "one"), errors, streamed=streamed)
    return None


def is_lines(values: list[Any]) -> bool:
    """Whether the values of a body's lines are an answer that is streamed a value a line."""
    return bool(values) and all(isinstance(value, dict) for value in values) and any(map(_of_ollama, values))


def vendor_error(value: Any) -> Any | None:
    """What an event says that is an error by the form of its vendor, and no piece of an answer; None for any other."""
    if not isinstance(value, dict) or value.get("choices"):
        return None
    for found in (object_in(value, "base_resp"), object_in(value, "header"), value):
        code = next((found[name] for name in ("status_code", "error_code", "code") if found.get(name)), None)
        said = any(text_in(found, name) for name in ("status_msg", "error_msg", "message", "msg"))
        if said and isinstance(code, int | str) and not isinstance(code, bool) and code not in _NO_ERROR:
            return value
    told = text_in(value, "message") or text_in(value, "detail")
    alone = len(value) == 1 or text_in(value, "status") == "error"
    failed = value.get("success") is False and bool(list_in(value, "errors"))
    inner = object_in(object_in(value, "Response"), "Error")
    return value if (told and alone) or failed or inner else None


#: Codes that say that all is well.
_NO_ERROR = frozenset({0, 200, "0", "200", "success", "Success", "OK", "ok"})
