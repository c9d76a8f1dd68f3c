"""Streams: server-sent events on the wire, and their delivery."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.contract.clause import Basis, Finding, Level, Undecided, clause
from conformance.contract.evidence import at_content, at_event, at_exchange, at_head, show
from conformance.contract.when import (
    ended_stream,
    has_output,
    is_stream,
    ok,
    serving,
    stayed,
    the_reply,
    whole,
)
from conformance.exchange.model import Endpoint, Exchange, StreamEvent
from conformance.wire.facts import Span
from conformance.wire.sse import EventStream

#: incident F: one event has to be bounded, or an endless run of data lines grows a reader's memory without bound.
MAX_EVENT = 16 << 20

_PAYLOADS = (b"{", b"[DONE]")


def _events(x: Exchange) -> bool:
    reply = x.reply
    return ok(x) and reply is not None and reply.stream is not None and x.request.endpoint is not Endpoint.OTHER


def _read_events(x: Exchange) -> bool:
    return stayed(x) and _events(x)


@clause(
    id="stream.text.utf8",
    level=Level.MUST,
    basis=Basis.PROTOCOL,
    title="A stream is valid UTF-8",
    rationale="Event streams are UTF-8 by definition; a character cut in two is shown as a replacement character or kills the reader.",
    source="whatwg/event-stream",
    applies=_read_events,
)
def text_utf8(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    assert reply.stream is not None
    for fault in reply.stream.faults:
        if fault.code == "utf8.invalid" and (reply.complete or fault.span.end < len(reply.content)):
            yield at_content(
                reply, fault.span, "UTF-8", f"{fault.detail}: {fault.span.of(reply.content)[:16].hex(' ')}"
            )


@clause(
    id="stream.text.bom",
    level=Level.SHOULD,
    basis=Basis.PROTOCOL,
    title="A stream starts without a byte order mark",
    rationale="The standard strips one, SDK decoders do not: the first field's name, and so the first event, is lost.",
    source="whatwg/event-stream",
    applies=_events,
)
def text_bom(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    assert reply.stream is not None
    if reply.stream.bom:
        yield at_content(reply, Span(0, 3), "a first line that starts with a field name", "EF BB BF")


@clause(
    id="stream.lines.fields",
    level=Level.MUST,
    basis=Basis.PROTOCOL,
    title="No line with a payload lacks its field name",
    rationale="A conforming reader ignores a line whose field it does not know: the chunk, the error or [DONE] in it is lost.",
    source="whatwg/interpretation",
    applies=_read_events,
)
def lines_fields(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    assert reply.stream is not None
    for fault in reply.stream.faults:
        line = fault.span.of(reply.content)
        # The grammar allows fields of any name; what carries no JSON and no [DONE] is a field that nobody misses.
        if fault.code == "field.unknown" and any(mark in line for mark in _PAYLOADS):
            yield at_content(
                reply, fault.span, "data:, event:, id:, retry: or a comment", show(line[:80].decode("utf-8", "replace"))
            )


@clause(
    id="stream.lines.lf",
    level=Level.SHOULD,
    basis=Basis.PROTOCOL,
    title="Lines of a stream end with LF",
    rationale="CR and CRLF are legal, and readers that look for LF LF find no event in them.",
    source="whatwg/event-stream",
    applies=_events,
)
def lines_lf(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    assert reply.stream is not None
    others = sorted(reply.stream.line_ends - {"LF"})
    if others:
        start = max(0, reply.content.find(b"\r") - 40)
        yield at_content(reply, Span(start, min(len(reply.content), start + 80)), "LF", " and ".join(others))


@clause(
    id="stream.event.terminated",
    level=Level.MUST,
    basis=Basis.PROTOCOL,
    title="The last event ends with a blank line",
    rationale="A conforming reader discards an event that the end of the stream cuts off: the last chunk or [DONE] is lost.",
    source="whatwg/interpretation",
    applies=lambda x: _read_events(x) and whole(x),
)
def event_terminated(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    assert reply.stream is not None
    for event in reply.stream.events:
        if not event.terminated:
            yield at_content(
                reply,
                event.span,
                "a blank line after the event",
                f"the stream ends inside it: {show(event.data[:80].decode('utf-8', 'replace'))}",
            )


@clause(
    id="stream.event.has-data",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="Every event carries data",
    rationale="The API's streams are data-only: an id or event field before a blank line makes the official SDKs parse an empty text.",
    source="openai-sdk/streaming",
    applies=_read_events,
)
def event_has_data(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    assert reply.stream is not None
    for event in reply.stream.events:
        if event.terminated and not event.data.strip():
            yield at_content(
                reply,
                event.span,
                "an event with data, or a comment line",
                show(event.span.of(reply.content)[:80].decode("utf-8", "replace")),
            )
    for span in _blank_after_id(reply.content, reply.stream):
        yield at_content(
            reply, span, "comments without a blank line after an event with an id", "an event without data"
        )


def _blank_after_id(content: bytes, stream: EventStream) -> Iterator[Span]:
    """Where a blank line stands between events after an `id` field: the id is kept, so that the line ends an empty event."""
    named, previous = False, 0
    places = [(event.span, bool(event.id)) for event in stream.events]
    for span, has_id in (*places, (Span(len(content), len(content)), False)):
        if named and b"" in content[previous : span.start].splitlines():
            yield Span(previous, span.start)
        named, previous = named or has_id, span.end


@clause(
    id="stream.event.json",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The data of every event is one JSON object or [DONE]",
    rationale="SDKs parse each event's data as JSON; a keep-alive, a prefix or half a document ends the stream with a parse error.",
    source="openai-api/chat-streaming",
    applies=_events,
)
def event_json(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    for event in reply.events:
        doc = event.doc
        if doc is None or not event.event.data.strip():
            continue
        if event.event.span.end - event.event.span.start > MAX_EVENT:
            continue  # our own reader cut it: its size is judged
        if not doc.ok or not isinstance(doc.value, dict):
            what = doc.faults[0].detail if doc.faults else "not an object"
            yield at_event(
                reply,
                event,
                "a JSON object or [DONE]",
                f"{what}: {show(event.event.data[:80].decode('utf-8', 'replace'))}",
            )


@clause(
    id="stream.event.single-line",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="Each event's JSON stands on one data line",
    rationale="The API sends one line; readers that decode line by line break on the first half.",
    source="openai-api/chat-streaming",
    applies=_events,
)
def event_single_line(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    for event in reply.events:
        if event.event.data_lines > 1:
            yield at_event(reply, event, "one data line", f"{event.event.data_lines} data lines")


@clause(
    id="stream.event.bounded",
    level=Level.SHOULD,
    basis=Basis.PROTOCOL,
    title="No event is larger than 16 MiB",
    rationale="No norm sets a bound, so this is a SHOULD: an endless event grows every reader's memory until it dies.",
    source="incident/streams",
    applies=_events,
)
def event_bounded(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    assert reply.stream is not None
    for event in reply.stream.events:
        size = event.span.end - event.span.start
        if size > MAX_EVENT:
            span = Span(event.span.start, event.span.start + 240)
            yield at_content(reply, span, f"at most {MAX_EVENT} bytes", f"{size} bytes")
    for fault in reply.stream.faults:
        if fault.code in ("line.too-long", "event.too-long"):
            yield at_content(
                reply, Span(fault.span.start, fault.span.start + 240), f"at most {MAX_EVENT} bytes", fault.detail
            )


def _spread(events: tuple[StreamEvent, ...]) -> tuple[float, float]:
    """When the first and the last output came: a gateway may hold a role back until it knows that the member answers."""
    times = [event.at for event in events if has_output(event)]
    return (times[0], times[-1]) if times else (0.0, 0.0)


def _slow_upstream(x: Exchange) -> bool:
    attempt = serving(x)
    if attempt is None or attempt.reply is None or not is_stream(x) or not stayed(x) or not attempt.succeeded:
        return False
    if x.driver not in ("wire", "capture") or not x.timed or len(attempt.reply.events) < 3:
        return False
    first, last = _spread(attempt.reply.events)
    return last - first >= 250.0 and len(the_reply(x).events) >= 3


@clause(
    id="stream.delivery.incremental",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="Events reach the client while the upstream is still sending",
    rationale="A stream that is held back until its end has every cost of streaming and none of its use.",
    source="openai-api/chat-streaming",
    applies=_slow_upstream,
)
def delivery_incremental(x: Exchange) -> Iterator[Finding | Undecided]:
    attempt = serving(x)
    assert attempt is not None and attempt.reply is not None
    sent_first, sent_last = _spread(attempt.reply.events)
    first, last = _spread(the_reply(x).events)
    # A pause of our own hides what came in it, and no more: half of the time is enough to see events apart.
    if x.lag_ms > 0.5 * (sent_last - sent_first):
        yield Undecided(f"the harness itself did not run for {x.lag_ms:.0f} ms")
        return
    if last - first < 0.25 * (sent_last - sent_first):
        yield at_exchange(
            x,
            f"events spread over about the {sent_last - sent_first:.0f} ms in which the upstream sent them",
            f"all within {last - first:.0f} ms",
        )


@clause(
    id="stream.head.no-length",
    level=Level.SHOULD,
    basis=Basis.PROTOCOL,
    title="A stream has no Content-Length",
    rationale="A length is known only once the answer is: it shows that the stream was buffered whole.",
    source="rfc9112/body-length",
    # What is answered from memory is whole before it is sent.
    applies=lambda x: ended_stream(x) and x.attempts != (),
)
def head_no_length(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    value = reply.header("content-length")
    if value is not None:
        yield at_head(reply, "no Content-Length", f"Content-Length: {value}", field="content-length")
