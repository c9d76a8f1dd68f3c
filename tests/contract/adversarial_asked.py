"""Right captures in which a request sets bounds to its answer, is translated into another API, or is asked in several
ways at once: nothing that gates may be violated on any of them.

Each is named by the freedom that is taken. Material for `test_adversarial_apis`; knows no clause.
"""

from __future__ import annotations

from typing import Any

from tests.contract.captures import (
    Ask,
    Capture,
    Try,
    ask,
    call,
    capture,
    chat,
    chunk,
    completion,
    error,
    opening,
    stream,
    wire,
    words,
)
from tests.contract.responding import response, used

_STREAM = ask(stream=True)
_OK = wire(chat())
_PROMPT = "Ticket cf-q8w3zd: say hello."


def _usage(tokens: int) -> dict[str, int]:
    return {"prompt_tokens": 9, "completion_tokens": tokens, "total_tokens": 9 + tokens}


def _spent(asked: Ask, tokens: int, *upstream: Any) -> Capture:
    return capture(asked, wire(chat(usage=_usage(tokens))), upstream)


_LONG = wire(chat(usage=_usage(90)))
_SHORT = ask(max_tokens=20)
_GEMINI_SAID = wire(
    {
        "candidates": [
            {"content": {"role": "model", "parts": [{"text": "Hello."}]}, "finishReason": "STOP", "index": 0}
        ],
        "usageMetadata": {
            "promptTokenCount": 9,
            "candidatesTokenCount": 50,
            "thoughtsTokenCount": 40,
            "totalTokenCount": 99,
        },
        "modelVersion": "g",
        "responseId": "r",
    }
)


def _gemini(**members: Any) -> Ask:
    contents = [{"role": "user", "parts": [{"text": _PROMPT}]}]
    return Ask("/v1beta/models/g:generateContent", {"contents": contents, **members})


BOUNDED: dict[str, Capture] = {
    "a cap by its newer name, not kept by the member": _spent(
        _SHORT, 90, Try(_LONG, request=ask(model="up-model", max_completion_tokens=20))
    ),
    "a cap in another API's words, not kept by the member": _spent(
        _SHORT, 90, Try(_GEMINI_SAID, request=_gemini(generation_config={"max_output_tokens": 20}))
    ),
    "a cap that a member refused": _spent(
        _SHORT,
        90,
        Try(wire(error("Unknown parameter: 'max_tokens'.", param="max_tokens"), status=400)),
        Try(_LONG, "m0", 30.0, ask(model="up-model")),
    ),
    "an older answer is longer than asked for": _spent(_SHORT, 90),
    "an older answer holds the stop text": capture(ask(stop="END"), wire(chat("Hello END")), ()),
    "a stop text that a member refused": capture(
        ask(stop=["END"]),
        wire(chat("Hello END")),
        (
            Try(wire(error("Unsupported parameter: 'stop'.", param="stop"), status=400)),
            Try(wire(chat("Hello END")), "m0", 30.0, ask(model="up-model")),
        ),
    ),
}

_CITED = {
    "annotations": [
        {
            "type": "url_citation",
            "url_citation": {"url": "https://a.test/1", "title": "A", "start_index": 0, "end_index": 2},
        }
    ]
}
_TORN = wire(
    stream(
        opening(),
        chunk("One "),
        b'data: {"choices":[{"delta":{"content":"two "}\n\n',
        chunk("three"),
        chunk(reason="stop"),
    )
)
_TORN_THOUGHT = wire(
    stream(opening(), b'data: {"choices":[{"delta":{"reasoning_content":"Hm."}\n\n', chunk("One"), chunk(reason="stop"))
)


def _spoken(*pieces: str) -> Any:
    audio = [chunk(delta={"audio": {"id": "audio_1", "data": piece}}) for piece in pieces]
    return wire(stream(opening(), *audio, chunk(reason="stop")))


ANSWERED: dict[str, Capture] = {
    "a text saved from a broken chunk": capture(_STREAM, wire(stream(*words("One ", "two ", "three"))), _TORN),
    "the same, cut anew": capture(_STREAM, wire(stream(*words("One t", "wo thr", "ee"))), _TORN),
    "a thought in a broken chunk is left out": capture(_STREAM, wire(stream(*words("One"))), _TORN_THOUGHT),
    "a completion has no place for sources": capture(
        ask("completions"),
        wire(completion("Hello.")),
        Try(wire(chat("Hello.", message=_CITED)), request=ask(model="up-model")),
    ),
    "audio that is cut and coded anew": capture(_STREAM, _spoken("aGVsbG8h"), _spoken("aGVs", "bG8h")),
    "audio whose pieces are padded": capture(_STREAM, _spoken("aGVsbG8h"), _spoken("aGVsbA==", "byE=")),
    "an answer of thoughts that another API keeps to itself": capture(
        ask("responses"),
        wire(response(output=[], usage=used(9, 90))),
        Try(wire(chat("", usage=_usage(90))), request=ask(model="up-model")),
    ),
    "a guard refuses what it is asked beside the member": capture(
        ask(),
        wire(error("The request was not let through."), status=403),
        (
            Try(
                wire(error("Blocked."), status=400),
                "m9",
                2.0,
                ask(model="guard", messages=[{"role": "user", "content": "Safe? Hello."}]),
            ),
            Try(wire(status=0, end="reset"), "m0", 3.0),
        ),
    ),
}

_TOOL = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object", "properties": {}}}}
_OTHER = {"type": "function", "function": {"name": "forget", "parameters": {"type": "object", "properties": {}}}}


def _claude(**members: Any) -> Ask:
    base = {"model": "claude", "max_tokens": 4096, "messages": [{"role": "user", "content": _PROMPT}]}
    return Ask("/v1/messages", {**base, **members})


def _anthropic(text: str = "Hello.") -> Any:
    return wire(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude",
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 9, "output_tokens": 2},
        }
    )


def _turned(*told: Any) -> dict[str, Any]:
    """A history in which tools were called with arguments that are no objects."""
    calls = [
        {"id": f"c{number}", "type": "function", "function": {"name": "look_up", "arguments": item}}
        for number, item in enumerate(told)
    ]
    results = [{"role": "tool", "tool_call_id": one["id"], "content": "ok"} for one in calls]
    return {
        "messages": [
            {"role": "assistant", "content": None, "tool_calls": calls},
            *results,
            {"role": "user", "content": _PROMPT},
        ]
    }


_PAPER = {"type": "file", "file": {"filename": "a.txt", "file_data": "data:text/plain;base64,SGVsbG8="}}

TRANSLATED: dict[str, Capture] = {
    "some of the tools are allowed": capture(
        ask(
            tools=[_TOOL, _OTHER],
            tool_choice={"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [_TOOL]}},
        ),
        _OK,
        Try(
            _anthropic(), request=_claude(tools=[{"name": "look_up", "input_schema": {}}], tool_choice={"type": "any"})
        ),
    ),
    "Gemini's members in snake case": capture(
        ask(
            max_tokens=20,
            stop=["END"],
            tools=[_TOOL],
            tool_choice="required",
            messages=[{"role": "system", "content": "Be kind."}, {"role": "user", "content": _PROMPT}],
        ),
        _OK,
        Try(
            wire(
                {
                    "candidates": [
                        {
                            "content": {"role": "model", "parts": [{"text": "Hello."}]},
                            "finishReason": "STOP",
                            "index": 0,
                        }
                    ],
                    "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 2, "totalTokenCount": 11},
                    "modelVersion": "g",
                    "responseId": "r",
                }
            ),
            request=_gemini(
                system_instruction={"parts": [{"text": "Be kind."}]},
                generation_config={"max_output_tokens": 20, "stop_sequences": ["END"]},
                tools=[{"function_declarations": [{"name": "look_up"}]}],
                tool_config={"function_calling_config": {"mode": "ANY"}},
            ),
        ),
    ),
    "arguments that are no object": capture(
        ask(**_turned("null", "", "5", "[]", "query")),
        _OK,
        Try(
            _anthropic(),
            request=_claude(
                messages=[
                    {
                        "role": "assistant",
                        "content": [
                            {"type": "tool_use", "id": f"c{n}", "name": "look_up", "input": {}} for n in range(5)
                        ],
                    },
                    {
                        "role": "user",
                        "content": [
                            *({"type": "tool_result", "tool_use_id": f"c{n}", "content": "ok"} for n in range(5)),
                            {"type": "text", "text": _PROMPT},
                        ],
                    },
                ]
            ),
        ),
    ),
    "a file of text goes on as text": capture(
        ask(messages=[{"role": "user", "content": [{"type": "text", "text": _PROMPT}, _PAPER]}]),
        _OK,
        Try(
            _anthropic(),
            request=_claude(
                messages=[
                    {"role": "user", "content": [{"type": "text", "text": _PROMPT}, {"type": "text", "text": "Hello"}]}
                ]
            ),
        ),
    ),
    "tools of one name in and out of a namespace": capture(
        ask(
            "responses",
            tools=[
                {"type": "custom", "name": "run"},
                {"type": "namespace", "name": "crm", "tools": [{"type": "function", "name": "run", "parameters": {}}]},
            ],
        ),
        wire(
            response(
                output=[
                    {
                        "type": "function_call",
                        "id": "fc_1",
                        "call_id": "call_1",
                        "name": "run",
                        "namespace": "crm",
                        "arguments": "{}",
                        "status": "completed",
                    }
                ]
            )
        ),
    ),
}

_CALLING = {"type": "function", "function": {"name": "s", "parameters": {"type": "object", "properties": {}}}}
#: What the client itself, its server or its API is the reason of.
OWING: dict[str, Capture] = {
    "a deployment's path names the model": capture(
        Ask(
            "/openai/deployments/g/chat/completions?api-version=2024-10-21",
            {"messages": [{"role": "user", "content": _PROMPT}]},
        ),
        wire(error("Failed.", type="server_error"), status=500),
    ),
    "a prompt of its own place has a model": capture(
        Ask("responses", {"prompt": {"id": "pmpt_1"}}), wire(error("Failed.", type="server_error"), status=500)
    ),
    "JSON that a stop text cut": capture(
        ask(response_format={"type": "json_object"}, stop=["\n\n"]), wire(chat('{"a": 1,'))
    ),
    "JSON that nests deeper than is read": capture(
        ask(response_format={"type": "json_object"}), wire(chat('{"a":' * 260 + "1" + "}" * 260))
    ),
    "headings that grow": capture(_STREAM, wire(stream(*words("\nChapter 1", "\nChapter 1.1", "\nChapter 1.1.1")))),
    "thoughts that were not to be shown": capture(ask(reasoning_format="hidden"), wire(chat("", usage=_usage(300)))),
    "predictions that were not kept": capture(
        ask(max_tokens=100, prediction={"type": "content", "content": "x"}),
        wire(chat(usage={**_usage(150), "completion_tokens_details": {"rejected_prediction_tokens": 80}})),
    ),
    "a call that the API's own models make": capture(
        ask(tools=[_CALLING]),
        wire(
            chat(
                None,
                "tool_calls",
                message={"tool_calls": [call(None, id="c", name="multi_tool_use.parallel", arguments="{}")]},
            )
        ),
    ),
    "a member that did not count": capture(
        ask(),
        wire(chat(usage={"prompt_tokens": 0, "completion_tokens": 5, "total_tokens": 5})),
        Try(
            wire(
                {
                    "message": {"role": "assistant", "content": "Hello."},
                    "done": True,
                    "done_reason": "stop",
                    "eval_count": 5,
                }
            ),
            request=Ask("/api/chat", {"model": "o", "messages": [{"role": "user", "content": _PROMPT}]}),
        ),
    ),
    "what is not implemented": capture(ask(), wire(error("Audio is not implemented."), status=501)),
    "a body with a byte order mark": capture(
        Ask("chat.completions", b'\xef\xbb\xbf{"model":"m","messages":[{"role":"user","content":"cf-q8w3zd"}]}'),
        wire(chat()),
    ),
}
