"""The client's end of a passage: what it is told, whether it reads, and how its connection ends."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Awaitable, Callable
from contextlib import suppress

from conformance.recorder.request import Refusal
from conformance.upstream.connection import unsent_bytes

#: How long what was written last may take to reach the client, in seconds.
LAST = 1.0
_RESET = struct.pack("ii", 1, 0)


class Client:
    """Writes to one client; `breaks_off` makes its connection end by a reset."""

    def __init__(self, writer: asyncio.StreamWriter, waiting: int) -> None:
        self.breaks_off = False
        self._writer = writer
        writer.transport.set_write_buffer_limits(high=waiting)

    @property
    def lags(self) -> bool:
        """Whether it has not read what there is to read."""
        return self._writer.transport.get_write_buffer_size() > 0

    def write(self, data: bytes) -> None:
        """Pass on to it, unless it is gone."""
        if not self._writer.is_closing():
            self._writer.write(data)

    async def drain(self) -> None:
        """Wait while too much waits for it."""
        with suppress(OSError):
            await self._writer.drain()

    async def answer(self, refusal: Refusal, gone: Callable[[], Awaitable[None]]) -> None:
        """Answer in the recorder's own name, as the last thing that is said."""
        error = {"message": f"conformance record: {refusal.why}", "type": "recorder_error", "param": None}
        body = json.dumps({"error": {**error, "code": refusal.code}}).encode()
        head = f"HTTP/1.1 {refusal.status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        self.write(f"{head}Connection: close\r\n\r\n".encode() + body)
        await self.linger(gone)

    async def linger(self, gone: Callable[[], Awaitable[None]]) -> None:
        """Leave it the time to read what was said last though it is still sending: until it is `gone`."""
        with suppress(OSError, TimeoutError):
            self._writer.write_eof()
            async with asyncio.timeout(LAST):
                await gone()

    async def end(self, patience: float) -> None:
        """End its connection, once what came is on its way; it has `patience` seconds to read that."""
        if not self.breaks_off:
            self._writer.close()
            with suppress(OSError, TimeoutError):
                async with asyncio.timeout(patience):
                    await self._writer.wait_closed()
            return
        plain: socket.socket = self._writer.get_extra_info("socket")
        self._writer.transport.set_write_buffer_limits(0)
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(LAST):
                await self._writer.drain()
                while unsent_bytes(plain):  # noqa: ASYNC110 - a reset discards it, and the kernel sets no event
                    await asyncio.sleep(0.001)
        with suppress(OSError):
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)

    def abort(self) -> None:
        """Its connection is over, whatever is on its way."""
        self._writer.transport.abort()
