"""An ASGI server whose every response byte is a Framing's: for the defects that no ordinary server can be made to show.

One request for each connection. Requests are read by h11, responses written by hand.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from contextlib import suppress
from typing import Any

import h11
from starlette.types import ASGIApp, Message, Scope

from conformance.reference.framing import Framing


async def serve_raw(app: ASGIApp, framing: type[Framing], sock: socket.socket) -> asyncio.Server:
    """Serve `app` on the bound socket `sock` until the returned server is closed."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await _Connection(reader, writer, framing()).run(app)
        except (OSError, h11.RemoteProtocolError):
            pass
        finally:
            writer.close()

    return await asyncio.start_server(connected, sock=sock)


class _Connection:
    """One connection: one request in, one response out."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, framing: Framing) -> None:
        self._reader = reader
        self._writer = writer
        self._framing = framing
        self._parser = h11.Connection(h11.SERVER)

    async def run(self, app: ASGIApp) -> None:
        """Read the request's head, let `app` answer."""
        event = await self._event()
        if not isinstance(event, h11.Request):
            return
        await app(self._scope(event), self._receive, self._send)

    def _scope(self, request: h11.Request) -> Scope:
        path, _, query = request.target.decode("latin-1").partition("?")
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "scheme": "http",
            "method": request.method.decode(),
            "root_path": "",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": list(request.headers),
            "client": None,
            "server": self._writer.get_extra_info("sockname"),
        }

    async def _event(self) -> Any:
        while (event := self._parser.next_event()) is h11.NEED_DATA:
            self._parser.receive_data(await self._reader.read(65536))
        return event

    async def _receive(self) -> Message:
        if self._parser.their_state is h11.SEND_BODY:
            event = await self._event()
            if isinstance(event, h11.Data):
                return {"type": "http.request", "body": bytes(event.data), "more_body": True}
            return {"type": "http.request", "body": b"", "more_body": False}
        try:
            while await self._reader.read(65536):
                pass
        except OSError:
            pass
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            fields = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in message["headers"])
            self._writer.write(self._framing.head(message["status"], fields))
            return
        if body := message.get("body", b""):
            self._writer.write(self._framing.data(body))
        if not message.get("more_body", False):
            self._writer.write(self._framing.end())
            if self._framing.resets:
                await self._writer.drain()
                sock = self._writer.get_extra_info("socket")
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        with suppress(OSError):  # it went: `_receive` says so
            await self._writer.drain()
