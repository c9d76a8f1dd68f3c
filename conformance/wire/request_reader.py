"""Requests on a live connection: bytes as they come become the exact raw bytes of one request after the other.

Same framing and same leniency as `http1`, without its facts. Bounded: a head that does not end, or a body past the
bound, breaks the reader.
"""

from __future__ import annotations

from conformance.wire.chunk_scanner import ChunkScanner
from conformance.wire.facts import FaultLog
from conformance.wire.framing import plan_request, skim_framing
from conformance.wire.head import MAX_HEAD, find_head_end, read_head, read_request_line, skip_empty_lines
from conformance.wire.message import Framing

MAX_BODY = 64 * 1024 * 1024


class RequestReader:
    """Cuts a connection's bytes into requests, pipelined or split as they may come.

    `head_seen` and `expect_continue` speak about the request being read (the next one that `take` gives). `broken` is
    set when its end cannot be told or lies past the bounds: then `take` gives all bytes once; nothing more is read.
    """

    __slots__ = ("_buffer", "_end", "_expects", "_max_body", "_scanned", "_scanner", "_start", "broken", "head_seen")

    def __init__(self, *, max_body: int = MAX_BODY) -> None:
        self.broken = False
        self.head_seen = False
        self._max_body = max_body
        self._buffer = bytearray()
        self._start = 0  # of the head, behind empty lines
        self._scanned = 0  # how far the buffer was looked at
        self._end = -1  # of the request, once it is known
        self._expects = False
        self._scanner: ChunkScanner | None = None

    @property
    def expect_continue(self) -> bool:
        """Whether the client waits for a 100 (Continue) before it sends the body."""
        return self._expects and not self._whole

    @property
    def _whole(self) -> bool:
        return 0 <= self._end <= len(self._buffer)

    def feed(self, data: bytes) -> None:
        """Read on. Bytes after `broken` are dropped."""
        if not self.broken:
            self._buffer += data
            self._advance()

    def take(self) -> bytes | None:
        """The raw bytes of the next request when it is whole (when `broken`: all that is there, once), else None."""
        if self.broken and self._buffer:
            raw = bytes(self._buffer)
            self._buffer.clear()
            return raw
        if self.broken or not self._whole:
            return None
        raw = bytes(self._buffer[: self._end])
        del self._buffer[: self._end]
        self.head_seen = self._expects = False
        self._start = self._scanned = 0
        self._end = -1
        self._scanner = None
        self._advance()
        return raw

    def _advance(self) -> None:
        if not self.head_seen:
            self._find_head()
        if self._scanner is not None and self._end < 0:
            piece = bytes(self._buffer[self._scanned :])
            self._scanned += self._scanner.feed(piece)
            if self._scanner.done:
                self._end = self._scanned
            self.broken = self._scanner.broken or self._scanner.body_bytes > self._max_body
        # A caller that does not take what is whole must not grow the buffer without bound.
        if len(self._buffer) > 2 * (self._max_body + MAX_HEAD):
            self.broken = True

    def _find_head(self) -> None:
        self._start = skip_empty_lines(self._buffer, self._start)
        limit = self._start + MAX_HEAD - max(self._scanned, self._start)
        end = find_head_end(self._buffer, max(self._scanned, self._start), limit)[1]
        if end < 0:
            self._scanned = max(len(self._buffer) - 3, 0)
            self.broken = len(self._buffer) - self._start >= MAX_HEAD
            return
        framing, length, self._expects = _plan(bytes(self._buffer[:end]))
        self.head_seen, self._scanned = True, end
        self.broken = length < 0 or length > self._max_body
        if framing is Framing.CHUNKED:
            self._scanner = ChunkScanner()
        else:
            self._end = end + length


def _plan(raw: bytes) -> tuple[Framing, int, bool]:
    """Framing, length (-1: broken) and whether a 100 (Continue) is expected, of a whole head."""
    skimmed = skim_framing(raw)
    if skimmed:
        length, chunked, _, expects = skimmed
        return Framing.CHUNKED if chunked else Framing.LENGTH, max(length, 0), expects
    log = FaultLog(0)
    head, _ = read_head(raw, 0, log)
    plan = plan_request(read_request_line(head, log)[2], head, log)
    return plan.framing, -1 if plan.broken else plan.length, (head.get("expect") or "").lower() == "100-continue"
