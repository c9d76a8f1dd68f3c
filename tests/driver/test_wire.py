"""The wire driver's own matters: which connections are used again, TLS, IPv6, peers that speak or leave too early."""

from __future__ import annotations

import asyncio
import shutil
import socket
import ssl
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.driver import wire
from conformance.driver.httpx_client import HttpxDriver
from conformance.driver.model import Behaviour, Deadlines, Driver
from conformance.driver.openai_python import AsyncOpenAIDriver, OpenAIDriver
from conformance.driver.request import locate
from conformance.driver.wire import REST, WireDriver
from conformance.errors import DriverError
from conformance.wire.transcript import End
from tests.driver.calls import chat, run
from tests.driver.rawserver import CHAT, DONE, STREAM_END, STREAM_HEAD, RawServer, Step, chunk, delta, json_reply


async def _rested() -> None:
    await asyncio.sleep(REST * 2)


async def _none_idle(driver: WireDriver, server: RawServer) -> None:
    async with asyncio.timeout(10):
        while driver.pool.idle(locate(server.base_url)):  # noqa: ASYNC110 - the pool has no event to wait for
            await asyncio.sleep(0.001)


def _connections_for_two(*scripts: tuple[Step, ...], lost: bool = False) -> int:
    async def scene() -> int:
        async with RawServer(*scripts) as server:
            driver = WireDriver()
            await driver.send(chat(server.base_url))
            await (_none_idle(driver, server) if lost else _rested())
            second = await driver.send(chat(server.base_url))
            assert second.transcript.end is End.COMPLETE
            assert second.transcript.raw == json_reply(CHAT)
            await driver.aclose()
            return server.connections

    return run(scene())


def test_kept_alive() -> None:
    """After a whole response that allows it, the next call uses the same connection, with its own transcript."""
    assert _connections_for_two((json_reply(CHAT),)) == 1


@pytest.mark.parametrize(
    "first",
    [
        (json_reply(CHAT, fields="Connection: close\r\n"),),
        (json_reply(CHAT).replace(b"HTTP/1.1", b"HTTP/1.0", 1),),
        (json_reply(CHAT) + b"x",),
        (json_reply(CHAT), "close"),
        (json_reply(CHAT), 0.001, "reset"),
        (json_reply(CHAT), 0.001, b"late"),
        (json_reply(CHAT)[:-1], "close"),
    ],
)
def test_not_kept_alive(first: tuple[Step, ...]) -> None:
    """Close announced, HTTP/1.0, bytes past the end, a close or bytes while idle: the next connection is new."""
    assert _connections_for_two(first, (json_reply(CHAT),), lost=True) == 2


def test_fresh_connection_before_rest() -> None:
    """A connection that has not rested yet is not used again: an unannounced close could be on its way."""

    async def scene() -> None:
        async with RawServer((json_reply(CHAT),)) as server:
            driver = WireDriver()
            for _ in range(2):
                await driver.send(chat(server.base_url))
            assert server.connections == 2
            await driver.aclose()

    run(scene())


def test_stale_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that was idle for long is not used again."""
    monkeypatch.setattr(wire, "STALE", 0.0)
    assert _connections_for_two((json_reply(CHAT),)) == 2


def test_distrusted_place() -> None:
    """A server that closes idle connections early and unannounced gets fresh connections from then on."""

    async def scene() -> None:
        async with RawServer((json_reply(CHAT), "close"), (json_reply(CHAT),)) as server:
            driver = WireDriver()
            for _ in range(3):
                await driver.send(chat(server.base_url))
                await _none_idle(driver, server)
            assert server.connections == 3
            await driver.aclose()

    run(scene())


def test_keep_alive_off() -> None:
    """Without keep-alive each call has a fresh connection."""

    async def scene() -> None:
        async with RawServer((json_reply(CHAT),)) as server:
            driver = WireDriver(keep_alive=False)
            for _ in range(2):
                await driver.send(chat(server.base_url))
                await _rested()
            assert server.connections == 2
            await driver.aclose()

    run(scene())


def test_close_that_crosses_the_request() -> None:
    """A close on a reused connection before any byte of the response says so in `error`; no second try."""

    async def scene() -> None:
        async with RawServer((json_reply(CHAT),), ("close",)) as server:
            driver = WireDriver()
            await driver.send(chat(server.base_url))
            await _rested()
            transcript = (await driver.send(chat(server.base_url))).transcript
            assert transcript.end is End.CLOSE
            assert "reused connection" in transcript.error
            assert len(server.requests) == 2
            await driver.aclose()

    run(scene())


def test_peer_that_is_gone_or_speaks_first() -> None:
    """A peer that answers or closes before it is asked gives a transcript, not a hanging call."""

    async def scene(early: bytes) -> tuple[End, bytes]:
        async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(early)
            writer.close()
            await writer.wait_closed()

        server = await asyncio.start_server(greet, "127.0.0.1", 0)
        async with server:
            driver = WireDriver()
            port = server.sockets[0].getsockname()[1]
            transcript = (await driver.send(chat(f"http://127.0.0.1:{port}/v1"))).transcript
            return transcript.end, transcript.raw

    assert run(scene(json_reply(CHAT))) == (End.COMPLETE, json_reply(CHAT))
    end, raw = run(scene(b""))
    assert end in (End.CLOSE, End.RESET)
    assert raw == b""


def test_large_request_is_written_whole() -> None:
    """A body that does not fit into the socket's buffer arrives whole, and a hang-up after sending waits for that."""

    async def scene() -> None:
        async with RawServer((json_reply(CHAT),), ("stall",)) as server:
            driver = WireDriver()
            body = b'{"pad":"' + b"x" * 8_000_000 + b'"}'
            call = replace(chat(server.base_url), body=body)
            assert (await driver.send(call)).transcript.end is End.COMPLETE
            capture = await driver.send(replace(call, behaviour=Behaviour(hang_up="send")))
            assert capture.transcript.end is End.HANGUP
            await server.until_gone()
            assert [request.endswith(body) for request in server.requests] == [True, True]
            await driver.aclose()

    run(scene())


def test_chunk_borders_are_kept() -> None:
    """The chunk framing stands in the transcript as it was written, whatever the reads made of it."""
    frames = [chunk(delta(str(i))) for i in range(100)]

    async def scene() -> None:
        async with RawServer((STREAM_HEAD, *frames, chunk(DONE), STREAM_END)) as server:
            driver = WireDriver()
            transcript = (await driver.send(chat(server.base_url, stream=True))).transcript
            assert transcript.raw == STREAM_HEAD + b"".join(frames) + chunk(DONE) + STREAM_END
            await driver.aclose()

    run(scene())


def test_half_close() -> None:
    """A client that ended its sending side reads on; a peer that closes took it for gone, a silent one did not."""

    async def scene() -> None:
        async with RawServer((json_reply(CHAT),), (json_reply(CHAT)[:-4], 0.1, "close"), (2.0,)) as server:
            driver = WireDriver()
            deadlines = Deadlines(connect=5, head=0.3, idle=0.3, exchange=5)
            call = replace(chat(server.base_url, behaviour=Behaviour(half_close=True)), deadlines=deadlines)
            whole, closed, silent = [await driver.send(call) for _ in range(3)]
            assert (whole.transcript.end, whole.transcript.raw, whole.hangup) == (End.COMPLETE, json_reply(CHAT), None)
            assert closed.hangup is not None
            assert (closed.transcript.end, closed.hangup.after) == (End.CLOSE, "half-close")
            assert (silent.transcript.end, silent.hangup) == (End.STALL, None)
            assert len(server.requests) == 3
            await driver.aclose()

    run(scene())


def test_unknown_hang_up_is_refused() -> None:
    """An unknown behaviour is our own fault; nothing is sent."""

    async def scene() -> None:
        async with RawServer((json_reply(CHAT),)) as server:
            with pytest.raises(DriverError):
                await WireDriver().send(chat(server.base_url, behaviour=Behaviour(hang_up="soon")))
            assert server.connections == 0

    run(scene())


def test_name_not_found() -> None:
    """A host that no name server knows is REFUSED with the resolver's word."""
    transcript = run(WireDriver().send(chat("http://nowhere.invalid/v1"))).transcript
    assert transcript.end is End.REFUSED
    assert transcript.error


@pytest.mark.skipif(not socket.has_ipv6, reason="needs IPv6")
def test_ipv6() -> None:
    """A base URL with an IPv6 literal works, and Host carries the brackets."""

    async def scene() -> None:
        try:
            server = await RawServer((json_reply(CHAT),), host="::1").__aenter__()
        except OSError:
            pytest.skip("no IPv6 loopback here")
        driver = WireDriver()
        assert (await driver.send(chat(server.base_url))).transcript.end is End.COMPLETE
        assert f"Host: [::1]:{server.port}\r\n".encode() in server.requests[0]
        await driver.aclose()
        await server.__aexit__(None, None, None)

    run(scene())


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 with its key, made for this run."""
    if shutil.which("openssl") is None:
        pytest.skip("needs the openssl command")
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test"
    extra = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(path), "-out", str(path.with_suffix(".crt"))]
    subprocess.run([*command.split(), *extra], check=True, capture_output=True)
    return path


def _driver(name: str, context: ssl.SSLContext) -> Driver:
    kinds = {"httpx": HttpxDriver, "openai-python": OpenAIDriver, "openai-python-async": AsyncOpenAIDriver}
    return kinds[name](ssl_context=context) if name in kinds else WireDriver(ssl_context=context)


@pytest.mark.parametrize("name", ["wire", "httpx", "openai-python", "openai-python-async"])
def test_tls(name: str, certificate: Path) -> None:
    """Over https the transcript holds the plain text; a peer that is not trusted is REFUSED; a TLS end is a CLOSE."""
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_side.load_cert_chain(certificate.with_suffix(".crt"), certificate)
    trusting = ssl.create_default_context(cafile=str(certificate.with_suffix(".crt")))
    script = (STREAM_HEAD, chunk(delta("a")), chunk(DONE), STREAM_END)

    async def scene() -> None:
        async with RawServer(script, (json_reply(CHAT)[:-4], "close"), ("stall",), ssl_context=server_side) as server:
            driver = _driver(name, trusting)
            transcript = (await driver.send(chat(server.base_url, stream=True))).transcript
            assert (transcript.end, transcript.raw) == (End.COMPLETE, b"".join(script))
            assert transcript.request == server.requests[0]
            transcript = (await driver.send(chat(server.base_url))).transcript
            assert (transcript.end, transcript.raw) == (End.CLOSE, json_reply(CHAT)[:-4])
            capture = await driver.send(chat(server.base_url, behaviour=Behaviour(hang_up="send", wait_ms=20)))
            assert capture.transcript.end is End.HANGUP
            await driver.aclose()
            doubting = _driver(name, ssl.create_default_context())
            transcript = (await doubting.send(chat(server.base_url))).transcript
            assert transcript.end is End.REFUSED
            assert "certificate" in transcript.error.lower()
            await doubting.aclose()
            assert len(server.requests) == 3

    run(scene())
