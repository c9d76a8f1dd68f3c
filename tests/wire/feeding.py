"""Feeds every parser case whole, byte by byte, cut at every place, with trailing bytes; the facts must not differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from conformance.wire.http1 import Framing, Message, RequestReader, ResponseReader, read_request, read_response
from conformance.wire.sse import EventCounter, EventStream, read_events

TRAILING = b"\x00trailing"
NO_HEAD = {"head.incomplete", "head.too-long"}


def ways(raw: bytes) -> Iterator[list[bytes]]:
    """The pieces of `raw`: whole, byte by byte, and cut in two at every place."""
    yield [raw]
    yield [raw[at : at + 1] for at in range(len(raw))]
    for at in range(1, len(raw)):
        yield [raw[:at], raw[at:]]


def codes(message: Message) -> list[str]:
    """The message's fault codes in order."""
    return [fault.code for fault in message.faults]


def follow(pieces: list[bytes], method: str) -> tuple[ResponseReader, bytes]:
    """A reader that was fed all pieces and the end of the connection, and the body that it collected."""
    reader = ResponseReader(method, collect=True)
    body = b""
    for piece in pieces:
        reader.feed(piece)
        body += reader.take_body()
    reader.feed_eof()
    return reader, body


def check_reader(message: Message, pieces: list[bytes], method: str) -> None:
    """A reader fed with `pieces` tells the same as `message`, which was read from them whole."""
    reader, body = follow(pieces, method)
    head_seen = not NO_HEAD & set(codes(message))
    assert (reader.head_seen, reader.complete, reader.surplus) == (head_seen, message.complete, bool(message.trailing))
    assert reader.status == message.status if head_seen else not message.complete
    if reader.broken:
        assert not message.complete
    else:
        assert (body, reader.body_bytes) == (message.body, len(message.body))
    if reader.keep_alive:
        assert (message.complete, message.trailing) == (True, b"")
        assert message.framing is not Framing.CLOSE


def response(raw: bytes, method: str = "POST") -> Message:
    """Read a response every way; the message as read whole, after all spans were found to lie inside."""
    message = read_response(raw, method=method)
    check_spans(message, raw)
    for pieces in ways(raw):
        check_reader(message, pieces, method)
    if message.complete and message.framing is not Framing.CLOSE and not message.trailing:
        longer = read_response(raw + TRAILING, method=method)
        assert longer.trailing == TRAILING
        assert replace(longer, trailing=b"", faults=message.faults) == message
        for pieces in ways(raw + TRAILING):
            check_reader(longer, pieces, method)
    return message


def cut(pieces: list[bytes], max_body: int = 1 << 20) -> tuple[list[bytes], RequestReader]:
    """All requests that a reader gives for `pieces`, and the reader."""
    reader = RequestReader(max_body=max_body)
    taken: list[bytes] = []
    for piece in pieces:
        reader.feed(piece)
        while (raw := reader.take()) is not None:
            taken.append(raw)
    return taken, reader


def request(raw: bytes) -> Message:
    """Read a request every way, alone and with another one behind it; the message as read whole."""
    message = read_request(raw)
    check_spans(message, raw)
    end = len(raw) - len(message.trailing)
    for pieces in ways(raw):
        taken, reader = cut(pieces)
        if message.complete:
            assert taken[0] == raw[:end]
        else:
            assert (taken != []) == reader.broken
            assert raw.startswith(b"".join(taken))
    if message.complete and not message.trailing:
        for pieces in ways(raw + raw):
            assert cut(pieces)[0] == [raw, raw]
    return message


def check_spans(message: Message, raw: bytes) -> None:
    """Every span of the message lies in `raw`, and shows what the message says stands there."""
    for fault in message.faults:
        assert 0 <= fault.span.start <= fault.span.end <= len(raw), fault
    for line in (*message.head.headers, *message.trailers):
        assert line.name in line.span.of(raw)
    for chunk in message.chunks:
        size = chunk.span.end - chunk.span.start
        assert chunk.span.of(raw) == message.body[chunk.offset : chunk.offset + size]
    for offset in range(0, len(message.body), 1 + len(message.body) // 50):
        at = message.raw_offset(offset)
        assert raw[at : at + 1] == message.body[offset : offset + 1]
    assert raw.endswith(message.trailing)


def events(body: bytes) -> EventStream:
    """Read a stream; the counter, fed every way, counts what the stream dispatches."""
    stream = read_events(body)
    for fault in stream.faults:
        assert 0 <= fault.span.start <= fault.span.end <= len(body), fault
    dispatched = sum(event.dispatched for event in stream.events)
    for pieces in ways(body):
        counter = EventCounter()
        assert [counter.feed(piece) for piece in pieces][-1:] in ([dispatched], [])
    return stream
