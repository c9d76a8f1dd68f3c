"""The tap beneath a blocking client: the twin of AsyncTap and its backend, to be used in a thread.

The tape decides here too; only the IO blocks. `abort` is the one thing that another thread may call.
"""

from __future__ import annotations

import contextlib
import socket
import time
from typing import Any

from conformance.driver.stack import Stack
from conformance.driver.tap import READ, Tap, current_tap
from conformance.driver.tape import MOMENT, HungUp
from conformance.errors import DriverError
from conformance.wire.transcript import End


class SyncTap(Tap):
    """Records one call of a blocking client; the twin of AsyncTap, run in a thread."""

    def connect(self, backend: Any, host: str, port: int, **options: Any) -> SyncTap:
        """Open the call's one connection."""
        with self._connecting(first=True) as seconds:
            self._inner = backend.connect_tcp(host, port, timeout=seconds, **options)
        self._shrink()
        if self.tape.gone:
            raise HungUp
        return self

    def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: Any = None) -> SyncTap:
        """Part of the stream interface: from here on the tape holds the plain text."""
        with self._connecting(first=False) as seconds:
            self._inner = self._inner.start_tls(ssl_context, server_hostname, seconds)
        return self

    def write(self, buffer: bytes, timeout: Any = None) -> None:
        """Part of the stream interface: write and record."""
        with self._writing(buffer) as seconds:
            self._inner.write(buffer, seconds)

    def read(self, max_bytes: int, timeout: Any = None) -> bytes:
        """Part of the stream interface: read and record, within the tape's deadlines."""
        if pause := self.tape.pause():
            time.sleep(pause)
        with self._reading() as seconds:
            data: bytes = self._inner.read(self.tape.limit(max_bytes), seconds)
        self.tape.read(data)
        return data

    def close(self) -> None:
        """Part of the stream interface: the client let go. `disconnect` closes the socket."""

    def finish(self) -> None:
        """Read what the client left unread, until the tape is over."""
        with self._finishing():
            while self.tape.lingering:
                self.read(READ)
            if self._late_bytes():
                self.tape.read(self._inner.read(READ, MOMENT))

    def disconnect(self) -> None:
        """Close the socket."""
        if self._inner is not None:
            self._inner.close()

    def abort(self) -> None:
        """From another thread: the call was cancelled; end every wait on the socket at once."""
        self.tape.conclude(End.HANGUP, error="the call was cancelled")
        if self._inner is not None:
            with contextlib.suppress(OSError):
                self.get_extra_info("socket").shutdown(socket.SHUT_RDWR)


class SyncTapBackend:
    """The network backend for a ConnectionPool: a connection becomes its call's tap, with the call's deadline."""

    def __init__(self, stack: Stack) -> None:
        self._inner = stack.core.SyncBackend()

    def connect_tcp(self, host: str, port: int, timeout: Any = None, **options: Any) -> SyncTap:
        """Part of the backend interface."""
        tap: SyncTap = current_tap()
        return tap.connect(self._inner, host, port, **options)

    def sleep(self, seconds: float) -> None:
        """Part of the backend interface; only a retry would sleep, and there is none."""
        raise DriverError("the client wanted to wait for a retry")
