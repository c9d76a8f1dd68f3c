"""How many server-sent events a client would have dispatched so far, counted while the body comes in.

The same algorithm as `sse`, reduced to a count: it keeps one unfinished line's first bytes and no event.
"""

from __future__ import annotations

BOM = b"\xef\xbb\xbf"

_KEPT = 16  # enough of a line to tell whether it is a data field, byte order mark included


class EventCounter:
    """Counts dispatched events over pieces of any size; `count` is the number so far."""

    __slots__ = ("_after_cr", "_data", "_first", "_line", "count")

    def __init__(self) -> None:
        self.count = 0
        self._line = b""  # the first bytes of the unfinished line
        self._first = True  # the first line, which a byte order mark may lead
        self._data = False  # the event being read has data
        self._after_cr = False  # the last piece ended in CR: an LF that follows belongs to it

    def feed(self, piece: bytes) -> int:
        """Read on; returns the number of events dispatched since the beginning."""
        if self._after_cr and piece:
            self._after_cr = False
            piece = piece.removeprefix(b"\n")
        if b"\r" in piece:
            self._after_cr = piece.endswith(b"\r")
            piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = (self._line + piece).split(b"\n")
        self._line = lines.pop()[:_KEPT]
        if lines and self._first:
            self._first = False
            lines[0] = lines[0].removeprefix(BOM)
        for line in lines:
            if line.startswith(b"data:") or line == b"data":
                self._data = True
            elif not line:
                self.count += self._data
                self._data = False
        return self.count
