"""HTTP/1.1 messages as facts: head, framing, chunk bounds, body, faults. Data that `http1` makes and everyone reads.

Knows where each body byte stood in the raw bytes; knows nothing of how they are parsed.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from enum import StrEnum

from conformance.wire.facts import Fault, Span


class Framing(StrEnum):
    """How the body's end is found (RFC 9112 section 6.3)."""

    NONE = "none"
    LENGTH = "content-length"
    CHUNKED = "chunked"
    CLOSE = "until-close"


@dataclass(frozen=True, slots=True)
class HeaderLine:
    """One field line: name and value as received (case kept, outer white space of the value removed).

    `span` covers the line without its line end; of a folded field, all its lines.
    """

    name: bytes
    value: bytes
    span: Span


@dataclass(frozen=True, slots=True)
class Chunk:
    """One HTTP chunk: where its data stands in the raw bytes, and its offset in the body."""

    span: Span
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """A start line and its field lines. `span` covers both and the blank line after them."""

    start_line: bytes
    headers: tuple[HeaderLine, ...]
    span: Span

    def all(self, name: str) -> tuple[str, ...]:
        """Every value of the field `name` (any case), in order, decoded as latin-1."""
        wanted = name.lower().encode()
        return tuple(line.value.decode("latin-1") for line in self.headers if line.name.lower() == wanted)

    def get(self, name: str) -> str | None:
        """The first value of the field `name`, or None."""
        values = self.all(name)
        return values[0] if values else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One HTTP message as facts.

    `version` is like "HTTP/1.1"; for a response `status` and `reason` are set, for a request `method` and `target`.
    `body` has the chunked coding removed and nothing else; `complete` is what the framing says; `trailing` are bytes
    after the message's end; `interim` are the 1xx heads that came before. `chunks` are the chunks that hold data (the
    last chunk, of size zero, is not among them).
    """

    version: str
    head: Head
    framing: Framing
    body: bytes
    complete: bool
    faults: tuple[Fault, ...]
    status: int = 0
    reason: str = ""
    method: str = ""
    target: str = ""
    chunks: tuple[Chunk, ...] = ()
    trailers: tuple[HeaderLine, ...] = ()
    interim: tuple[Head, ...] = ()
    trailing: bytes = b""

    def raw_offset(self, body_offset: int) -> int:
        """The offset in the raw bytes of the body's byte `body_offset` (clamped to the body)."""
        offset = min(max(body_offset, 0), len(self.body))
        index = bisect_right(self.chunks, offset, key=_chunk_offset) - 1
        if index < 0:
            return self.head.span.end + offset
        chunk = self.chunks[index]
        return chunk.span.start + offset - chunk.offset

    def raw_span(self, body_span: Span) -> Span:
        """The raw span from a body span's first byte to its last (chunk framing in between included)."""
        start = self.raw_offset(body_span.start)
        last = min(body_span.end, len(self.body)) - 1
        return Span(start, start if last < max(body_span.start, 0) else self.raw_offset(last) + 1)


def _chunk_offset(chunk: Chunk) -> int:
    return chunk.offset
