"""What answer a reply gives, read the same way from JSON and from a stream, on either leg: legs can be compared.

From parsed JSON values to choices, reasons, usage and errors. Knows nothing of sockets, targets or clauses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from conformance.exchange.members import list_in, object_in, text_in

#: openai-api/chat-object: the closed set of finish reasons.
STANDARD_REASONS = frozenset({"stop", "length", "tool_calls", "content_filter", "function_call"})

#: Spellings that providers use for a standard reason (shared public reports; each seen in the wild).
REASON_SYNONYMS: dict[str, str] = {
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "end": "stop",
    "stop_sequence": "stop",
    "completed": "stop",
    "complete": "stop",
    "done": "stop",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "tool_call": "tool_calls",
    "tool_use": "tool_calls",
    "function_calls": "tool_calls",
    "sensitive": "content_filter",
    "safety": "content_filter",
    "refusal": "content_filter",
    "recitation": "content_filter",
    "blocklist": "content_filter",
    "prohibited_content": "content_filter",
}


def normal_reason(reason: Any) -> str | None:
    """The standard reason that `reason` means, or None: an error, an empty or an unknown one."""
    if not isinstance(reason, str):
        return None
    if reason in STANDARD_REASONS:
        return reason
    return REASON_SYNONYMS.get(reason.lower(), reason.lower() if reason.lower() in STANDARD_REASONS else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One tool call, deltas joined. `index` is the delta's index (the position for JSON)."""

    index: int
    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One choice, deltas joined.

    `text` is the content (or the legacy `text`); `reasoning` what came under reasoning_content or reasoning; `reasons`
    every non-null finish_reason in order, any JSON type; `native` every native_finish_reason. `plain` is whether the
    content came as strings only (a list of parts is joined to `text`, and is not plain).
    """

    index: int
    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    reasons: tuple[Any, ...] = ()
    native: tuple[Any, ...] = ()
    plain: bool = True

    @property
    def empty(self) -> bool:
        """Whether nothing that a user could use stands in it."""
        return not (self.text or self.reasoning or self.refusal or self.tool_calls)

    @property
    def finished(self) -> bool:
        """Whether a reason that means a normal end was given, and no other."""
        if not self.reasons or any(normal_reason(reason) is None for reason in self.reasons if reason != ""):
            return False
        if self.empty and any(normal_reason(reason) is None for reason in self.native):
            return False
        return any(normal_reason(reason) is not None for reason in self.reasons)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A reply's meaning.

    `errors` are the values of in-band error objects (a body's or an event's `error`, one of a choice, or an event of
    type error), in order; `usage` the last usage object; `done` how many `[DONE]` came. `finished` is whether the
    answer says that it is whole, without an error: for a chat or completion a normal finish reason on every choice met
    (a stream's `[DONE]` is not enough), for embeddings, models and others a JSON object without error.
    `event_errors` are indexes of error events.
    """

    choices: tuple[Choice, ...] = ()
    errors: tuple[Any, ...] = ()
    event_errors: tuple[int, ...] = ()
    usage: Any = None
    done: int = 0
    finished: bool = False
    streamed: bool = False

    @property
    def output(self) -> bool:
        """Whether any choice holds something usable."""
        return any(not choice.empty for choice in self.choices)

    @property
    def claims_success(self) -> bool:
        """Whether a client that reads it takes it for a whole, good answer: an end was told, and no error."""
        return not self.errors and (self.finished or self.done > 0)

    @property
    def told_end(self) -> bool:
        """Whether it came to its own end: a finish reason on every choice met, or `[DONE]`."""
        return self.done > 0 or (bool(self.choices) and all(choice.reasons for choice in self.choices))


#: Stands for the `[DONE]` sentinel among a stream's values.
DONE = object()


class _Draft:
    """A choice while its deltas are joined."""

    __slots__ = ("calls", "native", "plain", "reasoning", "reasons", "refusal", "text")

    def __init__(self) -> None:
        self.text: list[str] = []
        self.reasoning: list[str] = []
        self.refusal: list[str] = []
        self.calls: dict[int, list[str]] = {}
        self.reasons: list[Any] = []
        self.native: list[Any] = []
        self.plain = True

    def add(self, part: dict[str, Any]) -> None:
        """Join one message or delta object."""
        content = part.get("content")
        if isinstance(content, str):
            self.text.append(content)
        elif content is not None:
            self.plain = False
            self.text.append(_flatten(content))
        for name in ("reasoning_content", "reasoning"):
            value = part.get(name)
            if isinstance(value, str) and value:
                self.reasoning.append(value)
                break
        if isinstance(part.get("refusal"), str):
            self.refusal.append(part["refusal"])
        calls = part.get("tool_calls")
        if isinstance(calls, list):
            for position, call in enumerate(calls):
                self._call(position, call)
        legacy = part.get("function_call")
        if isinstance(legacy, dict) and (legacy.get("name") or legacy.get("arguments")):
            self._call(0, {"index": 0, "function": legacy})

    def _call(self, position: int, call: Any) -> None:
        if not isinstance(call, dict):
            return
        index = call.get("index", position)
        if not isinstance(index, int) or isinstance(index, bool):
            index = position
        function = call.get("function")
        function = function if isinstance(function, dict) else {}
        draft = self.calls.setdefault(index, ["", "", ""])
        for slot, value in ((0, call.get("id")), (1, function.get("name"))):
            if isinstance(value, str) and value and not draft[slot]:
                draft[slot] = value
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            draft[2] += arguments

    def end(self, choice: dict[str, Any]) -> None:
        """Note the reasons that a choice object gives."""
        if choice.get("finish_reason") is not None:
            self.reasons.append(choice["finish_reason"])
        if choice.get("native_finish_reason") is not None:
            self.native.append(choice["native_finish_reason"])

    def choice(self, index: int) -> Choice:
        """The finished choice."""
        calls = tuple(
            ToolCall(index=key, id=value[0], name=value[1], arguments=value[2])
            for key, value in sorted(self.calls.items())
        )
        return Choice(
            index=index,
            text="".join(self.text),
            reasoning="".join(self.reasoning),
            refusal="".join(self.refusal),
            tool_calls=calls,
            reasons=tuple(self.reasons),
            native=tuple(self.native),
            plain=self.plain,
        )


def _flatten(content: Any) -> str:
    """The text of a list of content parts (thinking parts left out), or of a single part."""
    if isinstance(content, list):
        return "".join(_flatten(part) for part in content)
    if isinstance(content, dict) and isinstance(content.get("text"), str):
        return str(content["text"])
    return content if isinstance(content, str) else ""


def error_place(value: Any) -> tuple[str | int, ...] | None:
    """The path of the in-band error of one JSON value: its own `error`, () for an object that says that it is one, or
    that of a choice, its message or its delta; None where there is none.
    """
    if not isinstance(value, dict):
        return None
    if value.get("error") not in (None, False, "", {}):
        return ("error",)
    if value.get("object") == "error" or (value.get("type") == "error" and "message" in value):
        return ()
    for position, choice in enumerate(list_in(value, "choices")):
        if _failed(choice):
            return ("choices", position, "error")
        for name in ("message", "delta"):
            if _failed(object_in(choice, name)):
                return ("choices", position, name, "error")
    return None


def _failed(part: Any) -> bool:
    """Whether a choice, or what it says, has an error beside it: a text, or an object that says something."""
    error = object_in(part, "error")
    said = any(error.get(name) not in (None, "", 0, 200, "0", "200") for name in ("message", "code", "type"))
    return said or bool(text_in(part, "error").strip())


def _error_of(value: Any) -> Any:
    """The in-band error of one JSON value, or None."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    path = error_place(value)
    if path is None:
        return None
    for key in path:
        value = value[key]
    return value


def _take_choices(value: Any, drafts: dict[int, _Draft], part_names: tuple[str, ...]) -> None:
    choices = value.get("choices") if isinstance(value, dict) else None
    if not isinstance(choices, list):
        return
    for position, choice in enumerate(choices):
        if not isinstance(choice, dict):
            continue
        index = choice.get("index", position)
        if not isinstance(index, int) or isinstance(index, bool):
            index = position
        draft = drafts.setdefault(index, _Draft())
        for name in part_names:
            if isinstance(choice.get(name), dict):
                draft.add(choice[name])
                break
        else:
            if isinstance(choice.get("text"), str):
                draft.text.append(choice["text"])
        draft.end(choice)


def _finish(drafts: dict[int, _Draft], **facts: Any) -> Answer:
    choices = tuple(drafts[index].choice(index) for index in sorted(drafts))
    finished = bool(choices) and all(choice.finished for choice in choices) and not facts.get("errors")
    return Answer(choices=choices, finished=finished, **facts)


def answer_of_embeddings(value: Any) -> Answer:
    """The answer of an embeddings body: finished when it holds at least one."""
    plain = answer_of_json(value, chat=False)
    return replace(plain, finished=plain.finished and bool(value.get("data")))


def answer_of_json(value: Any, *, chat: bool) -> Answer:
    """The answer of one JSON body; `chat` for the endpoints that give choices."""
    error = _error_of(value)
    errors = () if error is None else (error,)
    usage = value.get("usage") if isinstance(value, dict) else None
    if not chat:
        return Answer(errors=errors, usage=usage, finished=isinstance(value, dict) and not errors)
    drafts: dict[int, _Draft] = {}
    _take_choices(value, drafts, ("message", "delta"))
    return _finish(drafts, errors=errors, usage=usage)


def answer_of_events(values: list[tuple[str, Any]], *, done: int) -> Answer:
    """The answer of a chat or completion stream: (event type, JSON value or None) of each event, in order.

    A `[DONE]` is given as (any type, DONE); what follows the first one is not part of the answer.
    """
    drafts: dict[int, _Draft] = {}
    errors: list[Any] = []
    indexes: list[int] = []
    usage: Any = None
    for position, (kind, value) in enumerate(values):
        if value is DONE:
            break
        error = _error_of(value)
        if error is None and kind == "error":
            error = value if value is not None else {}
        if error is not None:
            errors.append(error)
            indexes.append(position)
        if isinstance(value, dict):
            usage = value["usage"] if value.get("usage") is not None else usage
            _take_choices(value, drafts, ("delta", "message"))
    return _finish(drafts, errors=tuple(errors), event_errors=tuple(indexes), usage=usage, done=done, streamed=True)
