"""Defects below the API: status line, field lines, framing, media types and codings."""

from __future__ import annotations

import json
import math
from typing import Any

from conformance.reference.behaviour import Behaviour, ErrorReply, Fields
from conformance.reference.call import Call, Operation
from conformance.reference.defects.entry import defect
from conformance.reference.defects.hooks import with_media, with_member_field
from conformance.reference.framing import Framing
from conformance.reference.jsontext import encode_json


class _NoLastChunk(Framing):
    def end(self) -> bytes:
        return b""


class _Crash(Framing):
    """The worker dies where it would have told of a server error."""

    def head(self, status: int, fields: Fields) -> bytes:
        self.resets = status >= 500
        return b"" if self.resets else super().head(status, fields)

    def data(self, data: bytes) -> bytes:
        return b"" if self.resets else super().data(data)

    def end(self) -> bytes:
        return b"" if self.resets else super().end()


class _Folded(Framing):
    """A field value that was joined from two lines, with the line break still in it."""

    def head(self, status: int, fields: Fields) -> bytes:
        return super().head(status, (*fields, ("x-gateway-route", "pool,\r\n retried=0")))


class _BareLines(Framing):
    def head(self, status: int, fields: Fields) -> bytes:
        return super().head(status, fields).replace(b"\r\n", b"\n")


class _LengthAndChunks(Framing):
    """A buffered body is sent in chunks, under the length that was counted for it."""

    def head(self, status: int, fields: Fields) -> bytes:
        length = [field for field in fields if field[0] == "content-length"]
        head = super().head(status, tuple(field for field in fields if field not in length))
        lines = "".join(f"{name}: {value}\r\n" for name, value in length)
        return head.removesuffix(b"\r\n") + lines.encode() + b"\r\n"


class _PrefixedSizes(Framing):
    def data(self, data: bytes) -> bytes:
        return b"0x%x\r\n%b\r\n" % (len(data), data) if self.chunked else data


class _LineAfterBody(Framing):
    def end(self) -> bytes:
        return super().end() + b"\r\n"


def _redirect(error: ErrorReply, call: Call) -> ErrorReply:
    head = call.answered
    if head is None or not 300 <= head.status < 400:
        return error
    return ErrorReply(status=head.status, doc=error.doc, headers=(("location", head.get("location")),))


def _stale_coding(fields: Fields, status: int, call: Call) -> Fields:
    coding = call.answered.get("content-encoding") if call.answered else ""
    return (*fields, ("content-encoding", coding)) if coding else fields


def _two_origins(fields: Fields, status: int, call: Call) -> Fields:
    fields = with_member_field("access-control-allow-origin")(fields, status, call)
    return (*fields, ("access-control-allow-origin", "*"))


def _as_event(body: bytes, status: int, call: Call) -> bytes:
    return b"data: " + body + b"\n\n" if status == 200 and call.operation is Operation.CHAT else body


def _nan(doc: Any, call: Call) -> Any:
    return (
        json.dumps(doc | {"timings": {"tokens_per_second": math.nan}}).encode()
        if call.operation is Operation.CHAT
        else doc
    )


def _twice(body: bytes, status: int, call: Call) -> bytes:
    put = status == 200 and call.operation is not None
    return b'{"model":' + encode_json(call.alias) + b"," + body[1:] if put else body


def _halved(body: bytes, status: int, call: Call) -> bytes:
    return body.replace(b'"content":"Hello', b'"content":"\\ud83dHello') if call.operation is Operation.CHAT else body


TABLE = (
    defect(
        "body-without-last-chunk",
        "A chunked body ends without its last chunk",
        "http.body.complete",
        Behaviour(framing=_NoLastChunk),
    ),
    defect(
        "connection-reset-for-server-error",
        "A server error resets the connection before any head",
        "http.response.arrives timeout.first-token.told pool.exhausted.told pool.healthy.asked",
        Behaviour(framing=_Crash),
        "cooldown.probe-fails",
    ),
    defect(
        "field-value-with-line-break",
        "A field value is folded over two lines",
        "http.message.well-formed",
        Behaviour(framing=_Folded),
    ),
    defect(
        "head-lines-end-with-lf",
        "The lines of the head end with a bare LF",
        "http.message.well-formed",
        Behaviour(framing=_BareLines),
    ),
    defect(
        "length-beside-chunks",
        "A chunked body has a Content-Length too",
        "http.framing.consistent",
        Behaviour(framing=_LengthAndChunks),
    ),
    defect(
        "chunk-size-with-prefix",
        "Chunk sizes are written with 0x in front",
        "http.framing.consistent http.body.complete",
        Behaviour(framing=_PrefixedSizes),
    ),
    defect(
        "line-break-after-body",
        "A line break follows the end of the body",
        "http.body.nothing-after-end",
        Behaviour(framing=_LineAfterBody),
    ),
    defect(
        "redirect-passed-on",
        "A member's redirect reaches the client",
        "http.status.final secret.upstream",
        Behaviour(error=_redirect),
    ),
    # leejet/stable-diffusion.cpp, and any gateway that lets a framework label a string.
    defect(
        "json-labelled-text",
        "A JSON reply is labelled text/plain",
        "http.content-type.json",
        Behaviour(headers=with_media("application/json", "text/plain; charset=utf-8")),
    ),
    # vllm-project/vllm-ascend#5033, #6985
    defect(
        "stream-labelled-json",
        "A stream is labelled application/json",
        "http.content-type.event-stream",
        Behaviour(headers=with_media("text/event-stream", "application/json")),
    ),
    defect(
        "content-encoding-of-decoded-body",
        "A body that was decoded keeps the member's Content-Encoding",
        "http.content-encoding.honest",
        Behaviour(headers=_stale_coding),
    ),
    # mostlygeek/llama-swap#1133
    defect(
        "cors-header-twice",
        "The member's Access-Control-Allow-Origin is passed on beside the gateway's own",
        "http.header.single",
        Behaviour(headers=_two_origins),
    ),
    # BYK/loreai#605: the member streams although nobody asked
    defect(
        "event-stream-unasked",
        "A request without stream is answered with one event",
        "reply.mode.json",
        Behaviour(body=_as_event),
    ),
    defect(
        "json-with-nan",
        "A JSON reply holds NaN",
        "json.body.valid",
        Behaviour(doc=_nan),
    ),
    # Kohaku-Lab/KohakuTerrarium#48
    defect(
        "half-a-character",
        "Before a greeting stands one half of a surrogate pair",
        "json.text.unicode relay.text.equal logprobs.text",
        Behaviour(body=_halved),
    ),
    defect(
        "json-member-twice",
        "The model is put in front of an object that names it already",
        "json.keys.unique",
        Behaviour(body=_twice),
    ),
)
