"""What one side of one connection saw for one message exchange: timed bytes and how it ended.

Times are milliseconds since `origin`, the moment the first byte of the request was written. Knows nothing of HTTP.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate

from conformance.wire.facts import Span


class End(StrEnum):
    """How a message came to its end, as seen by the reader of it."""

    COMPLETE = "complete"  # the message's own framing says that it is whole
    CLOSE = "close"  # the peer closed (FIN) before the framing's end, or the body runs until close
    RESET = "reset"  # the peer reset the connection (RST)
    STALL = "stall"  # nothing more came until a deadline passed
    HANGUP = "hangup"  # the reader itself went away, on purpose
    REFUSED = "refused"  # no connection was made


@dataclass(frozen=True, slots=True)
class Segment:
    """Bytes that one read returned (or one write sent), and when, in ms since the transcript's origin."""

    at: float
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """One leg of one exchange.

    `origin` is CLOCK_MONOTONIC in seconds (comparable between processes of one machine; 0.0 when unknown).
    `deadline` names the deadline that passed (connect, head, idle, exchange) when `end` is STALL or REFUSED.
    `error` is the operating system's or driver's one-line word on an abnormal end, else "".
    """

    sent: tuple[Segment, ...]
    received: tuple[Segment, ...]
    end: End
    ended_at: float
    origin: float = 0.0
    deadline: str = ""
    error: str = ""

    @property
    def raw(self) -> bytes:
        """All bytes received, joined."""
        return b"".join(segment.data for segment in self.received)

    @property
    def request(self) -> bytes:
        """All bytes sent, joined."""
        return b"".join(segment.data for segment in self.sent)


class Arrivals:
    """Answers when the byte at an offset of the joined received bytes arrived (ms since origin)."""

    __slots__ = ("_ends", "_times")

    def __init__(self, segments: tuple[Segment, ...]) -> None:
        self._ends = list(accumulate(len(segment.data) for segment in segments))
        self._times = [segment.at for segment in segments]

    def at(self, offset: int) -> float:
        """The arrival of the byte at `offset`; past the end, that of the last byte; 0.0 when nothing came."""
        if not self._times:
            return 0.0
        index = bisect_right(self._ends, offset)
        return self._times[min(index, len(self._times) - 1)]

    def of(self, span: Span) -> float:
        """The arrival of the span's last byte: the moment at which the whole span was there."""
        return self.at(max(span.start, span.end - 1))
