"""Examples of the clauses on the Responses API."""

from __future__ import annotations

from typing import Any

from tests.contract.captures import Capture, Try, ask, capture, chat, stream, wire
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

#: A usage of many tokens, some of them thoughts, and a member's chat completion that says nothing for as many.
THOUGHTFUL = {
    "input_tokens": 9,
    "output_tokens": 90,
    "total_tokens": 99,
    "output_tokens_details": {"reasoning_tokens": 7},
}
MUTE = Try(wire(chat("", usage={"prompt_tokens": 9, "completion_tokens": 90, "total_tokens": 99})), request=ask())

IN_CALL = {"item_id": "fc_1", "output_index": 0}
AT = {"item_id": "msg_2", "content_index": 0}
CALL_OPENED = (created(), item_added(CALL))
PREFILLED = item_added(message("", id="msg_2"), 1)
QUEUED = events(
    event("response.queued", response=response(status="queued", output=[])),
    event("response.created", response=response(status="in_progress", output=[])),
    *GOOD[1:],
)


def left_out(kind: str) -> Capture:
    """The good stream without its events of one kind."""
    return events(*(item for item in GOOD if item["type"] != kind))


EXAMPLES: Examples = {
    "responses.shape": Example(
        (
            answered(),
            answered(output=[message(), {"type": "web_search_call", "id": "ws_1"}]),
            answered(created_at=1785402847.5),
            answered(status="incomplete"),
            answered(status="failed", output=[], error={"code": "server_error", "message": "Failed."}),
        ),
        (
            answered(output=None),
            answered(object="chat.completion"),
            answered(status="done"),
            answered(output=[message(content=[{"type": "text", "text": "Hi"}])]),
            answered(status="failed", output=[], error="boom"),
            answered(usage={"input_tokens": 1}),
            answered(output=[{"type": "message", "content": "Hi"}]),
        ),
    ),
    "responses.error.agrees": Example(
        (
            answered(),
            answered(error=None),
            answered(status="failed", output=[], error={"code": "server_error", "message": "No."}),
            answered(status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
            WHOLE,
            BROKEN,
        ),
        (
            answered(status="failed", output=[]),
            answered(status="failed", output=[], error={"code": "server_error", "message": ""}),
            answered(error={"code": "server_error", "message": "No."}),
            events(*numbered([created(), event("response.failed", response={**FAILED, "error": None})])),
        ),
    ),
    "responses.output.present": Example(
        (
            answered(),
            answered(output=[], usage={"input_tokens": 9, "output_tokens": 1, "total_tokens": 10}),
            capture(ask("responses"), wire(response(output=[], usage=THOUGHTFUL)), MUTE),
        ),
        (
            answered(output=[]),
            answered(output=[], usage=THOUGHTFUL),
            capture(
                ask("responses"), wire(response(output=[], usage=THOUGHTFUL)), Try(wire(chat("Hello.")), request=ask())
            ),
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
        (
            events(*GOOD[:1], event("error", sequence_number=1, error={"type": "server_error", "message": "Failed."})),
            WHOLE,
            CALLED,
            BROKEN,
            TOLD,
            events(*GOOD, event("response.new_thing", sequence_number=99)),
        ),
        (
            without("content_index"),
            without("part"),
            without("item"),
            without("delta"),
            without("output_index", "content_part"),
            over("response.created", response={"id": "resp_1"}),
            over("response.completed", response=None),
            events(*GOOD[:1], event("error", sequence_number=1, error={"type": "server_error"})),
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
            events(*GOOD[:-1], event("response.output_item.done", output_index=1, item=message(id="msg_2")), GOOD[-1]),
            events(*GOOD[:-1], event("response.content_part.done", **AT, output_index=1, part={}), GOOD[-1]),
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
        (WHOLE, events(*CALL_OPENED, event("response.function_call_arguments.done", **IN_CALL, arguments="{}"))),
        (
            over("response.output_text.done", text="Hello.Hello."),
            over("response.output_text.delta", delta="x"),
            events(*CALL_OPENED, ARGUMENTS, event("response.function_call_arguments.done", **IN_CALL, arguments="[]")),
        ),
    ),
    "responses.stream.parts": Example(
        (
            WHOLE,
            events(
                *CALL_OPENED,
                PREFILLED,
                event("response.refusal.delta", **AT, output_index=1, delta="No."),
                event("response.content_part.done", **AT, output_index=1, part={"type": "refusal", "refusal": "No."}),
            ),
        ),
        (
            left_out("response.content_part.added"),
            over("response.content_part.added", content_index=1),
        ),
    ),
    "responses.stream.closed": Example(
        (WHOLE,),
        (
            left_out("response.output_item.done"),
            left_out("response.output_text.done"),
            over("response.output_item.done", output_index=1),
            events(*(item for item in GOOD if "content_part" not in item["type"])),
            CALLED,
        ),
    ),
    "responses.stream.one": Example(
        (WHOLE, BROKEN, QUEUED),
        (
            over("response.completed", response=response(id="resp_2")),
            over("response.created", response=response()),
            over("response.created", response=response(status="failed")),
        ),
    ),
    "responses.stream.whole": Example(
        (WHOLE, CALLED, events(*GOOD, *GOOD)),
        (
            over("response.completed", response=response(output=[])),
            over("response.completed", response=response("Hello")),
            events(*CALL_OPENED, ARGUMENTS, *told(output=[{**CALL, "arguments": "", "status": "completed"}])),
        ),
    ),
}
