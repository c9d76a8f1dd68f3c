"""The Responses API: the object, and the life cycle of its event stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.evidence import at_end, at_event, at_path, show
from conformance.contract.shape import problems
from conformance.contract.when import is_json, json_of, ok, serving, stayed, the_reply, whole
from conformance.exchange.counted import counts
from conformance.exchange.members import list_in
from conformance.exchange.model import Endpoint, Exchange, StreamEvent
from conformance.exchange.responses import TERMINAL_EVENTS

_succeeded = json_of(Endpoint.RESPONSES)
#: The deltas that the API defines with an item_id and an output_index (those of audio and of shell commands lack one).
_DELTAS = frozenset(
    f"response.{name}.delta"
    for name in (
        "output_text",
        "refusal",
        "reasoning_text",
        "reasoning_summary_text",
        "function_call_arguments",
        "custom_tool_call_input",
        "mcp_call_arguments",
        "code_interpreter_call_code",
    )
)
#: What else is said of an item that has to be there.
_OF_ITEMS = frozenset(name.replace(".delta", ".done") for name in _DELTAS) | {
    "response.output_item.done",
    "response.content_part.added",
    "response.content_part.done",
}
_PLACED = _DELTAS | {"response.output_item.added"}
#: The done events that repeat their deltas, and the member in which.
_JOINED = {"response.output_text.done": "text", "response.function_call_arguments.done": "arguments"}
_STATUSES = ("completed", "failed", "in_progress", "cancelled", "queued", "incomplete")


def _object(x: Exchange) -> bool:
    """A response object, of a generation that succeeded or that failed."""
    if x.request.endpoint is not Endpoint.RESPONSES or not is_json(x):
        return False
    return _succeeded(x) or _value(x).get("status") == "failed"


def _value(x: Exchange) -> dict[str, Any]:
    doc = the_reply(x).doc
    assert doc is not None and isinstance(doc.value, dict)
    return doc.value


def is_response_stream(x: Exchange) -> bool:
    """A 2xx stream of events in answer to a Responses request that asked for one."""
    reply = x.reply
    return (
        x.request.endpoint is Endpoint.RESPONSES
        and x.request.stream
        and ok(x)
        and reply is not None
        and bool(reply.events)
    )


def events_of(x: Exchange) -> Iterator[tuple[StreamEvent, str, dict[str, Any]]]:
    """Every event that is a JSON object, its type ("" for none) and its value."""
    for event in the_reply(x).events:
        value = event.doc.value if event.doc is not None and event.doc.ok else None
        if isinstance(value, dict):
            name = value.get("type")
            yield event, name if isinstance(name, str) else "", value


@clause(
    id="responses.shape",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A response has the API's shape",
    rationale="Typed clients read id, object, created_at, status and output by the API's schema.",
    source="openai-api/responses",
    applies=_object,
)
def shape(x: Exchange) -> Iterator[Finding]:
    for problem in problems("response", _value(x)):
        if problem.path == ("id",):
            continue  # responses.id judges it
        where = ".".join(map(str, problem.path)) or "the response"
        yield at_path(the_reply(x), problem.path, f"{where}: {problem.expected}", problem.actual)
    for number, item in enumerate(list_in(_value(x), "output")):
        # openai-api/responses: what an assistant says is output_text or a refusal; `text` is the chat API's part.
        parts = list_in(item, "content") if isinstance(item, dict) and item.get("type") == "message" else []
        for place, part in enumerate(parts):
            if isinstance(part, dict) and part.get("type") in ("text", "input_text"):
                path = ("output", number, "content", place, "type")
                yield at_path(the_reply(x), path, '"output_text" or "refusal"', show(part["type"]))
    status = _value(x).get("status")
    if status is not None and status not in _STATUSES:
        yield at_path(the_reply(x), ("status",), f"one of {', '.join(_STATUSES)}", show(status))


@clause(
    id="responses.id",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A response has a non-empty id",
    rationale="The next turn refers to it by previous_response_id.",
    source="openai-api/responses",
    applies=_object,
)
def response_id(x: Exchange) -> Iterator[Finding]:
    value = _value(x).get("id")
    if not (isinstance(value, str) and value.strip()):
        yield at_path(the_reply(x), ("id",), "a non-empty string", show(value))


#: One token ends an answer that says nothing, and servers differ in whether it counts.
_ENDING = 1


def _generated(x: Exchange) -> int:
    """How many tokens a response counts besides those of its reasoning."""
    found = counts(_value(x).get("usage"))
    return found.get("completion", (0,))[0] - found.get("reasoning", (0,))[0]


def _said_by_member(x: Exchange) -> bool | None:
    """Whether the member, asked by another API, gave any output itself; None where nobody can tell."""
    attempt = serving(x)
    if attempt is None or attempt.reply is None or attempt.request.endpoint is Endpoint.RESPONSES:
        return None
    return not all(choice.empty for choice in attempt.reply.answer.choices)


@clause(
    id="responses.output.present",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A completed response that counts output tokens has an output",
    rationale="The tokens are paid and the text is nowhere: clients take the empty list for an empty answer.",
    source="openai-api/responses",
    applies=lambda x: _object(x) and _value(x).get("status") == "completed" and _generated(x) > 0,
)
def output_present(x: Exchange) -> Iterator[Finding]:
    said = _said_by_member(x)
    if _value(x).get("output") == [] and (_generated(x) > _ENDING if said is None else said):
        yield at_path(the_reply(x), ("output",), f"what {_generated(x)} tokens were generated for", "[]")


@clause(
    id="responses.stream.typed",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="Every event has a type, and its event field says the same",
    rationale="Clients dispatch on the type; an event without one, or with two, is dropped in silence.",
    source="openai-api/responses-streaming",
    applies=is_response_stream,
)
def stream_typed(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    for event, name, value in events_of(x):
        if not name:
            yield at_event(reply, event, "a member `type`", show(value))
        elif event.event.type and event.event.type != name:
            yield at_event(reply, event, f"event: {name}", f"event: {event.event.type}")


def _nested(value: dict[str, Any]) -> bool:
    """Whether an error event has its members in an `error` object: so the API itself sends it, and the SDK reads it."""
    error = value.get("error")
    return isinstance(error, dict) and isinstance(error.get("message"), str) and bool(error["message"].strip())


def _judged_elsewhere(name: str, path: tuple[str | int, ...]) -> bool:
    """Whether a clause of its own judges the member at `path` of an event called `name`."""
    delta, added = name in _DELTAS, name == "response.output_item.added"
    if path in (("type",), ("sequence_number",)):
        return True
    return (path == ("output_index",) and (delta or added)) or (path == ("item_id",) and delta)


@clause(
    id="responses.stream.shape",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="Every event has the API's shape for its type",
    rationale="Typed clients build items and parts from the events' members: one without its index, part or response is dropped.",
    source="openai-api/responses-streaming",
    applies=lambda x: is_response_stream(x) and any(name for _, name, _ in events_of(x)),
)
def stream_shape(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    for event, name, value in events_of(x):
        if name == "error" and _nested(value):
            continue
        for problem in problems("response-stream-event", value) if name else ():
            if not _judged_elsewhere(name, problem.path):
                where = ".".join(map(str, problem.path)) or name
                yield at_event(reply, event, f"{where}: {problem.expected}", problem.actual)


@clause(
    id="responses.stream.created-first",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The stream starts with response.created",
    rationale="Clients open the response with the first event; what comes before it has no place to go.",
    source="openai-api/responses-streaming",
    applies=lambda x: is_response_stream(x) and not the_reply(x).answer.errors,
)
def created_first(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    for event, name, _ in events_of(x):
        if name not in ("response.created", "response.queued"):
            yield at_event(reply, event, "response.created as the first event", show(name))
        return


@clause(
    id="responses.stream.terminal",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The stream ends with exactly one terminal event, whose response has its status",
    rationale="completed, incomplete or failed is the only sign that the response is over; a stream that just stops is a broken one.",
    source="openai-api/responses-streaming",
    applies=lambda x: is_response_stream(x) and whole(x) and "error" not in {name for _, name, _ in events_of(x)},
)
def terminal(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    ends = [(event, name) for event, name, _ in events_of(x) if name in TERMINAL_EVENTS]
    if not ends:
        yield at_end(
            reply, "response.completed, response.incomplete or response.failed", "none of them, the body just ends"
        )
    for event, name in ends[1:]:
        yield at_event(reply, event, "one terminal event", f"{ends[0][1]}, then {name}")
    for event, name in ends:
        status = event.doc.get("response", "status") if event.doc is not None else None
        if isinstance(status, str) and status != name.removeprefix("response."):
            yield at_event(reply, event, f"status {name.removeprefix('response.')} in {name}", show(status))
    if ends:
        last = ends[0][0]
        for event, name, _ in events_of(x):
            if event.event.index > last.event.index and name not in TERMINAL_EVENTS:
                yield at_event(reply, event, f"nothing after {ends[0][1]}", show(name))


@clause(
    id="responses.stream.sequence",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The sequence numbers rise",
    rationale="Clients order and resume by sequence_number; a constant or missing one loses events.",
    source="openai-api/responses-streaming",
    applies=is_response_stream,
)
def sequence(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    last = -1
    for event, name, value in events_of(x):
        if not name:
            continue
        number = value.get("sequence_number")
        if not isinstance(number, int) or isinstance(number, bool) or number <= last:
            yield at_event(
                reply,
                event,
                f"an integer sequence_number above {last}",
                show(number) if "sequence_number" in value else "none",
            )
        else:
            last = number


@clause(
    id="responses.stream.items",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="An output item is added before its deltas and its end, with indexes from 0",
    rationale="What is said of an item that was never added is dropped, or raises; an index that starts at 1 leaves a hole.",
    source="openai-api/responses-streaming",
    applies=lambda x: is_response_stream(x) and any(name in _PLACED for _, name, _ in events_of(x)),
)
def items(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    added: set[int] = set()
    for event, name, value in events_of(x):
        index = value.get("output_index")
        if name == "response.output_item.added":
            if not isinstance(index, int) or index != len(added):
                yield at_event(
                    reply, event, f"output_index {len(added)}", show(index) if "output_index" in value else "none"
                )
            added.add(index if isinstance(index, int) else len(added))
        elif name in _DELTAS or (name in _OF_ITEMS and isinstance(index, int)):
            if not isinstance(index, int):
                yield at_event(
                    reply, event, "an integer output_index", show(index) if "output_index" in value else "none"
                )
            elif index not in added:
                yield at_event(reply, event, f"response.output_item.added for item {index} first", show(name))


@clause(
    id="responses.stream.item-ids",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="Deltas name the item that they belong to",
    rationale="Clients route a delta by item_id; without it parallel calls are glued together.",
    source="openai-api/responses-streaming",
    applies=lambda x: is_response_stream(x) and any(name in _DELTAS for _, name, _ in events_of(x)),
)
def item_ids(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    ids: dict[str, Any] = {}
    for event, name, value in events_of(x):
        index, item = show(value.get("output_index")), value.get("item")
        if name == "response.output_item.added" and isinstance(item, dict):
            ids[index] = item.get("id")
        if name not in _DELTAS:
            continue
        told = value.get("item_id")
        if not (isinstance(told, str) and told):
            yield at_event(reply, event, "a non-empty item_id", show(told) if "item_id" in value else "none")
        elif index in ids and told != ids[index]:
            yield at_event(reply, event, f"item_id {show(ids[index])}, as the item at {index} was added", show(told))


@clause(
    id="responses.stream.text",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The joined deltas are the text, or the arguments, of the done event",
    rationale="Clients show the deltas and store the done event's: two texts are two answers, other arguments another call.",
    source="openai-api/responses-streaming",
    applies=lambda x: is_response_stream(x) and stayed(x) and any(name in _JOINED for _, name, _ in events_of(x)),
)
def text(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    joined: dict[tuple[Any, Any], str] = {}
    for event, name, value in events_of(x):
        key = (show(value.get("item_id")), show(value.get("content_index")))
        member = _JOINED.get(name.replace(".delta", ".done"), "")
        if member and name.endswith(".delta") and isinstance(value.get("delta"), str):
            joined[key] = joined.get(key, "") + value["delta"]
        elif member == "arguments" and key not in joined:
            continue  # the API may send short arguments in the done event alone
        elif name in _JOINED and value.get(member) != joined.get(key, ""):
            yield at_event(reply, event, show(joined.get(key, "")), show(value.get(member)))


#: What makes a response, or a stream of events, the API's own; for who asks whether an upstream's reply is one.
RULES = (
    shape,
    response_id,
    output_present,
    stream_typed,
    stream_shape,
    created_first,
    terminal,
    sequence,
    items,
    item_ids,
    text,
)
