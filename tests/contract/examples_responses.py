"""Examples of the clauses on the Responses API."""

from __future__ import annotations

from typing import Any

from tests.contract.captures import Capture, ask, capture, stream, wire
from tests.contract.example import Example, Examples
from tests.contract.responding import created, event, item_added, message, numbered, response, said, told

JSON = ask("responses")
STREAM = ask("responses", stream=True)
GOOD = said("Hello", ".")
DELTAS = [position for position, item in enumerate(GOOD) if item["type"].endswith(".delta")]


def answered(**members: Any) -> Capture:
    """A response object."""
    return capture(JSON, wire(response(**members)))


def events(*items: Any, named: bool = True) -> Capture:
    """A stream of typed events, each with its event field."""
    return capture(STREAM, wire(stream(*((item["type"], item) if named else item for item in items), done=False)))


def without(name: str, kind: str = "") -> Capture:
    """The good stream without a member of its events (those of one kind)."""
    return events(
        *({key: value for key, value in item.items() if key != name or kind not in item["type"]} for item in GOOD)
    )


def over(kind: str, **members: Any) -> Capture:
    """The good stream with members laid over the events of one kind."""
    return events(*({**item, **members} if item["type"] == kind else item for item in GOOD))


WHOLE = events(*GOOD)
FAILED = response(status="failed", output=[], error={"code": "server_error", "message": "Failed."})
BROKEN = events(*numbered([created(), event("response.failed", response=FAILED)]))
TOLD = events(*numbered([created(), event("error", code="server_error", message="Failed.", param=None)]))
CALL = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "read",
    "arguments": "",
    "status": "in_progress",
}
ARGUMENTS = event("response.function_call_arguments.delta", item_id="fc_1", output_index=0, delta="{}")
CALLED = events(
    *numbered(
        [created(), item_added(CALL), ARGUMENTS, *told(output=[{**CALL, "arguments": "{}", "status": "completed"}])]
    )
)

EXAMPLES: Examples = {
    "responses.shape": Example(
        (
            answered(),
            answered(output=[message(), {"type": "web_search_call", "id": "ws_1"}]),
            answered(created_at=1785402847.5),
            answered(status="incomplete"),
        ),
        (
            answered(output=None),
            answered(object="chat.completion"),
            answered(status="done"),
            answered(usage={"input_tokens": 1}),
            answered(output=[{"type": "message", "content": "Hi"}]),
        ),
    ),
    "responses.id": Example((answered(),), (answered(id=""), answered(id=None))),
    "responses.stream.typed": Example(
        (WHOLE, BROKEN, TOLD, events(*GOOD, named=False)),
        (
            events({"type": "", "error": {"message": "Failed."}}),
            capture(STREAM, wire(stream(*(("message", item) for item in GOOD), done=False))),
        ),
    ),
    "responses.stream.shape": Example(
        (WHOLE, CALLED, BROKEN, TOLD, events(*GOOD, event("response.new_thing", sequence_number=99))),
        (
            without("content_index"),
            without("part"),
            without("item"),
            without("delta"),
            without("output_index", "content_part"),
            over("response.created", response={"id": "resp_1"}),
            over("response.completed", response=None),
        ),
    ),
    "responses.stream.created-first": Example((WHOLE, CALLED), (events(*GOOD[1:]),)),
    "responses.stream.terminal": Example(
        (WHOLE, BROKEN),
        (
            events(*GOOD[:-1]),
            events(*GOOD, {**GOOD[-1], "sequence_number": 99}),
            events(*GOOD, {**GOOD[DELTAS[0]], "sequence_number": 99}),
            over("response.completed", response=response(status="in_progress")),
        ),
    ),
    "responses.stream.sequence": Example(
        (WHOLE, BROKEN, TOLD),
        (
            without("sequence_number"),
            events(*({**item, "sequence_number": 0} for item in GOOD)),
            events(*({**item, "sequence_number": "1"} for item in GOOD)),
        ),
    ),
    "responses.stream.items": Example(
        (WHOLE, CALLED),
        (
            without("output_index"),
            events(*({**item, "output_index": 1} if "output_index" in item else item for item in GOOD)),
            events(GOOD[0], *GOOD[2:]),
            events(*numbered([created(), {"type": "response.output_item.added", "item": CALL}, *told()])),
        ),
    ),
    "responses.stream.item-ids": Example(
        (WHOLE, CALLED),
        (
            without("item_id"),
            over("response.output_text.delta", item_id=""),
            over("response.output_text.delta", item_id="msg_2"),
            events(*numbered([created(), item_added({**CALL, "id": None}), ARGUMENTS, *told()])),
        ),
    ),
    "responses.stream.text": Example(
        (WHOLE,),
        (over("response.output_text.done", text="Hello.Hello."), over("response.output_text.delta", delta="x")),
    ),
}
