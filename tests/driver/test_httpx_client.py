"""What the plain httpx driver sends and what its view is."""

from __future__ import annotations

from dataclasses import replace

from conformance.exchange.model import ClientView
from conformance.wire.http1 import read_request
from tests.driver.calls import chat, run, send
from tests.driver.rawserver import CHAT, DONE, STREAM_END, STREAM_HEAD, RawServer, Step, chunk, delta, json_reply


def _exchange(*script: Step, **change: object) -> tuple[bytes, ClientView]:
    async def scene() -> tuple[bytes, ClientView]:
        async with RawServer(script) as server:
            capture = await send("httpx", replace(chat(server.base_url), **change))  # type: ignore[arg-type]
            assert capture.client is not None
            return server.requests[0], capture.client

    return run(scene())


def test_exact_body_and_own_headers() -> None:
    """The body's bytes are untouched; the call's headers are added, and replace the driver's own."""
    sent, _ = _exchange(json_reply(CHAT), body=b'{"a":  1}', headers=(("X-Lane", "7"), ("content-type", "text/plain")))
    message = read_request(sent)
    assert message.body == b'{"a":  1}'
    assert message.head.all("content-type") == ("text/plain",)
    assert (message.head.get("x-lane"), message.head.get("authorization")) == ("7", "Bearer sk-test-1")
    assert "python-httpx" in str(message.head.get("user-agent"))


def test_json_view() -> None:
    """A JSON reply is its value; what is not JSON is its text."""
    assert _exchange(json_reply(b'{"a":1}'))[1].parsed == {"a": 1}
    assert _exchange(json_reply(b"<html>"))[1].parsed == "<html>"


def test_stream_view() -> None:
    """A stream is the list of its data lines, JSON where they are JSON."""
    _, view = _exchange(STREAM_HEAD, chunk(delta("a")), chunk(DONE), STREAM_END)
    assert (view.parsed[0]["id"], view.parsed[1]) == ("chatcmpl-1", "[DONE]")


def test_exception_view() -> None:
    """A broken connection is httpx's exception by name."""
    assert _exchange("reset")[1].exception == "ReadError"
    assert _exchange(json_reply(CHAT)[:-3], "close")[1].exception == "RemoteProtocolError"
