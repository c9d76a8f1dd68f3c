"""A load generator of plain asyncio sockets: kept connections that send one request after the other and count answers.

An answer is whole by its content length or its last chunk; nothing else is looked at, so the generator costs little.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

LAST_CHUNK = b"0\r\n\r\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What a round counted: answers in `seconds`."""

    answers: int
    seconds: float


class Caller(asyncio.Protocol):
    """One connection. `request` gives the next request's bytes; `done` is set when the connection is gone."""

    def __init__(self, request: Callable[[], bytes]) -> None:
        self._request = request
        self._transport: asyncio.Transport | None = None
        self._received = 0
        self._size = 0
        self._chunked = False
        self.answers = 0
        self.stopped = False
        self.wrong = b""
        self.done = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._send()

    def connection_lost(self, exc: Exception | None) -> None:
        self.done.set()

    def data_received(self, data: bytes) -> None:
        if not self._received:
            self._read_head(data)
        self._received += len(data)
        if data.endswith(LAST_CHUNK) if self._chunked else self._received >= self._size:
            self.answers += 1
            self._send()

    def _read_head(self, data: bytes) -> None:
        """The first read of an answer; none of the contestants splits its head."""
        end = data.index(b"\r\n\r\n")
        head = data[:end].lower()
        if not head.startswith(b"http/1.1 200"):
            self.wrong = data[:300]
        _, found, length = head.partition(b"content-length:")
        self._chunked = not found
        self._size = end + 4 + int(length.partition(b"\r\n")[0]) if found else 0

    def _send(self) -> None:
        assert self._transport is not None
        self._received = 0
        if self.stopped:
            self._transport.close()
        else:
            self._transport.write(self._request())


async def load(port: int, request: Callable[[], bytes], *, connections: int, seconds: float) -> Load:
    """Keep so many connections busy for so long. Raises ConnectionError when one is lost or answered badly."""
    loop = asyncio.get_running_loop()
    callers = [Caller(request) for _ in range(connections)]
    begun = time.perf_counter()
    for caller in callers:
        await loop.create_connection(lambda caller=caller: caller, "127.0.0.1", port)  # type: ignore[misc]
    await asyncio.sleep(seconds)
    answers, lasted = sum(caller.answers for caller in callers), time.perf_counter() - begun
    if any(caller.done.is_set() or caller.wrong for caller in callers):
        raise ConnectionError(f"a connection was lost, or an answer is no 200: {callers[0].wrong!r}")
    for caller in callers:
        caller.stopped = True
    await asyncio.wait_for(asyncio.gather(*(caller.done.wait() for caller in callers)), 10)
    return Load(answers=answers, seconds=lasted)
