"""Public reports of calls and formats that a request had asked for otherwise, named by their thread.

Facts from the threads, rebuilt as captures; keys and names are ours.
"""

from __future__ import annotations

from typing import Any

from conformance.cassette.model import Envelope
from tests.contract.captures import ask, call, chat, chunk, opening, stream, wire, words
from tests.contract.examples_format import ANN, FENCED, JSON, OTHER, by, shaped
from tests.contract.examples_tool_asked import (
    ARGS,
    CALLED,
    FUNCTIONS,
    ITEM,
    NAMED,
    PAIR,
    STREAMED,
    TOOLS,
    asking,
    choosing,
    one,
    turn,
)
from tests.contract.examples_tool_said import ASKED, HERMES, STREAM, STRICTLY, TWICE, given
from tests.contract.responding import response
from tests.contract.situation import Report, report

HELLO = wire(chat())
FORCED = wire(chat(None, "stop", message={"tool_calls": [one()]}))
JSON_STREAM = JSON.with_(stream=True)
LEGACY = wire(
    chat(None, "function_call", message={"function_call": {"name": "get_weather", "arguments": ARGS}}),
)


def making(*calls: Any) -> Envelope:
    """A message with those calls."""
    return wire(chat(None, "tool_calls", message={"tool_calls": list(calls)}))


def streaming(name: str) -> Envelope:
    """A stream with a call of that name."""
    opened = chunk(delta={"tool_calls": [call(0, id="call_1", name=name, arguments=ARGS)]})
    return wire(stream(opening(), opened, chunk(reason="tool_calls")))


CHOICES: tuple[Report, ...] = (
    report("vllm-project/vllm#30867", "tool.choice.kept", request=choosing("none"), wrong=CALLED, right=HELLO),
    report(
        "ollama/ollama#18043",
        "tool.choice.kept",
        request=choosing("none", stream=True),
        wrong=STREAMED,
        right=wire(stream(*words("Hello."))),
    ),
    report(
        "vllm-project/vllm#30867-responses",
        "tool.choice.kept",
        request=asking(tool_choice="none"),
        wrong=wire(response(output=[ITEM])),
        right=wire(response()),
    ),
    report(
        "vllm-project/vllm#44216",
        "tool.choice.kept",
        request=choosing("required"),
        wrong=HELLO,
        right=(FORCED, CALLED, wire(chat("Hel", "length"))),
    ),
    report("google-ai-edge/LiteRT-LM#2471", "tool.choice.kept", request=choosing(NAMED), wrong=HELLO, right=FORCED),
    report(
        "vllm-project/vllm#50477",
        "tool.choice.kept",
        request=choosing(NAMED),
        wrong=making(one("get_time", "{}")),
        right=FORCED,
    ),
    report(
        "Blaizzy/mlx-vlm#1045",
        "tool.choice.kept",
        request=asking(tool_choice="required"),
        wrong=wire(response()),
        right=wire(response(output=[ITEM])),
    ),
    report(
        "sgl-project/sglang#9696",
        "tool.parallel.kept",
        request=ask(tools=TOOLS, parallel_tool_calls=False),
        wrong=making(*PAIR),
        right=CALLED,
    ),
    report(
        "NVIDIA-NeMo/Switchyard#502",
        "tool.id.fresh",
        request=ask(tools=TOOLS, messages=turn("call_0")),
        wrong=making(one(id="call_0")),
        right=making(one(id="call_9")),
    ),
    report(
        "NousResearch/hermes-agent#70724",
        "tool.id.fresh",
        request=ask(tools=TOOLS, messages=turn("call_1"), stream=True),
        wrong=STREAMED,
        right=wire(stream(*words("Rain."))),
    ),
    report("Continuum-AI-Corp/OrcaRouter-Lite#131", "tool.legacy.form", request=FUNCTIONS, wrong=CALLED, right=LEGACY),
    report("MeetKai/functionary#243", "tool.legacy.form", request=ASKED, wrong=LEGACY, right=CALLED),
)

CALLS: tuple[Report, ...] = (
    report(
        "vllm-project/vllm#32587",
        "tool.name.characters",
        request=ASKED,
        wrong=making(one("get_weather<|channel|>commentary")),
        right=CALLED,
    ),
    report(
        "vllm-project/vllm#32587-stream",
        "tool.name.characters",
        request=STREAM,
        wrong=streaming("get_weather<|channel|>json"),
        right=STREAMED,
    ),
    report(
        "vllm-project/vllm#32587-other",
        "tool.name.declared",
        request=ASKED,
        wrong=making(one("weather")),
        right=CALLED,
        told="a model may invent a name",
    ),
    report(
        "vllm-project/vllm#54964",
        "tool.arguments.object",
        request=ASKED,
        wrong=making(one(arguments=TWICE)),
        right=CALLED,
    ),
    report(
        "JetBrains/koog#2095",
        "tool.arguments.object",
        request=STREAM,
        wrong=given(TWICE[:9], TWICE[9:]),
        right=STREAMED,
    ),
    report(
        "jundot/omlx#1241-arguments",
        "tool.arguments.strict",
        request=STRICTLY,
        wrong=making(one(arguments='{"city":7,"x":1}')),
        right=CALLED,
    ),
    report("vllm-project/vllm#40911", "tool.markup.parsed", request=ASKED, wrong=wire(chat(HERMES)), right=CALLED),
    report(
        "vllm-project/vllm#44522",
        "tool.markup.parsed",
        request=STREAM,
        wrong=wire(stream(*words("<|tool_call>", "call:get_weather", '{city:<|"|>Oslo<|"|>}', "<tool_call|>"))),
        right=STREAMED,
    ),
    report(
        "vllm-project/vllm#28543",
        "tool.markup.parsed",
        request=ASKED,
        wrong=wire(
            chat(
                "",
                message={"reasoning_content": "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"},
            )
        ),
        right=CALLED,
    ),
)

FORMATS: tuple[Report, ...] = (
    report("getzep/graphiti#1291", "format.json.kept", request=JSON, wrong=wire(chat(FENCED)), right=wire(chat(ANN))),
    report(
        "getzep/graphiti#1291-stream",
        "format.json.kept",
        request=JSON_STREAM,
        wrong=wire(stream(*words("```json\n", ANN, "\n```"))),
        right=wire(stream(*words(ANN[:9], ANN[9:]))),
    ),
    report(
        "OpenRouterTeam/typescript-sdk#204",
        "format.json.kept",
        request=by(),
        wrong=wire(chat(FENCED)),
        right=wire(chat(ANN)),
    ),
    report(
        "rynfar/meridian#898",
        "format.json.kept",
        request=by(),
        wrong=wire(chat("Ann is three.")),
        right=(wire(chat(ANN)), wire(chat(None, message={"refusal": "I cannot."}))),
    ),
    report(
        "router-for-me/CLIProxyAPI#4802-format",
        "format.json.kept",
        request=shaped(),
        wrong=wire(response(FENCED)),
        right=wire(response(ANN)),
    ),
    report("jundot/omlx#1241", "format.schema.kept", request=by(), wrong=wire(chat(OTHER)), right=wire(chat(ANN))),
    report(
        "raullenchai/Rapid-MLX#801",
        "format.schema.kept",
        request=by(),
        wrong=wire(chat('{"type":"object","properties":{"name":{"type":"string"}}}')),
        right=wire(chat(ANN)),
    ),
)

ASKED_FOR = (*CHOICES, *CALLS, *FORMATS)
