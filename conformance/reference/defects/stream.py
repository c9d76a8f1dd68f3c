"""Defects of a stream as such: its text, its lines, its events, their delivery."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

from conformance.reference.behaviour import Behaviour, Fields, Moment
from conformance.reference.call import Call, Operation
from conformance.reference.convert import reply_of
from conformance.reference.defects.entry import defect
from conformance.reference.defects.hooks import Doc, FramesHook, at, each_frame, with_media
from conformance.reference.framing import Framing
from conformance.reference.jsontext import encode_json
from conformance.reference.sse import DONE
from conformance.reference.steps import Step


async def _with_bom(parts: AsyncIterator[bytes], call: Call) -> AsyncIterator[bytes]:
    start = b"\xef\xbb\xbf"
    async for part in parts:
        yield start + part
        start = b""


async def _at_once(parts: AsyncIterator[bytes], call: Call) -> AsyncIterator[bytes]:
    yield b"".join([part async for part in parts])


class _Counted(Framing):
    """A body is held back whole, to know its length."""

    def __init__(self) -> None:
        super().__init__()
        self._start: tuple[int, Fields] = (200, ())
        self._body = b""

    def head(self, status: int, fields: Fields) -> bytes:
        self._start = (status, tuple(field for field in fields if field[0] != "content-length"))
        return b""

    def data(self, data: bytes) -> bytes:
        self._body += data
        return b""

    def end(self) -> bytes:
        status, fields = self._start
        return super().head(status, (*fields, ("content-length", str(len(self._body))))) + self._body


def _latin(frame: bytes) -> bytes:
    return frame.decode().encode("latin-1", "replace")


def _pretty(frame: bytes) -> bytes:
    if frame == DONE:
        return frame
    named, _, data = frame.partition(b"data: ")
    lines = json.dumps(json.loads(data), indent=1, ensure_ascii=False).encode("utf-8", "surrogatepass").split(b"\n")
    return named + b"".join(b"data: " + line + b"\n" for line in lines) + b"\n"


def _bare_end(frames: list[bytes]) -> list[bytes]:
    return [frame.removeprefix(b"data: ") if frame == DONE else frame for frame in frames]


def _last_line_open(frames: list[bytes]) -> list[bytes]:
    return [*frames[:-1], frames[-1].removesuffix(b"\n")] if frames else frames


def _collected(chunks: list[Doc], call: Call) -> list[Doc]:
    """The chunks of a chat stream are kept back; an error is not."""
    if call.operation is not Operation.CHAT or "error" in (chunks or [{}])[0]:
        return chunks
    call.memo.setdefault("chunks", []).extend(chunks)
    return []


def _aggregated(frames: list[bytes], moment: Moment, call: Call) -> list[bytes]:
    if call.operation is not Operation.CHAT:
        return frames
    if moment is Moment.ERROR:
        return [frame.removeprefix(b"data: ").strip() for frame in frames]
    chunks = call.memo.get("chunks", [])
    usage = next((chunk["usage"] for chunk in chunks if chunk.get("usage")), None)
    whole = reply_of(chunks, usage, call) | {"object": "chat.completion"}
    return [encode_json(whole)] if moment is Moment.LAST else []


def _json_media(fields: Fields, status: int, call: Call) -> Fields:
    chat = call.operation is Operation.CHAT
    return with_media("text/event-stream", "application/json")(fields, status, call) if chat else fields


def _before(extra: bytes) -> FramesHook:
    """`extra` before the events of each part."""
    return at(Moment.CHUNKS, lambda frames: [extra, *frames])


TABLE = (
    # vercel-like proxies that answer from a cache of whole replies; vllm-project/semantic-router#913
    defect(
        "stream-flag-ignored",
        "A chat request with stream true is answered with one JSON object",
        "reply.mode.stream error.in-success cache.stream-form",
        Behaviour(chunks=_collected, frames=_aggregated, headers=_json_media),
        "cache.stream-after-text",
    ),
    defect(
        "stream-in-latin-1",
        "A stream's text is written in Latin-1",
        "stream.text.utf8 stream.event.json relay.text.equal relay.tool-calls.equal",
        Behaviour(frames=each_frame(_latin)),
        "tools.parallel-stream",
    ),
    defect(
        "stream-with-byte-order-mark",
        "A stream starts with a byte order mark",
        "stream.text.bom",
        Behaviour(flow=_with_bom),
    ),
    # gpustack/gpustack#6155
    defect(
        "done-without-field-name",
        "[DONE] stands on a line without `data:`",
        "stream.lines.fields stream.done.present",
        Behaviour(frames=at(Moment.LAST, _bare_end)),
    ),
    defect(
        "stream-lines-end-with-crlf",
        "The lines of a stream end with CRLF",
        "stream.lines.lf",
        Behaviour(frames=each_frame(lambda frame: frame.replace(b"\n", b"\r\n"))),
    ),
    # higress-group/higress#4620
    defect(
        "last-event-without-blank-line",
        "The last event of a stream ends with its line",
        "stream.event.terminated stream.done.present",
        Behaviour(frames=at(Moment.LAST, _last_line_open)),
    ),
    # theopenco/llmgateway#2334
    defect(
        "ping-after-event-id",
        "Events have an id, and a keep-alive comment with a blank line follows",
        "stream.event.has-data",
        Behaviour(frames=each_frame(lambda frame: b"id: 7\n" + frame + b": ping\n\n")),
    ),
    defect(
        "ping-event-without-data",
        "A keep-alive is an event of type ping without data",
        "stream.event.has-data",
        Behaviour(frames=_before(b"event: ping\n\n")),
    ),
    defect(
        "keep-alive-as-data",
        "A keep-alive is an event whose data is a word",
        "stream.event.json",
        Behaviour(frames=_before(b"data: keep-alive\n\n")),
    ),
    defect(
        "event-json-indented",
        "Each event's JSON is indented, over many data lines",
        "stream.event.single-line",
        Behaviour(frames=each_frame(_pretty)),
    ),
    # incident F: an endless run of data lines
    defect(
        "event-unbounded",
        "An event of any size is relayed",
        "stream.event.bounded",
        Behaviour(skip=frozenset({Step.BOUND_EVENT})),
        "weight.long-text",
    ),
    # Kong/kong#14425
    defect(
        "stream-buffered",
        "A stream is held back until it is whole",
        "stream.delivery.incremental",
        Behaviour(flow=_at_once),
    ),
    defect(
        "stream-counted",
        "A stream is held back until its length is known, and has it",
        "stream.head.no-length stream.delivery.incremental",
        Behaviour(framing=_Counted),
    ),
)
