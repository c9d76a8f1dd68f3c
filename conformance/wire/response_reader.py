"""Responses on a live connection: bytes as they come become "is the message whole yet", cheaply, for the drivers.

Same framing and same leniency as `http1`, without its facts: no spans, no faults, no header lists. Bounded: a head that
does not end breaks the reader, body bytes are counted and not kept.
"""

from __future__ import annotations

from conformance.wire.chunk_scanner import ChunkScanner
from conformance.wire.facts import FaultLog
from conformance.wire.framing import keeps_alive, plan_response, skim_framing
from conformance.wire.head import MAX_HEAD, find_head_end, read_head, read_status_line, skip_empty_lines
from conformance.wire.message import Framing

MAX_INTERIM = 64


class ResponseReader:
    """Follows one response (and the 1xx heads before it) on a connection.

    `complete` is whether its framing ended; `broken` that its end cannot be told any more (contradicting or unreadable
    framing, a head past the bound): waiting for more is in vain. `surplus` is whether bytes came after the end.
    `status` is the final status code once `head_seen`. `body_bytes` counts body bytes (chunked coding removed) so far;
    with `collect` they are also kept until `take_body` fetches them.
    """

    __slots__ = (
        "_buffer",
        "_interim",
        "_lasting",
        "_left",
        "_method",
        "_parts",
        "_scanner",
        "_searched",
        "_start",
        "body_bytes",
        "broken",
        "complete",
        "head_seen",
        "status",
        "surplus",
    )

    def __init__(self, method: str = "POST", *, collect: bool = False) -> None:
        self.head_seen = False
        self.complete = False
        self.broken = False
        self.surplus = False
        self.body_bytes = 0
        self.status = 0
        self._method = method
        self._parts: list[bytes] | None = [] if collect else None
        self._buffer = bytearray()  # an unfinished head
        self._start = 0  # of the head in the buffer, behind empty lines
        self._searched = 0  # how far the buffer was searched for the head's end
        self._interim = 0
        self._lasting = False  # the connection lasts when the message comes whole
        self._left = -1  # body bytes still to come; -1 when the body runs until close
        self._scanner: ChunkScanner | None = None

    @property
    def keep_alive(self) -> bool:
        """Whether the connection can be used again: the message is whole, nothing follows it, nobody said close."""
        return self.complete and self._lasting and not self.surplus

    def feed(self, data: bytes) -> None:
        """Read on. Bytes after the end only set `surplus`."""
        if not self.head_seen and not self.broken and data:
            data = self._read_heads(data)
        if not data or self.broken:
            return
        if self.complete:
            self.surplus = True
        elif self._scanner is not None:
            self._read_chunks(self._scanner, data)
        else:
            self._read_plain(data)

    def feed_eof(self) -> None:
        """The peer closed cleanly: a body that runs until close is whole."""
        if self.head_seen and not self.broken and self._scanner is None and self._left < 0:
            self.complete = True

    def take_body(self) -> bytes:
        """The body bytes since the last call (b"" unless made with `collect`)."""
        if not self._parts:
            return b""
        body = b"".join(self._parts)
        self._parts.clear()
        return body

    def _read_plain(self, data: bytes) -> None:
        size = len(data)
        if 0 <= self._left <= size:
            self.complete = True
            self.surplus = self._left < size
            size = self._left
        self.body_bytes += size
        self._left -= size if self._left > 0 else 0
        if self._parts is not None:
            self._parts.append(data[:size])

    def _read_chunks(self, scanner: ChunkScanner, data: bytes) -> None:
        used = scanner.feed(data)
        self.body_bytes = scanner.body_bytes
        self.broken = scanner.broken
        if scanner.done:
            self.complete = True
            self.surplus = used < len(data)

    def _read_heads(self, data: bytes) -> bytes:
        """Read 1xx heads and the final one; what follows the final one. Unfinished heads stay in the buffer."""
        while data or self._buffer:
            end = self._head_end(data)
            if end < 0:
                return b""
            if self._buffer:
                data = bytes(self._buffer)
                self._buffer.clear()
            head, start, data = data[:end], self._start, data[end:]
            self._start = self._searched = 0
            self._plan(head, start)
            if self.head_seen or self.broken:
                return data
        return b""

    def _head_end(self, data: bytes) -> int:
        """The offset behind the head in the buffer joined with `data`; -1 after moving `data` into the buffer."""
        if self._buffer:
            self._buffer += data
        joined = self._buffer or data
        self._start = skip_empty_lines(joined, self._start)
        limit = self._start + MAX_HEAD - max(self._searched, self._start)
        end = find_head_end(joined, max(self._searched, self._start), limit)[1]
        if end >= 0:
            return end
        self.broken = len(joined) - self._start >= MAX_HEAD
        self._searched = max(len(joined) - 3, 0)
        if joined is data:
            self._buffer += data
        return -1

    def _plan(self, head: bytes, start: int) -> None:
        """Take the framing from a whole head; a 1xx head is passed over."""
        planned = _plan_quickly(head, start, self._method) or _plan_fully(head, self._method)
        self.status, framing, length, self._lasting = planned
        if 100 <= self.status <= 199 and self.status != 101 and self._interim < MAX_INTERIM:
            self._interim += 1
            return
        self.head_seen = True
        self.broken = length < 0
        if framing is Framing.CHUNKED:
            self._scanner = ChunkScanner(self._parts)
        elif framing is not Framing.CLOSE:
            self._left = length
            self.complete = length == 0


def _plan_quickly(head: bytes, start: int, method: str) -> tuple[int, Framing, int, bool] | None:
    """Status, framing, length (-1: broken) and whether the connection lasts; None for a head that is not ordinary."""
    code = head[9:13]
    if start or head[:9] != b"HTTP/1.1 " or not code[:3].isdigit() or code[3:] != b" " or code == b"204 ":
        return None
    if code[0] not in b"245" or method in ("HEAD", "CONNECT"):
        return None
    skimmed = skim_framing(head)
    if skimmed is None:
        return None
    length, chunked, lasting, _ = skimmed
    if length >= 0:
        return int(code), Framing.LENGTH, length, lasting
    return (int(code), Framing.CHUNKED, 0, lasting) if chunked else (int(code), Framing.CLOSE, 0, False)


def _plan_fully(raw: bytes, method: str) -> tuple[int, Framing, int, bool]:
    log = FaultLog(0)
    head, _ = read_head(raw, 0, log)
    version, status, _ = read_status_line(head, log)
    plan = plan_response(version, status, method, head, log)
    return status, plan.framing, -1 if plan.broken else plan.length, keeps_alive(version, head, plan)
