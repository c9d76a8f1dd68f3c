"""One TCP or TLS connection of the wire driver: asyncio's callbacks become events of the flight that is on it.

Knows whether it can be used (again), and nothing of HTTP: what the bytes mean is the flight's matter.
"""

from __future__ import annotations

import asyncio
import errno
import select
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from conformance.driver.flight import Flight

#: The most bytes that a slow reader takes at once, and its receive buffer, so that the peer meets back pressure.
SLOW_READ = 4096
#: No descriptor, buffer or local port is left.
_OURS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.EADDRNOTAVAIL})


class Connection(asyncio.Protocol):
    """One connection. `usable` turns False for good when the peer closed it, or sent what nobody asked for.

    `idle_since` is when the last flight left it (0.0: never flown); `on_idle_loss` is called when the peer closes it
    between two flights. For a peer that speaks or closes before it is asked `early` holds the bytes, and `loss` is why
    it is gone.
    """

    def __init__(self, on_idle_loss: Callable[[Connection], None]) -> None:
        self.usable = False
        self.idle_since = 0.0
        self.flight: Flight | None = None
        self.unsent = False
        self.transport = cast(asyncio.Transport, None)
        self.loss: Exception | None = None
        self.early: list[bytes] = []
        self._on_idle_loss = on_idle_loss
        self._poll: select.poll | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """asyncio: connected (TCP_NODELAY is asyncio's default)."""
        self.transport = cast(asyncio.Transport, transport)
        self.transport.set_write_buffer_limits(high=1, low=0)
        self.usable = True

    def data_received(self, data: bytes) -> None:
        """asyncio: bytes came."""
        if self.flight is not None:
            self.flight.receive(data)
        elif self.idle_since == 0.0:
            self.early.append(data)
        else:
            self._lost_idle()
            self.transport.abort()

    def eof_received(self) -> None:
        """asyncio: the peer sent FIN; the transport closes itself afterwards."""
        self.connection_lost(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """asyncio: the connection is gone."""
        self.loss = self.loss or exc
        if self.flight is None:
            self._lost_idle()
        else:
            self.usable = False
            self.flight.conclude_lost()

    def pause_writing(self) -> None:
        """asyncio: part of the request still waits in the buffer."""
        self.unsent = True

    def resume_writing(self) -> None:
        """asyncio: all of the request is with the kernel."""
        self.unsent = False
        if self.flight is not None:
            self.flight.written()

    def quiet(self) -> bool:
        """Whether nothing waits unread in the kernel: neither a FIN nor stray bytes that the loop has not seen yet."""
        if self._poll is None:
            self._poll = select.poll()
            self._poll.register(self.transport.get_extra_info("socket").fileno(), select.POLLIN | select.POLLHUP)
        return not self._poll.poll(0)

    def abort(self) -> None:
        """Close at once, unsent bytes dropped: an ordinary close (the kernel sends RST where bytes wait unread)."""
        self.usable = False
        self.transport.abort()

    def _lost_idle(self) -> None:
        if self.usable:
            self.usable = False
            self._on_idle_loss(self)


class SlowConnection(Connection, asyncio.BufferedProtocol):
    """A connection that takes at most SLOW_READ bytes at once, for the slow reader."""

    def __init__(self, on_idle_loss: Callable[[Connection], None]) -> None:
        super().__init__(on_idle_loss)
        self._buffer = bytearray(SLOW_READ)

    def get_buffer(self, sizehint: int) -> bytearray:
        """asyncio: where the next read goes."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """asyncio: `nbytes` came."""
        self.data_received(bytes(self._buffer[:nbytes]))


def lacking(error: BaseException | None) -> str:
    """What this machine lacked for a connection ("" for nothing): that says nothing of the peer."""
    return describe(error) if isinstance(error, OSError) and error.errno in _OURS else ""


def describe(error: BaseException | None) -> str:
    """The operating system's or the library's one-line word on an error ("" for None)."""
    if error is None:
        return ""
    text = getattr(error, "strerror", None) or str(error)
    name = type(error).__name__
    return " ".join(f"{name}: {text}".split()) if text else name
