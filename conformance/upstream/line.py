"""One kept connection to the control port: a request's parts go out, a status and a body come back.

Cheap, because a run uses it twice for each request that it measures. Knows HTTP only as the control port speaks it:
every answer declares its length.
"""

from __future__ import annotations

import asyncio


class Line(asyncio.Protocol):
    """One request at a time; made by `loop.create_connection`."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._waiter: asyncio.Future[tuple[int, bytes]] | None = None
        self._transport: asyncio.Transport | None = None

    @property
    def open(self) -> bool:
        """Whether it can carry a request."""
        return self._transport is not None and not self._transport.is_closing()

    def close(self) -> None:
        """Close the connection."""
        if self._transport is not None:
            self._transport.close()

    async def ask(self, method: str, path: str, token: str, body: str, *, patience: float) -> tuple[int, bytes]:
        """Send a request and wait `patience` seconds for its answer: status and body.

        Raises OSError when the connection is lost, TimeoutError when nothing whole came in time.
        """
        if self._transport is None:
            raise ConnectionResetError("the control connection is closed")
        loop = asyncio.get_running_loop()
        self._waiter = loop.create_future()
        timer = loop.call_later(patience, self._give_up)
        self._transport.write(request_bytes(method, path, token, body))
        try:
            return await self._waiter
        finally:
            timer.cancel()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """Whoever waits is told."""
        self._transport = None
        self._fail(ConnectionResetError("the control connection was closed"))

    def data_received(self, data: bytes) -> None:
        """Give the answer on when it is whole."""
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self._buffer[:end]).lower()
        length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
        if len(self._buffer) < end + 4 + length:
            return
        body = bytes(self._buffer[end + 4 : end + 4 + length])
        self._buffer.clear()
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result((int(head[9:12]), body))

    def _give_up(self) -> None:
        self._fail(TimeoutError("no answer in time"))

    def _fail(self, error: Exception) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_exception(error)


def request_bytes(method: str, path: str, token: str, body: str) -> bytes:
    """A raw request to the control port."""
    content = body.encode()
    head = f"{method} {path} HTTP/1.1\r\nHost: control\r\nAuthorization: Bearer {token}\r\n"
    return f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content
