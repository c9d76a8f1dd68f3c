"""Examples of the clauses on event streams and their end."""

from __future__ import annotations

from typing import Any

from conformance.contract.clauses.stream import MAX_EVENT
from tests.contract.captures import Capture, ask, capture, chunk, compact, error, opening, stream, wire, words
from tests.contract.example import Example, Examples

STREAM = ask(stream=True)
HELLO = words("Hello", ".")
CUT = HELLO[:2]
FAILED = error("The upstream failed.", type="server_error")
DONE = b"data: [DONE]\n\n"


def events(*items: Any, done: bool = True, **how: Any) -> Capture:
    """A stream of those events."""
    return capture(STREAM, wire(stream(*items, done=done), **how))


def raw(data: bytes) -> Capture:
    """A stream of those bytes."""
    return capture(STREAM, wire(((0.0, data),)))


def text(*items: Any, end: bytes = b"\n\n", prefix: bytes = b"data: ") -> bytes:
    """Events with another line end or prefix."""
    return b"".join(prefix + compact(item) + end for item in items)


def _slowly(upstream_every: float, mine_every: float) -> Capture:
    slow = wire(stream(*words("a", "b", "c", "d", "e"), every=upstream_every))
    return capture(STREAM, wire(stream(*words("a", "b", "c", "d", "e"), every=mine_every)), slow)


WHOLE = events(*HELLO)
TOLD = events(*CUT, FAILED, done=False)
HEAD = text(opening())
REST = text(*HELLO[1:]) + DONE

EXAMPLES: Examples = {
    "stream.text.utf8": Example(
        (WHOLE, events(*words("修 🌍"))), (raw(HEAD + text(chunk("@")).replace(b"@", b"\xbf\xae") + REST),)
    ),
    "stream.text.bom": Example((WHOLE,), (raw(b"\xef\xbb\xbf" + HEAD + REST),)),
    "stream.lines.fields": Example(
        (WHOLE, raw(b": hello\n\n" + HEAD + REST), raw(HEAD + b"ping\n\n" + REST), raw(HEAD + b"x-trace: 1\n" + REST)),
        (
            raw(HEAD + compact(FAILED) + b"\n\n"),
            raw(HEAD + b"error: {}\n\n" + REST),
            raw(HEAD + text(*HELLO[1:]) + b"[DONE]\n\n"),
        ),
    ),
    "stream.lines.lf": Example((WHOLE,), (raw(text(*HELLO, end=b"\r\n\r\n")), raw(text(*HELLO, end=b"\r\r")))),
    "stream.event.terminated": Example((WHOLE,), (raw(HEAD + REST[:-1]), raw(HEAD + REST[:-2]))),
    "stream.event.has-data": Example(
        (WHOLE, raw(b"event: message\n" + HEAD + REST), raw(b": ping\n\n" + HEAD + b": ping\n\n" + REST)),
        (
            raw(b"id: 1\n\n" + HEAD + REST),
            raw(b"event: ping\ndata:\n\n" + HEAD + REST),
            raw(b"id: 1\n" + HEAD + b": ping\n\n" + REST),
        ),
    ),
    "stream.event.json": Example(
        (WHOLE, TOLD, raw(HEAD + text(*HELLO[1:], prefix=b"data:") + DONE)),
        (
            raw(HEAD + b"data: : keepalive\n\n" + REST),
            raw(HEAD + b"data: null\n\n" + REST),
            raw(b"data: " + HEAD + REST),
            raw(HEAD + b"data: {\n\n" + REST),
        ),
    ),
    "stream.event.single-line": Example(
        (WHOLE,), (raw(HEAD + b'data: {"error":\ndata: ' + compact(FAILED["error"]) + b"}\n\n"),)
    ),
    "stream.event.bounded": Example((WHOLE,), (raw(HEAD + b"data: " + b" " * MAX_EVENT + b"{}\n\n" + REST),)),
    "stream.delivery.incremental": Example(
        (_slowly(100.0, 100.0), _slowly(100.0, 60.0)), (_slowly(100.0, 0.0), _slowly(200.0, 10.0))
    ),
    "stream.end.arrives": Example((WHOLE, TOLD), (events(*HELLO, end="stall"), events(*CUT, done=False, end="stall"))),
    "stream.done.present": Example((WHOLE,), (events(*HELLO, done=False), events(*CUT, done=False))),
    "stream.done.once": Example((WHOLE, TOLD), (events(*HELLO, DONE),)),
    "stream.done.last": Example((WHOLE,), (raw(HEAD + text(HELLO[1]) + DONE + text(HELLO[-1])),)),
    "stream.done.after-error": Example((TOLD,), (events(*CUT, FAILED),)),
    "stream.terminal.present": Example((WHOLE,), (events(*CUT), events(), events(*CUT, chunk(reason="")))),
    "stream.terminal.once": Example((WHOLE, TOLD), (events(*HELLO, chunk(reason="length")),)),
    "stream.terminal.last": Example(
        (WHOLE, events(opening(), chunk("Hello.", "stop")), events(*HELLO, {**chunk(), "choices": [], "usage": None})),
        (
            events(*HELLO, chunk("more")),
            events(*HELLO, chunk(delta={"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]})),
        ),
    ),
    "stream.error.shape": Example(
        (
            TOLD,
            events(FAILED),
            events(*CUT, ("error", FAILED), done=False),
            events(*CUT, {**FAILED, "id": "x", "choices": []}, done=False),
        ),
        (
            events(*CUT, {"error": "failed"}, done=False),
            events(*CUT, {"error": {"message": "failed"}}, done=False),
            events(*CUT, {"error": {"message": "failed", "type": "x", "code": 502}}, done=False),
            events(*CUT, ("error", {"message": "failed"}), done=False),
            events(*CUT, error("", type="server_error"), done=False),
            # gethouston/houston#1211: no SDK reads an error there
            events(*CUT, chunk(reason="stop", choice={"error": {"code": 502, "message": "failed"}})),
            events(*CUT, chunk(reason="stop", delta={"error": {"message": "failed"}})),
        ),
    ),
    "stream.error.once": Example(
        (TOLD, events(*CUT, FAILED)), (events(*CUT, FAILED, chunk("more")), events(*CUT, FAILED, FAILED, done=False))
    ),
    "stream.head.no-length": Example((WHOLE,), (events(*HELLO, framing="length"),)),
}
