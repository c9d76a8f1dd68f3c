"""Examples of the clauses on what a call says beside its tool's declaration."""

from __future__ import annotations

import json
from typing import Any

from tests.contract.captures import Capture, Try, ask, call, capture, chat, chunk, opening, stream, wire, words
from tests.contract.example import Example, Examples
from tests.contract.examples_tool_asked import ARGS, CALLED, ITEM, PARAMETERS, TOOLS, asking, calling, one, responding

ASKED = ask(tools=TOOLS)
STREAM = ask(tools=TOOLS, stream=True)
TWICE = json.dumps(ARGS)
STRICT = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "strict": True,
        "parameters": {**PARAMETERS, "additionalProperties": False},
    },
}
STRICTLY = ask(tools=[STRICT])
HERMES = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'


def given(*texts: str) -> Any:
    """A stream of one call whose arguments come in those pieces."""
    return wire(
        stream(
            opening(),
            chunk(delta={"tool_calls": [call(0, id="call_1", name="get_weather", arguments="")]}),
            *(chunk(delta={"tool_calls": [call(0, arguments=text)]}) for text in texts),
            chunk(reason="tool_calls"),
        )
    )


def told(text: str, asked: Any = ASKED, upstream: Any = None, **more: Any) -> Capture:
    """A chat completion that says `text`."""
    return capture(asked, wire(chat(text, **more)), upstream)


EXAMPLES: Examples = {
    "tool.arguments.object": Example(
        (
            calling(ASKED, one()),
            capture(STREAM, given('{"city":', '"Oslo"}')),
            calling(
                ASKED,
                one(arguments=TWICE),
                upstream=Try(wire(chat(None, "tool_calls", message={"tool_calls": [one(arguments="null")]}))),
            ),
            responding(asking(), ITEM),
        ),
        (
            calling(ASKED, one(arguments=TWICE)),
            calling(ASKED, one(arguments=TWICE), upstream=Try(CALLED)),
            capture(STREAM, given(TWICE[:5], TWICE[5:])),
            calling(ASKED, one(arguments=f"[{ARGS}]")),
            calling(ASKED, one("get_time", "null")),
            calling(ask(tools=[{"type": "function", "function": {"name": "get_time"}}]), one("get_time", "null")),
            responding(asking(), {**ITEM, "arguments": TWICE}),
        ),
    ),
    "tool.arguments.strict": Example(
        (
            calling(STRICTLY, one()),
            calling(
                STRICTLY,
                one(arguments="{}"),
                upstream=Try(wire(chat(None, "tool_calls", message={"tool_calls": [one(arguments="{}")]}))),
            ),
        ),
        (
            calling(STRICTLY, one(arguments='{"city":7}')),
            calling(STRICTLY, one(arguments='{"city":"Oslo","x":1}')),
            calling(STRICTLY, one(arguments="{'city': 'Oslo'}")),
            calling(STRICTLY, one(arguments="{}"), upstream=Try(CALLED)),
            calling(
                STRICTLY,
                one(arguments="{}"),
                upstream=Try(
                    wire(chat(None, "tool_calls", message={"tool_calls": [one(arguments="{}")]})),
                    request=ask(model="up-model", tools=TOOLS),
                ),
            ),
        ),
    ),
    "tool.markup.parsed": Example(
        (
            told("It rains in Oslo."),
            told(f"A call is written so:\n```\n{HERMES}\n```"),
            told("I write `<tool_call>` and get_weather for that."),
            told(HERMES, ASKED.with_(messages=[{"role": "user", "content": "What is <tool_call>? cf-q8w3zd"}])),
            told("<tool_call> stands before a call."),
            told(HERMES, upstream=Try(wire(chat(HERMES)))),
            told(HERMES[:40], reason="length"),
            told('{"name": "get_weather", "arguments": {}}', ASKED.with_(response_format={"type": "json_object"})),
            told('{"name": "Oslo", "arguments": {}}'),
        ),
        (
            told(HERMES),
            told(f"Let me look.\n{HERMES}"),
            told(HERMES, upstream=Try(CALLED)),
            capture(
                STREAM,
                wire(stream(*words("<|tool_call>", "call:get_weather", '{city:<|"|>Oslo<|"|>}', "<tool_call|>"))),
            ),
            told('[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Oslo"}}]'),
            told("<function=get_weather><parameter=city>Oslo</parameter></function>"),
            told(
                '<\uff5ctool\u2581calls\u2581begin\uff5c><\uff5ctool\u2581call\u2581begin\uff5c>function<\uff5ctool\u2581sep\uff5c>get_weather\n{"city":"Oslo"}'
            ),
            told('{"name": "get_weather", "parameters": {"city": "Oslo"}}'),
            told(
                "",
                message={
                    "reasoning_content": "So: <|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
                },
            ),
        ),
    ),
}

#: Calls that owe a schema nothing: parallel ones.
PARALLEL = calling(STRICTLY, one(arguments="{}"), one(arguments="{}", id="call_2"))
