"""Facts about body framings: a body is whole or it raises, whatever the cut."""

from __future__ import annotations

import gzip
import zlib

import pytest

from conformance.reference.body import Body, Chunked, Decoded, Malformed, Sized, UntilClose

CHUNKED = b"5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nTrailer: 1\r\n\r\n"


def test_chunks_join_at_every_cut() -> None:
    """Extensions and trailers are skipped; every cut gives the same content and the same end."""
    for size in range(1, len(CHUNKED) + 1):
        body = Chunked()
        content = b"".join(body.feed(CHUNKED[i : i + size]) for i in range(0, len(CHUNKED), size))
        assert (content, body.complete) == (b"hello world", True)


@pytest.mark.parametrize("raw", [b"zz\r\n", b"-1\r\n", b"\r\n", b"5\r\nhelloXX", b"f" * 16 + b"\r\n", b"1" * 70000])
def test_a_malformed_chunk_raises(raw: bytes) -> None:
    """A size that is none, data that does not end at its size, and an endless size line are faults."""
    with pytest.raises(Malformed):
        Chunked().feed(raw)


@pytest.mark.parametrize("cut", range(len(CHUNKED)))
def test_a_cut_chunked_body_raises(cut: int) -> None:
    """Every proper beginning of a chunked body is short."""
    body = Chunked()
    body.feed(CHUNKED[:cut])
    with pytest.raises(Malformed):
        body.close()


def test_other_framings_know_their_end() -> None:
    """A sized body ends at its size, an unsized one when the peer closes."""
    sized = Sized(3)
    assert (sized.feed(b"abcd"), sized.complete) == (b"abc", True)
    short = Sized(3)
    short.feed(b"a")
    with pytest.raises(Malformed):
        short.close()
    open_ended: Body = UntilClose()
    assert open_ended.feed(b"x") == b"x"
    open_ended.close()
    assert open_ended.complete


@pytest.mark.parametrize(
    ("coding", "data"), [("gzip", gzip.compress(b"hello", mtime=0)), ("deflate", zlib.compress(b"hello"))]
)
def test_a_coding_is_removed(coding: str, data: bytes) -> None:
    """A coding that nobody asked for is removed piece by piece."""
    decoded = Decoded(coding)
    assert b"".join(decoded.feed(data[i : i + 1], 100) for i in range(len(data))) == b"hello"


def test_what_cannot_be_decoded_raises() -> None:
    """Unknown codings, broken data and an inflated bomb are faults."""
    with pytest.raises(Malformed):
        Decoded("br")
    with pytest.raises(Malformed):
        Decoded("gzip").feed(b"plain text", 100)
    with pytest.raises(Malformed):
        Decoded("gzip").feed(gzip.compress(b"0" * 10000, mtime=0), 100)
