"""Reported contents (categories c, d, e, g): messages, tool call deltas, usage, metadata.

Wire data from public reports, named by their ids in the collection; `S-` ids are siblings of the same kinds.
"""

from __future__ import annotations

from typing import Any

from conformance.cassette.model import Envelope
from tests.contract.captures import (
    HEAD,
    USAGE,
    ask,
    call,
    chat,
    chunk,
    error,
    opening,
    stream,
    usage_chunk,
    wire,
    words,
)
from tests.contract.report import Report

CHAT = ask(stream=False)
STREAM = ask(stream=True)
METERED = ask(stream=True, stream_options={"include_usage": True})
FUNCTION = {"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}
TOOLS = ask(stream=True, tools=[FUNCTION])
JSON_TOOLS = ask(tools=[FUNCTION])
TWO = ask(stream=True, n=2)
JSON_TWO = ask(n=2)
SCORED = ask(logprobs=True)

HELLO = words("Hello", ".")
WHOLE = wire(stream(*HELLO))
SAID = wire(chat("Hello."))
FAILED = wire(error("The upstream failed.", type="server_error", code="upstream_error"), status=502)


def streamed(*events: Any, **how: Any) -> Envelope:
    """A stream of those events and [DONE]."""
    return wire(stream(*events, **how))


def spoilt(clause: str, wrong: list[Any], id: str, **more: Any) -> Report:
    """A stream that says Hello, with something wrong about its chunks."""
    return Report(
        id=id,
        ask=more.pop("ask", STREAM),
        wrong=streamed(*wrong),
        clauses=(clause,),
        right=more.pop("right", (WHOLE,)),
        **more,
    )


def reply(clause: str, wrong: dict[str, Any], id: str, **more: Any) -> Report:
    """The same for a JSON reply."""
    return Report(
        id=id, ask=more.pop("ask", CHAT), wrong=wire(wrong), clauses=(clause,), right=more.pop("right", (SAID,)), **more
    )


def without(value: dict[str, Any], *names: str) -> dict[str, Any]:
    """The object without some of its members."""
    return {name: item for name, item in value.items() if name not in names}


def laid(events: list[Any], **members: Any) -> list[Any]:
    """The chunks with members laid over each of them."""
    return [{**event, **members} for event in events]


_PARTS = [
    {"type": "thinking", "thinking": [{"type": "text", "text": "Let me reason..."}]},
    {"type": "text", "text": "The answer is 42."},
]
_FILTER = {
    "id": "",
    "choices": [],
    "created": 0,
    "model": "",
    "object": "",
    "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {"hate": {"filtered": False}}}],
}
_TEXT_THEN_CALL = [
    {"finish_reason": "tool_calls", "message": {"role": "assistant", "content": "I will check."}},
    {
        "finish_reason": "tool_calls",
        "message": {"role": "assistant", "tool_calls": [call(None, id="call_1", name="read", arguments="{}")]},
    },
]
_CALL = call(None, id="call_1", name="read", arguments='{"path":"a"}')
CALLED_JSON = wire(chat(None, "tool_calls", message={"tool_calls": [_CALL]}))

CONTENT = (
    spoilt("chunk.role.valid", [chunk(delta={"role": "", "reasoning_content": ""}), *HELLO[1:]], "P-100"),
    spoilt(
        "chunk.delta.not-null",
        [
            chunk(
                "Hello",
                choice={"text": "Hello"},
                delta={"role": "assistant", "token_id": 315, "tool_calls": None},
                usage=None,
            ),
            *HELLO[2:],
        ],
        "P-101",
    ),
    Report(
        id="P-103",
        ask=METERED,
        wrong=streamed(
            *HELLO, {"id": "usage-17", "provider_id": "or", "model": "alias-1", "usage": dict(USAGE), "request_id": "r"}
        ),
        clauses=("chunk.choices", "chunk.object"),
        right=(streamed(*HELLO, usage_chunk()),),
    ),
    Report(
        id="P-105",
        ask=METERED,
        right=(streamed(*HELLO, usage_chunk()), streamed(*laid(HELLO, usage=None), usage_chunk())),
    ),
    Report(
        id="P-106",
        ask=STREAM,
        wrong=streamed(*HELLO, usage_chunk()),
        clauses=("usage.stream.unrequested",),
        right=(WHOLE,),
        gates=False,
        why="the API says what include_usage adds, not that nothing may be added without it",
    ),
    reply(
        "chat.message.content-string",
        chat(_PARTS),
        "P-108",
        right=(wire(chat("The answer is 42.", message={"reasoning_content": "Let me reason..."})),),
    ),
    spoilt(
        "chunk.delta.content-type",
        [opening(), chunk(_PARTS), chunk(reason="stop")],
        "P-108-stream",
        right=(
            streamed(
                opening(),
                chunk(delta={"reasoning_content": "Let me reason..."}),
                chunk("The answer is 42."),
                chunk(reason="stop"),
            ),
        ),
    ),
    reply(
        "chat.message.answer-in-content",
        chat("", message={"reasoning_content": "The full answer is 42."}),
        "P-110",
        right=(wire(chat("The full answer is 42.")),),
        gates=False,
        answers=False,
        why="the API knows no reasoning text, so nothing says where an answer without content belongs",
    ),
    Report(
        id="P-111",
        ask=STREAM,
        right=(
            streamed(opening(), chunk(delta={"reasoning": "Hm."}), *HELLO[1:]),
            streamed(opening(), chunk(delta={"reasoning_content": "Hm."}), *HELLO[1:]),
            streamed(opening(), chunk(delta={"reasoning": "Hm.", "reasoning_content": "Hm."}), *HELLO[1:]),
        ),
    ),
    spoilt(
        "chunk.id",
        [_FILTER, *HELLO],
        "P-113",
        right=(WHOLE, streamed({**_FILTER, **HEAD, "object": "chat.completion.chunk"}, *HELLO)),
    ),
    spoilt(
        "chunk.model",
        laid([chunk(delta={"role": "assistant", "content": None}), *HELLO[1:]], model=""),
        "P-115",
        right=(WHOLE, streamed(chunk(delta={"role": "assistant", "content": None}), *HELLO[1:])),
    ),
    reply(
        "chat.choices.count",
        chat(choices=_TEXT_THEN_CALL),
        "P-116",
        ask=JSON_TOOLS,
        right=(
            wire(
                chat(
                    "I will check.",
                    "tool_calls",
                    message={"tool_calls": [call(None, id="call_1", name="read", arguments="{}")]},
                )
            ),
        ),
    ),
    reply("chat.message.content-string", chat(None), "S-content-null", right=(wire(chat("")),)),
    reply(
        "chat.message.content-present",
        chat(choices=[{"index": 0, "message": {"role": "assistant"}, "finish_reason": "length"}]),
        "S-content-missing",
        right=(wire(chat("", "length")),),
    ),
    reply("chat.message.content-string", chat({"text": "Hello."}), "S-content-object", right=(SAID,)),
    reply("chat.message.role", chat(message={"role": ""}), "S-role-empty"),
    reply("chat.message.role", chat(message={"role": "model"}), "S-role-model"),
    reply("chat.message.optional-not-null", chat(message={"tool_calls": None}), "S-tool-calls-null"),
    reply("chat.choices.present", chat(choices=[]), "S-no-choices", right=(FAILED,)),
    reply("chat.choices.present", without(chat(), "choices"), "S-choices-missing", right=(FAILED,)),
    spoilt("chunk.role.valid", [chunk(delta={"role": None, "content": ""}), *HELLO[1:]], "S-role-null"),
    spoilt("chunk.choices", [without(HELLO[0], "choices"), *HELLO], "S-chunk-without-choices"),
    spoilt("chunk.shape", [*HELLO[:2], chunk(choice={"delta": None}), *HELLO[2:]], "S-delta-null"),
    spoilt("chunk.object", laid(HELLO, object="chat.completion"), "S-chunk-object"),
)


def called(*calls: dict[str, Any], reason: str = "tool_calls") -> Envelope:
    """A stream in which each call's piece is one delta."""
    return streamed(opening(), *(chunk(delta={"tool_calls": [item]}) for item in calls), chunk(reason=reason))


def indexed(index: int, **members: Any) -> dict[str, Any]:
    """A call delta as it stands, without the members that are left out."""
    return {"index": index, **members}


_ARGS = '{"path": "a"}'
ONE_CALL = called(call(0, id="call_1", name="read", arguments=""), call(0, arguments=_ARGS))
_CITIES = ("北京", "上海", "广州")


def _cities(numbers: tuple[int, ...]) -> Envelope:
    return called(
        *(
            call(number, id=f"call_{position}", name="read", arguments=f'{{"city":"{city}"}}')
            for position, (number, city) in enumerate(zip(numbers, _CITIES, strict=True))
        )
    )


def delta_of(clause: str, wrong: Envelope, id: str, **more: Any) -> Report:
    """A stream of tool call deltas."""
    return Report(id=id, ask=TOOLS, wrong=wrong, clauses=(clause,), right=more.pop("right", (ONE_CALL,)), **more)


_TWICE = '{"city":"Zurich","unit":"C"}'
_UNCALLED = [opening(), {**chunk(), "tool_call_generating": True}, chunk(reason="tool_calls")]

TOOL_CALLS = (
    delta_of(
        "chunk.tool.index",
        called({"id": "call_1", "type": "function", "function": {"name": "read", "arguments": _ARGS}}),
        "P-118",
        right=(called(call(0, id="call_1", name="read", arguments=_ARGS)), ONE_CALL),
    ),
    delta_of("chunk.tool.distinct", _cities((0, 0, 0)), "P-120", right=(_cities((0, 1, 2)),)),
    delta_of(
        "chunk.tool.continuation",
        called(call(0, id="call_1", name="read", arguments=""), call(0, id="", arguments=_ARGS)),
        "P-121",
    ),
    delta_of(
        "chunk.tool.continuation",
        called(
            call(0, id="call_1", name="read", arguments=""),
            indexed(0, id="", function={"name": "", "arguments": _ARGS}),
        ),
        "P-121b",
    ),
    delta_of(
        "chunk.tool.opener",
        called(
            *(indexed(0, type="function", function={"name": name, "arguments": _ARGS}) for name in ("read", "write"))
        ),
        "P-123",
        right=(
            called(
                call(0, id="call_1", name="read", arguments=_ARGS), call(1, id="call_2", name="write", arguments=_ARGS)
            ),
        ),
        answers=False,
        why="the upstream's deltas have no one right reading",
    ),
    delta_of(
        "chunk.tool.continuation",
        called(call(0, id="call_1", name="read", arguments=""), call(0, id=" ", arguments=_ARGS)),
        "P-123b",
    ),
    Report(
        id="P-125",
        ask=JSON_TOOLS,
        wrong=wire(
            chat("", "tool_calls", message={"tool_calls": [{"function": {"name": "read", "arguments": {"path": "a"}}}]})
        ),
        clauses=("chat.tool-calls.shape",),
        right=(CALLED_JSON, wire(chat("", "tool_calls", message={"tool_calls": [_CALL]}))),
    ),
    delta_of(
        "chunk.tool.arguments",
        called(
            call(0, id="call_1", name="read", arguments=""),
            indexed(0, id="call_1", function={"name": None, "arguments": _ARGS}),
        ),
        "P-126",
    ),
    delta_of(
        "chunk.tool.opener",
        called(indexed(0, id="call_1", type="function", function={"name": None, "arguments": _ARGS})),
        "P-126b",
        answers=False,
        why="the name is lost upstream",
    ),
    delta_of(
        "tool.arguments.once",
        called(call(0, id="call_1", name="read", arguments=""), call(0, arguments=_ARGS), call(0, arguments=_ARGS)),
        "P-128",
    ),
    Report(
        id="P-128b",
        ask=JSON_TOOLS,
        wrong=wire(
            chat(
                None, "tool_calls", message={"tool_calls": [call(None, id="call_1", name="read", arguments=_TWICE * 3)]}
            )
        ),
        clauses=("tool.arguments.once",),
        right=(
            wire(
                chat(
                    None, "tool_calls", message={"tool_calls": [call(None, id="call_1", name="read", arguments=_TWICE)]}
                )
            ),
        ),
    ),
    delta_of(
        "chunk.tool.index",
        called(call(1, id="tooluse_1", name="read", arguments=_ARGS)),
        "P-130",
        right=(called(call(0, id="tooluse_1", name="read", arguments=_ARGS)),),
    ),
    delta_of(
        "tool.finish-reason",
        streamed(*_UNCALLED),
        "P-131",
        answers=False,
        why="such a member's call has no standard form",
    ),
    delta_of(
        "chunk.tool.continuation",
        called(
            call(0, id="call_1", name="read", arguments='{"path"'),
            call(0, id="call_1", name="read", arguments=': "a"}'),
        ),
        "S-repeated-id",
    ),
    delta_of(
        "chunk.tool.distinct",
        called(call(0, id="call_1", name="read", arguments=_ARGS), call(1, id="call_1", name="read", arguments=_ARGS)),
        "S-shared-id",
        right=(
            called(
                call(0, id="call_1", name="read", arguments=_ARGS), call(1, id="call_2", name="read", arguments=_ARGS)
            ),
        ),
    ),
    delta_of(
        "chunk.tool.index",
        called(call(0, id="call_1", name="read", arguments=_ARGS), call(2, id="call_2", name="read", arguments=_ARGS)),
        "S-index-gap",
        right=(
            called(
                call(0, id="call_1", name="read", arguments=_ARGS), call(1, id="call_2", name="read", arguments=_ARGS)
            ),
        ),
    ),
    delta_of(
        "chunk.tool.index",
        called({**call(0, id="call_1", name="read", arguments=_ARGS), "index": "0"}),
        "S-index-text",
        right=(ONE_CALL,),
        answers=False,
        why="spelling of the arguments",
    ),
    delta_of(
        "chunk.tool.opener",
        called({"index": 0, "id": "call_1", "function": {"name": "read", "arguments": _ARGS}}),
        "S-no-type",
    ),
    delta_of(
        "chunk.tool.arguments",
        called(indexed(0, id="call_1", type="function", function={"name": "read", "arguments": {"path": "a"}})),
        "S-delta-object",
    ),
    delta_of("chunk.tool.opener", called(call(0, id="", name="read", arguments=_ARGS)), "S-empty-id"),
    Report(
        id="S-same-ids",
        ask=JSON_TOOLS,
        wrong=wire(chat(None, "tool_calls", message={"tool_calls": [_CALL, _CALL]})),
        clauses=("chat.tool-calls.unique-ids",),
        right=(wire(chat(None, "tool_calls", message={"tool_calls": [_CALL, {**_CALL, "id": "call_2"}]})),),
    ),
    Report(
        id="S-json-stop",
        ask=JSON_TOOLS,
        wrong=wire(chat(None, "stop", message={"tool_calls": [_CALL]})),
        clauses=("tool.finish-reason",),
        right=(CALLED_JSON,),
    ),
)


def counting(*usages: Any) -> list[Any]:
    """The Hello stream whose chunks have those usages, in order."""
    return [{**event, "usage": usage} for event, usage in zip(HELLO, usages, strict=True)]


def used(prompt: Any, completion: Any, total: Any) -> dict[str, Any]:
    """A usage object."""
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total}


_METERED = streamed(*laid(HELLO, usage=None), usage_chunk())
_LAST_TEXT = [HELLO[0], {**chunk("Hello.", "stop"), "usage": dict(USAGE)}]

USAGES = (
    spoilt(
        "usage.stream.once", counting(used(48, 1, 49), used(48, 2, 50), used(48, 3, 51), None), "P-133", right=(WHOLE,)
    ),
    spoilt(
        "usage.stream.once",
        counting(*(used(48, n, 48 + n) for n in range(4))),
        "P-135",
        ask=METERED,
        right=(_METERED,),
        answers=False,
        why="the last of the counts is the one that is owed",
    ),
    spoilt(
        "usage.stream.own-chunk",
        _LAST_TEXT,
        "P-136",
        ask=METERED,
        right=(_METERED, streamed(*_LAST_TEXT[:1], chunk("Hello.", "stop"), usage_chunk())),
    ),
    reply(
        "usage.counters",
        {**chat(), "usage": {"prompt_tokens": None, "completion_tokens": None, "total_tokens": 0}},
        "P-138",
        right=(SAID, wire(without(chat(), "usage"))),
    ),
    spoilt(
        "usage.stream.present",
        HELLO,
        "S-usage-missing",
        ask=METERED,
        right=(_METERED,),
        relayed=False,
        why="what the member did not count a gateway can only invent",
    ),
    spoilt("usage.stream.last", [HELLO[0], usage_chunk(), *HELLO[1:]], "S-usage-first", ask=METERED, right=(_METERED,)),
    reply(
        "usage.total",
        {**chat(), "usage": used(9, 2, 0)},
        "S-total-zero",
        right=(SAID,),
        relayed=False,
        answers=False,
        why="the member's own numbers are to be passed on",
    ),
    reply("usage.counters", {**chat(), "usage": used("9", "2", "11")}, "S-usage-texts"),
    reply(
        "usage.counters",
        {**chat(), "usage": used(9.0, 2.5, 11.5)},
        "S-usage-floats",
        answers=False,
        why="which integer the member meant nobody knows",
    ),
    reply(
        "usage.counters",
        {**chat(), "usage": {"input_tokens": 9, "output_tokens": 2}},
        "S-usage-anthropic-names",
        right=(SAID,),
    ),
    reply(
        "usage.counters",
        {**chat(), "usage": used(-1, 2, 1)},
        "S-usage-negative",
        right=(SAID,),
        answers=False,
        why="which number the member meant nobody knows",
    ),
)

_TOKENS = {"content": [{"token": "Hello", "logprob": -0.0009, "bytes": [72, 101], "top_logprobs": []}], "refusal": None}
_LEGACY_LOGPROBS = {
    "text_offset": [0],
    "token_logprobs": [-0.1],
    "tokens": ["Hello"],
    "top_logprobs": [{"Hello": -0.1}],
}


def twin(*events: tuple[int, str, Any]) -> list[Any]:
    """A stream of two choices: (index, text, reason) of each chunk."""
    return [chunk(text or None, reason, choice={"index": index}, delta={"role": "assistant"} if not text and not reason else {}) for index, text, reason in events]  # fmt: skip


_TWO_TEXTS = twin((0, "", None), (1, "", None), (0, "Hi", None), (1, "Hello", None), (1, "", "stop"), (0, "", "stop"))
_ONE_INDEX = twin((0, "", None), (0, "", None), (0, "Hi", None), (0, "Hello", None), (0, "", "stop"))
_BOTH = wire(chat(choices=[{**chat()["choices"][0], "index": number} for number in (0, 1)]))

METADATA = (
    reply(
        "chat.service-tier",
        {**chat(), "service_tier": "standard"},
        "P-155",
        right=(SAID, wire({**chat(), "service_tier": "default"})),
    ),
    reply("chat.created", {**chat(), "created": 1757876416.5661082}, "P-156", right=(SAID,)),
    spoilt("chunk.created", laid(HELLO, created="2026-01-18T10:00:00Z"), "P-158"),
    spoilt("chunk.created", [without(event, "created") for event in HELLO], "P-158b"),
    spoilt("chunk.id.stable", [{**event, "id": f"chatcmpl-{number}"} for number, event in enumerate(HELLO)], "P-160"),
    reply(
        "chat.logprobs.shape",
        chat(choice={"logprobs": _LEGACY_LOGPROBS}),
        "P-161",
        ask=SCORED,
        right=(wire(chat(choice={"logprobs": _TOKENS})),),
    ),
    spoilt(
        "chunk.choice.count",
        _ONE_INDEX,
        "P-163",
        ask=TWO,
        right=(streamed(*_TWO_TEXTS), wire(error("n must be 1", param="n"), status=400)),
        relayed=True,
    ),
    reply(
        "chat.choices.count",
        chat(),
        "P-163b",
        ask=JSON_TWO,
        right=(_BOTH, wire(error("n must be 1", param="n"), status=400)),
    ),
    reply(
        "chat.choices.index", chat(choices=[chat()["choices"][0]] * 2), "S-json-one-index", ask=JSON_TWO, right=(_BOTH,)
    ),
    spoilt("chunk.service-tier", laid(HELLO, service_tier="on_demand"), "S-groq-tier"),
    spoilt("chunk.shape", laid(HELLO, system_fingerprint=17), "S-fingerprint-number"),
    reply("chat.id", {**chat(), "id": ""}, "S-id-empty"),
    reply("chat.id", without(chat(), "id"), "S-id-missing"),
    reply("chat.object", without(chat(), "object"), "S-object-missing"),
    reply("chat.object", {**chat(), "object": "chat.completion.chunk"}, "S-object-chunk"),
    reply("chat.model", {**chat(), "model": None}, "S-model-null"),
    reply("chat.created", {**chat(), "created": "1757876416"}, "S-created-text"),
    spoilt("chunk.choice.index", [chunk("Hello", "stop", choice={"index": 1})], "S-index-one"),
    spoilt(
        "chunk.shape",
        [opening(), chunk("Hello", choice={"logprobs": _LEGACY_LOGPROBS}), chunk(reason="stop")],
        "S-legacy-logprobs-chunk",
        ask=ask(stream=True, logprobs=True),
        right=(streamed(opening(), chunk("Hello", choice={"logprobs": _TOKENS}), chunk(reason="stop")),),
    ),
)

REPORTS = CONTENT + TOOL_CALLS + USAGES + METADATA
