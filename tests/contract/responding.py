"""The shapes that examples of the Responses API are made of: the object, its items, the events of a whole stream."""

from __future__ import annotations

from typing import Any

ID = "resp_1"


def used(taken: int, given: int, *, thought: int = 0) -> dict[str, Any]:
    """A usage of so many tokens in and out, some of them thought."""
    return {
        "input_tokens": taken,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": given,
        "output_tokens_details": {"reasoning_tokens": thought},
        "total_tokens": taken + given,
    }


def message(text: Any = "Hello.", **more: Any) -> dict[str, Any]:
    """An output message of one text."""
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part], **more}


def response(text: Any = "Hello.", **more: Any) -> dict[str, Any]:
    """A whole response of one message."""
    return {
        "id": ID,
        "object": "response",
        "created_at": 1785402847,
        "model": "alias-1",
        "status": "completed",
        "output": [message(text)],
        "usage": used(9, 2),
        **more,
    }


def event(kind: str, **members: Any) -> dict[str, Any]:
    """An event; its sequence number is set by `numbered`."""
    return {"type": kind, **members}


def created() -> dict[str, Any]:
    """The first event."""
    return event("response.created", response=response(status="in_progress", output=[], usage=None))


def item_added(item: dict[str, Any], index: int = 0) -> dict[str, Any]:
    """The event that opens an output item."""
    return event("response.output_item.added", output_index=index, item=item)


def told(text: str = "Hello.", **more: Any) -> list[dict[str, Any]]:
    """The last event."""
    return [event("response.completed", response=response(text, **more))]


def numbered(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The events with sequence numbers from 0."""
    return [{**item, "sequence_number": number} for number, item in enumerate(events)]


def said(*texts: str) -> list[dict[str, Any]]:
    """The events of a whole stream that says `texts`, numbered."""
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    text = "".join(texts)
    part = {"type": "output_text", "text": "", "annotations": []}
    return numbered(
        [
            created(),
            item_added(message("", status="in_progress", content=[])),
            event("response.content_part.added", **place, part=part),
            *(event("response.output_text.delta", **place, delta=piece) for piece in texts),
            event("response.output_text.done", **place, text=text),
            event("response.content_part.done", **place, part={**part, "text": text}),
            event("response.output_item.done", output_index=0, item=message(text)),
            *told(text),
        ]
    )
