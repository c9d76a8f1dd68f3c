"""The framings and codings of a response body (RFC 9112 sections 6 and 7), fed piece by piece.

Pure: knows no socket. A body that is short or malformed raises Malformed; nothing is repaired.
"""

from __future__ import annotations

import zlib
from typing import Protocol

MAX_LINE = 64 * 1024


class Malformed(Exception):
    """The bytes are not a response that can be relied on; the text says why."""


class Body(Protocol):
    """The framing of one body. `complete` is whether its end was seen."""

    complete: bool

    def feed(self, data: bytes) -> bytes:
        """The content among `data`."""

    def close(self) -> None:
        """The peer closed. Raises Malformed when the body is not whole."""


class Sized:
    """A body of a known number of bytes."""

    def __init__(self, size: int) -> None:
        self._left = size
        self.complete = size == 0

    def feed(self, data: bytes) -> bytes:
        content = data[: self._left]
        self._left -= len(content)
        self.complete = self._left == 0
        return content

    def close(self) -> None:
        if not self.complete:
            raise Malformed("the response body ended early")


class UntilClose:
    """A body that ends when the peer closes."""

    complete = False

    def feed(self, data: bytes) -> bytes:
        return data

    def close(self) -> None:
        self.complete = True


class Chunked:
    """A body in chunks (RFC 9112 section 7.1); extensions and trailers are skipped."""

    def __init__(self) -> None:
        self.complete = False
        self._pending = b""
        self._left = 0
        self._in_trailers = False

    def feed(self, data: bytes) -> bytes:
        data = self._pending + data if self._pending else data
        content: list[bytes] = []
        position = 0
        while not self.complete:
            if self._left > 2:
                piece = data[position : position + self._left - 2]
                content.append(piece)
                position += len(piece)
                self._left -= len(piece)
                if self._left > 2:
                    break
            if self._left:
                if len(data) - position < 2:
                    break
                if data[position : position + 2] != b"\r\n":
                    raise Malformed("a chunk does not end where its size says")
                position, self._left = position + 2, 0
            end = data.find(b"\r\n", position)
            if end < 0:
                break
            self._line(data[position:end])
            position = end + 2
        self._pending = data[position:]
        if len(self._pending) > MAX_LINE:
            raise Malformed("a chunk's size line is too long")
        return b"".join(content)

    def _line(self, line: bytes) -> None:
        if self._in_trailers:
            self.complete = not line
            return
        size = line.split(b";", 1)[0].strip()
        if not size or size.strip(b"0123456789abcdefABCDEF") or len(size) > 15:
            raise Malformed("a chunk size is malformed")
        count = int(size, 16)
        self._in_trailers = count == 0
        self._left = count + 2 if count else 0

    def close(self) -> None:
        if not self.complete:
            raise Malformed("the response body ended without its last chunk")


class Decoded:
    """Removes a content coding that nobody asked for, within `limit` bytes for each call."""

    def __init__(self, coding: str) -> None:
        coding = coding.strip().lower()
        if coding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise Malformed("the content coding is not known")
        self._inflate = None if coding in ("", "identity") else zlib.decompressobj(wbits=47 if "gzip" in coding else 15)

    def feed(self, data: bytes, limit: int) -> bytes:
        """The content in `data`. Raises Malformed for bad or oversized content."""
        if self._inflate is None:
            return data
        try:
            content = self._inflate.decompress(data, limit)
        except zlib.error as error:
            raise Malformed("the content coding is broken") from error
        if self._inflate.unconsumed_tail:
            raise Malformed("the decoded content is too long")
        return content
