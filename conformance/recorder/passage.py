"""One connection of a client and its own connection to the provider: what comes on one is passed on to the other.

Both live and end together, so that keep-alive, early closes and resets are each other's. Requests that come before the
response to the one ahead is whole wait for it. Who listens is told what passed when it has ended.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic

from conformance.driver.connection import describe
from conformance.recorder.client import Client
from conformance.recorder.exchange import MAX_EXCHANGE, Exchange
from conformance.recorder.request import Refusal, RequestFollower, Route
from conformance.wire.transcript import End, Transcript

READ = 256 * 1024
#: How long a provider may go on, in seconds, when the client has left: a response may be whole but for its last bytes.
LINGER = 1.0
CONNECT = 30.0
#: A provider that was silent for so long when its client left, in seconds, may be the reason why it left.
GAVE_UP = 1.0
#: What may wait for a client or a provider that does not read, and of requests that came early, in bytes.
WAITING = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Where to, over which TLS, how long a provider may be silent (s), how large a kept exchange may be.

    `gives_up`: a client that leaves a silent provider has waited long enough, as a gateway does that asks another one.
    """

    route: Route
    tls: ssl.SSLContext | None = None
    silence: float = 300.0
    most: int = MAX_EXCHANGE
    gives_up: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ears:
    """Who is told when an exchange begins and has ended."""

    began: Callable[[Exchange], None]
    ended: Callable[[Exchange, Transcript], None]


@dataclass(frozen=True, slots=True)
class _Seen:
    """What one read of one side gave; no data is its end."""

    client: bool
    data: bytes
    at: float
    error: OSError | None = None


class Passage:
    """Runs until either side is gone for good."""

    def __init__(self, terms: Terms, ears: Ears, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._terms, self._ears = terms, ears
        self._client = Client(writer, WAITING)
        self._provider: asyncio.StreamWriter | None = None
        self._seen: asyncio.Queue[_Seen] = asyncio.Queue(4)
        self._follower = RequestFollower(terms.route)
        self._exchange: Exchange | None = None
        self._early = b""
        self._served = 0
        self._leave_at: float | None = None
        self._failure = ""
        self._pumps = [asyncio.ensure_future(self._pump(reader, client=True))]

    @property
    def busy(self) -> bool:
        """Whether an exchange passes, or is about to."""
        return self._exchange is not None or (bool(self._follower.method) and not self._follower.whole)

    async def run(self) -> None:
        """Pass on what comes."""
        try:
            while await self._step():
                pass
        finally:
            self._conclude(End.HANGUP, "the recorder was stopped")
            try:
                await self._end()
            finally:  # also where the end itself is not waited for
                self._client.abort()

    async def _end(self) -> None:
        for pump in self._pumps:
            pump.cancel()
        if self._provider is not None:
            self._provider.transport.abort()
        await asyncio.gather(*self._pumps, return_exceptions=True)
        await self._client.end(self._terms.silence)

    async def _step(self) -> bool:
        """One event; whether there is more to come."""
        try:
            async with asyncio.timeout(self._patience()):
                seen = await self._seen.get()
        except TimeoutError:
            self._out_of_time()
            return False
        if seen.client:
            return await self._from_client(seen)
        return await self._from_provider(seen)

    def _patience(self) -> float | None:
        """How many seconds the next event may take."""
        if self._exchange is None:
            return None
        due = self._exchange.last + self._terms.silence
        return max(0.0, min(due, self._leave_at or due) - monotonic())

    async def _pump(self, reader: asyncio.StreamReader, *, client: bool) -> None:
        """Read one side, no faster than the other one takes it."""
        data = b"-"
        while data:
            error = None
            try:
                data = await reader.read(READ)
            except OSError as met:
                data, error = b"", met
            await self._seen.put(_Seen(client, data, monotonic(), error))
            if not client:
                await self._client.drain()
            elif self._provider is not None:
                with suppress(OSError):
                    await self._provider.drain()

    async def _from_client(self, seen: _Seen) -> bool:
        if not seen.data:
            return self._client_left()
        if self._exchange is not None and self._follower.whole:
            self._early += seen.data
            if len(self._early) > WAITING:
                self._conclude(End.HANGUP, "the client sent on without waiting for the response")
            return self.busy
        return await self._pass_on(seen.data)

    async def _pass_on(self, data: bytes) -> bool:
        follower = self._follower
        passed = follower.feed(data)
        if passed and self._exchange is None:
            self._failure = await self._connect()
            self._exchange = self._begin(follower.method)
        if passed and self._exchange is not None:
            self._exchange.sent(passed, monotonic())
            if self._provider is not None:
                self._provider.write(passed)
        refusal = follower.refusal
        if self._failure and (follower.whole or follower.expects):
            refusal = Refusal("502 Bad Gateway", "provider_unreachable", self._failure)
        if refusal is not None:
            self._conclude(End.HANGUP, refusal.why)
            return await self._answer(refusal)
        self._early, follower.rest = follower.rest, b""
        return True

    def _begin(self, method: str) -> Exchange:
        began = Exchange(method=method, began=monotonic(), reused=self._served > 0, most=self._terms.most)
        self._served += 1
        self._ears.began(began)
        return began

    async def _connect(self) -> str:
        """Connect to the provider; why that cannot be, in one line."""
        if self._provider is not None:
            return ""
        place, tls = self._terms.route.place, self._terms.tls
        try:
            async with asyncio.timeout(CONNECT):
                reader, writer = await asyncio.open_connection(place.host, place.port, ssl=tls, limit=READ)
        except TimeoutError:
            return f"{self._terms.route.origin} cannot be reached: no connection in {CONNECT:g} s"
        except OSError as error:
            return f"{self._terms.route.origin} cannot be reached: {describe(error)}"
        writer.transport.set_write_buffer_limits(high=WAITING)
        self._provider = writer
        self._pumps.append(asyncio.ensure_future(self._pump(reader, client=False)))
        return ""

    async def _from_provider(self, seen: _Seen) -> bool:
        exchange = self._exchange
        if exchange is None:
            return False
        if seen.data:
            exchange.received(seen.data, seen.at)
            self._client.write(seen.data)
            return not exchange.reader.complete or await self._whole(exchange)
        if seen.error is None or isinstance(seen.error, ssl.SSLError):
            self._conclude(End.CLOSE)
        else:
            self._client.breaks_off = True
            self._conclude(End.RESET)
        return False

    async def _whole(self, exchange: Exchange) -> bool:
        """The response is whole; whether both connections serve the next request."""
        lasting = self._follower.whole and exchange.reader.keep_alive and self._leave_at is None
        self._conclude(End.COMPLETE)
        if not self._follower.whole:
            await self._client.linger(self._until_client_left)
        self._follower = RequestFollower(self._terms.route)
        early, self._early = self._early, b""
        return lasting and (not early or await self._pass_on(early))

    def _client_left(self) -> bool:
        """The client is gone, or says that it sends no more, which is the same here."""
        if self._exchange is None:
            return False
        if not self._follower.whole:
            self._conclude(End.HANGUP, "the client left in the middle of its request")
            return False
        self._leave_at = monotonic() + LINGER
        return True

    def _out_of_time(self) -> None:
        """Nothing came for as long as it may take."""
        if self._leave_at is not None:
            exchange = self._exchange
            silent = exchange is not None and self._leave_at - exchange.last >= LINGER + GAVE_UP
            self._conclude(End.STALL if silent and self._terms.gives_up else End.HANGUP)
        elif self._client.lags:
            self._conclude(End.HANGUP, "the client did not read the response")
        elif not self._follower.whole:
            self._conclude(End.HANGUP, "the client did not finish its request")
        else:
            self._conclude(End.STALL)

    def _conclude(self, end: End, reason: str = "") -> None:
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            self._ears.ended(exchange, exchange.transcript(end, monotonic(), reason))

    async def _answer(self, refusal: Refusal) -> bool:
        await self._client.answer(refusal, self._until_client_left)
        return False

    async def _until_client_left(self) -> None:
        while (seen := await self._seen.get()).data or not seen.client:
            pass
