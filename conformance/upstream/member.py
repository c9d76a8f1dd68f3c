"""One member's port: it listens, it can refuse, and it listens again on the same port.

A second socket stays bound to the port and never listens, so that nobody else (not even an outgoing connection of this
machine) can get the port while the member refuses. Knows nothing of what is answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from collections.abc import Callable

from conformance.errors import UpstreamError
from conformance.upstream.connection import Connection

BACKLOG = 4096
ACCEPTS = 128
REST_SECONDS = 0.05


class MemberPort:
    """A listening port called `name` ("u0").

    `accepted` is called with each new socket; `connections` are the open ones. `exhausted` counts how often the process
    had no file descriptor left for a connection.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        name: str,
        host: str,
        port: int,
        accepted: Callable[[MemberPort, socket.socket], None],
    ) -> None:
        self._loop, self._host, self._accepted = loop, host, accepted
        self.name = name
        self.connections: set[Connection] = set()
        self.exhausted = 0
        self._listener: socket.socket | None = None
        self._holder = _bound(host, port)
        self.port: int = self._holder.getsockname()[1]
        self.listen()

    @property
    def refusing(self) -> bool:
        """Whether connections are refused."""
        return self._listener is None

    def listen(self) -> None:
        """Take connections (again). Raises UpstreamError when the port cannot be listened on."""
        if self._listener is not None:
            return
        listener = _bound(self._host, self.port)
        try:
            listener.listen(BACKLOG)
        except OSError as error:
            listener.close()
            raise UpstreamError(
                f"the port cannot be listened on: {error}", where=f"{self._host}:{self.port}"
            ) from error
        self._listener = listener
        self._loop.add_reader(listener, self._accept)

    def refuse(self) -> None:
        """Refuse connections from now on; idle ones are closed, busy ones when their response is over."""
        self._deafen()
        for connection in list(self.connections):
            connection.retire()

    def close(self) -> None:
        """Close the port and every connection."""
        self._deafen()
        self._holder.close()
        for connection in list(self.connections):
            connection.close()

    def _deafen(self) -> None:
        if self._listener is not None:
            self._loop.remove_reader(self._listener)
            self._listener.close()
            self._listener = None

    def _accept(self) -> None:
        for _ in range(ACCEPTS):
            if self._listener is None:
                return
            try:
                accepted, _ = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
                    raise
                self._rest()
                return
            accepted.setblocking(False)
            with contextlib.suppress(OSError):
                accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._accepted(self, accepted)

    def _rest(self) -> None:
        """No descriptor left: stop accepting for a moment instead of spinning."""
        self.exhausted += 1
        listener = self._listener
        assert listener is not None
        self._loop.remove_reader(listener)
        self._loop.call_later(REST_SECONDS, self._wake, listener)

    def _wake(self, listener: socket.socket) -> None:
        if self._listener is listener:
            self._loop.add_reader(listener, self._accept)


def _bound(host: str, port: int) -> socket.socket:
    """A non-blocking socket bound to host and port, or any port for 0. Raises UpstreamError when it is taken.

    With SO_REUSEADDR set, Linux looks for any port among all that are bound, quadratically: thousands take minutes.
    So it is set before only where the port is given.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        made = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        raise UpstreamError(f"no port can be had: {error.strerror}", hint="raise the limit on open files") from error
    made.setblocking(False)
    try:
        if port:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    except OSError as error:
        made.close()
        hint = "name a free one; without a number any that is free is taken" if port else ""
        raise UpstreamError(f"the port cannot be bound: {error.strerror}", where=f"{host}:{port}", hint=hint) from error
    return made
