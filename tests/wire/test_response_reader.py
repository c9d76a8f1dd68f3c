"""The response reader on its own (its agreement with whole bytes: test_http1, test_head, test_framing)."""

from __future__ import annotations

from conformance.wire.http1 import ResponseReader

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"


def test_progress() -> None:
    """Head, body bytes and end are seen as they come; bytes after the end are surplus and spoil the connection."""
    reader = ResponseReader()
    reader.feed(OK[:-1])
    assert (reader.head_seen, reader.status, reader.complete) == (False, 0, False)
    reader.feed(b"\nhel")
    assert (reader.head_seen, reader.status, reader.body_bytes, reader.complete) == (True, 200, 3, False)
    reader.feed(b"")
    reader.feed(b"lo")
    assert (reader.body_bytes, reader.complete, reader.keep_alive, reader.surplus) == (5, True, True, False)
    reader.feed(b"x")
    assert (reader.complete, reader.keep_alive, reader.surplus) == (True, False, True)


def test_collect() -> None:
    """Body bytes are kept only on request, and each is given once."""
    reader = ResponseReader(collect=True)
    reader.feed(OK + b"he")
    assert (reader.take_body(), reader.take_body()) == (b"he", b"")
    reader.feed(b"llo")
    assert reader.take_body() == b"llo"
    reader = ResponseReader()
    reader.feed(OK + b"he")
    assert (reader.take_body(), reader.body_bytes) == (b"", 2)


def test_end_of_connection() -> None:
    """The end of the connection completes a body that runs until close, and nothing else."""
    reader = ResponseReader()
    reader.feed_eof()
    assert not reader.complete
    reader.feed(b"HTTP/1.1 200 OK\r\n\r\nbody")
    assert not reader.complete
    reader.feed_eof()
    assert (reader.complete, reader.keep_alive) == (True, False)
    for short in (OK + b"he", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab"):
        reader = ResponseReader()
        reader.feed(short)
        reader.feed_eof()
        assert not reader.complete


def test_broken() -> None:
    """Contradicting lengths break the reader: no end can be told, nothing more is read."""
    reader = ResponseReader()
    reader.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na")
    assert (reader.head_seen, reader.broken, reader.complete) == (True, True, False)
    reader.feed(b"b")
    reader.feed_eof()
    assert (reader.complete, reader.surplus, reader.keep_alive) == (False, False, False)
