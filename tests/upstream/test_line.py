"""conformance.upstream.line: one connection to the control port."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from conformance.upstream.line import Line, request_bytes

ANSWER = b'HTTP/1.1 400 Bad Request\r\nContent-LENGTH: 7\r\nX: y\r\n\r\n{"a":1}'


def against(serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]) -> Any:
    """What asking a server once gives, or raises."""

    async def main() -> tuple[int, bytes]:
        served = asyncio.Event()

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await serve(reader, writer)
            writer.close()
            await writer.wait_closed()
            served.set()

        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        _, line = await asyncio.get_running_loop().create_connection(Line, "127.0.0.1", port)
        try:
            return await line.ask("POST", "/arm", "t", "{}", patience=0.5)
        finally:
            line.close()
            await asyncio.wait_for(served.wait(), 10)
            server.close()
            await server.wait_closed()

    return asyncio.run(main())


def test_an_answer_in_pieces_is_whole_at_its_length() -> None:
    """Head and body may come byte by byte."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(len(request_bytes("POST", "/arm", "t", "{}")))
        for index in range(len(ANSWER)):
            writer.write(ANSWER[index : index + 1])
            await writer.drain()
        await reader.read()

    assert against(serve) == (400, b'{"a":1}')


def test_silence_ends_with_the_patience() -> None:
    """No answer is a TimeoutError."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    with pytest.raises(TimeoutError, match="no answer"):
        against(serve)


def test_a_close_is_told() -> None:
    """Without a whole answer it is a ConnectionResetError."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(ANSWER[:-1])

    with pytest.raises(ConnectionResetError):
        against(serve)


def test_a_closed_line_carries_nothing() -> None:
    """Asking it is an error at once."""

    async def main() -> None:
        line = Line()
        assert not line.open
        line.close()
        with pytest.raises(ConnectionResetError):
            await line.ask("GET", "/health", "t", "", patience=1.0)

    asyncio.run(main())


def test_a_request_is_plain_http() -> None:
    """Method, path, token, length, body."""
    expected = b"POST /arm HTTP/1.1\r\nHost: control\r\nAuthorization: Bearer t\r\nContent-Length: 2\r\n\r\n{}"
    assert request_bytes("POST", "/arm", "t", "{}") == expected
