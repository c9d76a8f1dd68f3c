"""Right captures that differ, legally, from what one expects: nothing that gates may be violated on any of them.

Each is named by the freedom that it takes. Material for `test_adversarial`; knows no clause.
"""

from __future__ import annotations

import gzip
import json
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
    compact,
    completion,
    embeddings,
    error,
    listing,
    opening,
    stream,
    usage_chunk,
    wire,
    words,
)

_STREAM = ask(stream=True)
_USAGE = ask(stream=True, stream_options={"include_usage": True})
_TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
_TOOLS = ask(tools=[_TOOL])
_TOOLS_STREAM = ask(stream=True, tools=[_TOOL])
_OK = wire(chat())
_WORDS = wire(stream(*words("Hel", "lo.")))
_ERROR = error("The upstream failed.", type="api_error", code="upstream_error")
_503 = wire(error("busy", type="server_error"), status=503)
_CHOICE = {"index": 0, "delta": {"role": "assistant", "content": ""}, "logprobs": None, "finish_reason": None}
_CUT = wire(stream(opening(), chunk("One "), done=False), end="close")
_CLAUDE = Ask(
    "/v1/messages", {"model": "claude", "max_tokens": 9, "messages": [{"role": "user", "content": "cf-q8w3zd"}]}
)
_GEMINI = Ask("/v1beta/models/g:generateContent", {"contents": [{"parts": [{"text": "cf-q8w3zd"}]}]})
_AZURE = "/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21"


def _both(name: str, request: Ask, reply: Any, *caps: str) -> dict[str, Capture]:
    """The same bytes from an endpoint judged directly, and through a gateway that relays them."""
    return {
        f"{name}, direct": capture(request, reply, None, *caps),
        f"{name}, relayed": capture(request, reply, reply, *caps),
    }


def _raw(*texts: str) -> tuple[tuple[float, bytes], ...]:
    return tuple((n * 10.0, text.encode()) for n, text in enumerate(texts))


def _crlf(frames: tuple[tuple[float, bytes], ...]) -> tuple[tuple[float, bytes], ...]:
    return tuple((at, data.replace(b"\n", b"\r\n")) for at, data in frames)


#: No brotli at all, which nobody here can tell.
_BROTLI = wire(b"\x0b\x02\x80abc\x03", headers=("Content-Encoding: br",))
_NOTHING = wire(status=204, media="", framing="none")


def _later(body: Any) -> Any:
    return wire(((40.0, compact(body)),), media="application/json", framing="length")


def _gz(body: Any, **more: Any) -> Any:
    return wire(gzip.compress(compact(body), mtime=0), headers=("Content-Encoding: gzip",), **more)


STREAMS: dict[str, Capture] = {
    **_both("usage null on every chunk", _USAGE, wire(stream(*words("Hi", usage=None), usage_chunk()))),
    **_both("the finish chunk has content", _STREAM, wire(stream(opening(), chunk("Hel"), chunk("lo.", "stop")))),
    **_both(
        "the first chunk has content",
        _STREAM,
        wire(stream(chunk("Hi", delta={"role": "assistant"}), chunk(reason="stop"))),
    ),
    **_both("one chunk says it all", _STREAM, wire(stream(chunk("Hi", "stop", delta={"role": "assistant"})))),
    **_both(
        "the role in every chunk",
        _STREAM,
        wire(
            stream(
                *(chunk(w, delta={"role": "assistant"}) for w in "ab"),
                chunk(reason="stop", delta={"role": "assistant"}),
            )
        ),
    ),
    **_both(
        "content null beside the role",
        _STREAM,
        wire(stream(chunk(delta={"role": "assistant", "content": None}), chunk("Hi"), chunk(reason="stop"))),
    ),
    **_both(
        "refusal null in the first delta",
        _STREAM,
        wire(
            stream(
                chunk(delta={"role": "assistant", "content": "", "refusal": None}), chunk("Hi"), chunk(reason="stop")
            )
        ),
    ),
    **_both("a final delta with empty content", _STREAM, wire(stream(opening(), chunk("Hi"), chunk("", "stop")))),
    **_both(
        "no logprobs member",
        _STREAM,
        wire(
            stream(
                *(
                    {**c, "choices": [{k: v for k, v in c["choices"][0].items() if k != "logprobs"}]}
                    for c in words("Hi")
                )
            )
        ),
    ),
    **_both(
        "no finish_reason before the end",
        _STREAM,
        wire(
            stream(
                *({**c, "choices": [{k: v for k, v in c["choices"][0].items() if v is not None}]} for c in words("Hi"))
            )
        ),
    ),
    **_both(
        "unknown members",
        _STREAM,
        wire(stream(*words("Hi", obfuscation="x8", service_tier="default", system_fingerprint="fp_1"))),
    ),
    **_both("system_fingerprint null", _STREAM, wire(stream(*words("Hi", system_fingerprint=None, service_tier=None)))),
    **_both(
        "comments as keep-alive",
        _STREAM,
        wire(stream(b": OPENROUTER PROCESSING\n\n", b":\n\n", *words("Hi"), b": bye\n\n")),
    ),
    **_both("a retry field and event names", _STREAM, wire(stream(*(("message", c) for c in words("Hi"))))),
    **_both(
        "no space after the colon",
        _STREAM,
        wire(tuple((at, data.replace(b"data: ", b"data:")) for at, data in stream(*words("Hi")))),
    ),
    **_both("lines end with CRLF", _STREAM, wire(_crlf(stream(*words("Hel", "lo."))))),
    **_both(
        "a first chunk of empty choices",
        _STREAM,
        wire(stream(chunk(choices=[], prompt_filter_results=[]), *words("Hi"))),
    ),
    **_both(
        "an empty reasoning first",
        _STREAM,
        wire(stream(opening(), chunk(delta={"reasoning_content": "Hm."}), chunk("Hi"), chunk(reason="stop"))),
    ),
    **_both(
        "reasoning beside content",
        _STREAM,
        wire(stream(opening(), chunk(delta={"reasoning": "Hm.", "content": ""}), chunk("Hi"), chunk(reason="stop"))),
    ),
    **_both(
        "a refusal in deltas",
        _STREAM,
        wire(stream(opening(), chunk(delta={"refusal": "I cannot."}), chunk(reason="stop"))),
    ),
    **_both(
        "annotations in a delta",
        _STREAM,
        wire(
            stream(
                opening(),
                chunk(
                    "Hi",
                    delta={
                        "annotations": [
                            {
                                "type": "url_citation",
                                "url_citation": {
                                    "url": "https://example.com",
                                    "title": "t",
                                    "start_index": 0,
                                    "end_index": 1,
                                },
                            }
                        ]
                    },
                ),
                chunk(reason="stop"),
            )
        ),
    ),
    **_both("two events in one write", _STREAM, wire(((0.0, b"".join(d for _, d in stream(*words("a", "b")))),))),
    **_both(
        "every byte a write",
        _STREAM,
        wire(tuple((float(n), bytes([byte])) for n, byte in enumerate(b"".join(d for _, d in stream(*words("é")))))),
    ),
    **_both("body until close", _STREAM, wire(stream(*words("Hi")), framing="close", end="close")),
    **_both(
        "body until close, HTTP/1.0",
        _STREAM,
        wire(stream(*words("Hi")), framing="close", end="close", version="HTTP/1.0"),
    ),
    **_both("media type with charset", _STREAM, wire(stream(*words("Hi")), media="text/event-stream; charset=utf-8")),
    **_both("length of reason content_filter", _STREAM, wire(stream(*words("Hi", reason="content_filter")))),
    **_both("stopped by length", ask(stream=True, max_tokens=1), wire(stream(*words("Hi", reason="length")))),
    **_both("an answer of no text", _STREAM, wire(stream(opening(), chunk(reason="stop")))),
    **_both(
        "n 2, interleaved",
        ask(stream=True, n=2),
        wire(
            stream(
                opening(),
                opening(choice={"index": 1}),
                chunk("a"),
                chunk("b", choice={"index": 1}),
                chunk(reason="stop"),
                chunk(choice={"index": 1, "finish_reason": "length"}),
            )
        ),
    ),
    **_both(
        "n 2 in one chunk",
        ask(stream=True, n=2),
        wire(
            stream(
                *(
                    {**opening(), "choices": [{**_CHOICE, "index": i, "delta": d, "finish_reason": r} for i in (0, 1)]}
                    for d, r in (({"role": "assistant", "content": "a"}, None), ({}, "stop"))
                )
            )
        ),
    ),
    **_both(
        "logprobs",
        ask(stream=True, logprobs=True),
        wire(
            stream(
                opening(),
                chunk(
                    "Hi",
                    choice={
                        "logprobs": {
                            "content": [{"token": "Hi", "logprob": -0.1, "bytes": [72, 105], "top_logprobs": []}],
                            "refusal": None,
                        }
                    },
                ),
                chunk(reason="stop"),
            )
        ),
    ),
    **_both(
        "an error event with more members",
        _STREAM,
        wire(
            stream(
                opening(),
                chunk("One "),
                {"error": {**_ERROR["error"], "metadata": {"a": 1}}, "user_id": None},
                done=False,
            )
        ),
    ),
    **_both("an error event, then [DONE]", _STREAM, wire(stream(opening(), chunk("One "), _ERROR))),
    **_both("an error event alone", _STREAM, wire(stream(_ERROR, done=False))),
    **_both("a named error event", _STREAM, wire(stream(opening(), ("error", _ERROR), done=False))),
    **_both(
        "a moderation chunk without delta",
        _STREAM,
        wire(stream(opening(), chunk("Hi"), chunk(reason="stop"), chunk(choices=[], moderation={"flagged": False}))),
    ),
    **_both("unicode line separators in text", _STREAM, wire(stream(*words("a\u2028b", "c\x85d")))),
    **_both(
        "escaped instead of raw text",
        _STREAM,
        wire(_raw(*(f"data: {json.dumps(c)}\n\n" for c in words("é中😀")), "data: [DONE]\n\n")),
    ),
    **_both("a lone usage chunk that nobody asked for", _STREAM, wire(stream(*words("Hi"), usage_chunk()))),
    **_both(
        "usage in the finish chunk, not asked for",
        _STREAM,
        wire(
            stream(
                opening(),
                chunk("Hi"),
                chunk(reason="stop", usage={"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}),
            )
        ),
    ),
    **_both(
        "running usage that was asked for",
        ask(stream=True, stream_options={"include_usage": True, "continuous_usage_stats": True}),
        wire(
            stream(*words("Hi", usage={"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}), usage_chunk())
        ),
    ),
    **_both(
        "Azure's path, its first chunk filled",
        Ask(_AZURE, _STREAM.value),
        wire(
            stream(
                chunk(choices=[], prompt_filter_results=[{"prompt_index": 0, "content_filter_results": {}}]),
                *words("Hi", content_filter_results={}),
            )
        ),
    ),
    **_both(
        "the legacy API's reason under a token cap, told twice",
        ask("completions", stream=True, max_tokens=2),
        wire(
            stream(
                *(
                    {**completion(text, reason), "usage": None}
                    for text, reason in (("Hel", None), ("lo", "length"), ("", "length"))
                )
            )
        ),
    ),
    **_both(
        "a moderation after the usage",
        _USAGE,
        wire(stream(*words("Hi", usage=None), usage_chunk(), chunk(choices=[], moderation={"input": {}}))),
    ),
    **_both(
        "a legacy completion stream",
        ask("completions", stream=True),
        wire(
            stream(
                *(
                    {
                        "id": "cmpl-1",
                        "object": "text_completion",
                        "created": 1,
                        "model": "alias-1",
                        "choices": [{"text": t, "index": 0, "logprobs": None, "finish_reason": r}],
                    }
                    for t, r in (("Hel", None), ("lo.", None), ("", "stop"))
                )
            )
        ),
    ),
    "unicode escapes became raw text": capture(
        _STREAM,
        wire(stream(*words("é中"))),
        wire(_raw(*(f"data: {json.dumps(c)}\n\n" for c in words("é中")), "data: [DONE]\n\n")),
    ),
    "chunks were joined": capture(_STREAM, wire(stream(*words("Hello."))), _WORDS),
    "chunks were cut": capture(_STREAM, wire(stream(*words(*"Hello."))), _WORDS),
    "id, created, model and fingerprint are the gateway's own": capture(
        _STREAM,
        wire(stream(*words("Hi", id="gw-1", created=1, model="alias-1"))),
        wire(stream(*words("Hi", id="x", model="up-model", system_fingerprint="fp"))),
    ),
    "unasked usage was left out": capture(_STREAM, _WORDS, wire(stream(*words("Hel", "lo."), usage_chunk()))),
    "an empty reason became null": capture(
        _STREAM,
        _WORDS,
        wire(stream(opening(choice={"finish_reason": ""}), chunk("Hel", ""), chunk("lo.", ""), chunk(reason="stop"))),
    ),
    "reasoning was left out": capture(
        _STREAM,
        _WORDS,
        wire(
            stream(
                opening(), chunk(delta={"reasoning_content": "Hm."}), chunk("Hel"), chunk("lo."), chunk(reason="stop")
            )
        ),
    ),
    "a cut upstream became an abort": capture(
        _STREAM, wire(stream(opening(), chunk("One "), done=False), end="close"), _CUT
    ),
    "a cut upstream became a reset": capture(
        _STREAM, wire(stream(opening(), chunk("One "), done=False), end="reset"), _CUT
    ),
    "a cut upstream became an error event": capture(
        _STREAM, wire(stream(opening(), chunk("One "), _ERROR, done=False)), _CUT
    ),
    "a cut upstream became an error event and [DONE]": capture(
        _STREAM, wire(stream(opening(), chunk("One "), _ERROR)), _CUT
    ),
    "a cut before output became a status": capture(
        _STREAM, wire(_ERROR, status=502), wire(stream(opening(), done=False), end="reset")
    ),
    "only a part had come before the cut": capture(_STREAM, wire(stream(opening(), _ERROR, done=False)), _CUT),
    "an upstream without [DONE] that told its end": capture(
        _STREAM, _WORDS, wire(stream(*words("Hel", "lo."), done=False), end="close")
    ),
    "a JSON upstream was streamed": capture(
        _STREAM, wire(stream(*words("Hello."))), Try(_OK, request=ask(model="up-model"))
    ),
    "a streaming upstream was joined": capture(
        ask(), wire(chat("Hello.")), Try(_WORDS, request=ask(model="up-model", stream=True))
    ),
    "a hedged second member lost": capture(
        _STREAM,
        _WORDS,
        (Try(wire(stream(*words("Hel", "lo."), every=90.0)), "m0", 2.0), Try(_WORDS, "m1", 40.0)),
        "failover",
    ),
    "an idle upstream was ended with an error": capture(
        _STREAM,
        wire(stream(opening(), chunk("One "), error("The upstream timed out.", type="timeout_error"), done=False)),
        wire(stream(opening(), chunk("One "), done=False), end="stall"),
        "idle-timeout",
    ),
}

_WITH_CALL = {"tool_calls": [call(None, id="call_1", name="f", arguments='{"a": 1}')]}
WHOLE: dict[str, Capture] = {
    **_both(
        "no refusal, no logprobs",
        ask(),
        wire(
            {
                **chat(),
                "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}],
            }
        ),
    ),
    **_both("usage absent", ask(), wire({k: v for k, v in chat().items() if k != "usage"})),
    **_both("usage null", ask(), wire(chat(usage=None))),
    **_both(
        "usage with details",
        ask(),
        wire(
            chat(
                usage={
                    "prompt_tokens": 9,
                    "completion_tokens": 2,
                    "total_tokens": 11,
                    "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
                    "completion_tokens_details": {
                        "reasoning_tokens": 0,
                        "audio_tokens": 0,
                        "accepted_prediction_tokens": 0,
                        "rejected_prediction_tokens": 0,
                    },
                }
            )
        ),
    ),
    **_both(
        "usage details null",
        ask(),
        wire(
            chat(
                usage={
                    "prompt_tokens": 9,
                    "completion_tokens": 2,
                    "total_tokens": 11,
                    "prompt_tokens_details": None,
                    "completion_tokens_details": None,
                }
            )
        ),
    ),
    **_both(
        "usage with cost",
        ask(),
        wire(chat(usage={"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11, "cost": 0.0001})),
    ),
    **_both("empty content", ask(max_tokens=5), wire(chat("", "length"))),
    **_both("a refusal with content null", ask(), wire(chat(None, "stop", message={"refusal": "I cannot."}))),
    **_both("tool calls with content null", _TOOLS, wire(chat(None, "tool_calls", message=_WITH_CALL))),
    **_both("tool calls with content", _TOOLS, wire(chat("Let me see.", "tool_calls", message=_WITH_CALL))),
    **_both("tool calls with empty content", _TOOLS, wire(chat("", "tool_calls", message=_WITH_CALL))),
    **_both(
        "tool calls cut by length",
        _TOOLS,
        wire(chat(None, "length", message={"tool_calls": [call(None, id="call_1", name="f", arguments='{"a":')]})),
    ),
    **_both(
        "the deprecated function_call",
        ask(functions=[_TOOL["function"]]),
        wire(chat(None, "function_call", message={"function_call": {"name": "f", "arguments": "{}"}})),
    ),
    **_both(
        "an audio answer with content null",
        ask(modalities=["text", "audio"], audio={"voice": "alloy", "format": "wav"}),
        wire(
            chat(
                None,
                message={"audio": {"id": "audio_1", "data": "AAAA", "expires_at": 1785402847, "transcript": "Hello."}},
            )
        ),
    ),
    **_both("reasoning_content", ask(), wire(chat("Hi", message={"reasoning_content": "Hm."}))),
    **_both(
        "reasoning and reasoning_details",
        ask(),
        wire(chat("Hi", message={"reasoning": "Hm.", "reasoning_details": []})),
    ),
    **_both("annotations", ask(), wire(chat("Hi", message={"annotations": []}))),
    **_both("service tier, fingerprint", ask(), wire(chat(service_tier="default", system_fingerprint="fp_1"))),
    **_both("n 2", ask(n=2), wire({**chat(), "choices": [{**chat()["choices"][0], "index": i} for i in (0, 1)]})),
    **_both("n 1 said", ask(n=1), _OK),
    **_both(
        "logprobs",
        ask(logprobs=True),
        wire(
            chat(
                "Hi",
                choice={
                    "logprobs": {
                        "content": [
                            {
                                "token": "Hi",
                                "logprob": -0.5,
                                "bytes": None,
                                "top_logprobs": [{"token": "Hi", "logprob": -0.5, "bytes": [72]}],
                            }
                        ],
                        "refusal": None,
                    }
                },
            )
        ),
    ),
    **_both("pretty-printed JSON", ask(), wire(json.dumps(chat("é"), indent=2).encode())),
    **_both("a line feed after the JSON", ask(), wire(compact(chat()) + b"\n")),
    **_both("charset in the media type", ask(), wire(chat(), media="application/json; charset=utf-8")),
    **_both("a body in chunks", ask(), wire(chat(), framing="chunked")),
    **_both("a body until close", ask(), wire(chat(), framing="close", end="close")),
    **_both("a body until close, HTTP/1.0", ask(), wire(chat(), framing="close", end="close", version="HTTP/1.0")),
    **_both(
        "rate limit fields",
        ask(),
        wire(
            chat(),
            headers=(
                "x-ratelimit-remaining-requests: 9",
                "x-request-id: req_1",
                "Vary: Accept",
                "Vary: Origin",
                "Set-Cookie: a=1",
                "Set-Cookie: b=2",
            ),
        ),
    ),
    **_both(
        "gzip that was asked for", Ask(value=ask().value, headers=(("Accept-Encoding", "gzip, deflate"),)), _gz(chat())
    ),
    **_both("another path's prefix", Ask("/api/v1/chat/completions", ask().value), _OK),
    **_both(
        "Azure's path",
        Ask(_AZURE, ask().value),
        wire(
            chat(
                prompt_filter_results=[{"prompt_index": 0, "content_filter_results": {}}],
                choice={"content_filter_results": {}},
            )
        ),
    ),
    **_both("a dated model name", ask(), wire(chat(model="gpt-4o-2024-08-06"))),
    **_both(
        "an answer about errors",
        ask(),
        wire(chat('The reply was {"error": {"message": "None", "type": "None"}} and <html>')),
    ),
    **_both(
        "an answer of JSON",
        ask(response_format={"type": "json_object"}),
        wire(chat('{"error": null, "finish_reason": "error"}')),
    ),
    **_both("a legacy completion", ask("completions"), wire(completion())),
    **_both(
        "a legacy completion of no token",
        ask("completions"),
        wire(completion("", usage={"prompt_tokens": 9, "total_tokens": 9})),
    ),
    **_both(
        "a legacy completion of two prompts",
        ask("completions", prompt=["cf-q8w3zd a", "b"]),
        wire({**completion(), "choices": [{**completion()["choices"][0], "index": i} for i in (0, 1)]}),
    ),
    **_both(
        "a legacy echo with logprobs",
        ask("completions", echo=True, logprobs=1),
        wire(
            completion(
                "Ticket cf-q8w3zd: say hello. Hello.",
                choice={
                    "logprobs": {"tokens": ["x"], "token_logprobs": [None], "top_logprobs": [None], "text_offset": [0]}
                },
            )
        ),
    ),
    **_both("embeddings", ask("embeddings"), wire(embeddings([0.1, -2e-3]))),
    **_both("embeddings of whole numbers", ask("embeddings"), wire(embeddings([1, 0]))),
    **_both("embeddings of token lists", ask("embeddings", input=[[1, 2], [3]]), wire(embeddings([0.1], [0.2]))),
    **_both(
        "models",
        listing(),
        wire({"object": "list", "data": [{"id": "alias-1", "object": "model", "created": 0, "owned_by": "me"}]}),
    ),
    **_both("no models", listing(), wire({"object": "list", "data": []})),
    **_both(
        "one model",
        listing("/v1/models/alias-1"),
        wire({"id": "alias-1", "object": "model", "created": 0, "owned_by": "me"}),
    ),
    "numbers are spelled otherwise": capture(
        ask(temperature=1, top_p=0.5),
        wire(
            b'{"id":"c","object":"chat.completion","created":1785402847,"model":"alias-1","choices":[{"index":0,"message":{"role":"assistant","content":"\\u00e9"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}'
        ),
        Try(wire(chat("é")), request=ask(model="up-model", temperature=1.0, top_p=0.50)),
    ),
    "max_tokens was renamed": capture(
        ask(max_tokens=7), _OK, Try(_OK, request=ask(model="up-model", max_completion_tokens=7))
    ),
    "a stop text became a list": capture(ask(stop="END"), _OK, Try(_OK, request=ask(model="up-model", stop=["END"]))),
    "defaults were left out": capture(
        ask(temperature=1, n=1, tool_choice="auto", tools=[_TOOL], stream=False),
        _OK,
        Try(_OK, request=ask(model="up-model", tools=[_TOOL])),
    ),
    "defaults were written out": capture(
        ask(), _OK, Try(_OK, request=ask(model="up-model", temperature=1.0, n=1, stream=False, stop=None))
    ),
    "user and metadata were added": capture(
        ask(), _OK, Try(_OK, request=ask(model="up-model", user="u-1", metadata={"a": "b"}, store=False))
    ),
    "usage was asked for on the way up": capture(
        _STREAM,
        _WORDS,
        Try(
            wire(stream(*words("Hel", "lo."), usage_chunk())),
            request=ask(model="up-model", stream=True, stream_options={"include_usage": True}),
        ),
    ),
    "a system prompt was added": capture(
        ask(),
        _OK,
        Try(
            _OK,
            request=ask(
                model="up-model", messages=[{"role": "system", "content": "Be kind."}, *ask().value["messages"]]
            ),
        ),
    ),
    "content parts became a text": capture(
        ask(
            messages=[
                {"role": "user", "content": [{"type": "text", "text": "cf-q8w3zd"}, {"type": "text", "text": "Hi"}]}
            ]
        ),
        _OK,
        Try(_OK, request=ask(model="up-model", messages=[{"role": "user", "content": "cf-q8w3zd\nHi"}])),
    ),
    "null members of a message were left out": capture(
        ask(messages=[{"role": "user", "content": "cf-q8w3zd", "name": None}]),
        _OK,
        Try(_OK, request=ask(model="up-model", messages=[{"role": "user", "content": "cf-q8w3zd"}])),
    ),
    "arguments were spelled otherwise": capture(
        ask(
            messages=[
                {"role": "user", "content": "cf-q8w3zd"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [call(None, id="c", name="f", arguments='{"a": 1}')],
                },
                {"role": "tool", "tool_call_id": "c", "content": "r"},
            ]
        ),
        _OK,
        Try(
            _OK,
            request=ask(
                model="up-model",
                messages=[
                    {"role": "user", "content": "cf-q8w3zd"},
                    {
                        "role": "assistant",
                        "content": "",
                        "tool_calls": [call(None, id="c", name="f", arguments='{"a":1}')],
                    },
                    {"role": "tool", "tool_call_id": "c", "content": "r"},
                ],
            ),
        ),
    ),
    "missing content became empty": capture(
        ask(max_tokens=9),
        wire(chat("", "length")),
        wire({**chat(), "choices": [{"index": 0, "message": {"role": "assistant"}, "finish_reason": "length"}]}),
    ),
    "null content became empty": capture(ask(max_tokens=9), wire(chat("", "length")), wire(chat(None, "length"))),
    "content parts of a member became a text": capture(
        ask(), wire(chat("Hello.")), wire(chat([{"type": "text", "text": "Hello."}]))
    ),
    "a provider's reason became the API's": capture(ask(), wire(chat("Hi", "length")), wire(chat("Hi", "max_tokens"))),
    "stop beside tool calls became tool_calls": capture(
        _TOOLS, wire(chat(None, "tool_calls", message=_WITH_CALL)), wire(chat(None, "stop", message=_WITH_CALL))
    ),
    "ids were made for calls without one": capture(
        _TOOLS,
        wire(chat(None, "tool_calls", message=_WITH_CALL)),
        wire(
            chat(
                None,
                "tool_calls",
                message={"tool_calls": [{"type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}]},
            )
        ),
    ),
    "an Anthropic member behind it": capture(
        ask(stop=["END"]),
        _OK,
        Try(
            wire(
                {
                    "id": "msg_1",
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "text", "text": "Hello."}],
                    "stop_reason": "end_turn",
                    "usage": {"input_tokens": 9, "output_tokens": 2},
                }
            ),
            request=_CLAUDE,
        ),
    ),
    "an Anthropic error behind it": capture(
        ask(),
        wire(error("Overloaded", type="overloaded_error"), status=503),
        Try(
            wire({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, status=529),
            request=_CLAUDE,
        ),
    ),
    "a Gemini member behind it": capture(
        ask(),
        _OK,
        Try(
            wire(
                {
                    "candidates": [
                        {"content": {"parts": [{"text": "Hello."}], "role": "model"}, "finishReason": "STOP"}
                    ],
                    "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 2, "totalTokenCount": 11},
                }
            ),
            request=_GEMINI,
        ),
    ),
    "a Gemini error behind it": capture(
        ask(),
        wire(error("Quota exceeded for quota metric.", type="rate_limit_error"), status=429),
        Try(
            wire(
                [
                    {
                        "error": {
                            "code": 429,
                            "message": "Quota exceeded for quota metric.",
                            "status": "RESOURCE_EXHAUSTED",
                        }
                    }
                ],
                status=429,
            ),
            request=_GEMINI,
        ),
    ),
    "the members were asked with another order of keys": capture(
        ask(), _OK, Try(_OK, request=Ask(value=dict(reversed(list(ask(model="up-model").value.items())))))
    ),
    "a member's own way to embed": capture(
        ask("embeddings"),
        wire(embeddings([0.1, 0.2])),
        Try(wire({"embeddings": [[0.1, 0.2]]}), request=Ask("/api/embed", {"input": ["cf-q8w3zd"]})),
    ),
    "a recorder's word for both keys": capture(
        ask(), wire(chat(), headers=("Set-Cookie: **REDACTED**",)), Try(_OK, key="**REDACTED**")
    ),
    "a gzip member": capture(ask(), _OK, _gz(chat())),
    **_both("a coding that has no decoder here", ask(), _BROTLI, "failover"),
    "a member whose coding has no decoder here": capture(ask(), _OK, _BROTLI, "failover"),
    **_both("another operation without content", Ask("/v1/files/f", None, "DELETE"), _NOTHING, "failover"),
    **_both("the methods of a path", Ask("/v1/chat/completions", None, "OPTIONS"), _NOTHING, "failover"),
    **_both("no change since then", listing().headed(("If-None-Match", '"x"')), wire(status=304, media="")),
    **_both("a stored list", listing("/v1/chat/completions"), wire({"object": "list", "data": [], "has_more": False})),
    **_both(
        "a deleted model", Ask("/v1/models/m", None, "DELETE"), wire({"id": "m", "object": "model", "deleted": True})
    ),
    **_both("the head of a refusal", Ask("models", None, "HEAD"), wire(status=405, framing="close", end="close")),
    "a member that answers with a byte order mark": capture(ask(), _OK, wire(b"\xef\xbb\xbf" + compact(chat()))),
}

_LIMIT = wire(
    error("Rate limit reached", type="requests", code="rate_limit_exceeded"), status=429, headers=("Retry-After: 7",)
)
_NO_MODEL = error("The model `nope` does not exist or you do not have access to it.", code="model_not_found")
ERRORS: dict[str, Capture] = {
    **_both(
        "more members",
        ask(),
        wire({**error("Bad.", innererror={"code": "x"}, details=[]), "request_id": "req_1"}, status=400),
    ),
    **_both("a param and a code", ask(), wire(error("Bad.", param="temperature", code="invalid_value"), status=400)),
    **_both("an unknown model", ask(model="nope"), wire(_NO_MODEL, status=404)),
    **_both(
        "a message of two sentences and a link",
        ask(),
        wire(error("Incorrect API key provided. See https://platform.example.com/docs/keys."), status=401),
    ),
    **_both(
        "a message that quotes the request",
        ask(),
        wire(
            error(
                "Invalid type for 'messages[0].content': expected a string, but got {...} instead.",
                param="messages[0].content",
            ),
            status=400,
        ),
    ),
    **_both("a long message", ask(), wire(error("Unsupported value: " + "x" * 1500), status=400)),
    **_both(
        "problem details beside the error",
        ask(),
        wire({**error("Bad."), "title": "Bad Request", "status": 400}, status=400),
    ),
    **_both("status 201", ask("responses"), wire(error("No."), status=409)),
    "a 429 became 503": capture(ask(), wire(error("Try later.", type="server_error"), status=503), _LIMIT),
    "a 429 was kept with its Retry-After": capture(ask(), _LIMIT, _LIMIT),
    "a 500 became 502": capture(ask(), wire(_ERROR, status=502), wire(error("x", type="server_error"), status=500)),
    "a reset became 502": capture(ask(), wire(_ERROR, status=502), wire(status=0, end="reset")),
    "a silence became 504": capture(
        ask(), wire(error("The upstream timed out.", type="timeout_error"), status=504), wire(status=0, end="stall")
    ),
    "a member's refused key became 502": capture(
        ask(),
        wire(_ERROR, status=502),
        wire(error("Incorrect API key provided: sk-up-****abcd", code="invalid_api_key"), status=401),
    ),
    "a block page became 502": capture(
        ask(),
        wire(error("The upstream answered 403.", type="api_error"), status=502),
        wire(b"<!DOCTYPE html><html><body>Blocked</body></html>", status=403, media="text/html"),
    ),
    "an in-band error became a status": capture(
        ask(), wire(_ERROR, status=502), wire({"error": {"message": "x", "code": 502}})
    ),
    "a failing reason became an error event": capture(
        _STREAM,
        wire(stream(opening(), _ERROR, done=False)),
        wire(stream(chunk(delta={"content": ""}, choice={"finish_reason": "network_error"}))),
    ),
    "an empty 200 became 502": capture(ask(), wire(_ERROR, status=502), wire(b"")),
    "a retry of the same member answered": capture(
        ask(), _OK, (Try(_503, "m0", 2.0), Try(_OK, "m0", 300.0)), "retries"
    ),
    "another member answered": capture(ask(), _OK, (_503, _LIMIT, _OK), "failover"),
    "another member answered the stream": capture(
        _STREAM, _WORDS, (wire(stream(opening(), done=False), end="reset"), _WORDS), "failover"
    ),
    "a model that one member had lost": capture(ask(), _OK, (wire(_NO_MODEL, status=404), _OK), "failover"),
    "all members failed": capture(
        ask(),
        wire(error("All members failed.", type="server_error"), status=503),
        (_503, _LIMIT, wire(status=0, end="reset")),
        "failover",
    ),
    "a bad request was not repeated": capture(
        ask(),
        wire(error("Bad.", param="temperature"), status=400),
        wire(error("Bad.", param="temperature"), status=400),
        "failover",
        "retries",
    ),
    "a content filter's refusal": capture(
        ask(),
        wire(
            error(
                "The response was filtered due to the prompt triggering the content management policy.",
                code="content_filter",
            ),
            status=400,
        ),
        wire(
            error(
                "The response was filtered due to the prompt triggering the content management policy.",
                code="content_filter",
            ),
            status=400,
        ),
        "failover",
    ),
    "the gateway refused before any dispatch": capture(
        ask(),
        wire(error("Your budget is exhausted.", type="insufficient_quota", code="insufficient_quota"), status=429),
        (),
    ),
    "a wrong client key": capture(
        ask(), wire(error("Incorrect API key provided.", code="invalid_api_key"), status=401), ()
    ),
    "a guardrail refused the answer": capture(
        ask(), wire(error("The answer was blocked by a guardrail.", code="content_filter"), status=400), _OK
    ),
    "provider-blind, and nothing shows": capture(
        ask(),
        wire(chat("Hi")),
        wire(chat("Hi", model="up-model-2026", provider="p", system_fingerprint="fp")),
        "provider-blind",
    ),
    "provider-blind, and the answer names the company": capture(
        ask(),
        wire(chat("I was made by OpenAI, and up-front.")),
        wire(chat("I was made by OpenAI, and up-front.")),
        "provider-blind",
    ),
    "a model that no member has": capture(
        ask(model="nope"),
        wire(_NO_MODEL, status=404),
        Try(wire(_NO_MODEL, status=404), request=ask(model="nope")),
        "failover",
    ),
    "a parameter was taken away after a refusal": capture(
        ask(),
        _OK,
        (
            Try(wire(error("Unknown parameter: 'store'."), status=400), request=ask(model="up-model", store=True)),
            Try(_OK, "m0", 30.0, ask(model="up-model")),
        ),
    ),
    "a parameter of the client's was taken away after a refusal": capture(
        ask(temperature=0.3),
        _OK,
        (
            Try(wire(error("Unsupported value.", param="temperature"), status=400)),
            Try(_OK, "m0", 30.0, ask(model="up-model")),
        ),
    ),
    "a guard was asked about the request": capture(
        ask(),
        _OK,
        (
            Try(
                wire(chat("safe")),
                "m9",
                2.0,
                ask(model="guard", messages=[{"role": "user", "content": "Safe? Hello."}]),
            ),
            Try(_OK, "m0", 30.0),
        ),
    ),
    "a choice each from two dispatches": capture(
        ask(n=2),
        wire(
            {
                **chat(),
                "usage": {"prompt_tokens": 18, "completion_tokens": 4, "total_tokens": 22},
                "choices": [{**chat()["choices"][0], "index": i} for i in (0, 1)],
            }
        ),
        (Try(_OK, "m0", 2.0, ask(model="up-model", n=1)), Try(_OK, "m0", 30.0, ask(model="up-model", n=1))),
    ),
    "a batch in two parts": capture(
        ask("embeddings", input=["cf-q8w3zd", "b"]),
        wire(embeddings([0.1], [0.2], usage={"prompt_tokens": 8, "total_tokens": 8})),
        (
            Try(wire(embeddings([0.1])), "m0", 2.0, ask("embeddings", input=["cf-q8w3zd"])),
            Try(wire(embeddings([0.2])), "m0", 30.0, ask("embeddings", input=["b"])),
        ),
    ),
    "a guard was asked about the answer": capture(
        ask(), _OK, (_OK, Try(wire(chat("safe")), "m9", 40.0, Ask("/v1/moderations", {"input": "Hello."})))
    ),
    "a tool was spelled out": capture(
        ask(tools=[_TOOL]),
        _OK,
        Try(
            _OK,
            request=ask(
                model="up-model", tools=[{"type": "function", "function": {**_TOOL["function"], "strict": False}}]
            ),
        ),
    ),
    "a message that names a type": capture(
        ask(),
        wire(
            error(
                "Invalid value: expected one of {'type': 'text'} or {'type': 'json_object'}, got 7.",
                param="response_format",
            ),
            status=400,
        ),
    ),
    "a message that quotes the client": capture(
        ask(messages=[{"role": "user", "content": "cf-q8w3zd <h1>Hi</h1> http://localhost:80/x"}]),
        wire(error("Blocked words: <h1>Hi</h1>, http://localhost:80/x"), status=400),
    ),
    "a message with a link to the reference": capture(
        ask(),
        wire(
            error(
                "See https://platform.openai.com/docs/api-reference/embeddings and https://docs.example.com/v1/messages."
            ),
            status=400,
        ),
    ),
    "a model that is not available now": capture(
        ask(),
        wire(error("The model is currently not available, please try again later.", type="server_error"), status=503),
    ),
    "a 504 became 408": capture(
        ask(), wire(error("The request timed out.", type="timeout"), status=408), wire(error("timeout"), status=504)
    ),
    "a refusal under the API's other name": capture(
        ask(),
        wire(error("Your request was refused.", code="content_policy_violation"), status=400),
        wire(error("Your request was refused.", code="content_filter"), status=400),
    ),
    "the client's own key was passed on": capture(
        ask(),
        wire(error("Incorrect API key provided: sk-test-client."), status=401),
        Try(wire(error("Incorrect API key provided: sk-test-client."), status=401), key="sk-test-client"),
    ),
    "the faster of two members said something else": capture(
        ask(),
        wire(chat("One.")),
        (Try(_later(chat("One.")), "m0", 2.0), Try(_later(chat("Two.")), "m1", 12.0)),
        "failover",
    ),
    "the slower of two members was faster": capture(
        _STREAM,
        wire(stream(*words("Two."))),
        (Try(wire(stream(*words("One."), every=300.0)), "m0", 2.0), Try(wire(stream(*words("Two."))), "m1", 40.0)),
        "failover",
    ),
    "thoughts in tags became reasoning": capture(
        ask(), wire(chat("Hi", message={"reasoning_content": "Hm."})), wire(chat("<think>Hm.</think>\n\nHi"))
    ),
    "a refusal became the text": capture(
        ask(), wire(chat("I cannot.")), wire(chat(None, message={"refusal": "I cannot."}))
    ),
    "a version that looks like an address": capture(ask(), wire(error("Unsupported version 10.0.0.1.2"), status=400)),
    "a duplicate end was put right": capture(
        _STREAM, _WORDS, wire(stream(*words("Hel", "lo."), chunk(reason="stop"), b"data: [DONE]\n\n"))
    ),
    "embeddings were put in order": capture(
        ask("embeddings", input=["cf-q8w3zd", "b"]),
        wire(embeddings([0.1], [0.2])),
        wire(
            {
                **embeddings(),
                "data": [{"object": "embedding", "index": i, "embedding": [v]} for i, v in ((1, 0.2), (0, 0.1))],
            }
        ),
    ),
    "a member of the legacy endpoint's API is asked by chat": capture(
        ask("completions"), wire(completion("Hello.")), Try(wire(chat("Hello.")), request=ask(model="up-model"))
    ),
}
