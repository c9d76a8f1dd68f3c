"""Reports of gateways: finish reasons (b), content (c) and the life of a stream (d).

Facts from public issue threads, named by their number in the reports' list; a trailing letter marks a sibling of ours.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from tests.contract.captures import Ask, Try, ask, chat, chunk, error, opening, stream, usage_chunk, wire, words
from tests.contract.situation import Report, report

_STREAM = ask(stream=True)
_USAGE = ask(stream=True, stream_options={"include_usage": True})
_TOOLS = ask(
    stream=True,
    tools=[{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}],
)
_GEMINI = Ask("/v1beta/models/gemini:streamGenerateContent", {"contents": [{"parts": [{"text": "cf-q8w3zd"}]}]})
_ANTHROPIC = Ask("/v1/messages", {"model": "claude", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]})
_OLLAMA = Ask("/api/chat", {"model": "m", "messages": [{"role": "user", "content": "Hi"}]})
_ERROR = error("The upstream failed.", type="api_error", code="upstream_error")
_502 = wire(_ERROR, status=502)
_GOOD = wire(stream(*words("Hel", "lo.")))

_NETWORK_ERROR = chunk(
    delta={"role": "assistant", "content": ""},
    choice={"finish_reason": "stop", "native_finish_reason": "network_error"},
)
_OVERLOAD = {"code": 502, "message": "Worker local total request limit reached (33/32)"}
_SIXTY = [chunk(f"w{n} ") for n in range(60)]
_FORTY = wire(stream(opening(), *_SIXTY[:40], done=False), end="close")
_STOPPED = chunk(reason="stop")


def _joined(*events: Any, every: float = 10.0) -> bytes:
    return b"".join(data for _, data in stream(*events, every=every))


def _raw(body: bytes, *cuts: int, every: float = 10.0) -> tuple[tuple[float, bytes], ...]:
    """`body` cut at the offsets `cuts`."""
    edges = [0, *cuts, len(body)]
    return tuple((n * every, body[a:b]) for n, (a, b) in enumerate(pairwise(edges)))


def _claude(*texts: str, stop: str | None = "end_turn") -> Any:
    """A stream of Anthropic's messages; `stop` None: it breaks off."""
    events: list[tuple[str, dict[str, Any]]] = [
        ("message_start", {"type": "message_start", "message": {"id": "msg_1", "role": "assistant", "content": []}}),
        (
            "content_block_start",
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        ),
        *(
            (
                "content_block_delta",
                {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
            )
            for text in texts
        ),
    ]
    if stop is not None:
        events.append(
            ("message_delta", {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 2}})
        )
        events.append(("message_stop", {"type": "message_stop"}))
    return Try(wire(stream(*events, done=False), end="close" if stop is None else "complete"), request=_ANTHROPIC)


def _candidate(text: str, reason: str) -> Any:
    return Try(
        wire({"candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": reason}]}), request=_GEMINI
    )


REASONS: tuple[Report, ...] = (
    report(
        "G-26-mapped",
        "relay.reason.kept",
        up=_candidate("Hi", "MAX_TOKENS"),
        wrong=wire(chat("Hi")),
        right=wire(chat("Hi", "length")),
    ),
    report(
        "G-28-anthropic",
        "stream.terminal.present",
        request=_USAGE,
        up=_claude("Hel", "lo."),
        wrong=wire(stream(opening(), chunk("Hel"), chunk("lo."), usage_chunk())),
        right=wire(stream(*words("Hel", "lo."), usage_chunk())),
    ),
    report(
        "G-19-anthropic-length",
        "relay.reason.kept",
        request=_STREAM,
        up=_claude("Hel", stop="max_tokens"),
        wrong=wire(stream(*words("Hel"))),
        right=wire(stream(*words("Hel", reason="length"))),
    ),
    report(
        "G-19-blocked",
        "relay.reason.kept",
        up=Try(wire({"candidates": [], "promptFeedback": {"blockReason": "SAFETY"}}), request=_GEMINI),
        wrong=wire(chat("")),
        right=wire(chat("", "content_filter")),
    ),
    report(
        "G-17",
        "relay.reason.not-laundered",
        request=_STREAM,
        up=wire(stream(_NETWORK_ERROR)),
        wrong=wire(stream(chunk(delta={"role": "assistant", "content": ""}, reason="stop"))),
        right=(_502, wire(stream(_ERROR, done=False))),
    ),
    report(
        "G-17-verbatim",
        "relay.reason.not-laundered",
        request=_STREAM,
        up=wire(stream(_NETWORK_ERROR)),
        wrong=wire(stream(_NETWORK_ERROR)),
        right=_502,
    ),
    report(
        "G-17-direct",
        "relay.reason.native-agrees",
        request=_STREAM,
        wrong=wire(stream(_NETWORK_ERROR)),
        right=_502,
    ),
    report(
        "G-18",
        "relay.error.told",
        request=_STREAM,
        up=wire(stream(chunk(choices=[], error=_OVERLOAD))),
        wrong=wire(stream(opening(), _STOPPED)),
        right=(_502, wire(stream(_ERROR, done=False)), wire(stream(_ERROR))),
    ),
    report(
        "G-18-choice",
        "chunk.finish-reason.enum",
        "relay.error.told",
        request=_STREAM,
        up=wire(stream(chunk(delta={"content": ""}, choice={"finish_reason": "error"}, error=_OVERLOAD))),
        wrong=wire(stream(opening(), chunk(reason="error"))),
        right=(_502, wire(stream(opening(), _ERROR, done=False))),
    ),
    report(
        "G-25",
        "stream.terminal.present",
        request=_STREAM,
        up=wire(
            stream(
                opening(),
                chunk("ok"),
                chunk(reason="stop", usage={"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}),
            )
        ),
        wrong=wire(stream(opening(), chunk("ok"))),
        right=(
            wire(stream(opening(), chunk("ok"), _STOPPED)),
            wire(
                stream(
                    opening(),
                    chunk("ok"),
                    chunk(reason="stop", usage={"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}),
                )
            ),
        ),
    ),
    report(
        "G-26",
        "chat.object",
        "chat.finish-reason.enum",
        "chat.message.content-present",
        request=ask(max_tokens=8),
        wrong=wire(
            {
                "choices": [{"message": {"role": "assistant"}, "index": 0, "finish_reason": "MAX_TOKENS"}],
                "usage": {"completion_tokens": 5, "prompt_tokens": 9, "total_tokens": 14},
                "id": "chat",
                "object": "chat.completion.chunk",
            }
        ),
        right=wire(chat("", "length")),
    ),
    report(
        "G-26-stop",
        "chat.finish-reason.enum",
        request=ask(max_tokens=8),
        wrong=wire(chat("Hi", "STOP")),
        right=wire(chat("Hi")),
    ),
    report(
        "G-28",
        "stream.terminal.present",
        request=_USAGE,
        up=wire(stream(*words("Hel", "lo."), usage_chunk())),
        wrong=wire(stream(opening(), chunk("Hel"), chunk("lo."), usage_chunk())),
        right=wire(stream(*words("Hel", "lo."), usage_chunk())),
    ),
    # -- siblings ------------------------------------------------------------------------------------------------------
    report(
        "G-19-length-as-stop",
        "relay.reason.kept",
        up=wire(chat("1 2 3", "length")),
        wrong=wire(chat("1 2 3", "stop")),
        right=wire(chat("1 2 3", "length")),
    ),
    report(
        "G-19-filter-as-stop",
        "relay.reason.kept",
        request=_STREAM,
        up=wire(stream(*words("Hel", reason="content_filter"))),
        wrong=wire(stream(*words("Hel", reason="stop"))),
        right=wire(stream(*words("Hel", reason="content_filter"))),
    ),
    report(
        "G-19-synonym",  # a provider's spelling may become the API's
        up=wire(chat("Hello.", "end_turn")),
        right=wire(chat("Hello.", "stop")),
    ),
    report(
        "G-22-reason-error",
        "relay.reason.not-laundered",
        request=_STREAM,
        up=wire(stream(opening(), chunk(reason="error"))),
        wrong=wire(stream(opening(), _STOPPED)),
        right=_502,
    ),
    report(
        "G-22-reason-unknown",
        "chunk.finish-reason.enum",
        request=_STREAM,
        wrong=wire(stream(*words("Hel", reason="eos"))),
        right=wire(stream(*words("Hel", reason="stop"))),
    ),
    report(
        "G-24-twice",
        "stream.terminal.once",
        request=_STREAM,
        wrong=wire(stream(*words("Hel"), _STOPPED)),
        right=wire(stream(*words("Hel"))),
    ),
    report(
        "G-27-reason-null-at-end",
        "chat.finish-reason.enum",
        wrong=wire(chat("Hello.", None)),
        right=wire(chat("Hello.")),
    ),
    report(
        "G-27-stop-of-empty",  # an instant, empty stop is an answer
        request=_STREAM,
        up=wire(stream(opening(), _STOPPED)),
        right=wire(stream(opening(), _STOPPED)),
    ),
)

CONTENT: tuple[Report, ...] = (
    report(
        "G-30",
        "relay.empty.not-success",
        up=wire({"id": "x", "object": "chat.completion", "choices": []}),
        wrong=wire(chat("[Gateway] Upstream returned an empty response. Please retry.")),
        right=_502,
    ),
    report(
        "G-30-stream",
        "relay.empty.not-success",
        request=_STREAM,
        up=wire(stream(chunk(choices=[]))),
        wrong=wire(stream(*words("[Gateway] Upstream returned an empty response. Please retry."))),
        right=(_502, wire(stream(_ERROR, done=False))),
    ),
    report(
        "G-30-usage-chunk",  # a legal chunk without choices is no empty answer
        request=_USAGE,
        up=wire(stream(*words("Hello."), usage_chunk())),
        right=wire(stream(*words("Hello."), usage_chunk())),
    ),
    report(
        "G-31",
        "relay.success.kept",
        request=_STREAM,
        up=wire(
            stream(
                {
                    "choices": [],
                    "created": 0,
                    "id": "",
                    "model": "",
                    "object": "",
                    "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {}}],
                },
                *words("Hel", "lo."),
            )
        ),
        wrong=wire(stream(error("1 validation error for StreamResponse: object", type="server_error"), done=False)),
        right=(_GOOD,),
    ),
    report(
        "G-33",
        "chunk.id.stable",
        request=_STREAM,
        up=Try(
            wire(
                b'{"model":"m","message":{"role":"assistant","content":"Hi"},"done":false}\n'
                b'{"model":"m","message":{"role":"assistant","content":" you"},"done":false}\n{"done":true}\n'
            ),
            request=_OLLAMA,
        ),
        wrong=wire(stream(chunk("Hi", id="m-1"), chunk(" you", id="m-2"), chunk(reason="stop", id="m-3"))),
        right=wire(stream(*words("Hi", " you"))),
    ),
    report(
        "G-29-content-missing",
        "chat.message.content-present",
        "chat.message.content-string",
        wrong=wire(
            {
                **chat(),
                "choices": [
                    {"index": 0, "message": {"role": "assistant"}, "logprobs": None, "finish_reason": "length"}
                ],
            }
        ),
        right=wire(chat("", "length")),
    ),
    report(
        "G-29-content-null",
        "chat.message.content-string",
        wrong=wire(chat(None, "length")),
        right=wire(chat("", "length")),
    ),
    report(
        "G-32-content-list",
        "chat.message.content-string",
        wrong=wire(chat([{"type": "text", "text": "Hello."}])),
        right=wire(chat("Hello.")),
    ),
    report(
        "G-32-content-object",
        "chunk.delta.content-type",
        request=_STREAM,
        wrong=wire(stream(opening(), chunk({"text": "Hello."}), _STOPPED)),
        right=_GOOD,
    ),
    report(
        "G-34-choices-null",
        "chat.choices.present",
        wrong=wire({**chat(), "choices": None}),
        right=wire(chat()),
    ),
)

LIFE: tuple[Report, ...] = (
    report(
        "G-14-cut-after-output",
        "relay.truncation.told",
        request=_STREAM,
        up=_FORTY,
        wrong=wire(stream(opening(), *_SIXTY[:40], _STOPPED)),
        right=(
            wire(stream(opening(), *_SIXTY[:40], _ERROR, done=False)),
            wire(stream(opening(), *_SIXTY[:40], done=False), end="close"),
            wire(stream(opening(), *_SIXTY[:40], done=False), end="reset"),
        ),
    ),
    report(
        "G-14-broken-event",
        "stream.event.json",
        request=_STREAM,
        up=wire(stream(opening(), *_SIXTY[:9], b'data: {"choices":[{"index":0,"del\n\n', *_SIXTY[9:], _STOPPED)),
        wrong=wire(stream(opening(), *_SIXTY[:9], b'data: {"choices":[{"index":0,"del\n\n', *_SIXTY[9:], _STOPPED)),
        right=(
            wire(stream(opening(), *_SIXTY, _STOPPED)),
            wire(stream(opening(), *_SIXTY[:9], _ERROR, done=False)),
        ),
    ),
    report(
        "G-38",
        "stream.done.present",
        request=_USAGE,
        up=wire(stream(*words("OK"), usage_chunk())),
        wrong=wire(stream(*words("OK"), usage_chunk(), done=False)),
        right=wire(stream(*words("OK"), usage_chunk())),
    ),
    report(
        "G-40",
        "relay.truncation.told",
        request=_STREAM,
        caps="failover",
        up=_FORTY,
        wrong=wire(stream(opening(), *_SIXTY[:40], done=False)),
        right=(
            wire(stream(opening(), *_SIXTY[:40], _ERROR, done=False)),
            wire(stream(opening(), *_SIXTY[:40], done=False), end="close"),
        ),
    ),
    report(
        "G-41-at-once",
        "relay.empty.not-success",
        "relay.truncation.told",
        request=_STREAM,
        up=wire(stream(done=False), end="close"),
        wrong=wire(
            stream(
                {
                    "id": "",
                    "object": "chat.completion.chunk",
                    "created": 0,
                    "model": "",
                    "choices": [{"index": 0, "delta": {}, "finish_reason": None}],
                    "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
                }
            )
        ),
        right=_502,
    ),
    report(
        "G-41-after-chunks",
        "relay.truncation.told",
        request=_STREAM,
        up=wire(stream(opening(), chunk("One "), done=False)),
        wrong=wire(
            stream(
                opening(), chunk("One "), chunk(usage={"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0})
            )
        ),
        right=wire(stream(opening(), chunk("One "), _ERROR, done=False)),
    ),
    report(
        "G-45",
        "stream.event.has-data",
        request=_STREAM,
        up=_GOOD,
        wrong=wire(
            stream(
                *(
                    b"id: %d\n" % n + data
                    for n, data in enumerate(d for _, d in stream(opening(), chunk("Hel"), done=False))
                ),
                b": ping\n\n",
                *(
                    b"id: %d\n" % n + data
                    for n, data in enumerate(d for _, d in stream(chunk("lo."), _STOPPED, done=False))
                ),
            )
        ),
        right=(
            wire(stream(opening(), chunk("Hel"), b": ping\n\n", chunk("lo."), _STOPPED)),
            wire(stream(b"id: 1\n" + _joined(opening())[:-14], b": ping\n", chunk("Hel"), chunk("lo."), _STOPPED)),
        ),
    ),
    report(
        "G-46",
        "relay.success.kept",
        request=_STREAM,
        up=wire(stream(b":\n\n", *words("Hel", "lo."))),
        wrong=wire(stream(error("unknown stream error: unexpected end of JSON input", type="error"), done=False)),
        right=(_GOOD, wire(stream(b":\n\n", *words("Hel", "lo.")))),
    ),
    report(
        "G-47",
        "relay.text.equal",
        request=_STREAM,
        up=wire(_raw(_joined(*words("Hel", "lo.")), 30, 260, 261)),
        wrong=wire(stream(opening(), chunk("lo."), _STOPPED)),
        right=_GOOD,
    ),
    report(
        "G-47-crlf",
        "relay.text.equal",
        request=_STREAM,
        up=wire(_raw(_joined(*words("Hel", "lo.")).replace(b"\n", b"\r\n"), 190, 191)),
        wrong=wire(stream(*words("lo."))),
        right=_GOOD,
    ),
    report(
        "G-48-cut",
        "relay.success.kept",
        request=_STREAM,
        up=wire(_raw(_joined(*words("中文", "ok")), 240)),
        wrong=wire(
            stream(
                opening(), error("invalid UTF-8 in SSE stream: incomplete utf-8 byte sequence", type="e"), done=False
            )
        ),
        right=wire(stream(*words("中文", "ok"))),
    ),
    report(
        "G-48-lossy",
        "relay.text.equal",
        request=_STREAM,
        up=wire(stream(*words("中文", "ok"))),
        wrong=wire(stream(*words("中�", "ok"))),
        right=wire(stream(*words("中文", "ok"))),
    ),
    report(
        "G-48-half",
        "stream.event.json",
        request=_STREAM,
        up=wire(stream(*words("中文", "ok"))),
        wrong=wire(
            stream(
                opening(),
                b'data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"\xe4\xb8\n\n',
                chunk("ok"),
                _STOPPED,
            )
        ),
        right=wire(stream(*words("中文", "ok"))),
    ),
    report(
        "G-50",
        "stream.lines.fields",
        request=_USAGE,
        up=wire(stream(*words("Hel", "lo."), usage_chunk())),
        wrong=wire(
            stream(
                opening(),
                chunk("Hel"),
                chunk("lo."),
                _joined(_STOPPED)[6:-14],
                usage_chunk(),
                b"[DONE]\n\n",
                done=False,
            )
        ),
        right=wire(stream(*words("Hel", "lo."), usage_chunk())),
    ),
    report(
        "G-47-anthropic",
        "relay.text.equal",
        request=_STREAM,
        up=_claude("Hel", "lo."),
        wrong=wire(stream(*words("lo."))),
        right=wire(stream(*words("Hel", "lo."))),
    ),
    report(
        "G-40-anthropic",
        "relay.truncation.told",
        request=_STREAM,
        up=_claude("Hel", stop=None),
        wrong=wire(stream(*words("Hel"))),
        right=wire(stream(opening(), chunk("Hel"), _ERROR, done=False)),
    ),
    report(
        "G-53",
        "stream.delivery.incremental",
        request=_STREAM,
        up=wire(stream(*words("1 ", "2 ", "3 ", "4 "), every=200.0)),
        wrong=wire(stream(*words("1 ", "2 ", "3 ", "4 "), every=0.0)),
        right=wire(stream(*words("1 ", "2 ", "3 ", "4 "), every=200.0)),
    ),
    report(
        "G-55",
        "http.content-type.event-stream",
        request=_STREAM,
        up=_GOOD,
        wrong=wire(stream(*words("Hel", "lo.")), media="application/json"),
        right=(_GOOD, wire(stream(*words("Hel", "lo.")), media="text/event-stream; charset=utf-8")),
    ),
    report(
        "G-55-missing",
        "http.content-type.event-stream",
        request=_STREAM,
        wrong=wire(stream(*words("Hel", "lo.")), media=""),
        right=_GOOD,
    ),
    report(
        "G-56",
        "reply.mode.json",
        up=wire(stream(*words("Hi"))),
        wrong=wire(stream(*words("Hi"))),
        right=(wire(chat("Hi")), _502),
    ),
    report(
        "G-56-echo",
        "error.message.no-raw-body",
        up=wire(stream(*words("Hi"))),
        wrong=wire(
            error('Empty or invalid response from LLM endpoint. Received: data: {"id":"chatcmpl-1"}', type="api_error"),
            status=500,
        ),
        right=(wire(chat("Hi")), _502),
    ),
    report(
        "G-93",
        "http.body.complete",
        request=_STREAM,
        up=wire(stream(*words(*("w " for _ in range(12))))),
        wrong=wire(stream(*words(*("w " for _ in range(12)))[:7], done=False), end="close"),
        right=wire(stream(*words(*("w " for _ in range(12))))),
    ),
    # -- siblings ------------------------------------------------------------------------------------------------------
    report(
        "G-37-done-twice",
        "stream.done.once",
        request=_STREAM,
        wrong=wire(stream(*words("Hi"), b"data: [DONE]\n\n")),
        right=_GOOD,
    ),
    report(
        "G-37-after-done",
        "stream.done.last",
        request=_STREAM,
        wrong=wire(stream(*words("Hi"), b"data: [DONE]\n\n", chunk(reason=None), done=False)),
        right=_GOOD,
    ),
    report(
        "G-39-json-cut",
        "relay.truncation.told",
        up=wire(b'{"id":"chatcmpl-1","object":"chat.completion","choices":[{"index":0,"mess', framing="close"),
        wrong=wire(chat("")),
        right=(_502,),
    ),
    report(
        "G-42-json-short",
        "http.body.complete",
        wrong=wire(chat(), framing="", headers=("Content-Length: 9000",)),
        right=wire(chat()),
    ),
    report(
        "G-44-ping",
        "stream.event.json",
        request=_STREAM,
        wrong=wire(stream(b"data: ping\n\n", *words("Hi"))),
        right=wire(stream(b": ping\n\n", *words("Hi"))),
    ),
    report(
        "G-44-empty-data",
        "stream.event.has-data",
        request=_STREAM,
        wrong=wire(stream(b"data:\n\n", *words("Hi"))),
        right=wire(stream(b":\n\n", *words("Hi"))),
    ),
    report(
        "G-49-done-glued",
        "stream.event.json",
        "stream.done.present",
        request=_STREAM,
        wrong=wire(stream(*words("Hi")[:-1], _joined(_STOPPED)[:-16] + b"\ndata: [DONE]\n\n", done=False)),
        right=_GOOD,
    ),
    report(
        "G-52-last-blank-missing",
        "stream.event.terminated",
        request=_STREAM,
        wrong=wire(stream(*words("Hi"), b"data: [DONE]\n", done=False)),
        right=_GOOD,
    ),
    report(
        "G-54-never-ends",
        "stream.end.arrives",
        request=_STREAM,
        wrong=wire(stream(*words("Hi")), end="stall"),
        right=_GOOD,
    ),
    report(
        "G-57-json-for-stream",
        "reply.mode.stream",
        request=_STREAM,
        up=wire(chat()),
        wrong=wire(chat()),
        right=(wire(stream(*words("Hello."))), _502),
    ),
    report(
        "G-57-text-twice",
        "relay.text.equal",
        request=_STREAM,
        up=_GOOD,
        wrong=wire(stream(*words("Hel", "lo.", "Hel", "lo."))),
        right=_GOOD,
    ),
    report(
        "G-59-usage-ends-stream",
        "stream.terminal.present",
        request=_STREAM,
        up=wire(stream(opening(), chunk("Hel"), usage_chunk(), chunk("lo."), _STOPPED)),
        wrong=wire(stream(opening(), chunk("Hel"), usage_chunk())),
        right=(_GOOD,),
    ),
)
