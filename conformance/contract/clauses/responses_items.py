"""The output items of a Responses stream: the same from first to last, whole when they are done, and then left alone.

A member that spoils its items itself is at fault itself: a gateway is only held to what it relays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.clauses.inherited import own
from conformance.contract.clauses.responses import events_of, is_response_stream
from conformance.contract.evidence import at_event, at_path, show
from conformance.contract.when import is_json, stayed, the_reply
from conformance.exchange.members import list_in, object_in, text_in
from conformance.exchange.model import Endpoint, Exchange, StreamEvent

_ADDED, _DONE = "response.output_item.added", "response.output_item.done"
_PART_DONE = "response.content_part.done"
#: What names an item, and does not change.
_NAMES = ("id", "type", "call_id", "name")
#: The deltas that fill an item, and the member of the item (or of its part) that they make up.
_FILLS = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "refusal",
    "response.function_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "input",
}
#: The items whose status says whether they are still being written.
_WRITTEN = ("message", "function_call")


@dataclass(slots=True)
class _Item:
    """An output item while its events come: how it was added, its deltas by part, whether it and which parts are done."""

    added: dict[str, Any]
    texts: dict[str, list[str]] = field(default_factory=dict)
    done: dict[str, Any] | None = None
    closed: set[str] = field(default_factory=set)

    def joined(self, place: str) -> str:
        """What the item was added with at a place, and the deltas that were added to it."""
        first = _parts(self.added).get(place)
        return (first if isinstance(first, str) else "") + "".join(self.texts[place])

    @property
    def latest(self) -> dict[str, Any]:
        return self.added if self.done is None else self.done


def _index(value: dict[str, Any]) -> int:
    index = value.get("output_index")
    return index if isinstance(index, int) and not isinstance(index, bool) else -1


def _part(name: str, value: dict[str, Any]) -> str:
    """The part of its item that a delta fills; what fills a call has none, whatever it says."""
    return show(value.get("content_index") if _FILLS.get(name) in ("text", "refusal") else None)


def _courses(x: Exchange) -> Iterator[tuple[StreamEvent, str, dict[str, Any], _Item | None, dict[int, _Item]]]:
    """Each event, its name and value, the item that it speaks of as it was before the event, and all items so far."""
    items: dict[int, _Item] = {}
    for event, name, value in events_of(x):
        if name == "response.created":
            items = {}  # a second response has items of its own
        item = items.get(_index(value))
        yield event, name, value, item, items
        if name == _ADDED:
            items[_index(value)] = _Item(object_in(value, "item"))
        elif item is None:
            continue
        elif name in _FILLS and isinstance(value.get("delta"), str):
            item.texts.setdefault(_part(name, value), []).append(value["delta"])
        elif name == _DONE:
            item.done = object_in(value, "item")
        elif name.endswith(".done"):
            item.closed.add(f"{name.removesuffix('.done')} {show(value.get('content_index'))}")


def _told(x: Exchange) -> bool:
    return is_response_stream(x) and stayed(x) and any(name == _ADDED for _, name, _ in events_of(x))


def _changed(before: dict[str, Any], after: Any) -> Iterator[tuple[str, str, str]]:
    """The names of an item that are others than before, where both are told."""
    for name in _NAMES:
        old, new = text_in(before, name), text_in(after, name)
        if old and new and old != new:
            yield name, old, new


@clause(
    id="responses.item.same",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="An output item keeps its id, type, call_id and name through the stream",
    rationale="A client stores the item under one name and answers the call under another: the next turn refers to a call that nobody made.",
    source="openai-api/responses-streaming",
    applies=_told,
)
@own
def item_same(x: Exchange) -> Iterator[Finding]:
    for event, name, value, item, items in _courses(x):
        if item is not None and name == _DONE:
            for member, old, new in _changed(item.added, object_in(value, "item")):
                yield at_event(the_reply(x), event, f"{member} {show(old)}, as it was added", show(new))
        elif item is not None and name.endswith(".done"):
            named, told = text_in(item.added, "id"), text_in(value, "item_id")
            if named and told and named != told:
                yield at_event(the_reply(x), event, f"item_id {show(named)}, as the item was added", show(told))
        elif name in ("response.completed", "response.incomplete"):
            output = list_in(object_in(value, "response"), "output")
            for index, last in enumerate(output if len(output) == len(items) else []):
                for member, old, new in _changed(items[index].latest if index in items else {}, last):
                    yield at_event(the_reply(x), event, f"{member} {show(old)} of item {index}, as before", show(new))


def _text_of(part: Any) -> Any:
    """What a part says: its text, or its refusal."""
    told = object_in({"": part}, "")
    return told.get("refusal") if told.get("refusal") is not None else told.get("text", "")


def _parts(item: dict[str, Any]) -> dict[str, Any]:
    """The texts of an item by the part's index; what a call holds has no part."""
    found: dict[str, Any] = {}
    if item.get("type") == "message":
        for number, part in enumerate(list_in(item, "content")):
            found[str(number)] = _text_of(part)
    elif item.get("type") in ("function_call", "custom_tool_call"):
        found["null"] = item.get("arguments") if item.get("arguments") is not None else item.get("input")
    return found


@clause(
    id="responses.item.whole",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="An item, or a part of it, that is done holds what was streamed of it",
    rationale="Agents keep the done item as the history and run its arguments: an empty or other one is another answer than the one shown.",
    source="openai-api/responses-streaming",
    applies=_told,
)
@own
def item_whole(x: Exchange) -> Iterator[Finding]:
    for event, name, value, item, _ in _courses(x):
        if item is None or item.done is not None:
            continue
        if name == _PART_DONE:
            place, part = show(value.get("content_index")), object_in(value, "part")
            again = f"{name.removesuffix('.done')} {place}" in item.closed
            if part.get("type") in ("output_text", "refusal") and place in item.texts and not again:
                yield from _differs(x, event, item.joined(place), _text_of(part))
        elif name == _DONE:
            done = object_in(value, "item")
            parts = _parts(done)
            for place in item.texts if done.get("type") == item.added.get("type") else ():
                yield from _differs(x, event, item.joined(place), parts.get(place))


def _differs(x: Exchange, event: StreamEvent, streamed: str, held: Any) -> Iterator[Finding]:
    if streamed and held != streamed:
        yield at_event(the_reply(x), event, f"{show(streamed)}, as its deltas", show(held))


def _written(x: Exchange) -> bool:
    """Whether items are told: by a stream, or by a JSON response that is completed."""
    return _told(x) or (x.request.endpoint is Endpoint.RESPONSES and is_json(x) and bool(_last(x)))


def _last(x: Exchange) -> list[Any]:
    """The output of a JSON response that is completed."""
    doc = the_reply(x).doc
    value = doc.value if doc is not None and doc.ok and not the_reply(x).events else None
    return list_in(value, "output") if isinstance(value, dict) and value.get("status") == "completed" else []


def _unfinished(item: Any) -> bool:
    return isinstance(item, dict) and item.get("type") in _WRITTEN and item.get("status") == "in_progress"


@clause(
    id="responses.item.closed",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="Nothing is added to what is done, and what is done is not in progress",
    rationale="Clients act on an item when it is done: what comes later is lost, and one that says in_progress is waited for.",
    source="openai-api/responses-streaming",
    applies=_written,
)
@own
def item_closed(x: Exchange) -> Iterator[Finding]:
    for index, last in enumerate(_last(x)):
        if _unfinished(last):
            yield at_path(the_reply(x), ("output", index, "status"), "completed, or incomplete", '"in_progress"')
    for event, name, value, item, _ in _courses(x):
        if name in _FILLS and item is not None:
            part = f"{name.removesuffix('.delta')} {show(value.get('content_index'))}"
            if item.done is not None or part in item.closed:
                yield at_event(the_reply(x), event, f"no delta after {name.removesuffix('delta')}done", show(value))
        elif name == _DONE and _unfinished(value.get("item")):
            yield at_event(the_reply(x), event, "a status of the item's end", '"in_progress"')
        elif name == "response.completed":
            for number, last in enumerate(list_in(object_in(value, "response"), "output")):
                if _unfinished(last):
                    yield at_event(the_reply(x), event, f"a status of the end of item {number}", '"in_progress"')
