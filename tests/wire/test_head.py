"""Start lines and field lines, as they should be and as they are."""

from __future__ import annotations

import pytest

from conformance.wire.facts import FaultLog, Span
from conformance.wire.head import MAX_HEAD, read_head
from conformance.wire.http1 import read_request, read_response
from tests.wire.feeding import check_reader, codes, cut, request, response


@pytest.mark.parametrize(
    ("line", "version", "status", "reason", "faults"),
    [
        (b"HTTP/1.1 200 OK", "HTTP/1.1", 200, "OK", []),
        (b"HTTP/1.0 500 Internal  Error", "HTTP/1.0", 500, "Internal  Error", []),
        (b"HTTP/1.1 200 ", "HTTP/1.1", 200, "", []),
        (b"HTTP/1.1 200 \xe9t\xe9", "HTTP/1.1", 200, "été", []),
        (b"HTTP/1.1 200", "HTTP/1.1", 200, "", ["status-line.malformed"]),
        (b"HTTP/1.1  200  OK", "HTTP/1.1", 200, "OK", ["status-line.malformed"]),
        (b"HTTP/1.1\t200\tOK", "HTTP/1.1", 200, "OK", ["status-line.malformed"]),
        (b"HTTP/2.0 200 OK", "HTTP/2.0", 200, "OK", ["version.unknown"]),
        (b"HTTP/2 200", "HTTP/2", 200, "", ["status-line.malformed", "version.unknown"]),
        (b"ICY 200 OK", "ICY", 200, "OK", ["status-line.malformed", "version.unknown"]),
        (b"HTTP/1.1 099 Low", "HTTP/1.1", 99, "Low", ["status.invalid"]),
        (b"HTTP/1.1 600 High", "HTTP/1.1", 600, "High", ["status.invalid"]),
        (b"HTTP/1.1 1000 Long", "HTTP/1.1", 1000, "Long", ["status-line.malformed", "status.invalid"]),
        (b"HTTP/1.1 OK", "", 0, "", ["status-line.malformed"]),
        (b"<html>", "", 0, "", ["status-line.malformed"]),
        (b"HTTP/1.1 200 O\x00K", "HTTP/1.1", 200, "O\x00K", ["status-line.malformed"]),
    ],
)
def test_status_line(line: bytes, version: str, status: int, reason: str, faults: list[str]) -> None:
    """A status line is read as well as it can be; what the grammar does not allow is a fault."""
    message = response(line + b"\r\nContent-Length: 0\r\n\r\n")
    assert (message.version, message.status, message.reason) == (version, status, reason)
    assert sorted(codes(message)) == faults


@pytest.mark.parametrize(
    ("line", "method", "target", "version", "faults"),
    [
        (b"POST /a HTTP/1.1", "POST", "/a", "HTTP/1.1", []),
        (b"GET http://h/a?b HTTP/1.0", "GET", "http://h/a?b", "HTTP/1.0", []),
        (b"GET  /a  HTTP/1.1", "GET", "/a", "HTTP/1.1", ["request-line.malformed"]),
        (b"GET /a b HTTP/1.1", "GET", "/a b", "HTTP/1.1", ["request-line.malformed"]),
        (b"GET /a", "GET", "/a", "", ["request-line.malformed", "version.unknown"]),
        (b"GET /a HTTP/2.0", "GET", "/a", "HTTP/2.0", ["version.unknown"]),
        (b" ", "", "", "", ["request-line.malformed", "version.unknown"]),
    ],
)
def test_request_line(line: bytes, method: str, target: str, version: str, faults: list[str]) -> None:
    """A request line is read as well as it can be; what the grammar does not allow is a fault."""
    message = request(line + b"\r\nHost: x\r\n\r\n")
    assert (message.method, message.target, message.version, codes(message)) == (method, target, version, faults)


@pytest.mark.parametrize(
    ("lines", "fields", "faults"),
    [
        (b"A: b\r\n", [(b"A", b"b")], []),
        (b"A:b\r\nA:\r\n", [(b"A", b"b"), (b"A", b"")], []),
        (b"A: \t b c \t\r\n", [(b"A", b"b c")], []),
        (b"A: \xe9:\r\n", [(b"A", b"\xe9:")], []),
        (b"A: b\n", [(b"A", b"b")], ["line-end.bare-lf"]),
        (b"A: b\r\n c\r\n\td \r\nE: f\r\n", [(b"A", b"b c d"), (b"E", b"f")], ["header.folded", "header.folded"]),
        (b" A: b\r\nC: d\r\n", [(b"C", b"d")], ["header.folded"]),
        (b"A b\r\nC: d\r\n", [(b"C", b"d")], ["header.no-colon"]),
        (b"A : b\r\n", [(b"A", b"b")], ["header.space-before-colon"]),
        (b"A B: c\r\n", [(b"A B", b"c")], ["header.malformed"]),
        (b": c\r\n", [(b"", b"c")], ["header.malformed"]),
        (b"A: b\x00c\r\n", [(b"A", b"b\x00c")], ["header.control-byte"]),
        (b"A: b\rc\r\n", [(b"A", b"b\rc")], ["header.control-byte"]),
        (b"A: b\r\r\n", [(b"A", b"b\r")], ["header.control-byte"]),
        (b"A\x7f: b\r\n", [(b"A\x7f", b"b")], ["header.control-byte", "header.malformed"]),
    ],
)
def test_fields(lines: bytes, fields: list[tuple[bytes, bytes]], faults: list[str]) -> None:
    """Field lines are kept in order and case; every deviation from the grammar is a fault."""
    message = response(b"HTTP/1.1 204 No Content\r\n" + lines + b"\r\n")
    assert [(line.name, line.value) for line in message.head.headers] == fields
    assert sorted(codes(message)) == faults


def test_spans() -> None:
    """A field's span is its line without the line end, the head's goes to the end of the blank line."""
    raw = b"HTTP/1.1 200 OK\r\nA: b \r\nC: d\n  e\r\n\r\nbody"
    message = response(raw)
    assert [line.span.of(raw) for line in message.head.headers] == [b"A: b ", b"C: d\n  e"]
    assert message.head.span == Span(0, len(raw) - 4)


def test_bare_line_feeds() -> None:
    """A head whose lines all end in LF alone is read, with a fault for each line."""
    message = response(b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok")
    assert (message.body, message.complete, codes(message)) == (b"ok", True, ["line-end.bare-lf"] * 3)


def test_leading_empty_lines() -> None:
    """Empty lines before a start line are passed over, with a fault."""
    message = response(b"\r\n\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    assert (message.status, message.body, codes(message)) == (200, b"ok", ["head.leading-empty-line"])
    assert message.faults[0].span == Span(0, 5)
    assert request(b"\r\nGET / HTTP/1.1\r\n\r\n").method == "GET"


@pytest.mark.parametrize("start", [b"HTTP/1.1 200 OK\r\n", b"", b"\r\nHTTP/1.1 200 OK\r\n"])
def test_too_long(start: bytes) -> None:
    """A head that does not end within its bound is given up, by the live readers too."""
    raw = start + b"A" * MAX_HEAD
    message = read_response(raw)
    assert (message.status, message.complete) == (0, False)
    assert "head.too-long" in codes(message)
    for size in (len(raw), 40_000):
        pieces = [raw[at : at + size] for at in range(0, len(raw), size)]
        check_reader(message, pieces, "POST")
        taken, reader = cut(pieces)
        assert reader.broken
        assert raw.startswith(b"".join(taken))
    assert "head.too-long" in codes(read_request(raw))


def test_longest_head() -> None:
    """A head that just fits is read, wherever it is cut; one byte more is too long."""
    rest = b"HTTP/1.1 204 X\r\nA: " + b"\r\n\r\n"
    fits = rest[:-4] + b"b" * (MAX_HEAD - len(rest)) + b"\r\n\r\n"
    assert read_response(fits).complete
    longer = fits.replace(b"b", b"bb", 1)
    for raw in (fits, longer):
        for size in (len(raw), 100_000, len(raw) - 3, len(raw) - 1):
            pieces = [raw[at : at + size] for at in range(0, len(raw), size)]
            check_reader(read_response(raw), pieces, "POST")
    assert codes(read_response(longer)) == ["head.too-long"]


def test_unfinished() -> None:
    """Of an unfinished head the whole lines are kept."""
    log = FaultLog()
    head, whole = read_head(b"HTTP/1.1 200 OK\r\nA: b\r\nC: d", 0, log)
    assert (head.start_line, [line.name for line in head.headers], whole) == (b"HTTP/1.1 200 OK", [b"A"], False)
    assert read_head(b"HTTP/1.", 0, log)[0].start_line == b"HTTP/1."
