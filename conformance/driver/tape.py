"""The record of one tapped call: what was written and read, which deadline comes next, how it ended.

Decides and remembers; does no IO of its own, so that the asynchronous and the blocking tap share every decision. Its
only contact with the outside is the clock.
"""

from __future__ import annotations

from time import monotonic
from typing import NamedTuple

from conformance.driver.connection import SLOW_READ, describe, lacking
from conformance.driver.model import MAX_RECEIVED, UNFRAMED, UNFRAMED_ERROR, Behaviour, Deadlines
from conformance.exchange.model import HangUp
from conformance.wire.http1 import ResponseReader
from conformance.wire.transcript import End, Segment, Transcript

#: The least time that a read may take, in seconds: 0 would turn a blocking socket into a non-blocking one.
MOMENT = 0.001


class HungUp(Exception):
    """No error: the way out of a client, from within a read, when it is told to go away."""


class Wait(NamedTuple):
    """How long the next read may take (s, never 0), and what its passing means.

    The deadlines head, idle and exchange; hang-up, as the caller told; unframed: no end can be waited for.
    """

    seconds: float
    reason: str


class Tape:
    """One call's record. `over` once it is known how the call ended.

    One tape records one connection: the pools behind the tap keep no connection alive.
    """

    def __init__(self, *, method: str, behaviour: Behaviour, deadlines: Deadlines) -> None:
        self.behaviour = behaviour
        self.deadlines = deadlines
        self.hangup: HangUp | None = None
        #: What this machine lacked for a connection; then the call says nothing of the gateway.
        self.lack = ""
        self._reader = ResponseReader(method=method)
        self._began = monotonic()
        self._origin = 0.0
        self._leave_at: float | None = None
        self._sent: list[Segment] = []
        self._received: list[Segment] = []
        self._size = 0
        self._end: End | None = None
        self._deadline = ""
        self._error = ""
        self._ended_at = 0.0
        _ = behaviour.after_events  # an unknown word is refused before anything is sent

    @property
    def over(self) -> bool:
        """Whether it is known how the call ended."""
        return self._end is not None

    @property
    def gone(self) -> bool:
        """Whether the client went away: there is nothing to read for it any more."""
        return self._end is End.HANGUP

    @property
    def lingering(self) -> bool:
        """Whether there is more to see: a request was written, and its response has not ended in any way."""
        return bool(self._origin) and not self.over

    def pause(self) -> float:
        """Seconds to wait before the next read (a slow reader's, from its second read on)."""
        return self.behaviour.pause_ms / 1000.0 if self._received and not self.over else 0.0

    def limit(self, max_bytes: int) -> int:
        """How many bytes the next read may take."""
        return min(max_bytes, SLOW_READ) if self.behaviour.pause_ms else max_bytes

    def writing(self) -> float:
        """The moment of a write, to hand back to `wrote`; the first one is the origin."""
        now = monotonic()
        if not self._origin:
            self._origin = now
        return now

    def wrote(self, moment: float, data: bytes) -> None:
        """`data` was written at `moment`."""
        if data:
            self._sent.append(Segment((moment - self._origin) * 1000.0, data))

    def read(self, data: bytes) -> None:
        """A read returned `data`; b"" is the peer's FIN."""
        if not data:
            self.conclude(End.CLOSE)
            return
        self._received.append(Segment(self._now(), data))
        self._size += len(data)
        self._reader.feed(data)
        if self._reader.complete:
            self.conclude(End.COMPLETE)
        elif self._size > MAX_RECEIVED:
            self.conclude(End.HANGUP, error=f"more than {MAX_RECEIVED} bytes came")

    def wait(self) -> Wait:
        """The next read's deadline."""
        now = monotonic()
        origin = self._origin or now
        wish = self.behaviour.hang_up
        if self._leave_at is None and (wish == "send" or (wish == "head" and self._reader.head_seen)):
            self.leave()
        waits = [Wait(origin + self.deadlines.exchange - now, "exchange")]
        if self._reader.head_seen:
            waits.append(Wait(self.deadlines.idle, "idle"))
        else:
            waits.append(Wait(origin + self.deadlines.head - now, "head"))
        if self._reader.broken:
            waits.append(Wait(UNFRAMED, "unframed"))
        if self._leave_at is not None:
            waits.append(Wait(self._leave_at - now, "hang-up"))
        seconds, reason = min(waits)
        return Wait(max(MOMENT, seconds), reason)

    def write_seconds(self) -> float:
        """How long a write may take: what is left of the exchange."""
        return max(MOMENT, (self._origin or monotonic()) + self.deadlines.exchange - monotonic())

    def leave(self) -> None:
        """From now on the client wants to go: at once, or `wait_ms` later."""
        if self._leave_at is None:
            self._leave_at = monotonic() + self.behaviour.wait_ms / 1000.0

    def expire(self, reason: str) -> None:
        """The wait for `reason` passed."""
        if self.over:
            return
        if reason == "hang-up":
            self.hangup = HangUp(after=self.behaviour.hang_up, at=self._now())
            self.conclude(End.HANGUP)
        elif reason == "unframed":
            self.conclude(End.HANGUP, error=UNFRAMED_ERROR)
        else:
            self.conclude(End.STALL, deadline=reason)

    def fail(self, error: BaseException) -> None:
        """A read or a write failed: RST, or what TLS makes of a missing goodbye."""
        root = _root(error)
        self.conclude(End.CLOSE if "SSL" in type(root).__name__ else End.RESET, error=describe(root))

    def refuse(self, error: BaseException, *, timed_out: bool) -> None:
        """No connection was made."""
        root = _root(error)
        self.lack = lacking(root)
        self.conclude(End.REFUSED, deadline="connect" if timed_out else "", error=describe(root))

    def conclude(self, end: End, *, deadline: str = "", error: str = "") -> None:
        """The first call decides how the call ended."""
        if self._end is None:
            self._end, self._deadline, self._error = end, deadline, error
            self._ended_at = self._now()

    def transcript(self) -> Transcript:
        """What was seen, once it is `over`."""
        assert self._end is not None
        return Transcript(
            sent=tuple(self._sent),
            received=tuple(self._received),
            end=self._end,
            ended_at=self._ended_at,
            origin=self._origin or self._began,
            deadline=self._deadline,
            error=self._error,
        )

    def _now(self) -> float:
        return (monotonic() - (self._origin or self._began)) * 1000.0


def _root(error: BaseException) -> BaseException:
    """The operating system's error beneath the wrappers of the network libraries, else the innermost one."""
    chain: list[BaseException] = []
    at: BaseException | None = error
    while at is not None and at not in chain:
        chain.append(at)
        at = at.__cause__ or at.__context__
    return next((one for one in reversed(chain) if isinstance(one, OSError)), chain[-1])
