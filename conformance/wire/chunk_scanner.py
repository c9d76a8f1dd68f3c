"""The chunked transfer coding on a live connection: pieces of any size become counts, and where the body ends.

Same leniency as `chunked`, without its facts. Bounded: it holds one unfinished size line, or the trailers.
"""

from __future__ import annotations

from conformance.wire.chunked import MAX_SIZE_LINE, MAX_TRAILERS, find_trailers_end, read_size_line


class ChunkScanner:
    """Follows a chunked body through pieces of any size, counting.

    `done` is whether the blank line after the last chunk was seen, `broken` whether the coding was violated (then
    nothing more is read). `body_bytes` counts data bytes so far; they are appended to `sink` when one is given.
    """

    __slots__ = ("_closing", "_held", "_in_trailers", "_left", "_sink", "body_bytes", "broken", "done")

    def __init__(self, sink: list[bytes] | None = None) -> None:
        self.done = False
        self.broken = False
        self.body_bytes = 0
        self._sink = sink
        self._held = b""  # an unfinished line
        self._left = 0  # data bytes of the current chunk still to come
        self._closing = False  # in a chunk, or at the line end that closes its data
        self._in_trailers = False

    def feed(self, piece: bytes) -> int:
        """Read on; returns how many bytes of `piece` belong to the body: all, unless its end lies inside.

        A piece after `done` or `broken` is not read: 0.
        """
        if self.done or self.broken:
            return 0
        held = len(self._held)
        data = self._held + piece if held else piece
        pos = self._skim(data)
        if self.done or self.broken:
            self._held = b""
            return max(pos - held, 0)
        self._held = data[pos:]
        return len(piece)

    def _skim(self, data: bytes) -> int:
        """Read all whole lines and all data; the offset of what is left: an unfinished line or a follower."""
        pos, size = 0, len(data)
        while pos < size:
            if self._closing:
                pos = self._close_chunk(data, pos)
                if self._closing:
                    return pos
                continue
            if self._in_trailers:
                return self._close_body(data, pos)
            line_end = data.find(b"\n", pos, pos + MAX_SIZE_LINE) + 1
            if not line_end:
                self.broken = size - pos >= MAX_SIZE_LINE
                return pos
            length = read_size_line(data[pos:line_end])[0]
            pos = line_end + length
            if length > 0 and data.startswith(b"\r\n", pos):  # the usual case: the whole chunk is here
                self.body_bytes += length
                if self._sink is not None:
                    self._sink.append(data[line_end:pos])
                pos += 2
                continue
            pos = line_end
            if length < 0:
                self.broken = True
                return pos
            self._left, self._closing, self._in_trailers = length, length > 0, length == 0
        return pos

    def _take(self, data: bytes, start: int, end: int) -> None:
        self.body_bytes += end - start
        if self._sink is not None:
            self._sink.append(data[start:end])

    def _close_chunk(self, data: bytes, pos: int) -> int:
        """Take what is left of the chunk's data and the line end after it; still `_closing` when more must come."""
        if self._left:
            end = min(pos + self._left, len(data))
            self._take(data, pos, end)
            self._left -= end - pos
            pos = end
        rest = data[pos : pos + 2]
        if self._left or rest in (b"", b"\r"):
            return pos
        self.broken = self._closing = rest != b"\r\n"
        return pos + 2

    def _close_body(self, data: bytes, pos: int) -> int:
        """Find the blank line that ends the body; the offset behind it, or `pos` when more must come."""
        end = find_trailers_end(data, pos)[1]
        self.done = end >= 0
        self.broken = end < 0 and len(data) - pos >= MAX_TRAILERS
        return end if self.done else pos
