"""The tap: raw timed bytes of both directions, taken at the network backend beneath a real client.

httpcore and httpcore2 share one interface, so one tap serves both. A call finds its tap through a context variable:
that is what survives the way through an SDK. One connection for each call, so a tape is exactly one connection; over
TLS its bytes are the plain text. The tape decides; the tap only does the IO. `blocking_tap` is the blocking twin.

A client may let go of a response early (an SDK that stops at [DONE], or that met something it cannot read). The socket
then stays open until `finish` has read the rest, so that every driver brings back the same bytes.
"""

# ruff: noqa: ASYNC109 - the `timeout` parameters are httpcore's interface

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from conformance.driver.connection import SLOW_READ
from conformance.driver.stack import Stack
from conformance.driver.tape import MOMENT, HungUp, Tape
from conformance.errors import DriverError

#: Bytes that a tap itself asks for at once.
READ = 65536
_TAP: ContextVar[Any] = ContextVar("conformance_tap")


def current_tap() -> Any:
    """The tap of the call that is being sent in this context."""
    return _TAP.get()


@contextmanager
def recording(tap: Tap) -> Iterator[None]:
    """Within the block, the request sent in this context (task or thread) is recorded by `tap`."""
    token = _TAP.set(tap)
    try:
        yield
    finally:
        _TAP.reset(token)


class Tap:
    """What both taps share: the tape, the one inner stream, and what its failures mean."""

    def __init__(self, tape: Tape, stack: Stack) -> None:
        self.tape = tape
        self._core = stack.core
        self._inner: Any = None
        self._connections = 0

    def assert_one_connection(self) -> None:
        """Raises DriverError when the client asked for a second connection: it wanted to send twice."""
        if self._connections > 1:
            raise DriverError(f"the client opened {self._connections} connections for one call")

    def get_extra_info(self, info: str) -> Any:
        """Part of the stream interface."""
        return self._inner.get_extra_info(info)

    @contextmanager
    def _connecting(self, *, first: bool) -> Iterator[float]:
        """Around connecting and the TLS handshake: how many seconds it may take."""
        self._connections += first
        self.assert_one_connection()
        try:
            yield self.tape.deadlines.connect
        except self._core.ConnectTimeout as error:
            self.tape.refuse(error, timed_out=True)
            raise
        except self._core.ConnectError as error:
            self.tape.refuse(error, timed_out=False)
            raise

    @contextmanager
    def _writing(self, data: bytes) -> Iterator[float]:
        """Around a write. A failed one is no ending yet: the client reads on, and that tells why."""
        moment = self.tape.writing()
        try:
            yield self.tape.write_seconds()
        except self._core.WriteTimeout:
            self.tape.expire("exchange")
            raise
        self.tape.wrote(moment, bytes(data))

    @contextmanager
    def _reading(self) -> Iterator[float]:
        """Around a read: how many seconds it may take. Raises HungUp where the client was told to leave."""
        if self.tape.gone:
            raise HungUp
        wait = self.tape.wait()
        if wait.reason == "hang-up" and wait.seconds <= MOMENT:
            self.tape.expire(wait.reason)
            raise HungUp
        try:
            yield wait.seconds
        except self._core.ReadTimeout:
            self.tape.expire(wait.reason)
            if wait.reason == "hang-up":
                raise HungUp from None
            raise
        except self._core.ReadError as error:
            self.tape.fail(error)
            raise

    @contextmanager
    def _finishing(self) -> Iterator[None]:
        """Around reading what the client left unread: its endings are on the tape already."""
        with contextlib.suppress(HungUp, self._core.ReadTimeout, self._core.ReadError):
            yield

    def _shrink(self) -> None:
        """Give a slow reader a small receive buffer."""
        if self.tape.behaviour.pause_ms:
            self.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SLOW_READ)

    def _late_bytes(self) -> bool:
        """Whether bytes, or a FIN, are there after the end."""
        inner = self._inner
        return (
            inner is not None and not inner.get_extra_info("ssl_object") and bool(inner.get_extra_info("is_readable"))
        )


class AsyncTap(Tap):
    """Records one call of an asynchronous client; it is the network stream that the client's pool gets."""

    async def connect(self, backend: Any, host: str, port: int, **options: Any) -> AsyncTap:
        """Open the call's one connection."""
        with self._connecting(first=True) as seconds:
            self._inner = await backend.connect_tcp(host, port, timeout=seconds, **options)
        self._shrink()
        return self

    async def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: Any = None) -> AsyncTap:
        """Part of the stream interface: from here on the tape holds the plain text."""
        with self._connecting(first=False) as seconds:
            self._inner = await self._inner.start_tls(ssl_context, server_hostname, seconds)
        return self

    async def write(self, buffer: bytes, timeout: Any = None) -> None:
        """Part of the stream interface: write and record."""
        with self._writing(buffer) as seconds:
            await self._inner.write(buffer, seconds)

    async def read(self, max_bytes: int, timeout: Any = None) -> bytes:
        """Part of the stream interface: read and record, within the tape's deadlines."""
        if pause := self.tape.pause():
            await asyncio.sleep(pause)
        with self._reading() as seconds:
            data: bytes = await self._inner.read(self.tape.limit(max_bytes), seconds)
        self.tape.read(data)
        return data

    async def aclose(self) -> None:
        """Part of the stream interface: the client let go. `close` closes the socket."""

    async def finish(self) -> None:
        """Read what the client left unread, until the tape is over."""
        with self._finishing():
            while self.tape.lingering:
                await self.read(READ)
            if self._late_bytes():
                self.tape.read(await self._inner.read(READ, MOMENT))

    async def close(self) -> None:
        """Close the socket."""
        if self._inner is not None:
            await self._inner.aclose()


class AsyncTapBackend:
    """The network backend for an AsyncConnectionPool: a connection becomes its call's tap, with the call's deadline."""

    def __init__(self, stack: Stack) -> None:
        self._inner = stack.core.AnyIOBackend()

    async def connect_tcp(self, host: str, port: int, timeout: Any = None, **options: Any) -> AsyncTap:
        """Part of the backend interface."""
        tap: AsyncTap = current_tap()
        return await tap.connect(self._inner, host, port, **options)

    async def sleep(self, seconds: float) -> None:
        """Part of the backend interface; only a retry would sleep, and there is none."""
        raise DriverError("the client wanted to wait for a retry")
