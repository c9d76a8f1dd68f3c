"""Content codings: removed, bounded, never guessed."""

from __future__ import annotations

import gzip
import zlib

import pytest

from conformance.wire.coding import decodable, decode_content

TEXT = b"hello, " * 100


def raw_deflate(data: bytes) -> bytes:
    """Deflate data without the zlib wrapper."""
    compressor = zlib.compressobj(wbits=-15)
    return compressor.compress(data) + compressor.flush()


@pytest.mark.parametrize(
    ("body", "codings"),
    [
        (TEXT, None),
        (TEXT, ""),
        (TEXT, "identity"),
        (gzip.compress(TEXT, mtime=0), "gzip"),
        (gzip.compress(TEXT, mtime=0), "X-GZip"),
        (gzip.compress(TEXT[:70], mtime=0) + gzip.compress(TEXT[70:], mtime=0), "gzip"),
        (zlib.compress(TEXT), "deflate"),
        (gzip.compress(zlib.compress(TEXT), mtime=0), "deflate, identity , gzip"),
    ],
)
def test_decoded(body: bytes, codings: str | None) -> None:
    """Codings are removed, last one first."""
    assert decode_content(body, codings, limit=10_000) == (TEXT, "")


def test_what_has_a_decoder() -> None:
    """gzip, deflate and no coding at all can be read; br and zstd cannot, alone or among others."""
    assert all(map(decodable, (None, "", "identity", "gzip", "X-GZIP", "deflate , gzip")))
    assert not any(map(decodable, ("br", "zstd", "gzip, br")))


def test_empty_body() -> None:
    """A message without a body has no content to decode."""
    assert decode_content(b"", "br, gzip", limit=10) == (b"", "")


@pytest.mark.parametrize(
    ("body", "codings", "reason"),
    [
        (TEXT, "br", "no decoder for 'br' is here"),
        (TEXT, "zstd", "no decoder for 'zstd' is here"),
        (TEXT, "gzip", "not gzip data"),
        (gzip.compress(TEXT, mtime=0)[:-4], "gzip", "the gzip data ends early"),
        (gzip.compress(TEXT, mtime=0) + b"junk", "gzip", "not gzip data"),
        (gzip.compress(TEXT, mtime=0), "deflate", "not deflate data"),
        (raw_deflate(TEXT), "deflate", "not deflate data"),
        (zlib.compress(TEXT) + b"x", "deflate", "1 bytes after the end"),
        (gzip.compress(TEXT + b"!", mtime=0), "gzip", "the content is longer than 700 bytes"),
        (gzip.compress(TEXT, mtime=0) + gzip.compress(b"!", mtime=0), "gzip", "the content is longer than 700 bytes"),
        (TEXT, ",".join(["gzip"] * 9), "9 codings are more than 8"),
    ],
)
def test_refused(body: bytes, codings: str, reason: str) -> None:
    """What cannot be decoded stays as it is, with the reason."""
    content, why = decode_content(body, codings, limit=len(TEXT))
    assert content == body
    assert why.startswith(reason)


def test_bomb() -> None:
    """Content that would grow past the bound is not built."""
    bomb = gzip.compress(b"\0" * 50_000_000, compresslevel=1, mtime=0)
    assert decode_content(bomb, "gzip", limit=1000)[1] == "the content is longer than 1000 bytes"


def test_members_without_end() -> None:
    """A stream of very many members is not read to its end, and one of many costs no square of its length."""
    member = gzip.compress(b"", mtime=0)
    assert decode_content(member * 300_000, "gzip") == (member * 300_000, "more than 10000 members")
    many = gzip.compress(b"a", mtime=0) * 9_000 + gzip.compress(bytes(range(256)) * 40_000, compresslevel=0, mtime=0)
    content, reason = decode_content(many, "gzip")
    assert (len(content), reason) == (9_000 + 256 * 40_000, "")
