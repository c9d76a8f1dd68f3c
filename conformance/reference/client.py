"""One dispatch to one member: a connection, a request, and the response read piece by piece.

Speaks HTTP and knows nothing of models or failover. One connection serves one request: a kept-alive one may be dead,
and a reset on it could not be told from the member's failure. Every wait has a deadline; every fault is an
UpstreamFault.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from conformance.reference.body import Decoded, Malformed
from conformance.reference.http import MAX_HEAD, ResponseHead, body_of, split_head

READ_SIZE = 256 * 1024


class FaultKind(StrEnum):
    """How a dispatch failed below HTTP's status codes."""

    CONNECT = "connect"
    TIMEOUT = "timeout"
    RESET = "reset"
    BROKEN = "broken"


class UpstreamFault(Exception):
    """A dispatch failed: which way, and a word for the log."""

    def __init__(self, kind: FaultKind, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamRequest:
    """One request to a member: absolute URL, field lines besides Host and Content-Length, body."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


class UpstreamReply:
    """A response whose head has come. `read` gives the content (codings removed), b"" at its honest end."""

    def __init__(
        self,
        head: ResponseHead,
        rest: bytes,
        stream: asyncio.StreamReader,
        closer: asyncio.StreamWriter,
        *,
        decode: bool = True,
    ) -> None:
        self.head = head
        self._body = body_of(head)
        self._decoded = Decoded(head.get("content-encoding") if decode else "")
        self._rest = rest
        self._stream = stream
        self._closer = closer

    async def read(self, deadline: float, limit: int) -> bytes:
        """The next content, non-empty, or b"" at the end. `deadline` is in the loop's time. Raises UpstreamFault."""
        while not self._body.complete:
            data, self._rest = self._rest, b""
            try:
                if not data:
                    data = await self._receive(deadline)
                    if not data:
                        self._body.close()
                        return b""
                content = self._decoded.feed(self._body.feed(data), limit)
            except Malformed as error:
                raise UpstreamFault(FaultKind.BROKEN, str(error)) from error
            if content:
                return content
        return b""

    async def _receive(self, deadline: float) -> bytes:
        try:
            async with asyncio.timeout_at(deadline):
                return await self._stream.read(READ_SIZE)
        except TimeoutError as error:
            raise UpstreamFault(FaultKind.TIMEOUT, "nothing came in time") from error
        except OSError as error:
            raise UpstreamFault(FaultKind.RESET, "the connection was reset") from error

    async def finish(self, seconds: float) -> None:
        """Read what is left of a reply that was used whole, for at most `seconds`; then close."""
        deadline = asyncio.get_running_loop().time() + seconds
        try:
            while await self.read(deadline, READ_SIZE):
                pass
        except UpstreamFault:
            pass
        finally:
            self.close()

    def close(self) -> None:
        """Close the connection at once."""
        self._closer.close()


async def dispatch(request: UpstreamRequest, *, connect: float, deadline: float, decode: bool = True) -> UpstreamReply:
    """Send `request` once and wait for the response head until `deadline` (loop time). Raises UpstreamFault.

    With `decode` a content coding is removed from the body.
    """
    stream, closer = await _connect(request.url, connect)
    try:
        closer.write(_encode(request))
        async with asyncio.timeout_at(deadline):
            head, rest = await _read_head(stream)
        return UpstreamReply(head, rest, stream, closer, decode=decode)
    except TimeoutError as error:
        closer.close()
        raise UpstreamFault(FaultKind.TIMEOUT, "no response head in time") from error
    except OSError as error:
        closer.close()
        raise UpstreamFault(FaultKind.RESET, "the connection was reset") from error
    except Malformed as error:
        closer.close()
        raise UpstreamFault(FaultKind.BROKEN, str(error)) from error
    except BaseException:
        closer.close()
        raise


async def _connect(url: str, seconds: float) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.open_connection(parts.hostname, port, ssl=secure or None, limit=READ_SIZE)
    except TimeoutError as error:
        raise UpstreamFault(FaultKind.TIMEOUT, "no connection in time") from error
    except OSError as error:
        raise UpstreamFault(FaultKind.CONNECT, "no connection") from error


async def _read_head(stream: asyncio.StreamReader) -> tuple[ResponseHead, bytes]:
    received = bytearray()
    while True:
        data = await stream.read(MAX_HEAD)
        if not data:
            raise Malformed("the connection was closed before a response head")
        received += data
        if (found := split_head(received)) is not None:
            return found


def _encode(request: UpstreamRequest) -> bytes:
    parts = urlsplit(request.url)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    lines = [f"{request.method} {target} HTTP/1.1", f"Host: {parts.netloc}"]
    lines += [f"{name}: {value}" for name, value in request.headers]
    lines += [f"Content-Length: {len(request.body)}", "Connection: close"]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + request.body
