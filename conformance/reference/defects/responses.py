"""Defects of the Responses API: the object, and the life cycle of its event stream."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from conformance.reference.behaviour import Behaviour, Moment
from conformance.reference.call import Call, Operation
from conformance.reference.defects.entry import defect
from conformance.reference.defects.hooks import Doc, each_chunk, each_reply, put

TERMINALS = ("response.completed", "response.incomplete", "response.failed")


def _reply(edit: Callable[[Doc], None]) -> Behaviour:
    return Behaviour(doc=each_reply(edit, Operation.RESPONSES))


def _events(edit: Callable[[Doc], None]) -> Behaviour:
    """A gateway that does `edit` to every event."""
    return Behaviour(chunks=each_chunk(edit, Operation.RESPONSES))


def _without(*names: str) -> Behaviour:
    """A gateway that drops the events of these types."""

    def hook(events: list[Doc], call: Call) -> list[Doc]:
        return [event for event in events if event.get("type") not in names]

    return Behaviour(chunks=hook)


def _twice(*names: str) -> Behaviour:
    """A gateway that sends the events of these types again, under the next number."""

    def hook(events: list[Doc], call: Call) -> list[Doc]:
        again: list[Doc] = []
        for event in events:
            again.append(event)
            if event.get("type") in names:
                again.append(event | {"sequence_number": event["sequence_number"] + 1})
        return again

    return Behaviour(chunks=hook)


def _set(name: str, value: Any) -> Callable[[Doc], None]:
    def edit(doc: Doc) -> None:
        if name in doc:
            doc[name] = value

    return edit


def _drop(name: str, kind: str) -> Callable[[Doc], None]:
    def edit(event: Doc) -> None:
        if event["type"] == kind or event["type"].endswith(kind):
            event.pop(name, None)

    return edit


def _count_from_one(event: Doc) -> None:
    if "output_index" in event:
        event["output_index"] += 1


def _trim_done(event: Doc) -> None:
    if event["type"] == "response.output_text.done":
        event["text"] = event["text"][:5]


def _one_event_name(frames: list[bytes], moment: Moment, call: Call) -> list[bytes]:
    named = call.operation is Operation.RESPONSES
    return [b"event: message\n" + frame.partition(b"\n")[2] if named else frame for frame in frames]


def _other_id(event: Doc) -> None:
    if event["type"] in TERMINALS:
        event["response"] = event["response"] | {"id": "resp_of_the_gateway"}


def _without_messages(event: Doc) -> None:
    if event["type"] == "response.completed":
        kept = [item for item in event["response"]["output"] if item.get("type") != "message"]
        event["response"] = event["response"] | {"output": kept}


def _failed_silently(frames: list[bytes], moment: Moment, call: Call) -> list[bytes]:
    """A response that failed has no error."""
    told = []
    for frame in frames:
        head, mark, data = frame.partition(b"data: ")
        if call.operation is Operation.RESPONSES and b"response.failed" in head:
            event = json.loads(data)
            event["response"]["error"] = None
            data = json.dumps(event).encode() + b"\n\n"
        told.append(head + mark + data)
    return told


def _unreasoned(doc: Doc) -> None:
    if doc.get("usage"):
        doc["usage"] = doc["usage"] | {"output_tokens_details": {}}


TABLE = (
    defect(
        "response-status-finished",
        "A response's status is a word of the gateway's own",
        "responses.shape",
        _reply(_set("status", "finished")),
    ),
    defect("response-id-empty", "A response has an empty id", "responses.id", _reply(_set("id", ""))),
    defect(
        "response-events-all-named-message",
        "Every event of a response stream is named message",
        "responses.stream.typed",
        Behaviour(frames=_one_event_name),
    ),
    defect(
        "response-part-left-out",
        "A content part is added without the part",
        "responses.stream.shape",
        _events(_drop("part", "response.content_part.added")),
    ),
    defect(
        "response-stream-without-created",
        "A response stream starts without response.created",
        "responses.stream.created-first",
        _without("response.created"),
    ),
    # a bridge that forwards deltas alone
    defect(
        "response-stream-without-completed",
        "A response stream just ends, without its terminal event",
        "responses.stream.terminal",
        _without(*TERMINALS),
    ),
    # mnfst/llm-gateway#2072: two life cycles in one stream
    defect(
        "response-completed-twice",
        "A response stream is completed twice",
        "responses.stream.terminal",
        _twice(*TERMINALS),
    ),
    defect(
        "response-sequence-constant",
        "Every event of a response stream has the sequence number 0",
        "responses.stream.sequence",
        _events(_set("sequence_number", 0)),
    ),
    defect(
        "response-item-never-added",
        "The deltas of a response belong to an item that was never added",
        "responses.stream.items",
        _without("response.output_item.added"),
    ),
    defect(
        "response-items-from-one",
        "The output items of a response stream are counted from 1",
        "responses.stream.items",
        _events(_count_from_one),
    ),
    defect(
        "response-deltas-without-item",
        "The deltas of a response's call do not name their item",
        "responses.stream.item-ids",
        _events(_drop("item_id", "_arguments.delta")),
        "responses.tool-stream",
    ),
    defect(
        "response-done-text-cut",
        "The done event of a response has only the beginning of the text",
        "responses.stream.text",
        _events(_trim_done),
    ),
    # Wei-Shaw/sub2api#2875, anomalyco/opencode#40171
    defect(
        "response-part-never-added",
        "The text of a response belongs to a content part that was never added",
        "responses.stream.parts",
        _without("response.content_part.added"),
    ),
    # ogx-ai/ogx#5309
    defect(
        "response-item-never-done",
        "The output items of a response stream are never done",
        "responses.stream.closed",
        _without("response.output_item.done"),
    ),
    defect(
        "response-completed-under-another-id",
        "The last event of a response stream has an id of the gateway's own",
        "responses.stream.one",
        _events(_other_id),
    ),
    # BerriAI/litellm#41009
    defect(
        "response-completed-empty",
        "A response whose text was streamed is completed without it",
        "responses.stream.whole",
        _events(_without_messages),
    ),
    # zyycn/codex-proxy-rs#90
    defect(
        "response-failed-without-reason",
        "The last event of a response that failed has no error",
        "responses.error.agrees",
        Behaviour(frames=_failed_silently),
        "responses.truncated",
    ),
    # Wei-Shaw/sub2api#1493
    defect(
        "response-output-empty",
        "A completed response has no output, and counts its tokens",
        "responses.output.present relay.text.equal relay.items.kept",
        Behaviour(doc=each_reply(put("output", []), Operation.RESPONSES)),
        "responses.hello",
    ),
    # BigPizzaV3/CodexPlusPlus#1908
    defect(
        "response-usage-without-reasoning",
        "The details of a response's output tokens say nothing of reasoning",
        "responses.shape",
        Behaviour(doc=each_reply(_unreasoned, Operation.RESPONSES)),
        "responses.hello",
    ),
)
