"""Facts about the gateway's event reader: any cut of the bytes, any line end, bounded events."""

from __future__ import annotations

import pytest

from conformance.reference.sse import EventTooLong, SseDecoder, SseEvent, encode_event

CASES = {
    "plain": (b'data: {"a":1}\n\ndata: [DONE]\n\n', [SseEvent("", b'{"a":1}'), SseEvent("", b"[DONE]")]),
    "no-space": (b"data:x\n\n", [SseEvent("", b"x")]),
    "crlf": (b"event: e\r\ndata: x\r\n\r\ndata: y\r\n\r\n", [SseEvent("e", b"x"), SseEvent("", b"y")]),
    "cr": (b"data: x\r\rdata: y\r\r", [SseEvent("", b"x"), SseEvent("", b"y")]),
    "comments": (b": ping\n\n:\n\nid: 1\nretry: 5\ndata: x\n: c\n\n", [SseEvent("", b"x")]),
    "joined-lines": (b"data: a\ndata: b\n\n", [SseEvent("", b"a\nb")]),
    "bom": (b"\xef\xbb\xbfdata: x\n\n", [SseEvent("", b"x")]),
    "empty-data": (b"event: ping\ndata:\n\ndata: x\n\n", [SseEvent("", b"x")]),
    "bare-json": (b'{"error":{}}\n\n', [SseEvent("error", b'{"error":{}}')]),
    "error-field": (b'error: {"code":1}\n\n', [SseEvent("error", b'{"code":1}')]),
    "unterminated": (b"data: x\n\ndata: last", [SseEvent("", b"x"), SseEvent("", b"last")]),
}


@pytest.mark.parametrize("name", CASES)
def test_the_events_do_not_depend_on_the_cut(name: str) -> None:
    """Fed whole, byte by byte and at every split, the same events come."""
    raw, expected = CASES[name]
    splits = [(raw,), tuple(raw[i : i + 1] for i in range(len(raw))), *((raw[:i], raw[i:]) for i in range(len(raw)))]
    for pieces in splits:
        decoder = SseDecoder(1000)
        events = [event for piece in pieces for event in decoder.feed(piece)]
        assert events + decoder.end() == expected


def test_an_event_comes_with_its_blank_line() -> None:
    """An event is there as soon as its blank line is, with lone carriage returns as well."""
    assert SseDecoder(100).feed(b"data: x\r\r") == [SseEvent("", b"x")]
    assert SseDecoder(100).feed(b"data: x\n\n") == [SseEvent("", b"x")]


@pytest.mark.parametrize("raw", [b"data: " + b"x" * 200, b"data: xxxxxxxx\n" * 30, b"data: " + b"x" * 200 + b"\n\n"])
def test_an_event_is_bounded(raw: bytes) -> None:
    """One endless line, or one event of endless lines, is given up at the bound."""
    with pytest.raises(EventTooLong):
        SseDecoder(100).feed(raw)


def test_an_event_is_written_on_one_line() -> None:
    """Line feeds stay escaped; halves of a surrogate pair stay valid UTF-8."""
    assert encode_event({"a": "x\ny", "b": "\u00e9"}) == 'data: {"a":"x\\ny","b":"\u00e9"}\n\n'.encode()
    assert encode_event({"a": "\ud83d"}, "e") == b'event: e\ndata: {"a":"\\ud83d"}\n\n'
