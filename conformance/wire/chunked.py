"""The chunked transfer coding (RFC 9112 section 7.1): raw bytes become data, chunk bounds, trailers and faults.

Lenient, and says so: a size line may end in a bare LF or have white space after the size; anything else is broken.
Knows nothing of heads and framing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from conformance.wire.facts import FaultLog, Span, clip
from conformance.wire.head import find_head_end, read_fields
from conformance.wire.message import Chunk, HeaderLine

MAX_SIZE_LINE = 4096
MAX_TRAILERS = 64 * 1024

_SIZE_LINE = re.compile(rb"([0-9A-Fa-f]{1,15})([ \t]*)(;[^\n]*?)?(\r?)\n", re.DOTALL)


@lru_cache(maxsize=1024)
def read_size_line(line: bytes) -> tuple[int, str, str]:
    """Size, fault code and detail ("" when in order) of a chunk's first line with its line end; size -1: unreadable."""
    match = _SIZE_LINE.fullmatch(line)
    if not match:
        return -1, "chunk.size-invalid", f"{clip(line)} is no chunk size"
    size = int(match[1], 16)
    if match[2] and not match[3]:
        return size, "chunk.size-invalid", f"white space after the size in {clip(line)}"
    if not match[4]:
        return size, "line-end.bare-lf", f"{clip(line)} ends in LF alone"
    return size, "", ""


def find_trailers_end(data: bytes, start: int) -> tuple[int, int]:
    """Where the trailer fields end and where the blank line after them ends; (-1, -1) when it is not there."""
    for blank in (b"\r\n", b"\n"):
        if data.startswith(blank, start):
            return start, start + len(blank)
    return find_head_end(data, start, MAX_TRAILERS)


@dataclass(frozen=True, slots=True)
class ChunkedBody:
    """What a chunked body held, cut at the bound. `end` is the offset behind it; len(raw) unless `complete`."""

    body: bytes
    chunks: tuple[Chunk, ...]
    trailers: tuple[HeaderLine, ...]
    end: int
    complete: bool


def read_chunked(raw: bytes, start: int, max_body: int, log: FaultLog) -> ChunkedBody:
    """Read the chunks at `start`. Reading stops at the last chunk, at what is broken, or past `max_body` bytes."""
    parts: list[bytes] = []
    chunks: list[Chunk] = []
    total = 0
    pos, size = _size_at(raw, start, log)
    while size > 0:
        room = max_body - total
        data_end = min(pos + size, len(raw), pos + room)
        if data_end > pos:
            parts.append(raw[pos:data_end])
            chunks.append(Chunk(Span(pos, data_end), total))
            total += data_end - pos
        if min(size, len(raw) - pos) > room:
            log.note("body.too-long", data_end, len(raw), f"more than {max_body} bytes")
            size = -1
        else:
            pos = _chunk_end(raw, data_end, log)
            pos, size = _size_at(raw, pos, log) if pos >= 0 else (pos, -1)
    trailers, end = _trailers_at(raw, pos, log) if size == 0 else ((), -1)
    return ChunkedBody(b"".join(parts), tuple(chunks), trailers, len(raw) if end < 0 else end, end >= 0)


def _size_at(raw: bytes, pos: int, log: FaultLog) -> tuple[int, int]:
    """Where the data of the chunk at `pos` starts, and its size; size -1 with a fault when it cannot be read."""
    line_end = raw.find(b"\n", pos, pos + MAX_SIZE_LINE) + 1
    if line_end:
        size, code, detail = read_size_line(raw[pos:line_end])
        if code:
            log.note(code, pos, line_end, detail)
        return (line_end if size >= 0 else pos), size
    if len(raw) - pos >= MAX_SIZE_LINE:
        log.note("chunk.size-invalid", pos, len(raw), f"no line end in {MAX_SIZE_LINE} bytes")
    else:
        log.note("body.short", pos, len(raw), "the bytes end before the last chunk")
    return pos, -1


def _chunk_end(raw: bytes, data_end: int, log: FaultLog) -> int:
    """The offset behind the line end that closes a chunk's data; -1 with a fault when it is not there."""
    if raw.startswith(b"\r\n", data_end):
        return data_end + 2
    rest = raw[data_end : data_end + 2]
    if rest in (b"", b"\r"):
        log.note("body.short", data_end, len(raw), "the bytes end inside a chunk")
    else:
        log.note("chunk.terminator-missing", data_end, data_end + len(rest), f"{clip(rest)} where CRLF closes the data")
    return -1


def _trailers_at(raw: bytes, start: int, log: FaultLog) -> tuple[tuple[HeaderLine, ...], int]:
    """The trailer fields at `start` and the offset behind their blank line (-1 with a fault when it is not there)."""
    fields_end, end = find_trailers_end(raw, start)
    if end >= 0:
        if end - fields_end == 1:
            log.note("line-end.bare-lf", fields_end, end, "the blank line that ends the body is LF alone")
        return read_fields(raw, start, fields_end, log), end
    if len(raw) - start >= MAX_TRAILERS:
        log.note("trailers.too-long", start, len(raw), f"no blank line in {MAX_TRAILERS} bytes of trailers")
    else:
        log.note("body.short", start, len(raw), "the bytes end before the blank line after the last chunk")
    return (), -1
