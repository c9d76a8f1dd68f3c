"""The scanner on its own (its agreement with whole bytes: test_http1, test_chunked)."""

from __future__ import annotations

from conformance.wire.chunk_scanner import ChunkScanner


def test_scanner_counts() -> None:
    """The scanner tells how much of a piece belongs to the body, and reads nothing after its end."""
    sink: list[bytes] = []
    scanner = ChunkScanner(sink)
    assert scanner.feed(b"3\r\nab") == 5
    assert (scanner.body_bytes, scanner.done) == (2, False)
    assert scanner.feed(b"c\r\n0\r\n\r\nNEXT") == 8
    assert (scanner.body_bytes, scanner.done, b"".join(sink)) == (3, True, b"abc")
    assert scanner.feed(b"3\r\nabc\r\n") == 0


def test_broken_scanner() -> None:
    """A broken scanner stays broken and reads nothing more."""
    scanner = ChunkScanner()
    scanner.feed(b"nonsense\r\n")
    assert (scanner.broken, scanner.feed(b"0\r\n\r\n"), scanner.done) == (True, 0, False)
