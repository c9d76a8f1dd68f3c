"""Examples of the clauses on HTTP messages, media types, modes and JSON bodies."""

from __future__ import annotations

import gzip
from dataclasses import replace

from conformance.cassette.model import Envelope
from tests.contract.captures import Capture, ask, capture, chat, chunk, compact, error, stream, wire, words
from tests.contract.example import Example, Examples

CHAT = ask(stream=False)
STREAM = ask(stream=True)
HELLO = stream(*words("Hello", "."))
SAID = capture(CHAT, wire(chat()))
STREAMED = capture(STREAM, wire(HELLO))
REFUSED = capture(CHAT, wire(error("No.", type="invalid_request_error"), status=400))
BODY = compact(chat())


def said(body: object = None, **how: object) -> Capture:
    """A reply to a request without stream."""
    return capture(CHAT, wire(chat() if body is None else body, **how))  # type: ignore[arg-type]


def headed(*lines: str, body: bytes = BODY) -> Capture:
    """A reply with that very head."""
    plain = wire(body)
    return capture(CHAT, replace(plain, head=lines))


def _asking(coding: str) -> Capture:
    asked = replace(STREAM, headers=(("Accept-Encoding", coding),))
    data = gzip.compress(b"".join(text for _, text in HELLO), mtime=0)
    return capture(asked, wire(((0.0, data),), headers=("Content-Encoding: gzip",)))


def _chunked_wrongly() -> Envelope:
    data = b"zz\r\n" + BODY + b"\r\n0\r\n\r\n"
    head = ("HTTP/1.1 200 OK", "Content-Type: application/json", "Transfer-Encoding: gzip, identity")
    return replace(wire(data), head=head)


LENGTH = f"Content-Length: {len(BODY)}"
TYPE = "Content-Type: application/json"
OK = "HTTP/1.1 200 OK"
CUT = wire(BODY[:40], framing="none", headers=(LENGTH,), end="close")
_REASON = compact(error("No."))
CUT_ERROR = wire(_REASON[:20], status=500, framing="none", headers=(f"Content-Length: {len(_REASON)}",), end="close")

EXAMPLES: Examples = {
    "http.response.arrives": Example(
        (SAID, REFUSED),
        (
            capture(CHAT, wire(status=0, end="close")),
            capture(CHAT, wire(status=0, end="reset")),
            capture(CHAT, wire(status=0, end="stall")),
        ),
    ),
    "http.message.well-formed": Example(
        (
            SAID,
            headed("HTTP/1.0 200 OK", TYPE, LENGTH),
            headed("HTTP/1.1 200 ", TYPE, LENGTH),
            headed(OK, TYPE, LENGTH, "X-Empty:"),
        ),
        (
            headed(OK, TYPE, LENGTH, "Bad Name: x"),
            headed(OK, TYPE, LENGTH, "no colon"),
            headed("HTTP/1.1 OK", TYPE, LENGTH),
        ),
    ),
    "http.framing.consistent": Example(
        (SAID, STREAMED, said(framing="close")),
        (
            headed(OK, TYPE, LENGTH, "Content-Length: 7"),
            headed(OK, TYPE, LENGTH, "Transfer-Encoding: chunked"),
            headed(OK, TYPE, "Content-Length: many"),
            capture(CHAT, _chunked_wrongly()),
        ),
    ),
    "http.body.complete": Example(
        (SAID, STREAMED, said(framing="close"), capture(CHAT, wire(error(), status=502), CUT)),
        (
            capture(CHAT, CUT),
            capture(CHAT, CUT, wire(chat())),
            capture(CHAT, CUT, (CUT_ERROR, wire(chat()))),
            capture(CHAT, CUT_ERROR, CUT_ERROR),
            capture(STREAM, wire(HELLO[:2], end="close")),
            capture(STREAM, wire(HELLO, end="reset")),
        ),
    ),
    "http.body.nothing-after-end": Example((SAID, STREAMED), (headed(OK, TYPE, LENGTH, body=BODY + b"{}"),)),
    "http.status.final": Example(
        (SAID, REFUSED), (said(b"", status=302, headers=("Location: /v2",)), said(b"", status=304))
    ),
    "http.content-type.json": Example(
        (SAID, said(media="application/json; charset=utf-8")),
        (said(media="text/plain"), said(media=""), said(media="text/event-stream")),
    ),
    "http.content-type.event-stream": Example(
        (STREAMED, capture(STREAM, wire(HELLO, media="text/event-stream; charset=utf-8"))),
        (capture(STREAM, wire(HELLO, media="application/json")), capture(STREAM, wire(HELLO, media=""))),
    ),
    "http.content-encoding.honest": Example(
        (SAID, _asking("gzip, br"), _asking("*"), said(headers=("Content-Encoding: identity",))),
        (_asking("identity"), said(headers=("Content-Encoding: gzip",)), said(gzip.compress(BODY, mtime=0))),
    ),
    "http.header.single": Example(
        (SAID, said(headers=("Set-Cookie: a=1", "Set-Cookie: b=2", "Vary: Origin", "Vary: Accept"))),
        (
            said(headers=(TYPE,)),
            said(headers=("Access-Control-Allow-Origin: *", "Access-Control-Allow-Origin: *")),
            said(headers=("Access-Control-Allow-Origin: *, https://a.test",)),
            said(headers=("Retry-After: 1", "Retry-After: 2")),
        ),
    ),
    "reply.mode.json": Example(
        (SAID, capture(ask(), wire(chat()))), (capture(CHAT, wire(HELLO)), capture(ask(), wire(HELLO)), said(b""))
    ),
    "reply.mode.stream": Example(
        (STREAMED,), (capture(STREAM, wire(chat())), capture(STREAM, wire(b"", media="text/event-stream")))
    ),
    "json.body.valid": Example(
        (SAID, said(b" \n" + BODY + b"\n")),
        (
            said(BODY[:-1]),
            said(BODY * 2),
            said(b"[]"),
            said(b"null"),
            said(b'{"a":NaN}'),
            said(b'{"a":"\xff"}'),
            said(b"<html>"),
        ),
    ),
    "json.keys.unique": Example((SAID, STREAMED), (said(BODY[:-1] + b',"id":"again"}'),)),
    "json.text.unicode": Example(
        (SAID, STREAMED, said(BODY.replace(b"Hello.", b"\\ud83d\\ude00"))),
        (
            said(BODY.replace(b"Hello.", b"\\ud83d")),
            capture(STREAM, wire(stream(b"data: " + compact(chunk("Hi")).replace(b"Hi", b"\\udcaf") + b"\n\n"))),
        ),
    ),
    "error.content-type": Example(
        (REFUSED, said(error(), status=400, media="application/problem+json")),
        (said(b"no", status=502, media="text/html"), said(error(), status=500, media="")),
    ),
}
