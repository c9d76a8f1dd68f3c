"""One request and its response on their way through the recorder: timed bytes, and where their end is.

Remembers and decides; does no IO of its own. Its only contact with the outside is the times that it is told.
"""

from __future__ import annotations

from conformance.wire.http1 import ResponseReader
from conformance.wire.transcript import End, Segment, Transcript

#: No larger exchange is kept, in bytes of its request and its response.
MAX_EXCHANGE = 16 * 1024 * 1024


class Exchange:
    """`reader` follows the response; `began` and `last` (CLOCK_MONOTONIC, s) are its first byte's and last byte's time.

    `reused` is whether the connection to the provider had served before.
    """

    def __init__(self, *, method: str, began: float, reused: bool, most: int = MAX_EXCHANGE) -> None:
        self.reader = ResponseReader(method)
        self.began = self.last = began
        self.reused = reused
        self._most = most
        self._size = 0
        self._sent: list[Segment] = []
        self._received: list[Segment] = []

    @property
    def answered(self) -> bool:
        """Whether any byte of a response came."""
        return bool(self._received) or self._too_large

    @property
    def _too_large(self) -> bool:
        return self._size > self._most

    def sent(self, data: bytes, at: float) -> None:
        """Bytes were passed on to the provider."""
        self._keep(self._sent, data, at)

    def received(self, data: bytes, at: float) -> None:
        """Bytes came from the provider."""
        self._keep(self._received, data, at)
        self.reader.feed(data)

    @property
    def request(self) -> bytes:
        """What was passed on so far, head and all."""
        return b"".join(segment.data for segment in self._sent)

    def transcript(self, end: End, at: float, reason: str = "") -> Transcript:
        """How it came; with a `reason`, or past the bound, it is none that can be written (HANGUP)."""
        if self._too_large:
            reason = f"it is larger than {self._most} bytes"
        elif end is not End.HANGUP and not self.answered and self.reused and end in (End.CLOSE, End.RESET):
            reason = "the provider had closed the connection that the client used again"
        return Transcript(
            sent=tuple(self._sent),
            received=tuple(self._received),
            end=End.HANGUP if reason else end,
            ended_at=self._ms(at),
            origin=self.began,
            error=reason,
        )

    def _keep(self, segments: list[Segment], data: bytes, at: float) -> None:
        self.last = at
        self._size += len(data)
        if self._too_large:
            self._sent.clear()
            self._received.clear()
        else:
            segments.append(Segment(self._ms(at), data))

    def _ms(self, at: float) -> float:
        return (at - self.began) * 1000.0
