"""The tap: raw timed bytes of both directions, taken at the network backend beneath a real client.

httpcore and httpcore2 share one interface, so one tap serves both. A call finds its tap through a context variable: that is
what survives the way through an SDK. One connection for each call, so a tape is exactly one connection; over TLS its
bytes are the plain text. The tape decides; the streams here only do the IO, asynchronously and blocking.

A client may let go of a response early (an SDK that stops at [DONE], or that met something it cannot read). The socket
then stays open until `finish` has read the rest, so that every driver brings back the same bytes.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from conformance.driver.connection import SLOW_READ
from conformance.driver.stack import Stack
from conformance.driver.tape import MOMENT, HungUp, Tape
from conformance.errors import DriverError

_READ = 65536
_TAP: ContextVar[Any] = ContextVar("conformance_tap")


@contextmanager
def recording(tap: AsyncTap | SyncTap) -> Iterator[None]:
    """Within the block, the request sent in this context (task or thread) is recorded by `tap`."""
    token = _TAP.set(tap)
    try:
        yield
    finally:
        _TAP.reset(token)


class _Tap:
    """What both taps share: the tape, and the one stream of the call."""

    def __init__(self, tape: Tape, stack: Stack) -> None:
        self.tape = tape
        self._core = stack.core
        self._inner: Any = None
        self._connections = 0

    def opening(self) -> float:
        """Count a connection that is about to be opened; how many seconds that may take."""
        self._connections += 1
        self.assert_one_connection()
        return self.tape.deadlines.connect

    def assert_one_connection(self) -> None:
        """Raises DriverError when the client asked for a second connection: it sent, or would have sent, a second time."""
        if self._connections > 1:
            raise DriverError(f"the client opened {self._connections} connections for one call")

    def opened(self, inner: Any) -> None:
        """Take a connected stream."""
        self._inner = inner
        if self.tape.behaviour.pause_ms:
            plain = inner.get_extra_info("socket")
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SLOW_READ)

    def get_extra_info(self, info: str) -> Any:
        """Part of the stream interface."""
        return self._inner.get_extra_info(info)

    def _late_bytes(self) -> bool:
        """Whether bytes, or a FIN, are there after a whole response."""
        return self._inner.get_extra_info("ssl_object") is None and bool(self._inner.get_extra_info("is_readable"))

    def _expired(self, reason: str) -> None:
        self.tape.expire(reason)
        if reason == "hang-up":
            raise HungUp


class AsyncTap(_Tap):
    """Records one call of an asynchronous client; it is the network stream that the client's pool gets."""

    async def connect(self, backend: Any, host: str, port: int, **options: Any) -> AsyncTap:
        """Open the call's one connection."""
        options["timeout"] = self.opening()
        try:
            self.opened(await backend.connect_tcp(host, port, **options))
        except self._core.ConnectTimeout as error:
            self.tape.refuse(error, timed_out=True)
            raise
        except self._core.ConnectError as error:
            self.tape.refuse(error, timed_out=False)
            raise
        return self

    async def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> AsyncTap:
        """Part of the stream interface: from here on the tape holds the plain text."""
        try:
            self._inner = await self._inner.start_tls(ssl_context, server_hostname, self.tape.deadlines.connect)
        except self._core.ConnectTimeout as error:
            self.tape.refuse(error, timed_out=True)
            raise
        except self._core.ConnectError as error:
            self.tape.refuse(error, timed_out=False)
            raise
        return self

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Part of the stream interface: write and record."""
        moment = self.tape.writing()
        try:
            await self._inner.write(buffer, self.tape.write_seconds())
        except self._core.WriteTimeout:
            self.tape.expire("exchange")
            raise
        self.tape.wrote(moment, bytes(buffer))

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Part of the stream interface: read and record, within the tape's deadlines. Raises HungUp when told to leave."""
        if pause := self.tape.pause():
            await asyncio.sleep(pause)
        wait = self.tape.wait()
        if wait.reason == "hang-up" and wait.seconds <= MOMENT:
            self._expired(wait.reason)
        try:
            data: bytes = await self._inner.read(self.tape.limit(max_bytes), wait.seconds)
        except self._core.ReadTimeout:
            self._expired(wait.reason)
            raise
        except self._core.ReadError as error:
            self.tape.fail(error)
            raise
        self.tape.read(data)
        return data

    async def aclose(self) -> None:
        """Part of the stream interface: the client let go. `finish` closes the socket."""

    async def finish(self) -> None:
        """Read what the client left unread, until the tape is over."""
        with contextlib.suppress(HungUp, self._core.ReadTimeout, self._core.ReadError):
            while self.tape.lingering:
                await self.read(_READ)
            if self._inner is not None and self._late_bytes():
                self.tape.read(await self._inner.read(_READ, MOMENT))

    async def close(self) -> None:
        """Close the socket."""
        if self._inner is not None:
            await self._inner.aclose()


class SyncTap(_Tap):
    """Records one call of a blocking client; the twin of AsyncTap, run in a thread."""

    def connect(self, backend: Any, host: str, port: int, **options: Any) -> SyncTap:
        """Open the call's one connection."""
        options["timeout"] = self.opening()
        try:
            self.opened(backend.connect_tcp(host, port, **options))
        except self._core.ConnectTimeout as error:
            self.tape.refuse(error, timed_out=True)
            raise
        except self._core.ConnectError as error:
            self.tape.refuse(error, timed_out=False)
            raise
        return self

    def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None) -> SyncTap:
        """Part of the stream interface: from here on the tape holds the plain text."""
        try:
            self._inner = self._inner.start_tls(ssl_context, server_hostname, self.tape.deadlines.connect)
        except self._core.ConnectTimeout as error:
            self.tape.refuse(error, timed_out=True)
            raise
        except self._core.ConnectError as error:
            self.tape.refuse(error, timed_out=False)
            raise
        return self

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Part of the stream interface: write and record."""
        moment = self.tape.writing()
        try:
            self._inner.write(buffer, self.tape.write_seconds())
        except self._core.WriteTimeout:
            self.tape.expire("exchange")
            raise
        self.tape.wrote(moment, bytes(buffer))

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Part of the stream interface: read and record, within the tape's deadlines. Raises HungUp when told to leave."""
        if pause := self.tape.pause():
            time.sleep(pause)
        wait = self.tape.wait()
        if wait.reason == "hang-up" and wait.seconds <= MOMENT:
            self._expired(wait.reason)
        try:
            data: bytes = self._inner.read(self.tape.limit(max_bytes), wait.seconds)
        except self._core.ReadTimeout:
            self._expired(wait.reason)
            raise
        except self._core.ReadError as error:
            self.tape.fail(error)
            raise
        self.tape.read(data)
        return data

    def close(self) -> None:
        """Part of the stream interface: the client let go. `finish` closes the socket."""

    def finish(self) -> None:
        """Read what the client left unread, until the tape is over, and close the socket."""
        try:
            with contextlib.suppress(HungUp, self._core.ReadTimeout, self._core.ReadError):
                while self.tape.lingering:
                    self.read(_READ)
                if self._inner is not None and self._late_bytes():
                    self.tape.read(self._inner.read(_READ, MOMENT))
        finally:
            if self._inner is not None:
                self._inner.close()

    def abort(self) -> None:
        """From another thread: end every wait on the socket at once."""
        if self._inner is not None:
            with contextlib.suppress(OSError):
                self._inner.get_extra_info("socket").shutdown(socket.SHUT_RDWR)


class AsyncTapBackend:
    """The network backend to give to an AsyncConnectionPool: each connection becomes the stream of its call's tap."""

    def __init__(self, stack: Stack) -> None:
        self._inner = stack.core.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> AsyncTap:
        """Part of the backend interface. `timeout` gives way to the call's own deadline."""
        tap: AsyncTap = _TAP.get()
        return await tap.connect(self._inner, host, port, local_address=local_address, socket_options=socket_options)

    async def sleep(self, seconds: float) -> None:
        """Part of the backend interface; only a retry would sleep, and there is none."""
        raise DriverError("the client wanted to wait for a retry")


class SyncTapBackend:
    """The network backend to give to a ConnectionPool."""

    def __init__(self, stack: Stack) -> None:
        self._inner = stack.core.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> SyncTap:
        """Part of the backend interface. `timeout` gives way to the call's own deadline."""
        tap: SyncTap = _TAP.get()
        return tap.connect(self._inner, host, port, local_address=local_address, socket_options=socket_options)

    def sleep(self, seconds: float) -> None:
        """Part of the backend interface; only a retry would sleep, and there is none."""
        raise DriverError("the client wanted to wait for a retry")
