"""Reported streams (categories b and f): how they ended, and how their events were framed.

Wire data from public reports, named by their ids in the collection; `S-` ids are siblings of the same kinds.
"""

from __future__ import annotations

from typing import Any

from conformance.cassette.model import Envelope
from tests.contract.captures import (
    ask,
    call,
    chat,
    chunk,
    compact,
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
TOOLS = ask(stream=True, tools=[{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}])

BROKEN = wire(error("The upstream failed.", type="server_error", code="upstream_error"), status=502)
FAILED = error("The upstream failed.", type="server_error", code="upstream_error")


def sse(*events: Any, done: bool = True, **how: Any) -> Envelope:
    """A stream of those events."""
    return wire(stream(*events, done=done), **how)


def text(data: bytes, **how: Any) -> Envelope:
    """A stream of those very bytes, in one frame."""
    return wire(((0.0, data),), **how)


def lines(*events: Any, prefix: bytes = b"data: ", end: bytes = b"\n\n", done: bool = True) -> bytes:
    """The events with another prefix or line end than usual."""
    return b"".join(prefix + compact(item) + end for item in events) + (prefix + b"[DONE]" + end if done else b"")


HELLO = words("Hello", ".")
WHOLE = sse(*HELLO)
CUT = HELLO[:2]
TOLD_BROKEN = sse(*CUT, FAILED, done=False)
CALLED = (
    opening(),
    chunk(delta={"tool_calls": [call(0, id="call_x", name="read", arguments="")]}),
    chunk(delta={"tool_calls": [call(0, arguments="{}")]}),
    chunk(reason="tool_calls"),
)


def ends_with(reason: Any, right: str, id: str) -> Report:
    """A stream whose finish reason is a word of the provider's own, and the standard one that it means."""
    return Report(
        id=id,
        ask=STREAM,
        wrong=sse(*words("Hello", reason=reason)),
        clauses=("chunk.finish-reason.enum",),
        right=(sse(*words("Hello", reason=right)),),
    )


def answered(reason: Any, right: str, id: str, relaying: Envelope | None = None) -> Report:
    """The same without a stream; `relaying` is what a gateway sends that does not know what its member meant."""
    return Report(
        id=id,
        ask=CHAT,
        wrong=wire(chat("Hello", reason)),
        clauses=("chat.finish-reason.enum",),
        right=(relaying or wire(chat("Hello", right)),),
    )


_RESET = sse(*CUT, done=False, end="reset")

TERMINALS = (
    Report(
        id="P-080",
        ask=STREAM,
        wrong=sse(*CUT, chunk(reason="stop")),
        upstream=(_RESET,),
        clauses=("relay.truncation.told",),
        right=(TOLD_BROKEN, BROKEN, sse(opening(), FAILED)),
        direct=False,
        why="that the end is made up shows only beside the upstream's",
    ),
    Report(
        id="P-081",
        ask=STREAM,
        wrong=sse(opening(), chunk(delta={"reasoning_content": "Let me see"}), done=False, end="stall"),
        clauses=("stream.end.arrives", "timeout.idle.told"),
        capabilities=("idle-timeout",),
        right=(sse(opening(), chunk(delta={"reasoning_content": "Let me see"}), FAILED, done=False),),
    ),
    Report(
        id="P-083",
        ask=STREAM,
        wrong=sse(*HELLO, done=False, end="stall"),
        clauses=("stream.end.arrives",),
        capabilities=("idle-timeout",),
        right=(WHOLE,),
    ),
    Report(id="P-085", ask=STREAM, wrong=sse(*HELLO, done=False), clauses=("stream.done.present",), right=(WHOLE,)),
    Report(
        id="P-085b",
        ask=STREAM,
        wrong=sse(*CUT, done=False),
        clauses=("stream.done.present", "relay.truncation.told"),
        right=(TOLD_BROKEN,),
    ),
    Report(
        id="P-086",
        ask=STREAM,
        wrong=sse(
            *CUT,
            {
                **chunk("", "error"),
                "error": {"code": 502, "message": "Provider disconnected", "metadata": {"error_type": "x"}},
            },
        ),
        clauses=("stream.error.shape",),
        right=(TOLD_BROKEN, BROKEN),
    ),
    Report(
        id="P-086b",
        ask=STREAM,
        wrong=sse(
            *CUT,
            {
                "id": "gen-1",
                "object": "chat.completion.chunk",
                "choices": [],
                "error": {"code": 502, "message": "Worker local total request limit reached (33/32)"},
            },
            done=False,
        ),
        clauses=("stream.error.shape",),
        right=(TOLD_BROKEN,),
    ),
    Report(
        id="S-error-dropped",
        ask=STREAM,
        wrong=sse(*CUT, chunk(reason="stop")),
        upstream=(sse(*CUT, {"error": {"code": 502, "message": "Worker limit reached"}}, done=False),),
        clauses=("relay.error.told",),
        right=(TOLD_BROKEN, BROKEN),
        direct=False,
        why="that the end is made up shows only beside the upstream's",
    ),
    Report(
        id="P-088",
        ask=STREAM,
        wrong=sse(opening(), chunk(reason="network_error")),
        clauses=("chunk.finish-reason.enum",),
        right=(BROKEN, sse(FAILED, done=False), sse(opening(), FAILED)),
    ),
    Report(
        id="S-network-error-stop",
        ask=STREAM,
        wrong=sse(opening(), chunk(reason="stop")),
        upstream=(sse(opening(), chunk(reason="network_error")),),
        clauses=("relay.reason.not-laundered",),
        right=(BROKEN,),
        direct=False,
        why="an empty stop is an answer that an endpoint may give",
    ),
    ends_with("sensitive", "content_filter", "P-090"),
    ends_with("eos", "stop", "P-091"),
    Report(
        id="P-093",
        ask=STREAM,
        wrong=sse(
            chunk("", "", delta={"role": "assistant"}),
            chunk(" Hello", "", delta={"role": "assistant"}),
            chunk("", "stop", delta={"role": "assistant"}),
        ),
        clauses=("chunk.finish-reason.enum",),
        right=(sse(*words(" Hello")),),
    ),
    Report(
        id="P-095",
        ask=TOOLS,
        wrong=sse(*CALLED[:-1], chunk(reason="tool_call")),
        clauses=("chunk.finish-reason.enum",),
        right=(sse(*CALLED),),
    ),
    Report(
        id="P-096",
        ask=TOOLS,
        wrong=sse(*CALLED[:-1], chunk(reason="stop")),
        clauses=("tool.finish-reason",),
        right=(sse(*CALLED),),
    ),
    Report(
        id="P-098",
        ask=STREAM,
        wrong=text(lines(*CUT, done=False) + b'{"error":{"code":"prohibited_content","message":"Blocked."}}\n\n'),
        clauses=("stream.lines.fields",),
        right=(
            sse(*CUT, error("Blocked.", code="content_filter"), done=False),
            sse(*CUT, ("error", FAILED), done=False),
        ),
    ),
    ends_with("STOP", "stop", "S-upper-case"),
    ends_with("max_tokens", "length", "S-anthropic-word"),
    ends_with("end_turn", "stop", "S-end-turn"),
    ends_with("completed", "stop", "S-completed"),
    answered("eos", "stop", "S-json-eos"),
    answered("", "stop", "S-json-empty", BROKEN),
    answered(None, "stop", "S-json-null"),
    answered("MAX_TOKENS", "length", "S-json-max-tokens"),
    answered("error", "stop", "S-json-error", BROKEN),
    answered("model_context_window_exceeded", "length", "S-json-window"),
    Report(
        id="S-two-reasons",
        ask=STREAM,
        wrong=sse(*HELLO, chunk(reason="stop")),
        clauses=("stream.terminal.once",),
        right=(WHOLE,),
    ),
    Report(
        id="S-text-after-reason",
        ask=STREAM,
        wrong=sse(opening(), chunk(reason="stop"), chunk("Hello.")),
        clauses=("stream.terminal.last",),
        right=(sse(*words("Hello.")),),
    ),
    Report(
        id="S-done-without-reason",
        ask=STREAM,
        wrong=sse(*HELLO[:-1]),
        clauses=("stream.terminal.present",),
        right=(sse(*HELLO[:-1], FAILED, done=False),),
    ),
    Report(
        id="S-two-done",
        ask=STREAM,
        wrong=sse(*HELLO, b"data: [DONE]\n\n"),
        clauses=("stream.done.once",),
        right=(WHOLE,),
    ),
    Report(
        id="S-usage-after-done",
        ask=METERED,
        wrong=sse(*HELLO, b"data: [DONE]\n\n", usage_chunk(), done=False),
        clauses=("stream.done.last",),
        right=(sse(*HELLO, usage_chunk()),),
    ),
    Report(
        id="S-chunk-after-error",
        ask=STREAM,
        wrong=sse(*CUT, FAILED, chunk("more"), chunk(reason="stop")),
        clauses=("stream.error.once",),
        right=(TOLD_BROKEN,),
    ),
)

_NO_SPACE = text(lines(*HELLO, usage_chunk(), prefix=b"data:"))
_PING = b": ping\n\n"
_WITH_IDS = b"".join(b"id: %d\ndata: %s\n\n" % (n, compact(item)) for n, item in enumerate(HELLO))
_CRLF = lines(*HELLO, end=b"\r\n\r\n")
_EMOJI = "🌍".encode()


def _said(piece: bytes) -> bytes:
    return b"data: " + compact(chunk("@@")).replace(b"@@", piece) + b"\n\n"


_HEAD = b"data: " + compact(opening()) + b"\n\n"
_TAIL = b"data: " + compact(chunk(reason="stop")) + b"\n\ndata: [DONE]\n\n"

FRAMES = (
    Report(
        id="P-140",
        ask=METERED,
        wrong=sse(*HELLO[:-1], done=False),
        upstream=(_NO_SPACE,),
        clauses=("stream.done.present", "relay.text.equal"),
        right=(_NO_SPACE, sse(*HELLO, usage_chunk())),
        direct=False,
        why="the space after the colon is optional; what a reader loses for want of it shows beside the upstream's",
    ),
    Report(
        id="P-141",
        ask=STREAM,
        right=(
            text(b": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n" + lines(*HELLO)),
            text(b":\n\n" + lines(*HELLO)),
        ),
    ),
    Report(
        id="S-comment-as-data",
        ask=STREAM,
        wrong=text(b"data: OPENROUTER PROCESSING\n\n" + lines(*HELLO)),
        upstream=(text(b": OPENROUTER PROCESSING\n\n" + lines(*HELLO)),),
        clauses=("stream.event.json",),
        right=(WHOLE,),
    ),
    Report(
        id="P-143",
        ask=STREAM,
        wrong=text(_HEAD + b"data: : keepalive\n\n" + lines(*HELLO[1:])),
        clauses=("stream.event.json",),
        right=(WHOLE, text(_HEAD + b": keepalive\n\n" + lines(*HELLO[1:]))),
    ),
    Report(
        id="P-145",
        ask=STREAM,
        wrong=text(_WITH_IDS[: -len(compact(HELLO[-1])) - 14] + _PING + lines(HELLO[-1])),
        upstream=(WHOLE,),
        clauses=("stream.event.has-data",),
        right=(WHOLE, text(_HEAD + _PING + lines(*HELLO[1:])), text(_WITH_IDS + b"data: [DONE]\n\n")),
    ),
    Report(
        id="P-146",
        ask=STREAM,
        wrong=text(_HEAD + b"event: ping\ndata: \n\n" + lines(*HELLO[1:])),
        clauses=("stream.event.has-data",),
        right=(WHOLE, text(_HEAD + _PING + lines(*HELLO[1:]))),
    ),
    Report(
        id="P-148",
        ask=STREAM,
        wrong=text(_CRLF + b": ping - 2024-02-14\r\n\r\n"),
        clauses=("stream.lines.lf",),
        right=(WHOLE,),
        gates=False,
        why="the event stream format allows LF, CR and CRLF",
    ),
    Report(
        id="P-150",
        ask=STREAM,
        wrong=text(_HEAD + b'event: error\ndata: {"error":\ndata: ' + compact(FAILED["error"]) + b"}\n\n"),
        clauses=("stream.event.single-line",),
        right=(sse(opening(), FAILED, done=False),),
        gates=False,
        why="the event stream format allows an event of several data lines",
    ),
    Report(
        id="P-151",
        ask=STREAM,
        wrong=text(_HEAD + _said("\ufffd\ufffd".encode()) + _TAIL),
        upstream=(wire(((0.0, _HEAD + _said(_EMOJI)[:-130]), (9.0, _said(_EMOJI)[-130:] + _TAIL))),),
        clauses=("relay.text.equal",),
        right=(text(_HEAD + _said(_EMOJI) + _TAIL), text(_HEAD + _said(b"\\ud83c\\udf0d") + _TAIL)),
        direct=False,
        why="a replacement character is a character that an endpoint may send",
    ),
    Report(
        id="P-151b",
        ask=STREAM,
        wrong=text(_HEAD + _said("修".encode()[1:]) + _TAIL),
        upstream=(text(_HEAD + _said("修".encode()) + _TAIL),),
        clauses=("stream.text.utf8",),
        right=(text(_HEAD + _said("修".encode()) + _TAIL),),
    ),
    Report(
        id="P-153",
        ask=STREAM,
        wrong=text(b"\xef\xbb\xbf" + lines(*HELLO)),
        clauses=("stream.text.bom",),
        right=(WHOLE,),
        gates=False,
        why="the event stream format allows one byte order mark at the start",
    ),
    Report(
        id="S-prefix-doubled",
        ask=STREAM,
        wrong=text(lines(*HELLO, prefix=b"data: data: ")),
        clauses=("stream.event.json",),
        right=(WHOLE,),
        answers=False,
        why="such a member's events have no one right reading",
    ),
    Report(
        id="S-no-blank-line",
        ask=STREAM,
        wrong=text(lines(*HELLO, end=b"\n")),
        clauses=("stream.event.json", "stream.event.terminated"),
        right=(WHOLE,),
        answers=False,
        relayed=False,
        why="what such a member said has no one right reading",
    ),
    Report(
        id="S-last-blank-line",
        ask=STREAM,
        wrong=text(lines(*HELLO)[:-1]),
        clauses=("stream.event.terminated",),
        right=(WHOLE,),
    ),
    Report(
        id="S-raw-lines",
        ask=STREAM,
        wrong=text(lines(*HELLO, prefix=b"", done=False) + b"data: [DONE]\n\n"),
        clauses=("stream.lines.fields", "reply.mode.stream"),
        right=(WHOLE,),
    ),
    Report(
        id="S-wrong-prefix",
        ask=STREAM,
        wrong=text(_HEAD + lines(*HELLO[1:], prefix=b"delta: ", done=False) + b"data: [DONE]\n\n"),
        clauses=("stream.lines.fields",),
        right=(WHOLE,),
        answers=False,
        why="such a member's events have no one right reading",
    ),
    Report(
        id="S-json-then-newline",
        ask=STREAM,
        wrong=text(_HEAD + b"data: {\n" + b'  "id": "x"\n}\n\n' + lines(*HELLO[1:])),
        clauses=("stream.event.json",),
        right=(WHOLE,),
    ),
    Report(
        id="S-nan",
        ask=STREAM,
        wrong=text(lines(*HELLO).replace(b'"logprobs":null', b'"logprobs":NaN')),
        clauses=("stream.event.json",),
        right=(WHOLE,),
        answers=False,
        why="such a member's events have no one right reading",
    ),
    Report(
        id="S-id-only-event",
        ask=STREAM,
        wrong=text(b"id: 1\n\n" + lines(*HELLO)),
        clauses=("stream.event.has-data",),
        right=(WHOLE,),
    ),
    Report(
        id="S-retry-only-event",
        ask=STREAM,
        wrong=text(b"retry: 3000\n\n" + lines(*HELLO)),
        clauses=("stream.event.has-data",),
        right=(text(b"retry: 3000\n" + lines(*HELLO)),),
    ),
    Report(
        id="S-done-json",
        ask=STREAM,
        wrong=sse(*HELLO, b'data: "[DONE]"\n\n', done=False),
        clauses=("stream.event.json", "stream.done.present"),
        right=(WHOLE,),
    ),
    Report(
        id="S-null-event",
        ask=STREAM,
        wrong=sse(opening(), None, *HELLO[1:]),
        clauses=("stream.event.json",),
        right=(WHOLE,),
    ),
)

REPORTS = TERMINALS + FRAMES
