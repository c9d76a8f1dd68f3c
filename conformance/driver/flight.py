"""One request on its way on a connection, and the response coming back: timed bytes, and how it ended.

Turns a connection's events into a Transcript. Knows deadlines and the client's behaviour, but neither the pool nor how
a request is spelled. Every ending is decided here, once, by the first event that decides it.
"""

from __future__ import annotations

import asyncio
import ssl
from time import monotonic

from conformance.driver.connection import Connection, describe
from conformance.driver.model import MAX_RECEIVED, UNFRAMED, UNFRAMED_ERROR, Behaviour, Deadlines
from conformance.exchange.model import HangUp
from conformance.wire.event_counter import EventCounter
from conformance.wire.http1 import ResponseReader
from conformance.wire.transcript import End, Segment, Transcript


class Flight:
    """One request on its way and the response coming back, on one connection.

    `landed` is resolved when it ended; then `transcript` and `hangup` tell how. Times are ms since `origin`.
    """

    def __init__(self, connection: Connection, *, method: str, behaviour: Behaviour, deadlines: Deadlines) -> None:
        self.connection = connection
        self.behaviour = behaviour
        self.deadlines = deadlines
        self._events = behaviour.after_events
        self.reader = ResponseReader(method, collect=self._events > 0)
        self.landed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.hangup: HangUp | None = None
        self._loop = self.landed.get_loop()
        self._reused = connection.idle_since > 0.0
        self._sent = b""
        self._received: list[Segment] = []
        self._size = 0
        self._end: End | None = None
        self._head_seen = False
        self._leaving = False
        self._counter = EventCounter() if self._events else None
        self._half_closed: float | None = None
        self._watched = bool(behaviour.hang_up or behaviour.pause_ms or behaviour.half_close)

    def take_off(self, request: bytes) -> None:
        """Write the request and start the clock."""
        connection = self.connection
        connection.flight = self
        self.origin = self._last = monotonic()
        limit = min(self.deadlines.head, self.deadlines.exchange)
        self._due = self.origin + limit
        self._timer = self._loop.call_later(limit, self._expire)
        if connection.usable:
            connection.transport.write(request)
            self._sent = request
        while connection.early:
            self.receive(connection.early.pop(0))
        if not connection.usable:
            self.conclude_lost()
        elif self._watched and not connection.unsent:
            self.written()

    def written(self) -> None:
        """The whole request is with the kernel."""
        if self.behaviour.half_close:
            self._loop.call_later(self.behaviour.wait_ms / 1000.0, self._half_close)
        if self.behaviour.hang_up == "send":
            self._leave()

    def receive(self, data: bytes) -> None:
        """Bytes came."""
        now = monotonic()
        self._received.append(Segment((now - self.origin) * 1000.0, data))
        self._size += len(data)
        self.reader.feed(data)
        if self._end is not None:
            return
        if self.reader.complete:
            self.conclude(End.COMPLETE)
            return
        if self._size > MAX_RECEIVED:
            self.conclude(End.HANGUP, error=f"more than {MAX_RECEIVED} bytes came")
            return
        self._last = now
        if self.reader.broken:
            self._rearm()
        if self.reader.head_seen and not self._head_seen:
            self._head_seen = True
            self._rearm()
        if self._watched:
            self._watch()

    def conclude_lost(self) -> None:
        """The connection is gone: by FIN (or a TLS end of any kind), or by RST."""
        loss = self.connection.loss
        tidy = loss is None or isinstance(loss, ssl.SSLError)
        self.conclude(End.CLOSE if tidy else End.RESET, error=describe(loss))

    def conclude(self, end: End, *, deadline: str = "", error: str = "") -> None:
        """The first call decides how the flight ended."""
        if self._end is not None:
            return
        if self._reused and not self._received and end in (End.RESET, End.CLOSE):
            error = f"{error or 'closed'}, on a reused connection before any byte of the response"
        self._end, self._deadline, self._error = end, deadline, error
        if self._half_closed is not None and end in (End.CLOSE, End.RESET):
            # Many servers take the end of the sending side for the client's going, which no norm forbids.
            self.hangup = HangUp(after="half-close", at=self._half_closed)
        self._ended_at = (monotonic() - self.origin) * 1000.0
        self._timer.cancel()
        if end is not End.COMPLETE:
            self.connection.abort()
            self._land()
        elif self.connection.usable and self.connection.quiet():
            self._land()
        else:  # bytes past the end, or a FIN, wait in the kernel: one more turn of the loop reads them
            self._loop.call_soon(self._loop.call_soon, self._land)

    def transcript(self) -> Transcript:
        """What was seen, after `landed`."""
        assert self._end is not None
        return Transcript(
            sent=(Segment(0.0, self._sent),) if self._sent else (),
            received=tuple(self._received),
            end=self._end,
            ended_at=self._ended_at,
            origin=self.origin,
            deadline=self._deadline,
            error=self._error,
        )

    def _land(self) -> None:
        self.connection.flight = None
        if not self.landed.done():
            self.landed.set_result(None)

    def _expire(self) -> None:
        """The timer: name the deadline that passed, or wait on (bytes move only `_last`, never the timer)."""
        now = monotonic()
        if self.reader.broken and now >= self._last + UNFRAMED:
            self.conclude(End.HANGUP, error=UNFRAMED_ERROR)
        elif now >= self.origin + self.deadlines.exchange:
            self.conclude(End.STALL, deadline="exchange")
        elif not self._head_seen and now >= self.origin + self.deadlines.head:
            self.conclude(End.STALL, deadline="head")
        elif self._head_seen and now >= self._last + self.deadlines.idle:
            self.conclude(End.STALL, deadline="idle")
        else:
            self._rearm(force=True)

    def _rearm(self, *, force: bool = False) -> None:
        step = self._last + self.deadlines.idle if self._head_seen else self.origin + self.deadlines.head
        if self.reader.broken:
            step = min(step, self._last + UNFRAMED)
        due = min(step, self.origin + self.deadlines.exchange)
        if force or due < self._due:
            self._timer.cancel()
            self._due = due
            self._timer = self._loop.call_later(max(0.0, due - monotonic()), self._expire)

    def _watch(self) -> None:
        """The client's behaviour, after each read."""
        wish = self.behaviour.hang_up
        counted = self._counter.feed(self.reader.take_body()) if self._counter else 0
        if (wish == "head" and self._head_seen) or (self._events and counted >= self._events):
            self._leave()
        if self.behaviour.pause_ms and self._end is None:
            self.connection.transport.pause_reading()
            self._loop.call_later(self.behaviour.pause_ms / 1000.0, self._resume)

    def _resume(self) -> None:
        if self._end is None:
            self._last = monotonic()
            self.connection.transport.resume_reading()

    def _leave(self) -> None:
        if not self._leaving:
            self._leaving = True
            if self.behaviour.wait_ms:
                self._loop.call_later(self.behaviour.wait_ms / 1000.0, self._hang_up)
            else:
                self._hang_up()

    def _half_close(self) -> None:
        """End the sending side. (TLS has no such thing.)"""
        if self._end is None and self.connection.transport.can_write_eof():
            self.connection.transport.write_eof()
            self._half_closed = (monotonic() - self.origin) * 1000.0

    def _hang_up(self) -> None:
        if self._end is None:
            self.hangup = HangUp(after=self.behaviour.hang_up, at=(monotonic() - self.origin) * 1000.0)
            self.conclude(End.HANGUP)
