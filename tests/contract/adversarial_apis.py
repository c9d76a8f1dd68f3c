"""Right captures of the Responses API, of calls in deltas, embeddings, models and messages that differ, legally, from
what one expects: nothing that gates may be violated on any of them.

Each is named by the freedom that it takes. Material for `test_adversarial_apis`; knows no clause.
"""

from __future__ import annotations

import base64
import struct
from dataclasses import replace
from typing import Any

from conformance.cassette.model import Envelope
from tests.contract.captures import (
    Ask,
    Capture,
    ask,
    call,
    capture,
    chat,
    chunk,
    compact,
    embeddings,
    error,
    listing,
    opening,
    stream,
    wire,
    words,
)
from tests.contract.responding import created, event, item_added, message, numbered, response, said, told

_STREAM = ask(stream=True)
_TOOLS = ask(stream=True, tools=[{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}])
_RESPOND = ask("responses")
_EVENTS = ask("responses", stream=True)
_GOOD = said("Hello", ".")
_OK = wire(chat())


def _both(name: str, request: Ask, reply: Envelope) -> dict[str, Capture]:
    """The same bytes from an endpoint judged directly, and through a gateway that relays them."""
    return {f"{name}, direct": capture(request, reply), f"{name}, relayed": capture(request, reply, reply)}


def _events(*items: dict[str, Any], done: bool = False) -> Envelope:
    return wire(stream(*((item["type"], item) for item in items), done=done))


def _item(kind: str, number: int, **members: Any) -> dict[str, Any]:
    return {"type": kind, "id": f"{kind[:2]}_{number}", **members}


def _function(number: int, arguments: str = "", status: str = "in_progress") -> dict[str, Any]:
    return _item("function_call", number, call_id=f"call_{number}", name="f", arguments=arguments, status=status)


def _piece(number: int, index: int, text: str) -> dict[str, Any]:
    return event("response.function_call_arguments.delta", item_id=f"fu_{number}", output_index=index, delta=text)


_CALLS = [_function(1, '{"a":1}', "completed"), _function(2, '{"b":2}', "completed")]
_PARALLEL = [
    created(),
    item_added(_function(1)),
    item_added(_function(2), 1),
    _piece(1, 0, '{"a":'),
    _piece(2, 1, '{"b":'),
    _piece(1, 0, "1}"),
    _piece(2, 1, "2}"),
    event("response.function_call_arguments.done", item_id="fu_1", output_index=0, arguments='{"a":1}'),
    event("response.output_item.done", output_index=0, item=_CALLS[0]),
    event("response.output_item.done", output_index=1, item=_CALLS[1]),
    *told(output=_CALLS),
]
_THINKING = [
    created(),
    event("response.in_progress", response=response(status="in_progress", output=[], usage=None)),
    item_added(_item("reasoning", 1, summary=[])),
    event("response.reasoning_summary_text.delta", item_id="re_1", output_index=0, summary_index=0, delta="Hm"),
    event("response.output_item.done", output_index=0, item=_item("reasoning", 1, summary=[])),
    item_added(message("", status="in_progress", content=[]), 1),
    event("response.output_text.delta", item_id="msg_1", output_index=1, content_index=0, delta="Hello."),
    *told(output=[_item("reasoning", 1, summary=[]), message()]),
]
_AUDIO = [
    created(),
    event("response.audio.delta", delta="AAAA"),
    event("response.audio.transcript.delta", delta="Hi"),
    item_added(_item("shell_call", 1)),
    event("response.shell_call_command.delta", output_index=0, command_index=0, delta="ls"),
    event("response.some_tool.in_progress", item_id="x"),
    *told(output=[_item("shell_call", 1)]),
]
_REFUSAL = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
_REFUSED = [
    created(),
    item_added(message("", status="in_progress", content=[])),
    event("response.refusal.delta", **_REFUSAL, delta="No."),
    event("response.refusal.done", **_REFUSAL, refusal="No."),
    *told(output=[message(content=[{"type": "refusal", "refusal": "No."}])]),
]
_CUT_SHORT = event(
    "response.incomplete", response=response(status="incomplete", incomplete_details={"reason": "max_output_tokens"})
)

RESPONSES: dict[str, Capture] = {
    **_both("no event fields", _EVENTS, wire(stream(*_GOOD, done=False))),
    **_both("comments between events", _EVENTS, wire(stream(_GOOD[0], b": ping\n\n", *_GOOD[1:], done=False))),
    **_both("[DONE] at the end", _EVENTS, _events(*_GOOD, done=True)),
    **_both(
        "gaps in the sequence", _EVENTS, _events(*({**item, "sequence_number": 3 * n} for n, item in enumerate(_GOOD)))
    ),
    **_both(
        "a sequence from 1", _EVENTS, _events(*({**item, "sequence_number": n + 1} for n, item in enumerate(_GOOD)))
    ),
    **_both("obfuscation", _EVENTS, _events(*({**item, "obfuscation": "x8"} for item in _GOOD))),
    **_both(
        "queued first",
        _EVENTS,
        _events(*numbered([event("response.queued", response=response(status="queued", output=[])), *_GOOD])),
    ),
    **_both("parallel calls, interleaved", _EVENTS, _events(*numbered(_PARALLEL))),
    **_both("reasoning before the answer", _EVENTS, _events(*numbered(_THINKING))),
    **_both("audio, shell and unknown events", _EVENTS, _events(*numbered(_AUDIO))),
    **_both("a refusal", _EVENTS, _events(*numbered(_REFUSED))),
    **_both("cut by the token cap", _EVENTS, _events(*numbered([*_GOOD[:-1], _CUT_SHORT]))),
    **_both(
        "an error event ends it",
        _EVENTS,
        _events(*numbered([created(), event("error", code=None, message="No.", param=None)])),
    ),
    **_both("created_at with a fraction", _RESPOND, wire(response(created_at=1785402847.25))),
    **_both(
        "an object with all members",
        _RESPOND,
        wire(
            response(
                error=None,
                incomplete_details=None,
                instructions=None,
                metadata={},
                parallel_tool_calls=True,
                temperature=1.0,
                tool_choice="auto",
                tools=[],
                top_p=1.0,
                service_tier="default",
            )
        ),
    ),
    **_both(
        "calls and searches as output",
        _RESPOND,
        wire(response(output=[{**_CALLS[0], "id": None}, _item("web_search_call", 1), message()])),
    ),
    **_both("no usage", _RESPOND, wire(response(usage=None))),
    **_both(
        "a failed response",
        _RESPOND,
        wire(response(status="failed", output=[], error={"code": "server_error", "message": "No."})),
    ),
}


def _called(*calls: Any) -> Envelope:
    pieces = (chunk(delta={"tool_calls": [item]}) for item in calls)
    return wire(stream(opening(), *pieces, chunk(reason="tool_calls")))


_FULL = (call(0, id="call_1", name="f", arguments='{"a":1}'), call(1, id="call_2", name="f", arguments='{"b":2}'))
_TYPED = {"index": 0, "type": "function", "function": {"arguments": '{"a":1}'}}

CALLS: dict[str, Capture] = {
    **_both("each call in one delta", _TOOLS, _called(*_FULL)),
    **_both(
        "all calls in one delta",
        _TOOLS,
        wire(
            stream(chunk(None, "tool_calls", delta={"role": "assistant", "content": None, "tool_calls": list(_FULL)}))
        ),
    ),
    **_both("the type in each delta", _TOOLS, _called(call(0, id="call_1", name="f", arguments=""), _TYPED)),
    **_both(
        "interleaved calls",
        _TOOLS,
        _called(
            call(0, id="call_1", name="f", arguments=""),
            call(1, id="call_2", name="f", arguments=""),
            call(1, arguments="{}"),
            call(0, arguments="{}"),
        ),
    ),
    **_both(
        "text before the call",
        _TOOLS,
        wire(
            stream(opening(), chunk("Let me see."), chunk(delta={"tool_calls": [_FULL[0]]}), chunk(reason="tool_calls"))
        ),
    ),
    **_both(
        "the reason beside the call",
        _TOOLS,
        wire(stream(opening(), chunk(None, "tool_calls", delta={"tool_calls": [_FULL[0]]}))),
    ),
    **_both("an empty list of calls", _TOOLS, wire(stream(*words("Hi"), chunk(choices=[], usage=None)))),
    **_both(
        "no content in the first delta",
        _TOOLS,
        wire(
            stream(
                chunk(delta={"role": "assistant"}), chunk(delta={"tool_calls": [_FULL[0]]}), chunk(reason="tool_calls")
            )
        ),
    ),
    **_both(
        "arguments of two equal values",
        _TOOLS,
        _called(call(0, id="call_1", name="f", arguments='{"a":[{"b":1},{"b":1}]}')),
    ),
    **_both(
        "a forced call under stop",
        ask(tools=_TOOLS.value["tools"], tool_choice={"type": "function", "function": {"name": "f"}}),
        wire(chat(None, "stop", message={"tool_calls": [call(None, id="call_1", name="f", arguments="{}")]})),
    ),
    **_both(
        "a custom call",
        _TOOLS.with_(stream=None),
        wire(
            chat(
                None,
                "tool_calls",
                message={"tool_calls": [{"id": "call_1", "type": "custom", "custom": {"name": "run", "input": "ls"}}]},
            )
        ),
    ),
}


def _headed(*lines: str) -> Envelope:
    return replace(_OK, head=(*lines, *_OK.head[1:]))


_PACKED = base64.b64encode(struct.pack("<2f", 0.5, -1.0)).decode()
_MODEL = {"id": "alias-1", "object": "model", "created": 0, "owned_by": ""}

MESSAGES: dict[str, Capture] = {
    **_both("an empty reason phrase", ask(), _headed("HTTP/1.1 200 ")),
    **_both("no reason phrase at all", ask(), _headed("HTTP/1.1 200 OK", "X-Empty:", "X-Tab:\tx")),
    **_both("status 201", ask(), wire(chat(), status=201)),
    **_both("upper case media type", ask(), wire(chat(), media="Application/JSON")),
    **_both(
        "many cookies and links",
        ask(),
        wire(chat(), headers=("Set-Cookie: a=1", "Set-Cookie: b=2", "Link: <a>", "Link: <b>")),
    ),
    **_both("one origin", ask(), wire(chat(), headers=("Access-Control-Allow-Origin: https://app.test",))),
    **_both("coding identity", ask(), wire(chat(), headers=("Content-Encoding: identity",))),
    **_both(
        "chunks cut anywhere",
        ask(),
        wire(tuple((0.0, compact(chat())[n : n + 7]) for n in range(0, 400, 7)), media="application/json"),
    ),
    **_both("a stream of one write and a length", _STREAM, wire(stream(*words("Hi"), every=0.0), framing="length")),
    **_both("unknown fields in a stream", _STREAM, wire(stream(b"x-trace: 1\n", *words("Hi")))),
    **_both("blank lines before and after", _STREAM, wire(stream(b"\n\n", *words("Hi"), b"\n"))),
    **_both(
        "white space in the data",
        _STREAM,
        wire(tuple((at, data.replace(b"data: ", b"data:  ")) for at, data in stream(*words("Hi")))),
    ),
    **_both(
        "an error without param and code",
        _STREAM,
        wire(stream(opening(), {"error": {"message": "No.", "type": "server_error"}}, done=False)),
    ),
    **_both("a created of zero", ask(), wire(chat(created=0))),
    **_both("packed embeddings", ask("embeddings", encoding_format="base64"), wire(embeddings(_PACKED))),
    **_both(
        "embeddings of tiny and whole numbers",
        ask("embeddings", encoding_format="float"),
        wire(embeddings([1e-38, 0, -1])),
    ),
    **_both("embeddings of one token list", ask("embeddings", input=[1, 2]), wire(embeddings([0.5]))),
    **_both("asked-for dimensions", ask("embeddings", dimensions=2), wire(embeddings([0.5, 0.5]))),
    **_both(
        "models with more members",
        listing(),
        wire(
            {
                "object": "list",
                "data": [{**_MODEL, "permission": [], "root": "alias-1", "parent": None}],
                "has_more": False,
                "first_id": "alias-1",
            }
        ),
    ),
    **_both("a model with a slash", listing("/v1/models/org/alias-1"), wire({**_MODEL, "id": "org/alias-1"})),
    **_both(
        "a model with an escaped slash", listing("/v1/models/org%2Falias-1"), wire({**_MODEL, "id": "org/alias-1"})
    ),
    **_both("a models query", listing("/v1/models?limit=1"), wire({"object": "list", "data": [_MODEL]})),
    **_both("a health path", listing("/health"), wire({"status": "ok"})),
    **_both("an unknown path", listing("/v1/nothing"), wire(error("No such path."), status=404)),
    **_both("a refusal of n", ask(n=2), wire(error("n must be 1", param="n", code="unsupported_value"), status=400)),
}
