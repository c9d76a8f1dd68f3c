"""SDKs in processes of their own: what they make of the bytes, and that no process stays."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from conformance.driver.children import Child
from conformance.driver.model import Behaviour, Call
from conformance.driver.registry import make_driver
from conformance.driver.relayed import RelayedDriver
from conformance.errors import DriverError
from conformance.wire.transcript import End
from tests.driver.calls import chat, prerequisite, run
from tests.driver.rawserver import CHAT, DONE, STREAM_END, STREAM_HEAD, RawServer, chunk, delta, json_reply

NAMES = ("openai-python-processes", "openai-node")


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    """A driver whose prerequisites are here."""
    if missing := prerequisite(request.param):
        pytest.skip(missing)
    return str(request.param)


def marked(call: Call, nonce: str) -> Call:
    """The call with a nonce in its prompt."""
    params = call.params | {"messages": [{"role": "user", "content": f"Ticket {nonce}: Say hello."}]}
    return replace(call, params=params, body=json.dumps(params).encode())


def test_replies_streams_errors_and_hang_ups(name: str) -> None:
    """One driver, four calls at once: an object, chunks, an exception with its fields, and a hang-up."""
    error = json_reply(b'{"error":{"message":"no","type":"t","param":null,"code":"c"}}', status="404 N")
    stream = (STREAM_HEAD, chunk(delta("a")), chunk(delta("b")), chunk(DONE), STREAM_END)

    async def work() -> None:
        driver = make_driver(name)
        async with (
            RawServer((json_reply(CHAT),)) as whole,
            RawServer(stream) as streamed,
            RawServer((error,)) as failing,
            RawServer((STREAM_HEAD, chunk(delta("a")), "stall")) as endless,
        ):
            try:
                first, second, third, fourth = await asyncio.gather(
                    driver.send(marked(chat(whole.base_url), "cf-aaaaaa1")),
                    driver.send(marked(chat(streamed.base_url, stream=True), "cf-aaaaaa2")),
                    driver.send(marked(chat(failing.base_url), "cf-aaaaaa3")),
                    driver.send(
                        marked(
                            chat(endless.base_url, stream=True, behaviour=Behaviour(hang_up="event:1")), "cf-aaaaaa4"
                        )
                    ),
                )
            finally:
                await driver.aclose()
        assert first.client is not None and first.client.parsed["id"] == json.loads(CHAT)["id"]
        assert second.client is not None and len(second.client.parsed) == 2
        assert third.client is not None and third.client.exception == "NotFoundError"
        assert third.client.fields["status_code"] == 404 and third.client.fields["code"] == "c"
        assert fourth.transcript.end is End.HANGUP and fourth.client is not None and not fourth.client.exception

    run(work())


def test_a_request_without_a_nonce_is_known_by_being_alone(name: str) -> None:
    """GET /models carries no nonce."""

    async def work() -> None:
        driver = make_driver(name)
        async with RawServer((json_reply(b'{"object":"list","data":[]}'),)) as server:
            call = replace(chat(server.base_url), endpoint="models", params={}, body=b"", path="/models", method="GET")
            try:
                capture = await driver.send(call)
            finally:
                await driver.aclose()
            assert server.requests[0].startswith(b"GET /v1/models HTTP/1.1\r\n")
        assert capture.transcript.end is End.COMPLETE

    run(work())


def test_a_child_that_dies_is_our_own_fault() -> None:
    """The call ends with a DriverError, and so does a command that is none."""
    script = "import sys; print('{}', flush=True); sys.stdin.readline()"

    async def work() -> None:
        import sys

        driver = RelayedDriver("x", (sys.executable, "-c", script), version="1", processes=1)
        async with RawServer((json_reply(CHAT),)) as server:
            with pytest.raises(DriverError, match="process ended"):
                await driver.send(marked(chat(server.base_url), "cf-aaaaaa1"))
            await driver.aclose()
        with pytest.raises(DriverError, match="cannot be started"):
            await Child.start(("/nowhere/at-all",))

    run(work())
