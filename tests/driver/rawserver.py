"""A raw server on loopback for the drivers' tests: every connection plays one script for each request that it gets.

Steps: bytes are written; a float waits so many seconds; "close" sends FIN, "reset" sends RST, "stall" goes silent until
the client is gone; after the last step the next request on the same connection is awaited.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import struct
from collections.abc import Sequence
from types import TracebackType

from conformance.wire.http1 import RequestReader

Step = bytes | float | str


class RawServer:
    """Async context manager. `scripts` are played in order of requests, the last one repeating."""

    def __init__(
        self, *scripts: Sequence[Step], ssl_context: ssl.SSLContext | None = None, host: str = "127.0.0.1"
    ) -> None:
        self.scripts = scripts
        self.requests: list[bytes] = []
        self.connections = 0
        self.gone: list[str] = []
        self.changed = asyncio.Event()
        self.asked = asyncio.Event()
        self._ssl = ssl_context
        self._host = host
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> RawServer:
        self._server = await asyncio.start_server(self._serve, self._host, 0, ssl=self._ssl)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def base_url(self) -> str:
        scheme = "https" if self._ssl else "http"
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{scheme}://{host}:{self.port}/v1"

    async def until_gone(self, count: int = 1) -> None:
        """Wait until `count` clients were seen leaving."""
        async with asyncio.timeout(5):
            while len(self.gone) < count:
                self.changed.clear()
                await self.changed.wait()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            while await self._read_request(reader):
                script = self.scripts[min(len(self.requests), len(self.scripts)) - 1]
                if not await self._play(script, reader, writer):
                    return
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()
            with contextlib.suppress(Exception, asyncio.CancelledError):
                await writer.wait_closed()

    async def _read_request(self, reader: asyncio.StreamReader) -> bool:
        parser = RequestReader()
        while True:
            data = await reader.read(65536)
            if not data:
                return False
            parser.feed(data)
            request = parser.take()
            if request is not None:
                self.requests.append(request)
                self.asked.set()
                return True

    async def _play(self, script: Sequence[Step], reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        for step in script:
            if isinstance(step, bytes):
                writer.write(step)
                await writer.drain()
            elif isinstance(step, float):
                await asyncio.sleep(step)
            elif step == "stall":
                await self._await_leave(reader)
                return False
            else:
                if step == "reset":
                    plain: socket.socket = writer.get_extra_info("socket")
                    plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    writer.transport.abort()
                return False
        return True

    async def _await_leave(self, reader: asyncio.StreamReader) -> None:
        try:
            rest = await reader.read(1)
            self.gone.append("fin" if not rest else "bytes")
        except ConnectionError:
            self.gone.append("rst")
        self.changed.set()


def json_reply(body: bytes = b'{"ok": true}', *, status: str = "200 OK", fields: str = "") -> bytes:
    """A JSON response with a length."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n{fields}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
STREAM_END = b"0\r\n\r\n"


def chunk(data: bytes) -> bytes:
    """One HTTP chunk."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def delta(text: str) -> bytes:
    """A chat chunk as an event."""
    return (
        b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":'
        b'[{"index":0,"delta":{"content":"%b"},"finish_reason":null}]}\n\n' % text.encode()
    )


DONE = b"data: [DONE]\n\n"
CHAT = (
    b'{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,'
    b'"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],'
    b'"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}'
)
