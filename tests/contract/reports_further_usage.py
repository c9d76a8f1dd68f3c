"""Further public reports of tokens counted wrong between a member and the client, named by their thread.

Facts from the threads, rebuilt as captures; keys and names are ours.
"""

from __future__ import annotations

from tests.contract.captures import (
    USAGE,
    Try,
    ask,
    chunk,
    opening,
    stream,
    usage_chunk,
    wire,
    words,
)
from tests.contract.further import (
    COUNTED,
    ESTIMATED,
    EVENTS,
    METERED,
    events,
    gemini_said,
    to_anthropic,
    to_gemini,
    used,
    without,
)
from tests.contract.responding import event, response, said
from tests.contract.situation import Report, report

USED: tuple[Report, ...] = (
    report(
        "BerriAI/litellm#36168",
        "relay.usage.kept",
        request=METERED,
        up=wire(stream(opening(), chunk("Hi"), chunk(reason="length", usage=COUNTED))),
        wrong=wire(stream(*words("Hi", reason="length"), usage_chunk(ESTIMATED))),
        right=wire(stream(*words("Hi", reason="length"), usage_chunk(COUNTED))),
    ),
    report(
        "BerriAI/litellm#32130",
        "relay.usage.kept",
        request=METERED,
        up=wire(stream(*words("Hi"), usage_chunk(COUNTED))),
        wrong=wire(stream(*words("Hi"), usage_chunk({**COUNTED, "prompt_tokens_details": None}))),
        right=wire(stream(*words("Hi"), usage_chunk(COUNTED))),
    ),
    report(
        "diegosouzapw/OmniRoute#6906",
        "responses.stream.shape",
        "relay.usage.kept",
        request=EVENTS,
        up=Try(
            wire(stream(*words("Hi"), usage_chunk())),
            request=ask(model="up-model", stream=True, stream_options={"include_usage": True}),
        ),
        wrong=events(*said("Hi")[:-1], event("response.completed", response=without(response("Hi"), "usage"))),
        right=events(*said("Hi")),
    ),
    report(
        "router-for-me/CLIProxyAPI#5733",
        "usage.total",
        up=Try(
            gemini_said({"promptTokenCount": 21, "thoughtsTokenCount": 60, "totalTokenCount": 81}),
            request=to_gemini(),
        ),
        wrong=used(
            {
                "completion_tokens": 0,
                "total_tokens": 81,
                "prompt_tokens": 21,
                "completion_tokens_details": {"reasoning_tokens": 60},
            }
        ),
        right=used(
            {
                "completion_tokens": 60,
                "total_tokens": 81,
                "prompt_tokens": 21,
                "completion_tokens_details": {"reasoning_tokens": 60},
            }
        ),
    ),
    report(
        "Portkey-AI/gateway#1458",
        "relay.usage.kept",
        "usage.parts",
        up=Try(
            gemini_said(
                {
                    "promptTokenCount": 20,
                    "candidatesTokenCount": 8,
                    "thoughtsTokenCount": 405,
                    "totalTokenCount": 433,
                }
            ),
            request=to_gemini(),
        ),
        wrong=used(
            {
                "prompt_tokens": 20,
                "completion_tokens": 8,
                "total_tokens": 28,
                "completion_tokens_details": {"reasoning_tokens": 405},
            }
        ),
        right=used(
            {
                "prompt_tokens": 20,
                "completion_tokens": 413,
                "total_tokens": 433,
                "completion_tokens_details": {"reasoning_tokens": 405},
            }
        ),
    ),
    report(
        "router-for-me/CLIProxyAPI#2419",
        "relay.usage.kept",
        up=Try(
            wire(
                {
                    "id": "msg_1",
                    "type": "message",
                    "role": "assistant",
                    "model": "claude",
                    "content": [{"type": "text", "text": "Hello."}],
                    "stop_reason": "end_turn",
                    "usage": {
                        "input_tokens": 9,
                        "output_tokens": 2,
                        "cache_read_input_tokens": 2000,
                        "cache_creation_input_tokens": 0,
                    },
                }
            ),
            request=to_anthropic(),
        ),
        wrong=used({**USAGE, "prompt_tokens_details": {"cached_tokens": 0}}),
        right=used(
            {
                "prompt_tokens": 2009,
                "completion_tokens": 2,
                "total_tokens": 2011,
                "prompt_tokens_details": {"cached_tokens": 2000},
            }
        ),
    ),
)
