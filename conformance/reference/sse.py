"""Server-sent events (WHATWG, 9.2.6) as a gateway needs them: a member's bytes become events, events become our
frames.

Pure and incremental. Line ends LF, CR, CRLF and a byte order mark are understood; ours are LF, one data line each.
One event is bounded. Comments, ids and retry times are dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conformance.reference.jsontext import encode_json

BOM = b"\xef\xbb\xbf"
DONE = b"data: [DONE]\n\n"


class EventTooLong(Exception):
    """One event went past its bound."""


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event: its type ("" when absent) and its joined data. A bare JSON line outside any field has the type
    "error".
    """

    type: str
    data: bytes


class SseDecoder:
    """Fed with bytes in any cut, gives the events that became complete. `limit` bounds one event, in bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._scanned = 0
        self._after_cr = False
        self._at_start = True

    def feed(self, data: bytes) -> list[SseEvent]:
        """The events that `data` completed. Raises EventTooLong."""
        self._buffer += self._plain_lines(data)
        if self._at_start and not self._strip_bom():
            return []
        events: list[SseEvent] = []
        start = 0
        while (end := self._buffer.find(b"\n\n", max(start, self._scanned))) >= 0:
            self._scanned = start
            if end - start > self._limit:
                raise EventTooLong
            _add(events, bytes(self._buffer[start:end]))
            start = end + 2
        del self._buffer[:start]
        self._scanned = max(0, len(self._buffer) - 1)
        if len(self._buffer) > self._limit:
            raise EventTooLong
        return events

    def end(self) -> list[SseEvent]:
        """The event that the end of the body left without its blank line, if any."""
        events: list[SseEvent] = []
        _add(events, bytes(self._buffer))
        self._buffer.clear()
        return events

    def _plain_lines(self, data: bytes) -> bytes:
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
            self._after_cr = False
        if data:
            self._after_cr = data.endswith(b"\r")
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data

    def _strip_bom(self) -> bool:
        if len(self._buffer) < len(BOM) and BOM.startswith(bytes(self._buffer)):
            return False
        if self._buffer.startswith(BOM):
            del self._buffer[: len(BOM)]
        self._at_start = False
        return True


def _add(events: list[SseEvent], block: bytes) -> None:
    """Append the event in `block` (lines without the blank one), if it holds any data."""
    kind, data = "", []
    for line in block.split(b"\n"):
        if line.startswith(b"data:"):
            data.append(line[6:] if line.startswith(b"data: ") else line[5:])
        elif line.startswith(b"event:"):
            kind = line[6:].strip().decode("utf-8", "replace")
        elif line.startswith((b"{", b"error:")):
            # Not a field of the standard, yet some servers write an error so; a client would never see it.
            events.append(SseEvent("error", line.removeprefix(b"error:").strip()))
    joined = b"\n".join(data)
    if joined.strip():
        events.append(SseEvent(kind, joined))


def encode_event(doc: Any, kind: str = "") -> bytes:
    """A document as one event, with an `event` field when `kind` is given."""
    prefix = f"event: {kind}\ndata: ".encode() if kind else b"data: "
    return prefix + encode_json(doc) + b"\n\n"
