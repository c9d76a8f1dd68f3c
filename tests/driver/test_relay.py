"""The relay passes bytes unchanged, keeps both directions timed, and knows how each exchange ended."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from conformance.driver.model import Behaviour, Capture, Deadlines
from conformance.driver.relay import Relay
from conformance.driver.request import locate
from conformance.wire.transcript import End
from tests.driver.calls import FAR, run
from tests.driver.rawserver import CHAT, DONE, STREAM_END, STREAM_HEAD, RawServer, Step, chunk, delta, json_reply

STAY = Behaviour()
REPLY = json_reply(CHAT)


def request(nonce: str) -> bytes:
    """A request that carries a nonce."""
    body = b'{"prompt":"Ticket %b"}' % nonce.encode()
    return b"POST /v1/completions HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % len(body) + body


async def exchange(
    relay: Relay,
    nonce: str,
    leave: Callable[[bytes], bool] = lambda got: False,
    behaviour: Behaviour = STAY,
    deadlines: Deadlines = FAR,
) -> tuple[bytes, Capture]:
    """What a client got through the relay, and the capture. It leaves when `leave` of what it got says so."""
    expected = relay.expect(nonce.encode(), deadlines, behaviour)
    reader, writer = await asyncio.open_connection("127.0.0.1", relay.port)
    writer.write(request(nonce))
    got = b""
    try:
        async with asyncio.timeout(20):
            while data := await reader.read(65536):
                got += data
                if leave(got):
                    break
    except ConnectionError:
        pass
    writer.close()
    async with asyncio.timeout(20):
        return got, await expected.done


def relayed(script: tuple[Step, ...], work: Callable[[Relay, RawServer], Awaitable[None]]) -> None:
    """Do something at a relay before a server that plays `script`."""

    async def body() -> None:
        async with RawServer(script) as server:
            relay = Relay(locate(server.base_url))
            await relay.start()
            try:
                await work(relay, server)
            finally:
                await relay.aclose()

    run(body())


def test_bytes_pass_unchanged_and_are_kept() -> None:
    """The client gets what the server wrote, the server what the client wrote, and the capture has both."""

    async def work(relay: Relay, server: RawServer) -> None:
        got, capture = await exchange(relay, "cf-aaaaaa1", lambda got: len(got) == len(REPLY))
        assert got == REPLY == capture.transcript.raw
        assert server.requests == [request("cf-aaaaaa1")] == [capture.transcript.request]
        assert capture.transcript.end is End.COMPLETE
        assert capture.transcript.ended_at >= capture.transcript.received[0].at >= 0

    relayed((REPLY[:30], 0.01, REPLY[30:]), work)


def test_requests_on_one_connection_are_told_apart() -> None:
    """Two requests on a kept connection are two exchanges, each with its own bytes."""

    async def work(relay: Relay, server: RawServer) -> None:
        first, second = (relay.expect(nonce, FAR, STAY) for nonce in (b"cf-aaaaaa1", b"cf-aaaaaa2"))
        reader, writer = await asyncio.open_connection("127.0.0.1", relay.port)
        for nonce, expected in (("cf-aaaaaa1", first), ("cf-aaaaaa2", second)):
            writer.write(request(nonce))
            assert await reader.readexactly(len(REPLY)) == REPLY
            assert (await expected.done).transcript.request == request(nonce)
        writer.close()
        assert server.connections == 1

    relayed((REPLY,), work)


@pytest.mark.parametrize(
    ("script", "end"),
    [
        (("close",), End.CLOSE),
        ((REPLY[:-5], "close"), End.CLOSE),
        ((REPLY[:40], 0.02, "reset"), End.RESET),
    ],
)
def test_how_the_gateway_went_is_known(script: tuple[Step, ...], end: End) -> None:
    """A close is a close, a reset a reset, and the client sees what came before."""

    async def work(relay: Relay, server: RawServer) -> None:
        got, capture = await exchange(relay, "cf-aaaaaa1")
        assert capture.transcript.end is end
        assert capture.transcript.raw == b"".join(step for step in script if isinstance(step, bytes))
        assert got == capture.transcript.raw or end is End.RESET

    relayed(script, work)


def test_what_comes_after_the_client_left_is_judged_too() -> None:
    """A client that stops at [DONE] leaves; the rest of the stream is in the capture."""
    pieces = (STREAM_HEAD, chunk(DONE), 0.05, chunk(delta("late")), STREAM_END)

    async def work(relay: Relay, server: RawServer) -> None:
        _, capture = await exchange(relay, "cf-aaaaaa1", lambda got: b"[DONE]" in got)
        assert b"late" in capture.transcript.raw
        assert capture.transcript.end is End.COMPLETE

    relayed(pieces, work)


@pytest.mark.parametrize("word", ["send", "head"])
def test_the_relay_hangs_up_for_a_client_that_cannot(word: str) -> None:
    """Right after the request, or the head, the gateway sees its client go."""

    async def work(relay: Relay, server: RawServer) -> None:
        _, capture = await exchange(relay, "cf-aaaaaa1", behaviour=Behaviour(hang_up=word, wait_ms=20))
        assert capture.transcript.end is End.HANGUP
        assert capture.hangup is not None and capture.hangup.after == word
        await server.until_gone()

    relayed(("stall",) if word == "send" else (STREAM_HEAD, "stall"), work)


def test_a_client_that_hangs_up_after_an_event_is_followed() -> None:
    """The gateway's connection closes with the client's."""

    async def work(relay: Relay, server: RawServer) -> None:
        _, capture = await exchange(
            relay, "cf-aaaaaa1", lambda got: b"data:" in got, behaviour=Behaviour(hang_up="event:1")
        )
        assert capture.transcript.end is End.HANGUP
        assert capture.hangup is not None and capture.hangup.after == "event:1"
        await server.until_gone()

    relayed((STREAM_HEAD, chunk(delta("a")), "stall"), work)


@pytest.mark.parametrize(
    ("script", "word"),
    [
        (("stall",), "head"),
        ((STREAM_HEAD, "stall"), "idle"),
        ((STREAM_HEAD, *[0.05, chunk(delta("a"))] * 40), "exchange"),
    ],
)
def test_a_deadline_that_passes_is_a_fact(script: tuple[Step, ...], word: str) -> None:
    """Silence ends in a stall that names the deadline."""
    limits = replace(FAR, **{word: 0.2})

    async def work(relay: Relay, server: RawServer) -> None:
        _, capture = await exchange(relay, "cf-aaaaaa1", deadlines=limits)
        assert (capture.transcript.end, capture.transcript.deadline) == (End.STALL, word)

    relayed(script, work)


def test_a_gateway_that_takes_no_connection_is_told() -> None:
    """The capture says refused."""

    async def work(relay: Relay, server: RawServer) -> None:
        gone = Relay(relay.place._replace(port=1))
        await gone.start()
        _, capture = await exchange(gone, "cf-aaaaaa1")
        assert capture.transcript.end is End.REFUSED
        await gone.aclose()

    relayed((REPLY,), work)
