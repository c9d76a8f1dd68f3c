"""The request reader on its own (its agreement with whole bytes: test_http1, test_head, test_framing)."""

from __future__ import annotations

import pytest

from conformance.wire.head import MAX_HEAD
from conformance.wire.http1 import RequestReader
from tests.wire.feeding import cut, ways

GET = b"GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"
CHUNKED = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nA: b\r\n\r\n"


def test_pipeline() -> None:
    """Requests in one stream come out one by one, exactly, however the stream is cut."""
    stream = [GET, POST, CHUNKED, b"\r\n" + GET, CHUNKED]
    for pieces in ways(b"".join(stream)):
        assert cut(pieces)[0] == stream


def test_progress() -> None:
    """The head is seen before the request is whole, and forgotten when the request was taken."""
    reader = RequestReader()
    reader.feed(POST[:-2])
    assert (reader.head_seen, reader.take()) == (True, None)
    reader.feed(b"{}" + GET[:5])
    assert (reader.take(), reader.head_seen, reader.take()) == (POST, False, None)


@pytest.mark.parametrize("field", [b"Expect: 100-continue\r\n", b"Expect: 100-Continue\r\nA : b\r\nConnection: x\r\n"])
def test_expect_continue(field: bytes) -> None:
    """A client that waits for 100 (Continue) is seen, until its body is there."""
    reader = RequestReader()
    reader.feed(b"POST / HTTP/1.1\r\n" + field + b"Content-Length: 2\r\n\r\n")
    assert reader.expect_continue
    reader.feed(b"{}")
    assert not reader.expect_continue
    assert reader.take() is not None
    reader.feed(GET)
    assert not reader.expect_continue


def test_body_bound() -> None:
    """A body past the bound breaks the reader as soon as that is known; what is there is given once."""
    long = b"POST / HTTP/1.1\r\nContent-Length: 11\r\n\r\n"
    taken, reader = cut([long, b"more", b"more"], max_body=10)
    assert (taken, reader.broken) == ([long], True)
    chunked = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n12345678901"
    taken, reader = cut([chunked, b"\r\n"], max_body=10)
    assert (taken, reader.broken) == ([chunked], True)
    assert cut([long[:-6] + b"0\r\n\r\n" + b"1234567890"], max_body=10)[1].broken is False


def test_broken_coding() -> None:
    """What is no chunk breaks the reader."""
    taken, reader = cut([CHUNKED.replace(b"0\r\nA", b"z\r\nA")])
    assert (len(taken), reader.broken) == (1, True)


def test_buffer_bound() -> None:
    """Requests that nobody takes do not grow the buffer without bound."""
    reader = RequestReader(max_body=0)
    for _ in range(2 * MAX_HEAD // len(GET) + 1):
        reader.feed(GET)
    assert reader.broken
