"""Bounds of the chunked coding, whole and live (its cases: test_http1)."""

from __future__ import annotations

import pytest

from conformance.wire.chunked import MAX_SIZE_LINE, MAX_TRAILERS, read_size_line
from conformance.wire.http1 import read_response
from tests.wire.feeding import check_reader, codes

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def in_pieces(raw: bytes, size: int) -> list[bytes]:
    """`raw` in pieces of `size` bytes."""
    return [raw[at : at + size] for at in range(0, len(raw), size)]


@pytest.mark.parametrize("size", [997, 4096, 1 << 20])
def test_size_line_bound(size: int) -> None:
    """A size line past its bound is no size line, whether its end comes or not."""
    for extension, code in ((MAX_SIZE_LINE - 4, None), (MAX_SIZE_LINE - 3, "chunk.size-invalid")):
        raw = HEAD + b"1;" + b"x" * (extension) + b"\r\n" + b"a\r\n0\r\n\r\n"
        message = read_response(raw)
        assert (message.complete, codes(message)) == (code is None, [code] if code else [])
        check_reader(message, in_pieces(raw, size), "POST")
    endless = HEAD + b"1;" + b"x" * MAX_SIZE_LINE
    assert codes(read_response(endless)) == ["chunk.size-invalid"]
    check_reader(read_response(endless), in_pieces(endless, size), "POST")


@pytest.mark.parametrize("size", [9973, 1 << 20])
def test_trailer_bound(size: int) -> None:
    """Trailers that do not end within their bound break the body."""
    raw = HEAD + b"0\r\n" + b"A: b\r\n" * (MAX_TRAILERS // 6 + 1)
    message = read_response(raw)
    assert (message.complete, codes(message)) == (False, ["trailers.too-long"])
    check_reader(message, in_pieces(raw, size), "POST")


def test_size_line() -> None:
    """Sizes are hexadecimal in any case, with leading zeros and extensions."""
    assert read_size_line(b"00fF;x=y\r\n") == (255, "", "")
    assert read_size_line(b"g\r\n")[:2] == (-1, "chunk.size-invalid")
