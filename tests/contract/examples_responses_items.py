"""Examples of the clauses on the items of a Responses stream, and on what a response tells besides them."""

from __future__ import annotations

from typing import Any

from tests.contract.captures import Ask, Capture, Try, ask, capture, chat, stream, wire
from tests.contract.example import Example, Examples
from tests.contract.responding import created, event, item_added, message, numbered, response, said, told, used

JSON = ask("responses")
STREAM = ask("responses", stream=True)
GOOD = said("Hello", ".")
#: What a response says besides its output, as the API itself tells it.
ECHO: dict[str, Any] = {
    "error": None,
    "incomplete_details": None,
    "instructions": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "temperature": 1.0,
    "tool_choice": "auto",
    "tools": [],
    "top_p": 1.0,
}
COUNTED = {"input_tokens": 9, "output_tokens": 2, "total_tokens": 11}
CUT = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
BARE = {"type": "output_text", "text": "Hello."}


def call(arguments: str = "{}", **more: Any) -> dict[str, Any]:
    """A function call as it ended."""
    named = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "read"}
    return {**named, "arguments": arguments, "status": "completed", **more}


def answered(**members: Any) -> Capture:
    """A response object."""
    return capture(JSON, wire(response(**members)))


def events(*items: Any, upstream: Any = None, asked: Ask = STREAM) -> Capture:
    """A stream of typed events, numbered."""
    return capture(asked, _sent(items), upstream)


def _sent(items: Any) -> Any:
    return wire(stream(*((item["type"], item) for item in numbered(list(items))), done=False))


def over(kind: str, **members: Any) -> list[dict[str, Any]]:
    """The good events with members laid over those of one kind."""
    return [{**item, **members} if item["type"] == kind else item for item in GOOD]


def calling(done: Any = None, last: Any = None, added: Any = None, **between: Any) -> list[dict[str, Any]]:
    """The events of a call: as it was added, as it is done, and as the response holds it at last."""
    at = {"item_id": "fc_1", "output_index": 0, **between}
    return [
        created(),
        item_added(added or call("", status="in_progress")),
        event("response.function_call_arguments.delta", **at, delta="{}"),
        event("response.function_call_arguments.done", **at, name="read", arguments="{}"),
        event("response.output_item.done", output_index=0, item=done or call()),
        *told(output=[last or done or call()]),
    ]


def late(*members: str) -> list[dict[str, Any]]:
    """The good events with the last delta behind the events of these kinds."""
    delta = next(item for item in reversed(GOOD) if item["type"].endswith(".delta"))
    rest = [item for item in GOOD if item is not delta]
    last = max(number for number, item in enumerate(rest) if item["type"] in members)
    return [*rest[: last + 1], delta, *rest[last + 1 :]]


WHOLE = events(*GOOD)
CALLED = events(*calling())
OTHER = over("response.output_item.done", item=message("Hello.", id="msg_2"))
EMPTY = over("response.output_item.done", item=message("Hello.", content=[]))
WAITING = over("response.output_item.done", item=message("Hello.", status="in_progress"))
INPUT = event("response.custom_tool_call_input.delta", item_id="ct_1", output_index=0, delta="ls")
CUSTOM = {"type": "custom_tool_call", "id": "ct_1", "call_id": "call_1", "name": "sh"}

EXAMPLES: Examples = {
    "responses.item.same": Example(
        (
            WHOLE,
            CALLED,
            events(*GOOD, *GOOD),
            events(*OTHER, upstream=Try(_sent(OTHER), request=ask("responses", model="up-model", stream=True))),
            # An item that is told under no name until it is done.
            events(*calling(added=call("", id="", call_id="", name=""))),
        ),
        (
            events(*OTHER),
            events(*OTHER, upstream=Try(wire(chat()), request=ask(model="up-model"))),
            events(*calling(done=call(call_id="call_2"))),
            events(*calling(done=call(name="write"))),
            events(*calling(last=call(call_id="call_2"))),
            events(*over("response.output_text.done", item_id="msg_2")),
            events(*over("response.completed", response=response("Hello.", output=[message("Hello.", id="msg_9")]))),
        ),
    ),
    "responses.item.whole": Example(
        (
            WHOLE,
            CALLED,
            events(*EMPTY, upstream=Try(_sent(EMPTY), request=ask("responses", model="up-model", stream=True))),
            events(*calling(content_index=0)),
            events(created(), item_added({**CUSTOM, "input": ""}), INPUT, *told(output=[{**CUSTOM, "input": "ls"}])),
        ),
        (
            events(*EMPTY),
            events(*over("response.output_item.done", item=message("Bye."))),
            events(*over("response.content_part.done", part={**BARE, "text": "", "annotations": []})),
            events(*calling(done=call(""), last=call())),
            events(*calling(done=call('{"path":"x"}'), last=call())),
            # What is added as a whole is there twice when its deltas have been added to it.
            events(*calling(added=call("{}", status="in_progress"))),
        ),
    ),
    "responses.item.closed": Example(
        (
            WHOLE,
            CALLED,
            answered(),
            answered(output=[message(status="incomplete")]),
            answered(output=[message(), {"type": "web_search_call", "id": "ws_1", "status": "in_progress"}]),
            events(*WAITING, upstream=Try(_sent(WAITING), request=ask("responses", model="up-model", stream=True))),
        ),
        (
            answered(output=[message(status="in_progress")]),
            events(*WAITING),
            events(*late("response.output_text.done")),
            events(*late("response.output_item.done")),
            events(*over("response.completed", response=response(output=[message(status="in_progress")]))),
        ),
    ),
    "responses.usage.details": Example(
        (
            WHOLE,
            answered(),
            answered(usage={**used(9, 2), "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 0}}),
            capture(JSON, wire(response(usage=COUNTED)), wire(response(usage=COUNTED))),
        ),
        (
            answered(usage=COUNTED),
            answered(usage={**used(9, 2), "output_tokens_details": None}),
            events(*GOOD[:-1], *told("Hello.", usage=COUNTED)),
            capture(JSON, wire(response(usage=COUNTED)), wire(response())),
        ),
    ),
    "responses.text.annotations": Example(
        (
            WHOLE,
            answered(),
            answered(output=[message(content=[{"type": "refusal", "refusal": "No."}]), message()]),
            capture(
                JSON, wire(response(output=[message(content=[BARE])])), wire(response(output=[message(content=[BARE])]))
            ),
        ),
        (
            answered(output=[message(content=[BARE])]),
            answered(output=[message(content=[{**BARE, "annotations": None}])]),
            events(*GOOD[:-1], *told(output=[message(content=[BARE])])),
        ),
    ),
    "responses.incomplete.reason": Example(
        (
            WHOLE,
            answered(incomplete_details=None),
            answered(incomplete_details={"reason": None}),
            answered(**CUT),
            answered(status="incomplete", incomplete_details={"reason": "content_filter"}),
            events(*GOOD[:-1], event("response.incomplete", response=response(**CUT))),
        ),
        (
            answered(status="incomplete"),
            answered(status="incomplete", incomplete_details=None),
            answered(status="incomplete", incomplete_details={"reason": "length"}),
            answered(**{**CUT, "status": "completed"}),
            events(*GOOD[:-1], event("response.incomplete", response=response(status="incomplete"))),
            capture(JSON, wire(response(status="incomplete")), wire(response(**CUT))),
        ),
    ),
    "responses.members": Example(
        (answered(**ECHO), capture(JSON, wire(response()), wire(response()))),
        (
            answered(),
            answered(**{**ECHO, "tools": None}),
            WHOLE,
            capture(JSON, wire(response()), wire(response(**ECHO))),
        ),
    ),
}
