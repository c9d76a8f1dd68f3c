"""The event stream algorithm, case by case."""

from __future__ import annotations

import pytest

from conformance.wire import sse
from conformance.wire.facts import Span
from conformance.wire.sse import Comment, EventStream, read_events
from tests.wire.feeding import events


def codes(stream: EventStream) -> list[str]:
    """The stream's fault codes in order."""
    return [fault.code for fault in stream.faults]


@pytest.mark.parametrize(
    ("body", "data"),
    [
        (b"", []),
        (b"data: a\n\ndata: b\n\n", [b"a", b"b"]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [b"a", b"b"]),
        (b"data: a\r\rdata: b\r\r", [b"a", b"b"]),
        (b"data: a\r\n\ndata: b\n\r\n", [b"a", b"b"]),
        (b"data: a\n\rdata: b\r\n\r", [b"a", b"b"]),
        (b"\xef\xbb\xbfdata: a\n\n", [b"a"]),
        (b"data:a\n\ndata:  b\n\n", [b"a", b" b"]),
        (b"data: a\ndata: b\ndata\n\n", [b"a\nb\n"]),
        (b"data\n\n", [b""]),
        (b"data:\n\n", [b""]),
        (b"data\ndata\n\n", [b"\n"]),
        (b"\n\n\ndata: a\n\n\n\n", [b"a"]),
        (b": c\ndata: a\n:\ndata: b\n\n", [b"a\nb"]),
        (b"data: {\"a\": \"b: c\"}\n\n", [b'{"a": "b: c"}']),
        (b"data: \xe2\x82\xac\n\n", ["€".encode()]),
    ],
)  # fmt: skip
def test_dispatched(body: bytes, data: list[bytes]) -> None:
    """Line ends, byte order mark, spaces, comments and multi-line data are read as the standard says."""
    stream = events(body)
    assert [event.data for event in stream.events if event.dispatched] == data
    assert len(stream.events) == len(data)
    assert codes(stream) == []


def test_fields() -> None:
    """Type, id and retry belong to their event; the last of each wins."""
    body = b"event: x\nevent: ping\nid: 1\nid: 2\nretry: 30\ndata: a\n\ndata: b\n\nevent\nid\ndata: c\n\n"
    first, second, third = events(body).events
    assert (first.type, first.id, first.retry, first.data, first.data_lines) == ("ping", "2", 30, b"a", 1)
    assert (second.type, second.id, second.retry) == ("", None, None)
    assert (third.type, third.id) == ("", "")


def test_spans() -> None:
    """A span runs from the event's first field to the end of its blank line."""
    body = b": c\r\n\r\nretry: 1\r\ndata: a\r\n\r\n\r\ndata: b\n\n"
    stream = events(body)
    assert [event.span.of(body) for event in stream.events] == [b"retry: 1\r\ndata: a\r\n\r\n", b"data: b\n\n"]
    assert stream.comments == (Comment(b" c", Span(0, 3)),)


@pytest.mark.parametrize(
    ("body", "names", "bom"),
    [
        (b"", set(), False),
        (b"data: a", set(), False),
        (b"data: a\n\n", {"LF"}, False),
        (b"\xef\xbb\xbfdata: a\r\n\r\n", {"CRLF"}, True),
        (b"a\rb\r\nc\n", {"CR", "CRLF", "LF"}, False),
    ],
)
def test_line_ends(body: bytes, names: set[str], bom: bool) -> None:
    """The line ends that were met and a byte order mark are facts."""
    stream = events(body)
    assert (stream.line_ends, stream.bom) == (names, bom)


def test_no_data() -> None:
    """An event without data is kept and not dispatched."""
    stream = events(b"event: ping\n\nid: 1\n\nretry: 5\n\n")
    assert [(event.type, event.id, event.retry) for event in stream.events] == [
        ("ping", None, None), ("", "1", None), ("", None, 5),
    ]  # fmt: skip
    assert not any(event.dispatched or event.data_lines or event.data for event in stream.events)
    assert all(event.terminated for event in stream.events)


@pytest.mark.parametrize("body", [b"data: a\n\ndata: b", b"data: a\n\ndata: b\n", b"data: a\r\n\r\ndata: b\r\n"])
def test_unterminated(body: bytes) -> None:
    """An event that the stream's end cuts off is kept and not dispatched."""
    stream = events(body)
    assert [(event.data, event.terminated, event.dispatched) for event in stream.events] == [
        (b"a", True, True), (b"b", False, False),
    ]  # fmt: skip
    assert codes(stream) == ["event.unterminated"]
    assert stream.events[1].span == stream.faults[0].span == Span(body.index(b"data: b"), len(body))


@pytest.mark.parametrize(
    "line", [b"[DONE]", b'{"id": 1}', b"Data: a", b" data: a", b"data : a", b"\xef\xbb\xbfdata: a"]
)
def test_unknown_field(line: bytes) -> None:
    """A line with no known field name is a fault that shows the line, and makes no event."""
    stream = events(b"data: a\n\n" + line + b"\n\ndata: b\n\n")
    assert [event.data for event in stream.events] == [b"a", b"b"]
    assert codes(stream) == ["field.unknown"]
    assert stream.faults[0].span == Span(9, 9 + len(line))
    assert repr(line)[2:-1] in stream.faults[0].detail


@pytest.mark.parametrize("value", [b"", b"-1", b"1.5", b"abc", b"9" * 5000, b"\xb2"])
def test_retry(value: bytes) -> None:
    """A retry that is not ASCII digits is ignored, with a fault."""
    stream = read_events(b"retry: " + value + b"\ndata: a\n\n")
    assert stream.events[0].retry is None
    assert "retry.invalid" in codes(stream)


def test_id_with_nul() -> None:
    """An id with a NUL is ignored, with a fault."""
    stream = events(b"id: 1\nid: 2\0\ndata: a\n\n")
    assert (stream.events[0].id, codes(stream)) == ("1", ["id.nul"])


def test_invalid_utf8() -> None:
    """Bytes that are no UTF-8 stay as they are in data, and are a fault where they stand."""
    stream = events(b"data: a\xffb\n\nevent: \xc3\ndata: c\n\n")
    assert (stream.events[0].data, stream.events[1].type) == (b"a\xffb", "\ufffd")
    assert [(fault.code, fault.span) for fault in stream.faults] == [
        ("utf8.invalid", Span(7, 8)), ("utf8.invalid", Span(18, 19)),
    ]  # fmt: skip


def test_line_bound() -> None:
    """A line past its bound is cut there, with a fault; at the bound it is whole."""
    body = b"data: abcd\n\ndata: abcde\n\n"
    stream = read_events(body, max_line=10)
    assert [event.data for event in stream.events] == [b"abcd", b"abcd"]
    assert [(fault.code, fault.span) for fault in stream.faults] == [("line.too-long", Span(12, 23))]


def test_event_bound() -> None:
    """An event's data past its bound is cut there, with one fault; the next event starts afresh."""
    body = b"data: ab\ndata: cd\ndata: ef\ndata: gh\n\ndata: ab\ndata: cd\n\n"
    stream = read_events(body, max_event=5)
    assert [(event.data, event.data_lines) for event in stream.events] == [(b"ab\ncd", 4), (b"ab\ncd", 2)]
    assert codes(stream) == ["event.too-long"]
    cut = read_events(b"data: abcdef\n\n", max_event=5)
    assert (cut.events[0].data, cut.events[0].dispatched, codes(cut)) == (b"abcde", True, ["event.too-long"])
    assert read_events(b"data: ab\ndata: cdef\n\n", max_event=5).events[0].data == b"ab\ncd"


def test_counts_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Past their bounds, events end the reading and comments are dropped, each with one fault."""
    monkeypatch.setattr(sse, "MAX_EVENTS", 3)
    monkeypatch.setattr(sse, "MAX_COMMENTS", 2)
    stream = read_events(b"data: a\n\n" * 5)
    assert (len(stream.events), codes(stream)) == (3, ["event.too-many"])
    stream = read_events(b": c\n" * 5 + b"data: a\n\n")
    assert (len(stream.comments), len(stream.events), codes(stream)) == (2, 1, ["comment.too-many"])
