"""Examples of the clauses on tool calls, whole and as deltas."""

from __future__ import annotations

from typing import Any

from tests.contract.captures import Ask, Capture, ask, call, capture, chat, chunk, opening, stream, wire, words
from tests.contract.example import Example, Examples
from tests.contract.responding import item_added, response

TOOLS = [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}]
JSON = ask(tools=TOOLS)
STREAM = ask(stream=True, tools=TOOLS)
ARGS = '{"path": "a"}'
CALL = call(None, id="call_1", name="read", arguments=ARGS)


def called(*calls: Any, reason: str = "tool_calls", asked: Any = JSON) -> Capture:
    """A message with those calls."""
    return capture(asked, wire(chat(None, reason, message={"tool_calls": list(calls)})))


def deltas(*calls: Any, reason: str = "tool_calls", asked: Any = STREAM) -> Capture:
    """A stream in which each piece of a call is one delta."""
    return capture(
        asked, wire(stream(opening(), *(chunk(delta={"tool_calls": [item]}) for item in calls), chunk(reason=reason)))
    )


def opener(index: Any = 0, number: int = 1, **members: Any) -> dict[str, Any]:
    """The first piece of a call, with members laid over it."""
    return {**call(index, id=f"call_{number}", name="read", arguments=""), **members}


def more(arguments: Any = ARGS, index: Any = 0, **members: Any) -> dict[str, Any]:
    """A later piece."""
    return {"index": index, "function": {"arguments": arguments}, **members}


def forced(value: Any) -> Any:
    """The request with a tool_choice."""
    return ask(tools=TOOLS, tool_choice=value)


JSON_CALLED = called(CALL)
CALLED = deltas(opener(), more())
PARALLEL = deltas(opener(0, 1), more(), opener(1, 2), more(index=1))
NAMED = {"type": "function", "function": {"name": "read"}}
CUSTOM = {"id": "call_1", "type": "custom", "custom": {"name": "run", "input": "ls"}}
ONE_DELTA = capture(
    STREAM,
    wire(
        stream(
            chunk(
                None,
                "tool_calls",
                delta={
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        opener(0, 1, function={"name": "read", "arguments": ARGS}),
                        opener(1, 2, function={"name": "read", "arguments": ARGS}),
                    ],
                },
            )
        )
    ),
)
UNCALLED = capture(STREAM, wire(stream(opening(), chunk(reason="tool_calls"))))

CUSTOM_TOOL = ask(tools=[{"type": "custom", "custom": {"name": "run"}}])
PATCH = ask("responses", tools=[{"type": "custom", "name": "run"}, {"type": "function", "name": "f", "parameters": {}}])
RUN = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "run", "input": "ls"}
AS_FUNCTION = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "run", "arguments": "{}"}


def ran(asked: Ask, made: dict[str, object]) -> Capture:
    """A chat completion of that one call."""
    return capture(asked, wire(chat(None, "tool_calls", message={"tool_calls": [{"id": "call_1", **made}]})))


RAN = {"type": "custom", "custom": {"name": "run", "input": "ls"}}
CALLED_RUN = {"type": "function", "function": {"name": "run", "arguments": "{}"}}

EXAMPLES: Examples = {
    "tool.kind.declared": Example(
        (
            ran(CUSTOM_TOOL, RAN),
            capture(PATCH, wire(response(output=[RUN]))),
            capture(PATCH.with_(stream=True), wire(stream(item_added(RUN), done=False))),
        ),
        (
            ran(CUSTOM_TOOL, CALLED_RUN),
            capture(PATCH, wire(response(output=[AS_FUNCTION]))),
            capture(PATCH.with_(stream=True), wire(stream(item_added(AS_FUNCTION), done=False))),
        ),
    ),
    "chat.tool-calls.shape": Example(
        (JSON_CALLED, called(CUSTOM), called({**CALL, "extra": 1})),
        (
            called({**CALL, "id": ""}),
            called({**CALL, "type": None}),
            called(call(None, id="call_1", arguments=ARGS)),
            called(call(None, id="call_1", name="read", arguments={"path": "a"})),
            called(call(None, id="call_1", name="read")),
            called("read"),
        ),
    ),
    "chat.tool-calls.unique-ids": Example((JSON_CALLED, called(CALL, {**CALL, "id": "call_2"})), (called(CALL, CALL),)),
    "chunk.tool.index": Example(
        (CALLED, PARALLEL, ONE_DELTA),
        (
            deltas({key: value for key, value in opener().items() if key != "index"}, more()),
            deltas(opener(1), more(index=1)),
            deltas(opener(0), opener(2, 2)),
            deltas(opener("0")),
            deltas(opener([0])),
            deltas(opener(-1)),
        ),
    ),
    "chunk.tool.opener": Example(
        (CALLED, PARALLEL, ONE_DELTA),
        (
            deltas(opener(id=""), more()),
            deltas(opener(id=None)),
            deltas(opener(type=None)),
            deltas(opener(function={"arguments": ARGS})),
            deltas(more()),
        ),
    ),
    "chunk.tool.distinct": Example(
        (CALLED, PARALLEL, ONE_DELTA), (deltas(opener(0, 1), opener(0, 2)), deltas(opener(0, 1), opener(1, 1)))
    ),
    "chunk.tool.continuation": Example(
        (CALLED, PARALLEL, ONE_DELTA, deltas(opener(), more(type="function"))),
        (
            deltas(opener(), more(type="")),
            deltas(opener(), more(type=None)),
            deltas(opener(), more(id="call_1")),
            deltas(opener(), more(id="")),
            deltas(opener(), more(id=None)),
            deltas(opener(), more(id=" ")),
            deltas(opener(), more(function={"name": "", "arguments": ARGS})),
        ),
    ),
    "chunk.tool.arguments": Example(
        (CALLED, PARALLEL),
        (
            deltas(opener(), more({"path": "a"})),
            deltas(opener(), more(None)),
            deltas(opener(), {"index": 0, "function": None}),
            deltas(opener(), more(function={"name": None})),
        ),
    ),
    "tool.arguments.once": Example(
        (JSON_CALLED, CALLED, PARALLEL, deltas(opener(), more("{"), more("}"))),
        (
            called(call(None, id="call_1", name="read", arguments=ARGS * 2)),
            called(call(None, id="call_1", name="read", arguments=ARGS + '{"path":"b"}')),
            deltas(opener(), more(), more()),
        ),
    ),
    "tool.arguments.json": Example(
        (JSON_CALLED, CALLED, called(CALL, CUSTOM)),
        (called(call(None, id="call_1", name="read", arguments="path=a")), deltas(opener())),
    ),
    "tool.finish-reason": Example(
        (JSON_CALLED, CALLED, called(CALL, reason="length")),
        (
            called(CALL, reason="stop"),
            deltas(opener(), more(), reason="stop"),
            UNCALLED,
            capture(JSON, wire(chat("I will read it.", "tool_calls"))),
            capture(STREAM, wire(stream(*words("I will read it.", reason="tool_calls")))),
            called(CALL, reason="stop", asked=forced("auto")),
        ),
    ),
}

#: Turns that call tools under `stop`, where the API itself does so: the clause does not apply.
FORCED = (called(CALL, reason="stop", asked=forced(NAMED)), called(CALL, reason="stop", asked=forced("required")))
