"""Small makers of hooks, shared by the tables: what a defect most often does to documents, chunks, events and errors.

Each gives a function fit for one hook of Behaviour. Pure but for the memory in `Call.memo`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from conformance.reference.behaviour import ErrorReply, Fields, Moment
from conformance.reference.call import Call, Operation
from conformance.reference.config import Config
from conformance.reference.health import Health
from conformance.reference.rules import Clock

Doc = dict[str, Any]
#: Changes a document in place.
Edit = Callable[[Doc], None]
FramesHook = Callable[[list[bytes], Moment, Call], list[bytes]]


def put(name: str, value: Any) -> Edit:
    """The edit that gives the member `name` the value `value`."""

    def edit(doc: Doc) -> None:
        doc[name] = value

    return edit


def without(name: str) -> Edit:
    """The edit that leaves out the member `name`."""

    def edit(doc: Doc) -> None:
        doc.pop(name, None)

    return edit


def arguments_of(call: Doc) -> Any:
    """The arguments of a tool call as a value; the text that they are, where a bound cut it."""
    text = call["function"]["arguments"]
    try:
        return json.loads(text)
    except ValueError:
        return text


def each_reply(edit: Edit, operation: Operation = Operation.CHAT) -> Callable[[Any, Call], Any]:
    """A `doc` hook: `edit` on every JSON answer of `operation`."""

    def hook(doc: Any, call: Call) -> Any:
        if call.operation is operation and isinstance(doc, dict):
            edit(doc)
        return doc

    return hook


def each_choice(edit: Edit, operation: Operation = Operation.CHAT) -> Callable[[Any, Call], Any]:
    """A `doc` hook: `edit` on every choice of every JSON answer of `operation`."""

    def all_choices(doc: Doc) -> None:
        for choice in doc.get("choices", ()):
            edit(choice)

    return each_reply(all_choices, operation)


def each_chunk(edit: Edit, operation: Operation = Operation.CHAT) -> Callable[[list[Doc], Call], list[Doc]]:
    """A `chunks` hook: `edit` on every chunk (not on an error) of a stream of `operation`."""

    def hook(chunks: list[Doc], call: Call) -> list[Doc]:
        for chunk in chunks:
            if call.operation is operation and "error" not in chunk:
                edit(chunk)
        return chunks

    return hook


def each_stream_choice(edit: Edit, operation: Operation = Operation.CHAT) -> Callable[[list[Doc], Call], list[Doc]]:
    """A `chunks` hook: `edit` on every choice of every chunk of a stream of `operation`."""

    def all_choices(chunk: Doc) -> None:
        for choice in chunk["choices"]:
            edit(choice)

    return each_chunk(all_choices, operation)


def at(moment: Moment, edit: Callable[[list[bytes]], list[bytes]]) -> FramesHook:
    """A `frames` hook: `edit` on the encoded events of one moment."""

    def hook(frames: list[bytes], now: Moment, call: Call) -> list[bytes]:
        return edit(frames) if now is moment else frames

    return hook


def each_frame(edit: Callable[[bytes], bytes]) -> FramesHook:
    """A `frames` hook: `edit` on every encoded event."""

    def hook(frames: list[bytes], now: Moment, call: Call) -> list[bytes]:
        return [edit(frame) for frame in frames]

    return hook


def each_error(edit: Edit) -> Callable[[ErrorReply, Call], ErrorReply]:
    """An `error` hook: `edit` on the object `error` of every error reply."""

    def hook(error: ErrorReply, call: Call) -> ErrorReply:
        edit(error.doc["error"])
        return error

    return hook


def with_field(name: str, value: str) -> Callable[[Fields, int, Call], Fields]:
    """A `headers` hook: one more field line on every response."""

    def hook(fields: Fields, status: int, call: Call) -> Fields:
        return (*fields, (name, value))

    return hook


def without_field(*names: str) -> Callable[[Fields, int, Call], Fields]:
    """A `headers` hook: no field line of these names."""

    def hook(fields: Fields, status: int, call: Call) -> Fields:
        return tuple(field for field in fields if field[0] not in names)

    return hook


def with_media(media: str, other: str) -> Callable[[Fields, int, Call], Fields]:
    """A `headers` hook: on successes, a content type that starts with `media` becomes `other`."""

    def hook(fields: Fields, status: int, call: Call) -> Fields:
        if status >= 400:
            return fields
        return tuple(
            (name, other if name == "content-type" and value.startswith(media) else value) for name, value in fields
        )

    return hook


def with_member_field(name: str) -> Callable[[Fields, int, Call], Fields]:
    """A `headers` hook: the member's field lines of this name are passed on."""

    def hook(fields: Fields, status: int, call: Call) -> Fields:
        return (*fields, *(field for field in (call.answered.headers if call.answered else ()) if field[0] == name))

    return hook


def told_otherwise(change: Callable[[Config], Config]) -> type[Health]:
    """A memory of members that goes by a changed configuration."""

    class Otherwise(Health):
        def __init__(self, config: Config, clock: Clock) -> None:
            super().__init__(change(config), clock)

    return Otherwise
