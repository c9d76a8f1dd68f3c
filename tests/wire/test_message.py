"""From places in a body to places in the raw bytes, and fields by name."""

from __future__ import annotations

import pytest

from conformance.wire.facts import Span
from conformance.wire.http1 import read_response

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
LENGTH = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcde"
EMPTY = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


@pytest.mark.parametrize("raw", [CHUNKED, LENGTH])
def test_raw_offset(raw: bytes) -> None:
    """Each body byte is found where it stood; offsets outside are clamped to the body."""
    message = read_response(raw)
    assert bytes(raw[message.raw_offset(index)] for index in range(5)) == b"abcde"
    assert message.raw_offset(-3) == message.raw_offset(0)
    assert message.raw_offset(5) == message.raw_offset(99) == message.raw_offset(4) + 1


def test_raw_span() -> None:
    """A body span's raw span includes the chunk framing that lies in between, and no more."""
    message = read_response(CHUNKED)
    assert message.raw_span(Span(2, 4)).of(CHUNKED) == b"c\r\n2\r\nd"
    assert message.raw_span(Span(1, 3)).of(CHUNKED) == b"bc"
    assert message.raw_span(Span(3, 5)).of(CHUNKED) == b"de"
    assert message.raw_span(Span(-4, 99)).of(CHUNKED) == b"abc\r\n2\r\nde"


@pytest.mark.parametrize("raw", [CHUNKED, LENGTH, EMPTY])
@pytest.mark.parametrize("span", [Span(3, 3), Span(5, 9), Span(4, 2), Span(-3, -1), Span(0, 0)])
def test_empty_raw_span(raw: bytes, span: Span) -> None:
    """A span without any body byte stays empty."""
    found = read_response(raw).raw_span(span)
    assert found.start == found.end <= len(raw)


def test_head_fields() -> None:
    """Fields are found in any case, all or the first, as latin-1."""
    head = read_response(b"HTTP/1.1 200 OK\r\nX-A: 1\r\nx-a:\xe9 \r\n\r\n").head
    assert head.all("X-a") == ("1", "é")
    assert head.get("x-A") == "1"
    assert head.get("absent") is None
