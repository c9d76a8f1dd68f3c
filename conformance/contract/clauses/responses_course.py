"""The course of a Responses stream: what is opened before it is filled, closed after it, and told whole at the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.clauses.responses import events_of, is_response_stream
from conformance.contract.evidence import at_event, at_path, show
from conformance.contract.when import stayed, the_reply
from conformance.exchange.members import list_in, object_in
from conformance.exchange.model import Endpoint, Exchange, StreamEvent

_TEXT, _CALL = "response.output_text.delta", "response.function_call_arguments.delta"
_PART_DELTAS = (_TEXT, "response.refusal.delta")
_PART_DONE = "response.content_part.done"
#: The delta events whose done event closes what they filled.
_CLOSED = (*_PART_DELTAS, _CALL)
_LIFECYCLE = (
    "response.queued",
    "response.created",
    "response.in_progress",
    "response.completed",
    "response.incomplete",
    "response.failed",
)


def _any_of(*names: str) -> Any:
    return lambda x: is_response_stream(x) and any(name in names for _, name, _ in events_of(x))


def _place(value: dict[str, Any]) -> tuple[str, str]:
    return show(value.get("output_index")), show(value.get("content_index"))


@clause(
    id="responses.stream.parts",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="In a stream that tells its content parts, each is added before its text",
    rationale="The official SDK's accumulator adds a delta to the part at its content_index: without it an IndexError is raised.",
    source="openai-api/responses-streaming",
    applies=lambda x: _any_of(*_PART_DELTAS)(x) and _any_of("response.content_part.added", _PART_DONE)(x),
)
def parts(x: Exchange) -> Iterator[Finding]:
    yield from _not_added(x)


def _not_added(x: Exchange) -> Iterator[Finding]:
    added: set[tuple[str, str]] = set()
    for event, name, value in events_of(x):
        if name == "response.content_part.added":
            added.add(_place(value))
        elif name == "response.output_item.added":
            held = list_in(object_in(value, "item"), "content")
            added |= {(show(value.get("output_index")), show(number)) for number in range(len(held))}
        elif name in _PART_DELTAS and _place(value) not in added:
            added.add(_place(value))  # told once
            index, part = _place(value)
            yield at_event(the_reply(x), event, f"response.content_part.added for part {part} of item {index}", name)


@clause(
    id="responses.stream.closed",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="A completed stream opens each part and closes what it opened",
    rationale="Agents build their history from these events. The SDK's plain stream hands out what comes, so this is a SHOULD.",
    source="openai-api/responses-streaming",
    applies=_any_of("response.completed"),
)
def closed(x: Exchange) -> Iterator[Finding]:
    opened: dict[tuple[str, ...], StreamEvent] = {}
    for event, name, value in events_of(x):
        if name == "response.output_item.added":
            opened[("response.output_item.done", show(value.get("output_index")))] = event
        elif name == "response.content_part.added":
            opened.setdefault((_PART_DONE, *_place(value)), event)
        elif name in _CLOSED:
            opened.setdefault((name.replace(".delta", ".done"), *_place(value)), event)
        elif name == "response.output_item.done":
            opened.pop((name, show(value.get("output_index"))), None)
        elif name.endswith(".done"):
            opened.pop((name, *_place(value)), None)
    if not _any_of("response.content_part.added", _PART_DONE)(x):
        yield from _not_added(x)
    for (done, *_), event in opened.items():
        yield at_event(the_reply(x), event, f"{done} before response.completed", "none")


@clause(
    id="responses.stream.one",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="All events of a stream speak of one response, which runs until its last one",
    rationale="The next turn refers to the id, whichever event it was taken from; a status that says it is over ends a reader's stream.",
    source="openai-api/responses-streaming",
    applies=_any_of(*_LIFECYCLE),
)
def one(x: Exchange) -> Iterator[Finding]:
    first: Any = None
    for event, name, value in events_of(x):
        response = object_in(value, "response") if name in _LIFECYCLE else {}
        told, status = response.get("id"), response.get("status")
        first = first if isinstance(first, str) and first else told
        if isinstance(told, str) and told and told != first:
            yield at_event(the_reply(x), event, f"id {show(first)}", show(told))
        if name in _LIFECYCLE[:3] and status in ("completed", "incomplete", "failed", "cancelled"):
            yield at_event(the_reply(x), event, f"status in_progress or queued in {name}", show(status))


def _streamed(events: list[tuple[str, dict[str, Any]]], kind: str) -> str:
    """The deltas of one kind, joined: those of each item and part together, in the order in which these began."""
    joined: dict[tuple[str, str], str] = {}
    for name, value in events:
        if name == kind and isinstance(value.get("delta"), str):
            joined[_place(value)] = joined.get(_place(value), "") + value["delta"]
    return "".join(
        joined[place] for place in sorted(joined, key=lambda place: [int(n) if n.isdigit() else 0 for n in place])
    )


def _held(response: dict[str, Any]) -> dict[str, str]:
    """The texts and the arguments that a response object holds, each joined."""
    items = [item for item in list_in(response, "output") if isinstance(item, dict)]
    parts = [part for item in items for part in list_in(item, "content") if isinstance(part, dict)]
    texts = [part.get("text") for part in parts if part.get("type") == "output_text"]
    calls = [item.get("arguments") for item in items if item.get("type") == "function_call"]
    return {kind: "".join(map(str, found)) for kind, found in ((_TEXT, texts), (_CALL, calls))}


@clause(
    id="responses.stream.whole",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The completed response holds what was streamed",
    rationale="Clients show the deltas and keep the last event's response: with an empty output the answer is gone from the history.",
    source="openai-api/responses-streaming",
    applies=lambda x: _any_of("response.completed")(x) and stayed(x) and _any_of(_TEXT, _CALL)(x),
)
def whole_response(x: Exchange) -> Iterator[Finding]:
    told: list[tuple[str, dict[str, Any]]] = []
    for event, name, value in events_of(x):
        response = object_in(value, "response")
        if name == "response.created":
            told.clear()  # a second response has deltas of its own
        told.append((name, value))
        if name != "response.completed" or not isinstance(response.get("output"), list):
            continue  # a response without output is judged by its shape
        for kind, held in _held(response).items():
            streamed = _streamed(told, kind)
            if streamed and streamed != held:
                yield at_event(the_reply(x), event, f"an output with {show(streamed)}", show(held) if held else "none")


_ENDS = ("completed", "incomplete", "failed")


def ended(x: Exchange) -> list[tuple[StreamEvent | None, dict[str, Any]]]:
    """Each response that came to an end: the JSON one, or that of a stream's last event."""
    if is_response_stream(x):
        ends = {f"response.{status}" for status in _ENDS}
        return [(event, object_in(value, "response")) for event, name, value in events_of(x) if name in ends]
    reply = x.reply
    value = reply.doc.value if stayed(x) and reply is not None and reply.ok and reply.doc is not None else None
    asked = x.request.endpoint is Endpoint.RESPONSES and isinstance(value, dict)
    return [(None, value)] if asked and isinstance(value, dict) and value.get("status") in _ENDS else []


@clause(
    id="responses.error.agrees",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A response has an error exactly when it failed",
    rationale="Agents wait, compact or give up by the error: a failure without one is tried again, an answer with one is thrown away.",
    source="openai-api/responses",
    applies=lambda x: bool(ended(x)),
)
def error_agrees(x: Exchange) -> Iterator[Finding]:
    for event, response in ended(x):
        error, message = response.get("error"), object_in(response, "error").get("message")
        if response.get("status") == "failed":
            wrong = not (isinstance(message, str) and message.strip())
        else:
            wrong = response.get("status") == "completed" and error is not None
        expected = "an error with a message" if response.get("status") == "failed" else "error: null"
        if wrong and event is None:
            yield at_path(the_reply(x), ("error",), expected, show(error))
        elif wrong and event is not None:
            yield at_event(the_reply(x), event, expected, show(error))
