"""Reports of gateways: tool calls (e) and usage (f).

Facts from public issue threads, named by their number in the reports' list; a trailing letter marks a sibling of ours.
"""

from __future__ import annotations

from typing import Any

from tests.contract.captures import (
    USAGE,
    Ask,
    Try,
    ask,
    call,
    chat,
    chunk,
    embeddings,
    opening,
    stream,
    usage_chunk,
    wire,
    words,
)
from tests.contract.situation import Report, report

_TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    for name in ("f", "g", "get_weather")
]
_CALLS = ask(stream=True, tools=_TOOLS)
_WHOLE = ask(tools=_TOOLS)
_STREAM = ask(stream=True)
_USAGE = ask(stream=True, stream_options={"include_usage": True})
_GEMINI = Ask("/v1beta/models/gemini:streamGenerateContent", {"contents": [{"parts": [{"text": "cf-q8w3zd"}]}]})
_ANTHROPIC = Ask("/v1/messages", {"model": "claude", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]})


def calls(*deltas: dict[str, Any], reason: Any = "tool_calls", **more: Any) -> tuple[tuple[float, bytes], ...]:
    """A stream of tool call deltas, one in each chunk, and its end."""
    pieces = [chunk(delta={"tool_calls": [delta]}, **more) for delta in deltas]
    return stream(chunk(delta={"role": "assistant", "content": None}), *pieces, chunk(reason=reason))


def called(*items: dict[str, Any], reason: Any = "tool_calls", content: Any = None) -> dict[str, Any]:
    """A whole completion with tool calls."""
    return chat(content, reason, message={"tool_calls": list(items)})


_ONE = (call(0, id="call_1", name="f", arguments=""), call(0, arguments='{"a":'), call(0, arguments="1}"))
_TWO = (*_ONE, call(1, id="call_2", name="g", arguments=""), call(1, arguments="{}"))
_ONE_STREAM = wire(calls(*_ONE))
_TWO_STREAM = wire(calls(*_TWO))
_CITIES = (
    call(0, id="get_weather_0", name="get_weather", arguments=""),
    call(0, arguments='{"city": "Paris"}'),
    call(1, id="get_weather_1", name="get_weather", arguments=""),
    call(1, arguments='{"city": "London"}'),
    call(2, id="get_weather_2", name="get_weather", arguments=""),
    call(2, arguments='{"city": "Tokyo"}'),
)
_GEMINI_CALL = Try(
    wire(
        stream(
            {
                "candidates": [
                    {"content": {"parts": [{"functionCall": {"name": "f", "args": {}}}]}, "finishReason": "STOP"}
                ]
            },
            done=False,
        )
    ),
    request=_GEMINI,
)
_CLAUDE_CALLS = Try(
    wire(
        stream(
            ("message_start", {"type": "message_start", "message": {"id": "msg_1", "content": []}}),
            *(
                (
                    "content_block_start",
                    {
                        "type": "content_block_start",
                        "index": n,
                        "content_block": {"type": "tool_use", "id": f"toolu_{n}", "name": "f", "input": {}},
                    },
                )
                for n in (1, 2, 3)
            ),
            ("message_delta", {"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
            ("message_stop", {"type": "message_stop"}),
            done=False,
        )
    ),
    request=_ANTHROPIC,
)
_THREE_OPEN = tuple(
    piece for n in range(3) for piece in (call(n, id=f"toolu_{n + 1}", name="f", arguments=""), call(n, arguments="{}"))
)

TOOLS: tuple[Report, ...] = (
    report(
        "G-20",
        "tool.finish-reason",
        request=_CALLS,
        up=_ONE_STREAM,
        wrong=wire(calls(*_ONE, reason="stop")),
        right=_ONE_STREAM,
    ),
    report(
        "G-20-no-index",  # argument deltas that nothing joins to their opener
        "chunk.tool.index",
        request=_CALLS,
        up=_ONE_STREAM,
        wrong=wire(calls(_ONE[0], call(None, arguments='{"a":'), call(None, arguments="1}"))),
        right=_ONE_STREAM,
    ),
    report(
        "G-21",
        "chunk.finish-reason.enum",
        request=_CALLS,
        up=wire(
            stream(
                opening(choice={"finish_reason": ""}),
                chunk(delta={"tool_calls": [call(0, id="call_1", name="f", arguments="{}")]}, reason=""),
                chunk(delta={"function_call": {"name": "", "arguments": ""}}, reason="tool_calls"),
            )
        ),
        wrong=wire(
            stream(
                opening(choice={"finish_reason": ""}),
                chunk(delta={"tool_calls": [call(0, id="call_1", name="f", arguments="{}")]}, reason=""),
                chunk(delta={"function_call": {"name": "", "arguments": ""}}, reason="tool_calls"),
            )
        ),
        right=wire(
            stream(
                opening(),
                chunk(delta={"tool_calls": [call(0, id="call_1", name="f", arguments="{}")]}),
                chunk(reason="tool_calls"),
            )
        ),
    ),
    report(
        "G-23",
        "tool.finish-reason",
        request=_CALLS,
        up=_GEMINI_CALL,
        wrong=wire(calls(call(0, id="call_1", name="f", arguments="{}"), reason="stop")),
        right=wire(calls(call(0, id="call_1", name="f", arguments="{}"))),
    ),
    report(
        "G-60",
        "chunk.tool.distinct",
        request=_CALLS,
        wrong=wire(
            calls(call(0, id="call_abc", name="f", arguments="{}"), call(0, id="call_def", name="g", arguments="{}"))
        ),
        right=wire(
            calls(call(0, id="call_abc", name="f", arguments="{}"), call(1, id="call_def", name="g", arguments="{}"))
        ),
    ),
    report(
        "G-61",
        "chunk.tool.opener",
        "relay.tool-calls.equal",
        request=_CALLS,
        up=wire(calls(*_CITIES)),
        wrong=wire(
            calls(*_CITIES[:2], call(1, arguments='{"city": "London"}'), call(2, arguments='{"city": "Tokyo"}'))
        ),
        right=wire(calls(*_CITIES)),
    ),
    report(
        "G-63",
        "chunk.choice.index",
        request=_CALLS,
        up=_CLAUDE_CALLS,
        wrong=wire(
            stream(
                opening(),
                *(
                    chunk(
                        delta={"tool_calls": [call(n, id=f"toolu_{n + 1}", name="f", arguments="{}")]},
                        choice={"index": n + 1},
                    )
                    for n in range(3)
                ),
                chunk(reason="tool_calls"),
            )
        ),
        right=wire(calls(*_THREE_OPEN)),
    ),
    report(
        "G-63-empty-call",
        "chunk.tool.opener",
        request=_CALLS,
        up=_CLAUDE_CALLS,
        wrong=wire(calls(*_THREE_OPEN, {"index": 3, "id": "", "type": "", "function": {"name": "", "arguments": ""}})),
        right=wire(calls(*_THREE_OPEN)),
    ),
    report(
        "G-65",
        "chunk.tool.distinct",
        request=_CALLS,
        wrong=wire(
            calls(
                call(0, id="call_1", name="add_numbers", arguments="{}"), call(0, id="call_2", name="f", arguments="{}")
            )
        ),
        right=wire(
            calls(
                call(0, id="call_1", name="add_numbers", arguments="{}"), call(1, id="call_2", name="f", arguments="{}")
            )
        ),
    ),
    report(
        "G-65-arguments-object",
        "chunk.tool.arguments",
        request=_CALLS,
        wrong=wire(calls(call(0, id="call_1", name="f", arguments={"a": 1}))),
        right=wire(calls(call(0, id="call_1", name="f", arguments='{"a":1}'))),
    ),
    report(
        "G-66-index-thrash",
        "chunk.tool.opener",
        request=_CALLS,
        wrong=wire(
            calls(call(0, id="c1", name="f", arguments=""), call(1, arguments='{"a":'), call(1, arguments="1}"))
        ),
        right=wire(
            calls(call(0, id="c1", name="f", arguments=""), call(0, arguments='{"a":'), call(0, arguments="1}"))
        ),
    ),
    report(
        "G-66-done-mangled",
        "stream.event.json",
        request=_CALLS,
        wrong=wire(
            stream(
                *[
                    chunk(delta={"tool_calls": [call(0, id="c1", name="f", arguments="{}")]}),
                    chunk(reason="tool_calls"),
                ],
                b"data: ,data: [DONE]\n\n",
                done=False,
            )
        ),
        right=wire(calls(call(0, id="c1", name="f", arguments="{}"))),
    ),
    # -- siblings ------------------------------------------------------------------------------------------------------
    report(
        "G-62-whole-stop",
        "tool.finish-reason",
        request=_WHOLE,
        up=wire(called(call(None, id="call_1", name="f", arguments="{}"))),
        wrong=wire(called(call(None, id="call_1", name="f", arguments="{}"), reason="stop")),
        right=wire(called(call(None, id="call_1", name="f", arguments="{}"))),
    ),
    report(
        "G-62-named-choice",  # with a named function the API itself says stop
        request=_WHOLE.with_(tool_choice={"type": "function", "function": {"name": "f"}}),
        right=wire(called(call(None, id="call_1", name="f", arguments="{}"), reason="stop")),
    ),
    report(
        "G-62-arguments-object",
        "chat.tool-calls.shape",
        request=_WHOLE,
        wrong=wire(called(call(None, id="call_1", name="f", arguments={"a": 1}))),
        right=wire(called(call(None, id="call_1", name="f", arguments='{"a":1}'))),
    ),
    report(
        "G-64-call-lost",
        "relay.tool-calls.equal",
        request=_CALLS,
        up=_TWO_STREAM,
        wrong=_ONE_STREAM,
        right=_TWO_STREAM,
    ),
    report(
        "G-64-arguments-twice",
        "tool.arguments.once",
        "relay.tool-calls.equal",
        request=_CALLS,
        up=_ONE_STREAM,
        wrong=wire(calls(*_ONE, call(0, arguments='{"a":1}'))),
        right=(_ONE_STREAM, wire(calls(call(0, id="call_1", name="f", arguments='{"a":1}')))),
    ),
    report(
        "G-64-null-calls",
        "chunk.delta.not-null",
        request=_CALLS,
        wrong=wire(stream(opening(), chunk("Hi", delta={"tool_calls": None}), chunk(reason="stop"))),
        right=wire(stream(*words("Hi"))),
    ),
    report(
        "G-67-same-id",
        "chat.tool-calls.unique-ids",
        request=_WHOLE,
        wrong=wire(
            called(call(None, id="call_1", name="f", arguments="{}"), call(None, id="call_1", name="g", arguments="{}"))
        ),
        right=wire(
            called(call(None, id="call_1", name="f", arguments="{}"), call(None, id="call_2", name="g", arguments="{}"))
        ),
    ),
)

_MISTRAL = {"prompt_tokens": 7, "completion_tokens": 9, "total_tokens": 16}
_CACHED = {
    "prompt_tokens": 65,
    "completion_tokens": 251,
    "total_tokens": 316,
    "prompt_tokens_details": {"cached_tokens": 64},
}
_RECOUNTED = {"prompt_tokens": 61, "completion_tokens": 0, "total_tokens": 61}

USED: tuple[Report, ...] = (
    report(
        "G-68",  # nobody asked: to pass the usage on, and to leave it out as the API does, are both conforming
        request=_STREAM,
        up=wire(stream(opening(), chunk("3."), chunk("", "stop", usage=_MISTRAL))),
        right=(
            wire(stream(opening(), chunk("3."), chunk("", "stop", provider="mistral-ai"))),
            wire(stream(opening(), chunk("3."), chunk("", "stop", usage=_MISTRAL))),
            wire(stream(opening(), chunk("3."), chunk("", "stop"), usage_chunk(_MISTRAL))),
        ),
    ),
    report(
        "G-68-asked",
        "usage.stream.present",
        request=_USAGE,
        up=wire(stream(opening(), chunk("3."), chunk("", "stop", usage=_MISTRAL))),
        wrong=wire(stream(opening(), chunk("3."), chunk("", "stop"))),
        right=wire(stream(opening(), chunk("3."), chunk("", "stop"), usage_chunk(_MISTRAL))),
    ),
    report(
        "G-70",
        "usage.stream.own-chunk",
        request=_USAGE,
        up=wire(stream(*words("Hi"))),
        wrong=wire(stream(*words("Hi"), chunk(usage=dict(USAGE)))),
        right=(
            wire(stream(*words("Hi"), usage_chunk())),
            wire(stream(*words("Hi", usage=None), usage_chunk())),
        ),
    ),
    report(
        "G-71",
        "relay.usage.kept",
        request=_USAGE,
        up=wire(stream(*words("Hi"), chunk(usage=_CACHED))),
        wrong=wire(stream(*words("Hi"), usage_chunk(_RECOUNTED))),
        right=wire(stream(*words("Hi"), usage_chunk(_CACHED))),
    ),
    report(
        "G-71-details-lost",
        "relay.usage.kept",
        up=wire(chat(usage=_CACHED)),
        wrong=wire(
            chat(usage={name: _CACHED[name] for name in ("prompt_tokens", "completion_tokens", "total_tokens")})
        ),
        right=wire(chat(usage=_CACHED)),
    ),
    report(
        "G-73-in-finish-chunk",
        "usage.stream.own-chunk",
        request=_USAGE,
        up=wire(stream(opening(), chunk("Hi"), chunk(reason="stop", usage=dict(USAGE)), chunk(choices=[]))),
        wrong=wire(stream(opening(), chunk("Hi"), chunk(reason="stop", usage=dict(USAGE)))),
        right=wire(stream(*words("Hi"), usage_chunk())),
    ),
    report(
        "G-73-empty-chunk-after",
        "usage.stream.last",
        "usage.stream.own-chunk",
        request=_USAGE,
        up=wire(stream(opening(), chunk("Hi"), chunk(reason="stop", usage=dict(USAGE)), chunk(choices=[]))),
        wrong=wire(stream(opening(), chunk("Hi"), chunk(reason="stop", usage=dict(USAGE)), chunk(choices=[]))),
        right=wire(stream(*words("Hi"), usage_chunk())),
    ),
    report(
        "G-73-each-chunk",
        "usage.stream.once",
        request=_USAGE,
        wrong=wire(stream(*words("Hi", usage=dict(USAGE)), usage_chunk())),
        right=wire(stream(*words("Hi"), usage_chunk())),
    ),
    # -- siblings ------------------------------------------------------------------------------------------------------
    report(
        "G-69-zeros",
        "relay.usage.kept",
        up=wire(chat()),
        wrong=wire(chat(usage={"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0})),
        right=wire(chat()),
    ),
    report(
        "G-69-null-counter",
        "usage.counters",
        wrong=wire(chat(usage={"prompt_tokens": None, "completion_tokens": 2, "total_tokens": 2})),
        right=wire(chat()),
    ),
    report(
        "G-72-total",
        "usage.total",
        wrong=wire(chat(usage={"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 9})),
        right=wire(chat()),
    ),
    report(
        "G-72-embeddings",
        "relay.usage.kept",
        request=ask("embeddings"),
        up=wire(embeddings([0.5, 0.25])),
        wrong=wire(embeddings([0.5, 0.25], usage={"prompt_tokens": 0, "total_tokens": 0})),
        right=wire(embeddings([0.5, 0.25])),
    ),
    report(
        "G-72-before-finish",
        "usage.stream.last",
        request=_USAGE,
        wrong=wire(stream(opening(), chunk("Hi"), usage_chunk(), chunk(reason="stop"))),
        right=wire(stream(*words("Hi"), usage_chunk())),
    ),
)
