"""A raw TCP relay between any client and a gateway: bytes pass unchanged, and both directions are kept, timed.

One connection of the client is one connection to the gateway; what passes is cut into requests by their framing, and a
request finds who waits for it by the nonce in its bytes. Knows no client: whatever speaks HTTP/1.1 can be judged.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic

from conformance.driver.connection import describe
from conformance.driver.model import UNFRAMED, UNFRAMED_ERROR, Behaviour, Capture, Deadlines
from conformance.driver.request import Place
from conformance.exchange.model import HangUp
from conformance.wire.http1 import RequestReader, ResponseReader
from conformance.wire.transcript import End, Segment, Transcript

NONCE = re.compile(rb"cf-[a-z0-9]{6,}")
READ = 256 * 1024


def nonce_in(raw: bytes) -> bytes:
    """The last nonce in some bytes, b"" for none."""
    found = NONCE.findall(raw)
    return found[-1] if found else b""


@dataclass(slots=True, kw_only=True)
class Expected:
    """One request that is awaited: who asks for it, on which terms, and what came of it."""

    deadlines: Deadlines
    behaviour: Behaviour
    claimed: bool = False
    done: asyncio.Future[Capture] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Relay:
    """Listens on a free loopback port for clients of one gateway. Belongs to one event loop."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.port = 0
        self._server: asyncio.Server | None = None
        self._expected: dict[bytes, Expected] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Listen."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=READ, backlog=1024)
        self.port = self._server.sockets[0].getsockname()[1]

    async def aclose(self) -> None:
        """Stop listening, and end what still passes."""
        if self._server is not None:
            self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def expect(self, nonce: bytes, deadlines: Deadlines, behaviour: Behaviour) -> Expected:
        """Wait for the request that carries `nonce` (b"": the next one that carries none)."""
        made = self._expected[nonce] = Expected(deadlines=deadlines, behaviour=behaviour)
        return made

    def forget(self, nonce: bytes) -> None:
        """Nobody waits any more."""
        self._expected.pop(nonce, None)

    def claim(self, raw: bytes) -> Expected | None:
        """Who waits for this request."""
        found = self._expected.pop(nonce_in(raw), None)
        if found is not None:
            found.claimed = True
        return found

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        broken = True
        try:
            broken = await _Passage(self, reader, writer).run()
        finally:
            self._tasks.discard(task)
            if broken:
                writer.transport.abort()
            else:
                writer.close()


class _Passage:
    """One connection of a client with its connection to the gateway; one exchange after the other passes."""

    def __init__(self, relay: Relay, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._relay, self._reader, self._writer = relay, reader, writer
        self._requests = RequestReader()
        self._exchange = _Exchange()
        self._limit: asyncio.Timeout | None = None

    async def run(self) -> bool:
        """Pass bytes until either side is gone; whether the client has to see it break off."""
        place = self._relay.place
        try:
            gateway, to_gateway = await asyncio.open_connection(
                place.host, place.port, ssl=True if place.tls else None, limit=READ
            )
        except OSError as error:
            await self._refused(error)
            return True
        up = asyncio.ensure_future(self._upward(to_gateway))
        down = asyncio.ensure_future(self._downward(gateway))
        try:
            await asyncio.wait({up, down}, return_when=asyncio.FIRST_COMPLETED)
            if self._exchange.lingering:  # the client has what it wants; what else comes is judged all the same
                await down
        finally:
            for task in (up, down):
                task.cancel()
            await asyncio.gather(up, down, return_exceptions=True)
            to_gateway.transport.abort()
        return self._exchange.end not in (None, End.COMPLETE, End.CLOSE)

    async def _refused(self, error: OSError) -> None:
        """The gateway takes no connection: the client's request is read, and then told of nothing."""
        while (raw := self._requests.take()) is None:
            data = await self._reader.read(READ)
            if not data:
                return
            self._exchange.sent(data)
            self._requests.feed(data)
        self._exchange.claimed(self._relay.claim(raw))
        self._exchange.conclude(End.REFUSED, error=describe(error))

    async def _upward(self, to_gateway: asyncio.StreamWriter) -> None:
        """The client's bytes to the gateway, until the client is gone."""
        while data := await self._read_client():
            if self._exchange.over:
                self._exchange = _Exchange()
            self._exchange.sent(data)
            to_gateway.write(data)
            await to_gateway.drain()
            self._requests.feed(data)
            while (raw := self._requests.take()) is not None:
                self._exchange.claimed(self._relay.claim(raw))
                self._rearm()
        if not self._exchange.lingering:
            self._exchange.conclude(End.HANGUP)

    def _rearm(self) -> None:
        """The wait for the gateway ends when the exchange says so."""
        if self._limit is not None:
            self._limit.reschedule(self._exchange.due)

    async def _read_client(self) -> bytes:
        with suppress(OSError):
            return await self._reader.read(READ)
        return b""

    async def _downward(self, gateway: asyncio.StreamReader) -> None:
        """The gateway's bytes to the client, until the gateway is gone, a deadline passed, or it is time to leave."""
        while True:
            try:
                async with asyncio.timeout_at(self._exchange.due) as self._limit:
                    data = await gateway.read(READ)
            except TimeoutError:
                if self._exchange.passed():
                    return
                continue
            except OSError as error:
                self._exchange.conclude(End.RESET, error=describe(error))
                return
            finally:
                self._limit = None
            if not data:
                self._exchange.closed()
                return
            self._exchange.received(data)
            self._writer.write(data)
            with suppress(OSError):
                await self._writer.drain()


class _Exchange:
    """One request and its response on their way through a passage."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._sent: list[Segment] = []
        self._received: list[Segment] = []
        self._reader = ResponseReader()
        self._expected: Expected | None = None
        self._origin = 0.0
        self._began = self._last = self._loop.time()
        self._leave_at: float | None = None
        self._capture: Capture | None = None

    @property
    def over(self) -> bool:
        """Whether it is known how it ended."""
        return self._capture is not None

    @property
    def lingering(self) -> bool:
        """Whether the response goes on though the client may leave: it was not told to go away in the middle."""
        return not self.over and self._expected is not None and not self._expected.behaviour.after_events

    @property
    def end(self) -> End | None:
        """How it ended, None while that is open."""
        return self._capture.transcript.end if self._capture is not None else None

    @property
    def due(self) -> float | None:
        """When the next wait ends, in the loop's time."""
        if self._expected is None or self.over:
            return None
        limits = self._expected.deadlines
        rest = UNFRAMED if self._reader.broken else limits.idle if self._reader.head_seen else limits.head
        due = min(self._last + rest, self._began + limits.exchange)
        return due if self._leave_at is None else min(due, self._leave_at)

    def sent(self, data: bytes) -> None:
        """Bytes went to the gateway."""
        if not self._origin:
            self._origin, self._began = monotonic(), self._loop.time()
        self._last = self._loop.time()
        self._sent.append(Segment(self._ms(), data))

    def claimed(self, expected: Expected | None) -> None:
        """The request is whole; somebody waits for it, or nobody does."""
        self._expected = expected
        if expected is not None:
            self._leave("send")
            if self._capture is not None and not expected.done.done():
                expected.done.set_result(self._capture)

    def received(self, data: bytes) -> None:
        """Bytes came from the gateway."""
        self._last = self._loop.time()
        self._received.append(Segment(self._ms(), data))
        seen = self._reader.head_seen
        self._reader.feed(data)
        if self._reader.head_seen and not seen:
            self._leave("head")
        if self._reader.complete:
            self.conclude(End.COMPLETE)

    def closed(self) -> None:
        """The gateway closed its side."""
        self.conclude(End.CLOSE)

    def passed(self) -> bool:
        """A wait ended; whether that ends the exchange."""
        due, now = self.due, self._loop.time()
        if due is None or now < due or self._expected is None:
            return self.over
        if self._leave_at is not None and now >= self._leave_at:
            self.conclude(End.HANGUP)
        elif self._reader.broken:
            self.conclude(End.HANGUP, error=UNFRAMED_ERROR)
        elif now >= self._began + self._expected.deadlines.exchange:
            self.conclude(End.STALL, deadline="exchange")
        else:
            self.conclude(End.STALL, deadline="idle" if self._reader.head_seen else "head")
        return True

    def conclude(self, end: End, *, deadline: str = "", error: str = "") -> None:
        """The first call decides how it ended."""
        if self.over or not self._sent:
            return
        at = self._ms()
        transcript = Transcript(
            sent=tuple(self._sent),
            received=tuple(self._received),
            end=end,
            ended_at=at,
            origin=self._origin,
            deadline=deadline,
            error=error,
        )
        told = self._expected.behaviour.hang_up if self._expected is not None else ""
        hangup = HangUp(after=told, at=at) if end is End.HANGUP and told else None
        self._capture = Capture(transcript=transcript, hangup=hangup)
        if self._expected is not None and not self._expected.done.done():
            self._expected.done.set_result(self._capture)

    def _leave(self, word: str) -> None:
        """The relay goes away in the client's place where the client cannot: right after the request, or the head."""
        if self._expected is not None and self._expected.behaviour.hang_up == word:
            self._leave_at = self._loop.time() + self._expected.behaviour.wait_ms / 1000.0

    def _ms(self) -> float:
        return (monotonic() - self._origin) * 1000.0
