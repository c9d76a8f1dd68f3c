"""Facts about response heads."""

from __future__ import annotations

import pytest

from conformance.reference.body import Chunked, Malformed, Sized, UntilClose
from conformance.reference.http import MAX_HEAD, body_of, parse_head, split_head


def test_a_head_is_split_from_what_follows() -> None:
    """Interim heads are skipped; names are lower case; the rest is the body's beginning."""
    raw = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: a/b \r\nX: 1\r\nx: 2\r\n\r\nrest"
    found = split_head(raw)
    assert found is not None
    assert (found[0].status, found[0].get("content-type"), found[0].get("x"), found[1]) == (200, "a/b", "1", b"rest")
    assert split_head(raw[:60]) is None


@pytest.mark.parametrize("raw", [b"HTTP/2 200 OK", b"200 OK", b"HTTP/1.1 20x", b"HTTP/1.1 200 OK\r\nbad line", b""])
def test_a_malformed_head_raises(raw: bytes) -> None:
    """What is no status line or no field line is not guessed at."""
    with pytest.raises(Malformed):
        parse_head(raw)


def test_an_endless_head_raises() -> None:
    """A head without an end is given up at its bound."""
    with pytest.raises(Malformed):
        split_head(b"x" * (MAX_HEAD + 1))


def test_the_framing_follows_the_head() -> None:
    """Chunked wins over a length; no length means until close; 204 has no body; nonsense raises."""
    head = "HTTP/1.1 200 OK\r\n"
    assert isinstance(body_of(parse_head((head + "Transfer-Encoding: chunked\r\nContent-Length: 1").encode())), Chunked)
    assert isinstance(body_of(parse_head((head + "Content-Length: 1").encode())), Sized)
    assert isinstance(body_of(parse_head(head.strip().encode())), UntilClose)
    assert body_of(parse_head(b"HTTP/1.1 204 No Content")).complete
    for field in ("Content-Length: x", "Transfer-Encoding: gzip"):
        with pytest.raises(Malformed):
            body_of(parse_head((head + field).encode()))
