"""Whole HTTP/1.1 messages: framing, completeness, interim responses, trailing bytes."""

from __future__ import annotations

import pytest

from conformance.wire.facts import Span
from conformance.wire.http1 import Framing, ResponseReader, read_request, read_response
from tests.wire.feeding import check_reader, codes, request, response

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


def test_content_length() -> None:
    """Content-Length ends the body, and all facts of an ordinary response are there without a fault."""
    message = response(b"HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\ncontent-length: 5\r\n\r\nhello")
    assert (message.version, message.status, message.reason) == ("HTTP/1.1", 404, "Not Found")
    assert (message.framing, message.body, message.complete) == (Framing.LENGTH, b"hello", True)
    assert message.head.get("Content-Length") == "5"
    assert (message.faults, message.trailing) == ((), b"")


def test_chunked() -> None:
    """Chunk bounds are kept, extensions are passed over, trailers are read."""
    raw = CHUNKED + b'3;a=b\r\nabc\r\n0C ; c="d"\r\ndefghijklmno\r\n000\r\nX-T: 1\r\nX-U: 2\r\n\r\n'
    message = response(raw)
    assert (message.framing, message.complete, message.faults) == (Framing.CHUNKED, True, ())
    assert message.body == b"abcdefghijklmno"
    assert [(chunk.offset, chunk.span.of(raw)) for chunk in message.chunks] == [(0, b"abc"), (3, b"defghijklmno")]
    assert [(line.name, line.value) for line in message.trailers] == [(b"X-T", b"1"), (b"X-U", b"2")]


def test_until_close() -> None:
    """Without length and coding the body runs until close, and only a clean close completes it."""
    raw = OK + b"\r\nbody"
    message = response(raw)
    assert (message.framing, message.body, message.complete, message.faults) == (Framing.CLOSE, b"body", True, ())
    cut_off = read_response(raw, closed=False)
    assert (cut_off.complete, codes(cut_off)) == (False, ["body.short"])


@pytest.mark.parametrize(
    ("method", "status"),
    [("HEAD", b"200"), ("POST", b"204"), ("GET", b"304"), ("CONNECT", b"200"), ("GET", b"101")],
)
def test_no_body(method: str, status: bytes) -> None:
    """Some answers have no body whatever their fields say; what follows is past the end."""
    head = b"HTTP/1.1 " + status + b" X\r\nContent-Length: 4\r\n\r\n"
    message = response(head, method)
    assert (message.framing, message.body, message.complete) == (Framing.NONE, b"", True)
    assert codes(message) == (["framing.not-allowed"] if status in (b"204", b"101") else [])
    longer = read_response(head + b"body", method=method)
    assert {"trailing-bytes", "body.past-end"} <= set(codes(longer))
    assert longer.trailing == b"body"


def test_connect_refused() -> None:
    """An error that answers CONNECT has a body like any other."""
    assert response(b"HTTP/1.1 500 X\r\nContent-Length: 2\r\n\r\nno", "CONNECT").body == b"no"


def test_interim() -> None:
    """1xx heads come before the final one and are kept apart."""
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    raw = b"HTTP/1.1 100 Continue\r\n\r\n" + hints + OK + b"Content-Length: 2\r\n\r\nok"
    message = response(raw)
    assert [head.start_line for head in message.interim] == [b"HTTP/1.1 100 Continue", b"HTTP/1.1 103 Early Hints"]
    assert (message.status, message.body, message.faults) == (200, b"ok", ())
    assert message.raw_offset(0) == len(raw) - 2


def test_interim_alone() -> None:
    """An interim response without a final one leaves no status."""
    message = response(b"HTTP/1.1 100 Continue\r\n\r\n")
    assert (message.status, len(message.interim), codes(message)) == (0, 1, ["head.incomplete"])


def test_interim_bound() -> None:
    """Interim responses without end are cut off: the last one read counts as the final one."""
    raw = b"HTTP/1.1 102 Processing\r\n\r\n" * 100
    message = read_response(raw)
    assert (len(message.interim), message.status, message.complete) == (64, 102, True)
    assert "interim.too-many" in codes(message)
    check_reader(message, [raw], "POST")


@pytest.mark.parametrize(
    ("body", "code", "left"),
    [
        (b"3\r\nabc\r\n", "body.short", b"abc"),
        (b"3\r\nab", "body.short", b"ab"),
        (b"3\r\nabc", "body.short", b"abc"),
        (b"3\r\nabc\r", "body.short", b"abc"),
        (b"3\r\nabc\r\n0\r\n", "body.short", b"abc"),
        (b"3\r\nabc\r\n0\r\n\r", "body.short", b"abc"),
        (b"3\r\nabc\r\n0\r\nX: y\r\n", "body.short", b"abc"),
        (b"3\r\nabcd\r\n0\r\n\r\n", "chunk.terminator-missing", b"abc"),
        (b"3\r\nabc\n0\r\n\r\n", "chunk.terminator-missing", b"abc"),
        (b"3\r\nabc\rX", "chunk.terminator-missing", b"abc"),
        (b"4\r\nabc\r\n0\r\n\r\n", "chunk.terminator-missing", b"abc\r"),
        (b"3\r\nabc\r\nx\r\n", "chunk.size-invalid", b"abc"),
        (b"0x3\r\nabc\r\n", "chunk.size-invalid", b""),
        (b"-1\r\nabc\r\n", "chunk.size-invalid", b""),
        (b"+3\r\nabc\r\n", "chunk.size-invalid", b""),
        (b"1_0\r\nabc\r\n", "chunk.size-invalid", b""),
        (b" 3\r\nabc\r\n", "chunk.size-invalid", b""),
        (b"\r\nabc\r\n", "chunk.size-invalid", b""),
        (b"1" * 20 + b"\r\nabc\r\n", "chunk.size-invalid", b""),
        (b"data: no chunk\n\n", "chunk.size-invalid", b""),
    ],
)
def test_broken_chunks(body: bytes, code: str, left: bytes) -> None:
    """A chunked body that ends early or is not well-formed is not complete, and its data so far is kept."""
    message = response(CHUNKED + body)
    assert (codes(message), message.body, message.complete, message.trailing) == ([code], left, False, b"")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"3\nabc\r\n0\r\n\r\n", "line-end.bare-lf"),
        (b"3\r\nabc\r\n0\r\n\n", "line-end.bare-lf"),
        (b"3\r\nabc\r\n0\r\nA: b\r\n\n", "line-end.bare-lf"),
        (b"3 \t\r\nabc\r\n0\r\n\r\n", "chunk.size-invalid"),
        (b"3\r\nabc\r\n0\r\nno colon\r\n\r\n", "header.no-colon"),
    ],
)
def test_lenient_chunks(body: bytes, code: str) -> None:
    """What is read all the same leaves a fault."""
    message = response(CHUNKED + body)
    assert (codes(message), message.body, message.complete) == ([code], b"abc", True)


def test_short_length() -> None:
    """A body shorter than its Content-Length is not complete."""
    message = response(OK + b"Content-Length: 9\r\n\r\nhello")
    assert (message.body, message.complete, codes(message)) == (b"hello", False, ["body.short"])


def test_second_message() -> None:
    """Another message behind the end is trailing, a body that goes on is past the end besides."""
    raw = OK + b"Content-Length: 2\r\n\r\nok"
    assert codes(read_response(raw + raw)) == ["trailing-bytes"]
    assert codes(read_response(raw + b"more")) == ["trailing-bytes", "body.past-end"]
    assert codes(read_response(CHUNKED + b"0\r\n\r\nmore")) == ["trailing-bytes"]


@pytest.mark.parametrize(
    "raw", [OK + b"Content-Length: 9\r\n\r\n123456789", OK + b"\r\n123456789", CHUNKED + b"9\r\n123456789\r\n0\r\n\r\n"]
)
def test_body_bound(raw: bytes) -> None:
    """A body past the bound is cut there and not complete; one that fits exactly is whole."""
    message = read_response(raw, max_body=4)
    assert (message.body, message.complete, codes(message)) == (b"1234", False, ["body.too-long"])
    assert read_response(raw, max_body=9).complete


def test_chunks_past_the_bound() -> None:
    """The bound counts over chunks, and one more byte in a further chunk is too much."""
    raw = CHUNKED + b"2\r\nab\r\n2\r\ncd\r\n1\r\ne\r\n0\r\n\r\n"
    message = read_response(raw, max_body=4)
    assert (message.body, message.complete, codes(message)) == (b"abcd", False, ["body.too-long"])


@pytest.mark.parametrize("raw", [b"", b"HTTP", b"HTTP/1.1 200 OK", OK, OK + b"A: b\r\nC: d", OK + b"A: b\r\n\r"])
def test_no_whole_head(raw: bytes) -> None:
    """Without the blank line there is no status; the lines so far are kept."""
    message = response(raw)
    assert (message.status, message.complete, message.body) == (0, False, b"")
    assert codes(message) == ["head.incomplete"]
    assert message.faults[0].span == Span(0, len(raw))


@pytest.mark.parametrize(
    ("head", "kept"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n", True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n", False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: x, Close\r\n", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: Keep-Alive\r\n", True),
        (b"HTTP/1.1 204 No Content\r\n", True),
        (b"HTTP/1.1 101 Switching Protocols\r\n", False),
        (b"HTTP/1.1 200 OK\r\n", False),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n", False),
    ],
)
def test_keep_alive(head: bytes, kept: bool) -> None:
    """A connection lasts when version and fields say so and the end is known without a close."""
    reader = ResponseReader()
    reader.feed(head + b"\r\n" + (b"0\r\n\r\n" if b"chunked" in head else b""))
    reader.feed_eof()
    assert (reader.complete, reader.keep_alive) == (True, kept)


def test_request() -> None:
    """A request has method and target, and no body without a field that frames one."""
    message = request(b"GET /v1/models?a=b HTTP/1.1\r\nHost: x\r\n\r\n")
    assert (message.method, message.target, message.version) == ("GET", "/v1/models?a=b", "HTTP/1.1")
    assert (message.framing, message.complete, message.faults) == (Framing.NONE, True, ())
    message = request(b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}")
    assert (message.framing, message.body, message.complete, message.faults) == (Framing.LENGTH, b"{}", True, ())
    message = request(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n")
    assert (message.framing, message.body, message.complete, message.faults) == (Framing.CHUNKED, b"{}", True, ())


def test_request_without_head() -> None:
    """A request whose head is not whole has neither method nor target."""
    message = request(b"POST / HTTP/1.1\r\nHost: x\r\n")
    assert (message.method, message.target, message.complete, codes(message)) == ("", "", False, ["head.incomplete"])


@pytest.mark.parametrize(
    "fields",
    [
        b"Transfer-Encoding: gzip\r\n",
        b"Transfer-Encoding: chunked, gzip\r\n",
        b"Content-Length: x\r\n",
        b"Content-Length: 1\r\nContent-Length: 2\r\n",
    ],
)
def test_request_without_end(fields: bytes) -> None:
    """A request whose end cannot be told is not complete, and the bytes go to no body."""
    message = request(b"POST / HTTP/1.1\r\n" + fields + b"\r\nab")
    assert (message.framing, message.body, message.complete, message.trailing) == (Framing.NONE, b"", False, b"")


def test_pipelined() -> None:
    """A request behind the first one is trailing."""
    raw = b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"
    message = read_request(raw + raw)
    assert (message.body, message.complete, message.trailing) == (b"{}", True, raw)
