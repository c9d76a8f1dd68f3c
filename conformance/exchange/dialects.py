"""What answer an upstream of another API gives: Anthropic's messages and Gemini's contents, whole or streamed.

From parsed JSON values to the same Answer that the OpenAI API's replies become, so that the relay clauses can compare
both legs. Knows the two shapes alone; whatever else is None.
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
        draft.calls[len(draft.calls)] = [
            text_in(called, "id"),
            text_in(called, "name"),
            json.dumps(called.get("args") or {}),
        ]
    elif isinstance(part, dict) and isinstance(part.get("text"), str):
        (draft.reasoning if part.get("thought") is True else draft.text).append(part["text"])
    else:
        draft.plain = False


_ANTHROPIC_TYPES = ("message", "message_start", "content_block_start", "content_block_delta", "message_delta")


def answer_of_dialect(values: list[Any], errors: tuple[Any, ...], *, streamed: bool) -> Answer | None:
    """The answer of another API's reply (its one JSON value, or the value of each event); None for neither of both."""
    if any(text_in(value, "type") in _ANTHROPIC_TYPES for value in values):
        return _anthropic(values, errors, streamed=streamed)
    if any(isinstance(value, dict) and ("candidates" in value or "promptFeedback" in value) for value in values):
        return _gemini(values, errors, streamed=streamed)
    return None
