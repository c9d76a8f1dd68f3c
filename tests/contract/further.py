"""What the further reports are made of: requests, replies, and what members of other APIs are asked and answer."""

from __future__ import annotations

import zlib
from typing import Any

from conformance.cassette.model import Envelope
from tests.contract.captures import Ask, ask, call, chat, chunk, opening, stream, wire, words
from tests.contract.responding import created, event, item_added, numbered, response, said

STREAM = ask(stream=True)
METERED = ask(stream=True, stream_options={"include_usage": True})
RESPONSE = ask("responses")
EVENTS = ask("responses", stream=True)
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
TOOLS = ask(tools=[TOOL])
TOOLS_STREAM = ask(stream=True, tools=[TOOL])
HELLO = wire(stream(*words("Hel", "lo.")))
OK = wire(chat())


def events(*items: dict[str, Any]) -> Envelope:
    """A Responses stream of those events, numbered."""
    return wire(stream(*((item["type"], item) for item in numbered(list(items))), done=False))


def gemini_said(usage: dict[str, Any]) -> Envelope:
    """A greeting in Gemini's words, with this usage."""
    candidate = {"content": {"role": "model", "parts": [{"text": "Hello."}]}, "finishReason": "STOP"}
    return wire({"candidates": [candidate], "usageMetadata": usage})


def used(usage: dict[str, Any]) -> Envelope:
    """A greeting in the chat API's words, with this usage."""
    return wire(chat(usage=usage))


def without(value: dict[str, Any], *names: str) -> dict[str, Any]:
    """An object without some of its members."""
    return {name: item for name, item in value.items() if name not in names}


SAID = events(*said("Hel", "lo."))
FUNCTION = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "f",
    "arguments": "",
    "status": "in_progress",
}
FUNCTION_DONE = {**FUNCTION, "arguments": '{"city":"SF"}', "status": "completed"}
AT_FUNCTION = {"item_id": "fc_1", "output_index": 0}
CALLING = [
    created(),
    item_added(FUNCTION),
    event("response.function_call_arguments.delta", **AT_FUNCTION, delta='{"city":'),
    event("response.function_call_arguments.delta", **AT_FUNCTION, delta='"SF"}'),
    event("response.function_call_arguments.done", **AT_FUNCTION, name="f", arguments='{"city":"SF"}'),
    event("response.output_item.done", output_index=0, item=FUNCTION_DONE),
]
FILTER = {name: {"filtered": False, "severity": "safe"} for name in ("hate", "self_harm", "sexual", "violence")}
FILTER_RECORD = {
    "choices": [],
    "created": 0,
    "id": "",
    "model": "",
    "object": "",
    "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": FILTER}],
}
FILTER_OFFSETS = {
    "id": "",
    "choices": [
        {
            "finish_reason": None,
            "index": 0,
            "content_filter_offsets": {"check_offset": 3, "start_offset": 3, "end_offset": 9},
            "content_filter_results": FILTER,
        }
    ],
    "created": 0,
    "model": "",
    "object": "",
}
FILTERED = [
    FILTER_RECORD,
    opening(choice={"content_filter_results": {}}),
    chunk("Hi", choice={"content_filter_results": FILTER}),
    chunk(reason="stop", choice={"content_filter_results": {}}),
]
COUNTED = {
    "prompt_tokens": 2612,
    "completion_tokens": 8,
    "total_tokens": 2620,
    "prompt_tokens_details": {"cached_tokens": 2560},
    "completion_tokens_details": {"reasoning_tokens": 7},
}
ESTIMATED = {"prompt_tokens": 2607, "completion_tokens": 0, "total_tokens": 2607}
_PROMPT = "Ticket cf-q8w3zd: say hello."


def asked(**params: Any) -> Ask:
    """What a member of the chat API is asked."""
    return ask(model="up-model", **params)


def told_so(*messages: dict[str, Any], **params: Any) -> Ask:
    """The same with the nonce alone as the prompt, and more messages."""
    return asked(messages=[{"role": "user", "content": "cf-q8w3zd"}, *messages], **params)


def to_anthropic(**params: Any) -> Ask:
    """What a member of Anthropic's API is asked."""
    body = {"model": "claude", "max_tokens": 9, "messages": [{"role": "user", "content": _PROMPT}]}
    return Ask("/v1/messages", {**body, **params})


def to_gemini(**params: Any) -> Ask:
    """What a member of Gemini's API is asked."""
    body = {"contents": [{"role": "user", "parts": [{"text": _PROMPT}]}]}
    return Ask("/v1beta/models/g:generateContent", {**body, **params})


FROM_ANTHROPIC = wire(
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": [{"type": "text", "text": "Hello."}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 9, "output_tokens": 2},
    }
)
FROM_GEMINI = wire(
    {
        "candidates": [{"content": {"role": "model", "parts": [{"text": "Hello."}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 2, "totalTokenCount": 11},
    }
)
FROM_RESPONSES = wire(response())
DEVELOPED = ask(
    messages=[
        {"role": "developer", "content": "Follow the project rules."},
        {"role": "user", "content": "cf-q8w3zd Hello"},
    ]
)
INPUT = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "cf-q8w3zd Hello"}]}]


def calling(*pieces: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The chunks of a stream that calls tools, one for each list of pieces."""
    return [opening(), *(chunk(delta={"tool_calls": piece}) for piece in pieces), chunk(reason="tool_calls")]


TWO = calling(
    [call(0, id="a", name="add", arguments="")],
    [call(1, id="b", name="mul", arguments="")],
    [call(0, arguments='{"x":1}')],
    [call(1, arguments='{"y":2}')],
)
MERGED = calling([call(0, id="a", name="addmul", arguments="")], [call(0, arguments='{"x":1}{"y":2}')])
SLOW = wire(stream(*words(*"abcdefgh"), every=250.0))
LATE = wire(tuple((2600.0, text) for _, text in stream(*words(*"abcdefgh"))))


def flushed(*events_: Any) -> tuple[tuple[float, bytes], ...]:
    """The frames of a stream in gzip, flushed after each event."""
    coder = zlib.compressobj(9, zlib.DEFLATED, 31)
    frames = [(at, coder.compress(text) + coder.flush(zlib.Z_SYNC_FLUSH)) for at, text in stream(*events_)]
    return (*frames, (frames[-1][0] + 10.0, coder.flush(zlib.Z_FINISH)))


FLUSHED = flushed(*words("Hel", "lo."))


def said_with(**more: Any) -> tuple[Envelope, ...]:
    """A chat completion with more members."""
    return (wire(chat(**more)),)


def streamed_with(top: Any = None, delta: Any = None, choice: Any = None) -> Envelope:
    """A stream whose chunks, deltas and choices have more members."""
    over = {**(top or {})}
    return wire(
        stream(
            opening(**over),
            chunk("Hi", delta=dict(delta or {}), choice=dict(choice or {}), **over),
            chunk(reason="stop", choice=dict(choice or {}), **over),
        )
    )


CUSTOM = {"type": "custom", "name": "apply_patch"}
PATCHING = ask("responses", tools=[CUSTOM])
AS_FUNCTION = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "apply_patch",
    "arguments": "{}",
    "status": "completed",
}
AS_CUSTOM = {
    "type": "custom_tool_call",
    "id": "ctc_1",
    "call_id": "call_1",
    "name": "apply_patch",
    "input": "*** Begin Patch",
    "status": "completed",
}
HISTORY = [
    {
        "type": "additional_tools",
        "role": "developer",
        "tools": [{"type": "custom", "name": "exec"}, {"type": "function", "name": "wait"}],
    },
    {"role": "user", "content": "cf-q8w3zd"},
    {"type": "custom_tool_call", "call_id": "c1", "name": "exec", "input": "ls -la /srv"},
    {"type": "custom_tool_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "total 47"}]},
]
AUDIO = ask(
    messages=[
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "cf-q8w3zd"},
                {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
            ],
        }
    ]
)
