"""The yardstick: asyncio and httptools with nothing else, one write for each event.

    python raw_asyncio.py JSON SSE

The arguments are files: a JSON body, and a stream's events. Prints its port and serves.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import httptools


class Answering(asyncio.Protocol):
    """Answers each whole request; one whose path ends in /stream gets the events."""

    plain: bytes
    events: list[bytes]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._parser = httptools.HttpRequestParser(self)
        self._url = b""

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_url(self, url: bytes) -> None:
        self._url = url

    def on_message_complete(self) -> None:
        if self._url.endswith(b"/stream"):
            for event in self.events:
                self._transport.write(event)
        else:
            self._transport.write(self.plain)


async def main(plain: bytes, events: list[bytes]) -> None:
    """Serve on a free port until the parent ends this process."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(plain)
    Answering.plain = head + plain
    chunks = [b"%x\r\n%b\r\n" % (len(event), event) for event in events]
    start = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    Answering.events = [start + chunks[0], *chunks[1:-1], chunks[-1] + b"0\r\n\r\n"]
    server = await asyncio.get_running_loop().create_server(Answering, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    texts = [text + b"\n\n" for text in Path(sys.argv[2]).read_bytes().split(b"\n\n") if text]
    asyncio.run(main(Path(sys.argv[1]).read_bytes(), texts))
