"""Every driver against the same raw server: a script gives the same bytes, the same end, and exactly one request."""

from __future__ import annotations

import asyncio
import resource
import socket
from dataclasses import replace

import pytest

from conformance.driver.model import Behaviour, Deadlines
from conformance.driver.registry import make_driver
from conformance.errors import DriverError
from conformance.wire.transcript import End
from tests.driver.calls import chat, run, send
from tests.driver.rawserver import CHAT, DONE, STREAM_END, STREAM_HEAD, RawServer, Step, chunk, delta, json_reply

DRIVERS = ["wire", "httpx", "openai-python", "openai-python-async"]
TAPPED = DRIVERS[1:]

every_driver = pytest.mark.parametrize("name", DRIVERS)

WHOLE = json_reply(CHAT)
ERROR = b'{"error":{"message":"x"}}'

TWO_LENGTHS = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4\r\nContent-Length: 900\r\n\r\n"

ENDINGS: dict[str, tuple[tuple[Step, ...], End]] = {
    "json": ((json_reply(CHAT),), End.COMPLETE),
    "json in pieces": ((WHOLE[:40], 0.01, WHOLE[40:100], 0.01, WHOLE[100:]), End.COMPLETE),
    "close before any byte": (("close",), End.CLOSE),
    "close inside the head": ((b"HTTP/1.1 200 OK\r\nContent-", "close"), End.CLOSE),
    "close inside the body": ((json_reply(CHAT)[:-10], "close"), End.CLOSE),
    "body until close": ((b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + CHAT, "close"), End.CLOSE),
    "reset before any byte": (("reset",), End.RESET),
    "error with retry-after": ((json_reply(ERROR, status="500 E", fields="Retry-After: 1\r\n"),), End.COMPLETE),
    "rate limit": ((json_reply(ERROR, status="429 T", fields="Retry-After-Ms: 1\r\n"),), End.COMPLETE),
    "redirect": ((json_reply(b"{}", status="307 R", fields="Location: /v1/elsewhere\r\n"),), End.COMPLETE),
    "not json": ((json_reply(b"<html>no</html>"),), End.COMPLETE),
    "not http": ((b"garbage\r\n\r\n", "close"), End.CLOSE),
    "lengths that contradict": ((TWO_LENGTHS + CHAT, "stall"), End.HANGUP),
    "bytes past the end": ((json_reply(CHAT) + b"HTTP/1.1 400 Bad\r\n\r\n",), End.COMPLETE),
}  # fmt: skip

STREAMS: dict[str, tuple[tuple[Step, ...], End]] = {
    "whole": ((STREAM_HEAD, chunk(delta("a")), chunk(delta("b")), chunk(DONE), STREAM_END), End.COMPLETE),
    "terminator late": ((STREAM_HEAD, chunk(delta("a")), chunk(DONE), 0.05, STREAM_END), End.COMPLETE),
    "events after done": ((STREAM_HEAD, chunk(DONE), 0.02, chunk(delta("late")), 0.02, STREAM_END), End.COMPLETE),
    "close without terminator": ((STREAM_HEAD, chunk(delta("a")), "close"), End.CLOSE),
    "reset after done": ((STREAM_HEAD, chunk(DONE), 0.05, "reset"), End.RESET),
    "reset in the middle": ((STREAM_HEAD, chunk(delta("a")), 0.05, "reset"), End.RESET),
    "error event, then more": (
        (STREAM_HEAD, chunk(b"data: " + ERROR + b"\n\n"), 0.02, chunk(delta("b")), STREAM_END), End.COMPLETE),
    "event that is not JSON": ((STREAM_HEAD, chunk(b"data: {\n\n"), 0.02, chunk(DONE), STREAM_END), End.COMPLETE),
    "chunk without a size": ((STREAM_HEAD, chunk(delta("a")), b"zz\r\n", "stall"), End.HANGUP),
    "one chunk cut everywhere": ((STREAM_HEAD, *(bytes([b]) for b in chunk(DONE)), STREAM_END), End.COMPLETE),
}  # fmt: skip


def _written(script: tuple[Step, ...]) -> bytes:
    return b"".join(step for step in script if isinstance(step, bytes))


@every_driver
@pytest.mark.parametrize("case", ENDINGS)
def test_same_bytes_same_end_one_request(name: str, case: str) -> None:
    """The transcript holds every byte that the server wrote, the right end, and the request was sent once."""
    script, end = ENDINGS[case]

    async def scene() -> None:
        async with RawServer(script) as server:
            capture = await send(name, chat(server.base_url))
            assert capture.transcript.raw == _written(script)
            assert capture.transcript.end is end
            assert capture.transcript.request == server.requests[0] if server.requests else True
            assert (len(server.requests), server.connections) == (1, 1)

    run(scene())


@every_driver
@pytest.mark.parametrize("case", STREAMS)
def test_same_bytes_same_end_one_request_streaming(name: str, case: str) -> None:
    """A stream is kept to its very end, whatever the client library does at [DONE], at an error or at bad JSON."""
    script, end = STREAMS[case]

    async def scene() -> None:
        async with RawServer(script) as server:
            capture = await send(name, chat(server.base_url, stream=True))
            assert capture.transcript.raw == _written(script)
            assert capture.transcript.end is end
            assert len(server.requests) == 1

    run(scene())


@every_driver
def test_refused(name: str) -> None:
    """A closed port is REFUSED, with the operating system's word, and nothing was sent."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        base_url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
        capture = run(send(name, chat(base_url)))
    assert capture.transcript.end is End.REFUSED
    assert "refused" in capture.transcript.error.lower()
    assert capture.transcript.sent == ()
    assert capture.transcript.deadline == ""


@every_driver
def test_no_descriptor_is_left(name: str) -> None:
    """What this machine lacks is no refusal of the gateway's: it is a fault of our own, with what to do."""

    async def scene() -> None:
        async with RawServer((json_reply(CHAT),)) as server:
            driver = make_driver(name)
            await driver.send(chat(server.base_url))
            soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
            resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))  # those of the standard streams are taken
            try:
                with pytest.raises(DriverError, match="no connection can be made here: OSError: Too many open files"):
                    await driver.send(replace(chat(server.base_url), behaviour=Behaviour(pause_ms=1)))
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
                await driver.aclose()

    run(scene())


@every_driver
def test_connect_deadline(name: str) -> None:
    """A listener whose queue is full: no connection within the deadline is REFUSED, naming the connect deadline."""
    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for filler in (first, second):
            filler.setblocking(False)
            filler.connect_ex(full.getsockname())
        deadlines = Deadlines(connect=0.15)
        call = chat(f"http://127.0.0.1:{full.getsockname()[1]}/v1", deadlines=deadlines)
        capture = run(send(name, call))
    assert (capture.transcript.end, capture.transcript.deadline) == (End.REFUSED, "connect")
    assert 100 < capture.transcript.ended_at < 5000


DEADLINES: dict[str, tuple[tuple[Step, ...], Deadlines]] = {
    "head": (("stall",), Deadlines(head=0.15)),
    "idle": ((STREAM_HEAD, chunk(delta("a")), "stall"), Deadlines(idle=0.15)),
    "exchange": ((STREAM_HEAD, *((chunk(delta("a")), 0.02) * 40)), Deadlines(exchange=0.25, idle=0.2)),
}


@every_driver
@pytest.mark.parametrize("deadline", DEADLINES)
def test_deadlines(name: str, deadline: str) -> None:
    """Silence past a deadline is a STALL that names it; the bytes until then are kept, and the connection is closed."""
    script, deadlines = DEADLINES[deadline]

    async def scene() -> None:
        async with RawServer(script) as server:
            capture = await send(name, chat(server.base_url, stream=True, deadlines=deadlines))
            transcript = capture.transcript
            assert (transcript.end, transcript.deadline) == (End.STALL, deadline)
            assert _written(script).startswith(transcript.raw)
            assert 140 < transcript.ended_at < 5000
            if "stall" in script:
                assert transcript.raw == _written(script)
                await server.until_gone()

    run(scene())


HANG_UPS: dict[str, tuple[Step, ...]] = {
    "send": ("stall",),
    "head": (STREAM_HEAD, "stall"),
    "event:2": (STREAM_HEAD, chunk(delta("a")), chunk(delta("b")), "stall"),
}


@every_driver
@pytest.mark.parametrize("wait_ms", [0.0, 60.0])
@pytest.mark.parametrize("point", HANG_UPS)
def test_hang_up(name: str, point: str, wait_ms: float) -> None:
    """The client goes away at the point that was asked for, and the server sees it go."""
    script = HANG_UPS[point]

    async def scene() -> None:
        async with RawServer(script) as server:
            behaviour = Behaviour(hang_up=point, wait_ms=wait_ms)
            capture = await send(name, chat(server.base_url, stream=True, behaviour=behaviour))
            await server.until_gone()
            assert capture.transcript.end is End.HANGUP
            assert capture.transcript.raw == _written(script)
            assert capture.hangup is not None
            assert capture.hangup.after == point
            assert wait_ms <= capture.hangup.at < 5000
            if capture.client is not None:
                assert capture.client.exception == ""

    run(scene())


@every_driver
def test_hang_up_too_late(name: str) -> None:
    """A response that is whole before the client wanted to go is complete; nobody hung up."""
    script = (STREAM_HEAD, chunk(delta("a")), chunk(DONE), STREAM_END)

    async def scene() -> None:
        async with RawServer(script) as server:
            for behaviour in (Behaviour(hang_up="event:1", wait_ms=20000), Behaviour(hang_up="event:9")):
                capture = await send(name, chat(server.base_url, stream=True, behaviour=behaviour))
                assert (capture.transcript.end, capture.hangup) == (End.COMPLETE, None)

    run(scene())


@every_driver
def test_slow_reader(name: str) -> None:
    """A slow reader takes the body in small reads with pauses between them, and gets all of it."""
    body = b'{"pad":"' + b"x" * 30_000 + b'"}'

    async def scene() -> None:
        async with RawServer((json_reply(body),)) as server:
            capture = await send(name, chat(server.base_url, behaviour=Behaviour(pause_ms=10)))
            transcript = capture.transcript
            assert transcript.end is End.COMPLETE
            assert transcript.raw == json_reply(body)
            assert len(transcript.received) > 3
            gaps = [b.at - a.at for a, b in zip(transcript.received, transcript.received[1:], strict=False)]
            assert min(gaps) >= 9

    run(scene())


@every_driver
def test_arrival_times(name: str) -> None:
    """Bytes carry the time at which they came, counted from the first byte of the request."""
    script = (STREAM_HEAD, 0.08, chunk(delta("a")), 0.08, chunk(DONE) + STREAM_END)

    async def scene() -> None:
        async with RawServer(script) as server:
            transcript = (await send(name, chat(server.base_url, stream=True))).transcript
            times = [segment.at for segment in transcript.received]
            assert len(times) == 3
            assert times[1] - times[0] > 60
            assert times[2] - times[1] > 60
            assert transcript.sent[0].at == 0.0
            assert transcript.origin > 0
            assert transcript.ended_at >= times[-1]

    run(scene())


@every_driver
def test_concurrent_calls_keep_apart(name: str) -> None:
    """Calls of one driver at the same time each bring back their own request and their own answer."""

    async def scene() -> None:
        async with RawServer((0.02, json_reply(CHAT))) as server:
            driver = make_driver(name)
            captures = await asyncio.gather(*(driver.send(chat(server.base_url)) for _ in range(20)))
            await driver.aclose()
            assert len(server.requests) == 20
            assert all(capture.transcript.raw == json_reply(CHAT) for capture in captures)

    run(scene())


@every_driver
def test_cancelled_call_leaves_nothing(name: str) -> None:
    """Cancelling a call closes its connection at once, and the driver still closes cleanly."""

    async def scene() -> None:
        async with RawServer(("stall",)) as server:
            driver = make_driver(name)
            task = asyncio.create_task(driver.send(chat(server.base_url)))
            async with asyncio.timeout(10):
                await server.asked.wait()
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                await server.until_gone()
                await driver.aclose()

    run(scene())
