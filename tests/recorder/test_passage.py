"""conformance.recorder.passage: connections through the recorder, and what becomes of them in the file."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from conformance.cassette.model import EnvelopeEnd, Frame
from conformance.wire.http1 import read_response
from tests.driver.rawserver import CHAT, DONE, STREAM_END, STREAM_HEAD, RawServer, Step, chunk, delta, json_reply
from tests.recorder.peers import Recorder, answer, ask, recorder, until
from tests.upstream.peer import post

STREAM = (STREAM_HEAD, chunk(delta("a")), 0.05, chunk(delta("b")) + chunk(DONE), STREAM_END)
BIG = json_reply(b'"' + b"x" * 3_000_000 + b'"')
HUGE = json_reply(b'"' + b"x" * 17_000_000 + b'"')


def test_a_stream_passes_unchanged_while_it_comes(tmp_path: Path) -> None:
    """The client has the first event before the provider sends the second; the file holds chunks with their times."""

    async def scene() -> None:
        gate = asyncio.Event()

        async def slowly(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(STREAM_HEAD + chunk(delta("a")))
            await gate.wait()
            writer.write(chunk(DONE) + STREAM_END)
            writer.close()

        server = await asyncio.start_server(slowly, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        async with recorder(url, tmp_path / "a.yaml") as running:
            reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
            writer.write(post(b"{}"))
            first = await reader.readexactly(len(STREAM_HEAD + chunk(delta("a"))))
            await asyncio.sleep(0.03)
            gate.set()
            rest, ended = await answer_rest(reader)
            assert first + rest == STREAM_HEAD + chunk(delta("a")) + chunk(DONE) + STREAM_END
            assert ended == ""
            await running.told(1)
            writer.close()
        server.close()
        (one,) = running.cassette().interactions
        assert [frame.size for frame in one.envelope.frames] == [len(delta("a")), len(DONE)]
        assert one.envelope.frames[1].at >= 25.0
        assert one.envelope.end is EnvelopeEnd.COMPLETE

    asyncio.run(scene())


async def answer_rest(reader: asyncio.StreamReader) -> tuple[bytes, str]:
    """What comes until the terminator."""
    return await asyncio.wait_for(reader.readuntil(b"0\r\n\r\n"), 10), ""


@pytest.mark.parametrize(
    ("script", "seen", "end"),
    [
        (STREAM, "whole", "complete"),
        ((json_reply(CHAT),), "whole", "complete"),
        ((json_reply(CHAT)[:-4], "close"), "fin", "close"),
        ((*STREAM[:3], "reset"), "rst", "reset"),
        ((b"HTTP/1.0 200 OK\r\n\r\nuntil close", "close"), "fin", "complete"),
        (("close",), "fin", "close"),
        (("reset",), "rst", "reset"),
        ((STREAM_HEAD, chunk(DONE), "stall"), "fin", "stall"),
        (("stall",), "fin", "stall"),
        ((BIG,), "whole", "complete"),
        ((BIG[:2_000_000], "close"), "fin", "close"),
    ],
)
def test_how_a_response_ends(tmp_path: Path, script: tuple[Step, ...], seen: str, end: str) -> None:
    """The client's connection ends as the provider's did, after the same bytes; the file says how, and holds them."""
    sent = b"".join(step for step in script if isinstance(step, bytes))

    async def scene() -> Recorder:
        async with (
            RawServer(script) as server,
            recorder(server.base_url, tmp_path / "a.yaml", silence=0.5) as running,
        ):
            assert await ask(running.port, post(b"{}")) == (sent, seen)
            assert server.requests == [post(b"{}").replace(b"Host: m", b"Host: 127.0.0.1:%d" % server.port)]
            await running.told(1)
        return running

    (one,) = asyncio.run(scene()).cassette().interactions
    assert one.envelope.end.value == end
    assert one.envelope.body == (read_response(sent).body if sent else b"")


def test_requests_follow_each_other_on_one_connection(tmp_path: Path) -> None:
    """Kept alive, and also where they are sent all at once: each waits for the response before, in order."""

    async def scene() -> None:
        scripts = [(json_reply(b'{"n":%d}' % number),) for number in range(4)]
        async with RawServer(*scripts) as server, recorder(server.base_url, tmp_path / "a.yaml") as running:
            reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
            writer.write(post(b"[0]"))
            assert (await answer(reader))[0].endswith(b'{"n":0}')
            writer.write(post(b"[1]") + post(b"[2]") + post(b"[3]"))
            want = b"".join(json_reply(b'{"n":%d}' % number) for number in (1, 2, 3))
            assert await asyncio.wait_for(reader.readexactly(len(want)), 10) == want
            await running.told(4)
            writer.close()
            assert server.connections == 1
        told = [(one.request.body, one.envelope.body) for one in running.cassette().interactions]
        assert told == [(b"[%d]" % number, b'{"n":%d}' % number) for number in range(4)]

    asyncio.run(scene())


def test_many_at_once(tmp_path: Path) -> None:
    """Sixty clients at once: each has its own answer, and the file holds all, whole."""

    async def scene() -> None:
        async with RawServer(STREAM) as server, recorder(server.base_url, tmp_path / "a.yaml") as running:
            answers = await asyncio.gather(*(ask(running.port, post(b'{"n":%d}' % n)) for n in range(60)))
            assert set(answers) == {(b"".join(step for step in STREAM if isinstance(step, bytes)), "whole")}
            await running.told(60)
        interactions = running.cassette().interactions
        assert {one.request.body for one in interactions} == {b'{"n":%d}' % n for n in range(60)}
        assert {len(one.envelope.frames) for one in interactions} == {3}
        assert running.tally is not None
        assert (running.tally.kept, running.tally.left, running.tally.failure) == (60, 0, "")

    asyncio.run(scene())


def test_a_body_that_is_asked_for(tmp_path: Path) -> None:
    """100 (Continue) reaches the client before it sends; the file holds the body and the final response."""

    async def scene() -> None:
        async def asking(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            await reader.readexactly(4)
            writer.write(json_reply())
            writer.close()

        server = await asyncio.start_server(asking, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        async with recorder(url, tmp_path / "a.yaml") as running:
            reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
            writer.write(post(b"", headers="Expect: 100-continue\r\n").replace(b"Length: 0", b"Length: 4"))
            assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
            writer.write(b"body")
            assert (await answer(reader))[0] == json_reply()
            await running.told(1)
            writer.close()
        server.close()
        (one,) = running.cassette().interactions
        assert (one.request.body, one.envelope.head[0]) == (b"body", "HTTP/1.1 200 OK")

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("request_", "method", "reply"),
    [
        (b"HEAD /v1/models HTTP/1.1\r\nHost: m\r\n\r\n", "HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"),
        (b"GET /v1/models HTTP/1.1\r\nHost: m\r\n\r\n", "GET", b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n"),
        (b"DELETE /v1/x HTTP/1.1\r\nHost: m\r\n\r\n", "DELETE", b"HTTP/1.1 204 No Content\r\n\r\n"),
        (
            b"POST /v1/x HTTP/1.1\r\nHost: m\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
            "POST",
            json_reply(),
        ),
    ],
)
def test_messages_without_a_body_and_in_chunks(tmp_path: Path, request_: bytes, method: str, reply: bytes) -> None:
    """They end where their framing says, and are written."""

    async def scene() -> None:
        async with RawServer((reply,)) as server, recorder(server.base_url, tmp_path / "a.yaml") as running:
            assert await ask(running.port, request_, method=method) == (reply, "whole")
            await running.told(1)
        (one,) = running.cassette().interactions
        assert (one.request.method, one.request.body) == (method, b"abc" if method == "POST" else b"")
        assert one.envelope.head == tuple(reply.partition(b"\r\n\r\n")[0].decode().split("\r\n"))

    asyncio.run(scene())


def test_what_is_not_written_is_told(tmp_path: Path) -> None:
    """A client that left, a response past the bound: a line says so, and nothing of it stands in the file."""

    async def scene() -> None:
        scripts = ((STREAM_HEAD, chunk(delta("a")), "stall"), (HUGE,), (json_reply(),))
        async with RawServer(*scripts) as server, recorder(server.base_url, tmp_path / "a.yaml") as running:
            reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
            writer.write(post(b"[0]"))
            await reader.readuntil(delta("a"))
            writer.transport.abort()
            await running.told(1)
            await server.until_gone()
            raw, _ = await ask(running.port, post(b"[1]"))
            assert raw == HUGE
            await ask(running.port, post(b"[2]"))
            lines = await running.told(3)
        assert "the client left before the response was whole" in lines[0]
        (one,) = running.cassette().interactions
        assert one.request.body == b"[2]"
        assert running.tally is not None
        assert (running.tally.kept, running.tally.left) == (1, 2)

    asyncio.run(scene())


def test_a_client_that_leaves_before_the_terminator(tmp_path: Path) -> None:
    """It has [DONE] and goes; the response comes to its end soon after, and is written as the whole that it is."""

    async def scene() -> None:
        script = (STREAM_HEAD, chunk(DONE), 0.2, STREAM_END)
        async with RawServer(script) as server, recorder(server.base_url, tmp_path / "a.yaml") as running:
            reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
            writer.write(post(b"{}"))
            await reader.readuntil(DONE)
            writer.transport.abort()
            (line,) = await running.told(1)
        assert line.startswith("recorded POST /v1/chat/completions 200 complete")

    asyncio.run(scene())


def test_a_provider_that_cannot_be_reached(tmp_path: Path) -> None:
    """502 in the API's envelope that says whose it is; nothing is written."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"

        async def scene() -> None:
            async with recorder(url, tmp_path / "a.yaml") as running:
                raw, _ = await ask(running.port, post(b"x" * 300_000))
                (line,) = await running.told(1)
            assert raw.startswith(b"HTTP/1.1 502 Bad Gateway\r\n")
            assert b'"message": "conformance record: http://127.0.0.1' in raw
            assert b'"type": "recorder_error"' in raw
            assert "cannot be reached" in line

        asyncio.run(scene())
    assert not (tmp_path / "a.yaml").exists()


def test_what_the_recorder_refuses(tmp_path: Path) -> None:
    """A request to a proxy is answered by the recorder, and never reaches the provider."""

    async def scene() -> None:
        async with RawServer((json_reply(),)) as server, recorder(server.base_url, tmp_path / "a.yaml") as running:
            raw, _ = await ask(running.port, b"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", method="GET")
            assert raw.startswith(b"HTTP/1.1 400 ")
            assert b"it is no proxy" in raw
            assert server.requests == []

    asyncio.run(scene())


def test_an_idle_connection_that_the_provider_closes(tmp_path: Path) -> None:
    """The client's is closed with it, and nothing is made of it."""

    async def scene() -> None:
        async with RawServer((json_reply(), "close")) as server, recorder(server.base_url, tmp_path / "a.yaml") as r:
            reader, writer = await asyncio.open_connection("127.0.0.1", r.port)
            writer.write(post(b"{}"))
            assert (await answer(reader))[1] == "whole"
            assert await asyncio.wait_for(reader.read(), 10) == b""
            writer.close()
            (line,) = await r.told(1)
        assert line.startswith("recorded")
        assert r.cassette().interactions[0].envelope.frames[0] == Frame(0.0, len(b'{"ok": true}'))

    asyncio.run(scene())


def test_a_request_that_is_answered_in_its_middle(tmp_path: Path) -> None:
    """The client reads the answer though it was still sending; half a request is not written."""

    async def scene() -> None:
        async def refusing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(json_reply(status="413 Too Large", fields="Connection: close\r\n"))
            await reader.read()
            writer.close()

        server = await asyncio.start_server(refusing, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        async with recorder(url, tmp_path / "a.yaml") as running:
            request = post(b"x" * 200_000).replace(b"200000", b"900000")
            raw, _ = await ask(running.port, request)
            assert raw.startswith(b"HTTP/1.1 413 ")
            (line,) = await running.told(1)
        server.close()
        assert "answered before it was whole" in line

    asyncio.run(scene())


def test_a_client_that_sends_on_without_end(tmp_path: Path) -> None:
    """What comes before the response is whole is held up to a bound, then the connection ends."""

    async def scene() -> None:
        async with RawServer(("stall",)) as server, recorder(server.base_url, tmp_path / "a.yaml") as running:
            raw, ended = await ask(running.port, post(b"{}") + b"x" * 3_000_000)
            assert raw == b""
            assert ended in ("fin", "rst")
            (line,) = await running.told(1)
        assert "without waiting for the response" in line

    asyncio.run(scene())


def test_a_client_that_does_not_read(tmp_path: Path) -> None:
    """The provider is not blamed for it: no stall is written."""

    async def scene() -> None:
        huge = STREAM_HEAD + chunk(b"x" * 12_000_000) + STREAM_END
        async with RawServer((huge,)) as server, recorder(server.base_url, tmp_path / "a.yaml", silence=0.5) as running:
            with socket.create_connection(("127.0.0.1", running.port)) as lazy:
                lazy.sendall(post(b"{}"))
                (line,) = await running.told(1)
        assert "the client did not read the response" in line

    asyncio.run(scene())


def test_what_is_on_its_way_when_the_recorder_ends(tmp_path: Path) -> None:
    """What had ended is in the file; what had not is broken off, and told."""

    async def scene() -> Recorder:
        scripts = ((json_reply(),), (STREAM_HEAD, chunk(delta("a")), "stall"))
        async with RawServer(*scripts) as server:
            async with recorder(server.base_url, tmp_path / "a.yaml") as running:
                await ask(running.port, post(b"[0]"))
                waiting = asyncio.ensure_future(ask(running.port, post(b"[1]")))
                await until(lambda: len(server.requests) == 2)
            assert (await waiting)[1] in ("fin", "rst")
        return running

    running = asyncio.run(scene())
    assert [one.request.body for one in running.cassette().interactions] == [b"[0]"]
    assert running.lines[-1].endswith(": the recorder was stopped")
