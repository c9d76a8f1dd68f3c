"""The wire driver: our own raw HTTP/1.1 client. A call becomes bytes, and what came back a Transcript.

Keeps connections alive and reuses one only where no doubt is left (see `Pool`); never sends a request twice. Knows how
connections are got and given back; what happens on one is the connection's own matter.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections import deque
from time import monotonic

from conformance import __version__
from conformance.driver.connection import SLOW_READ, Connection, SlowConnection, describe, lacking
from conformance.driver.flight import Flight
from conformance.driver.model import FEWER, Call, Capture
from conformance.driver.request import Place, locate, request_bytes
from conformance.errors import DriverError
from conformance.wire.transcript import End, Transcript

#: Seconds that a connection rests before it is used again: an unannounced close of the peer has arrived by then.
REST = 0.002
#: Seconds after which an idle connection is not used again: servers' idle timeouts are longer than this.
STALE = 1.0


class Pool:
    """Idle connections by place, oldest first, and the rules for using one again.

    A request on a connection that the peer is just closing would look like the peer's fault, and may not be sent again.
    So a connection is reused only when its last response was whole and allowed it, with no byte past its end; it rested
    for REST and is not STALE; the kernel holds no FIN for it; and its place never closed an idle connection early and
    unannounced. What remains is a close that crosses the request on the wire: the transcript's `error` says so.
    """

    def __init__(self) -> None:
        self._idle: dict[Place, deque[Connection]] = {}
        self._distrusted: set[Place] = set()

    def take(self, place: Place) -> Connection | None:
        """A connection that can be used without doubt, or None."""
        idle = self._idle.get(place)
        now = monotonic()
        while idle:
            if now - idle[0].idle_since < REST and idle[0].usable:
                return None
            connection = idle.popleft()
            if connection.usable and now - connection.idle_since < STALE and connection.quiet():
                return connection
            connection.abort()
        return None

    def give_back(self, place: Place, connection: Connection) -> None:
        """Keep a connection whose response was whole and allowed it."""
        if not connection.usable:
            self._distrusted.add(place)
        if place in self._distrusted:
            connection.abort()
            return
        connection.idle_since = monotonic()
        self._idle.setdefault(place, deque()).append(connection)

    def lost(self, place: Place, connection: Connection) -> None:
        """The peer closed an idle connection."""
        if monotonic() - connection.idle_since < STALE:
            self._distrusted.add(place)

    def idle(self, place: Place) -> int:
        """How many connections to a place are idle and usable."""
        return sum(connection.usable for connection in self._idle.get(place, ()))

    def clear(self) -> list[Connection]:
        """Close and forget every idle connection; returns them."""
        connections = [connection for idle in self._idle.values() for connection in idle]
        self._idle.clear()
        for connection in connections:
            connection.abort()
        return connections


class WireDriver:
    """Sends calls as raw HTTP/1.1 and keeps every byte. One instance serves one event loop.

    `ssl_context` replaces the system's trust store for https; `keep_alive` False gives each call a fresh connection.
    """

    name = "wire"
    version = __version__

    def __init__(self, *, ssl_context: ssl.SSLContext | None = None, keep_alive: bool = True) -> None:
        self._ssl_context = ssl_context  # the system's is loaded with the first https call: it costs milliseconds
        self._keep_alive = keep_alive
        self.pool = Pool()

    async def send(self, call: Call) -> Capture:
        """Send the call once and return what happened. Raises DriverError for a call that cannot be put into bytes."""
        place = locate(call.base_url)
        request = request_bytes(call, place)
        _ = call.behaviour.after_events  # an unknown word is refused before anything is sent
        reusable = self._keep_alive and not (call.behaviour.pause_ms or call.behaviour.half_close)
        connection = self.pool.take(place) if reusable else None
        if connection is None:
            began = monotonic()
            try:
                connection = await self._connect(place, call)
            except TimeoutError as error:  # ours, or the operating system's own ETIMEDOUT
                return _refused(began, describe(error), deadline="" if error.errno else "connect")
            except OSError as error:  # name not found, refused, unreachable, TLS handshake failed
                if lack := lacking(error):
                    raise DriverError(f"no connection can be made here: {lack}", where=self.name, hint=FEWER) from error
                return _refused(began, describe(error))
        flight = Flight(connection, method=call.method, behaviour=call.behaviour, deadlines=call.deadlines)
        flight.take_off(request)
        try:
            await flight.landed
        except asyncio.CancelledError:
            flight.conclude(End.HANGUP, error="the call was cancelled")
            connection.abort()
            raise
        transcript = flight.transcript()
        if reusable and flight.reader.keep_alive and not connection.unsent:
            self.pool.give_back(place, connection)
        else:
            connection.abort()
        return Capture(transcript=transcript, hangup=flight.hangup)

    async def aclose(self) -> None:
        """Close every idle connection."""
        if self.pool.clear():
            await asyncio.sleep(0)  # the transports close their sockets in the loop's next turn

    async def _connect(self, place: Place, call: Call) -> Connection:
        kind = SlowConnection if call.behaviour.pause_ms else Connection
        if place.tls and self._ssl_context is None:
            self._ssl_context = _system_trust()
        async with asyncio.timeout(call.deadlines.connect):
            _, connection = await asyncio.get_running_loop().create_connection(
                lambda: kind(lambda lost: self.pool.lost(place, lost)),
                place.host,
                place.port,
                ssl=self._ssl_context if place.tls else None,
                server_hostname=place.host if place.tls else None,
            )
        if call.behaviour.pause_ms:
            plain: socket.socket = connection.transport.get_extra_info("socket")
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SLOW_READ)
        return connection


def _refused(began: float, error: str, *, deadline: str = "") -> Capture:
    ended = (monotonic() - began) * 1000.0
    return Capture(
        transcript=Transcript(
            sent=(), received=(), end=End.REFUSED, ended_at=ended, origin=began, deadline=deadline, error=error
        )
    )


def _system_trust() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context
