"""What passed through the recorder for one request becomes an interaction of a cassette, or the reason why it is none.

Whatever is written plays again: the envelope's own script has to give the bytes that came. What a cassette cannot hold
is never changed in silence. Not held by the format: how long the head took, and the wait before the last chunk. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from conformance.cassette.model import Envelope, EnvelopeEnd, Frame, Interaction, RecordedRequest
from conformance.errors import ConformanceError
from conformance.upstream.script import Action, script
from conformance.wire.http1 import Message, read_request, read_response
from conformance.wire.message import Framing
from conformance.wire.transcript import Arrivals, End, Segment, Transcript

_ENDS = {End.CLOSE: EnvelopeEnd.CLOSE, End.RESET: EnvelopeEnd.RESET, End.STALL: EnvelopeEnd.STALL}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """`interaction`, or None and a `reason`; `notes` tell what is written a little other than it came."""

    interaction: Interaction | None = None
    reason: str = ""
    notes: tuple[str, ...] = ()


def interaction_of(passed: Transcript, origin: str) -> Reading:
    """The interaction that a transcript is, with a provider at `origin` (scheme and authority).

    A frame is a chunk, at the arrival of its last byte, where the head is chunked; else it is what one read returned.
    """
    request = read_request(passed.request)
    message = read_response(passed.raw, method=request.method, closed=passed.end in (End.CLOSE, End.COMPLETE))
    reason = _unfit(passed, request, message)
    if reason:
        return Reading(reason=reason)
    envelope = _envelope(passed, message)
    reason, notes = _replayed(envelope, passed.raw[_start(message) :], message, request.method)
    if reason:
        return Reading(reason=reason)
    asked = RecordedRequest(
        method=request.method,
        uri=origin + request.target,
        headers=tuple((_text(line.name), _text(line.value)) for line in request.head.headers),
        body=request.body,
    )
    early = [line for line in (_text(head.start_line) for head in message.interim) if " 100" not in line]
    notes += tuple(f"the interim response {line!r} is left out" for line in early)
    return Reading(interaction=Interaction(request=asked, envelope=envelope), notes=notes)


def _unfit(passed: Transcript, request: Message, message: Message) -> str:
    """Why there is nothing to write, "" when there is."""
    if passed.end in (End.HANGUP, End.REFUSED):
        return passed.error or "the client left before the response was whole"
    expects = (request.head.get("expect") or "").lower() == "100-continue"
    if not request.complete and (request.body or not expects):
        return "the request was answered before it was whole"
    if message.status == 101:
        return "the provider switched protocols"
    codes = {fault.code for fault in message.faults}
    if passed.raw and codes & {"head.incomplete", "head.too-long"}:
        return "the response has no whole head"
    return "the response is too long" if "body.too-long" in codes else ""


def _start(message: Message) -> int:
    """Where the final head starts in the raw bytes."""
    return message.interim[-1].span.end if message.interim else 0


def _envelope(passed: Transcript, message: Message) -> Envelope:
    end = _end(passed, message)
    if not passed.raw:
        return Envelope(head=(), body=b"", frames=(), end=end)
    arrivals, head_end = Arrivals(passed.received), message.head.span.end
    head_at = arrivals.at(head_end - 1)
    head = passed.raw[_start(message) : head_end].decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    if message.framing is Framing.CHUNKED:
        body = message.body
        times = [(arrivals.of(chunk.span), chunk.span.end - chunk.span.start) for chunk in message.chunks]
    else:  # what came past the end that the head tells is a part of what came
        body = message.body + message.trailing
        times = list(_arrived(passed.received, head_end, head_end + len(body)))
    frames = tuple(Frame(_after(head_at, at), size) for at, size in times)
    return Envelope(head=tuple(head), body=body, frames=frames, end=end)


def _end(passed: Transcript, message: Message) -> EnvelopeEnd:
    if passed.end is End.COMPLETE or (passed.end is End.CLOSE and message.complete):
        return EnvelopeEnd.COMPLETE
    return _ENDS[passed.end]


def _arrived(segments: tuple[Segment, ...], start: int, end: int) -> Iterator[tuple[float, int]]:
    """When the bytes between two offsets came, read by read."""
    offset = 0
    for segment in segments:
        size = min(offset + len(segment.data), end) - max(offset, start)
        if size > 0:
            yield segment.at, size
        offset += len(segment.data)


def _after(head_at: float, at: float) -> float:
    """Milliseconds after the head; 0 is for what came together with it alone."""
    return max(round(at - head_at, 3), 0.001) if at > head_at else 0.0


def _replayed(envelope: Envelope, came: bytes, message: Message, method: str) -> tuple[str, tuple[str, ...]]:
    """A reason when the envelope does not play what came; notes when it does so in another spelling."""
    head = came[: message.head.span.end - _start(message)]
    if any("\n" in line for line in envelope.head) or (head and not head.endswith(b"\r\n\r\n")):
        return "a cassette cannot hold how its head ends its lines", ()
    try:
        steps = script(envelope).steps
    except ConformanceError as error:
        return f"a cassette cannot hold it: {error.what}", ()
    played = b"".join(step.data for step in steps if step.action is Action.SEND)
    if played == came:
        return "", ()
    again = read_response(played, method=method, closed=envelope.end in (EnvelopeEnd.CLOSE, EnvelopeEnd.COMPLETE))
    cut = "body.short" in {fault.code for fault in message.faults}
    readable = message.framing is Framing.CHUNKED and not message.trailing and (message.complete or cut)
    if not readable or _chunks(again) != _chunks(message):
        return "a cassette cannot hold how its body is framed", ()
    cut_short = "its last chunk did not come whole, and is held as a shorter one"
    return "", (cut_short if cut else "trailers, extensions or spelling of its chunks are left out",)


def _chunks(message: Message) -> tuple[bool, bytes, list[int]]:
    return message.complete, message.body, [chunk.offset for chunk in message.chunks]


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")
