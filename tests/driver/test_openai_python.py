"""What the SDK sends for each operation, what its view of the answers is, and what cannot be sent through it."""

from __future__ import annotations

import base64
import json
import struct
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

import pytest

from conformance.driver.model import Behaviour, Call
from conformance.driver.openai_python import OpenAIDriver, sdk_stack
from conformance.driver.stack import load
from conformance.errors import DriverError
from conformance.exchange.model import ClientView
from conformance.wire.http1 import read_request
from conformance.wire.transcript import End
from tests.driver.calls import CHAT_PARAMS, chat, run, send
from tests.driver.rawserver import CHAT, DONE, STREAM_END, STREAM_HEAD, RawServer, Step, chunk, delta, json_reply

both = pytest.mark.parametrize("name", ["openai-python", "openai-python-async"])


def _exchange(name: str, *script: Step, **change: Any) -> tuple[bytes, ClientView]:
    async def scene() -> tuple[bytes, ClientView]:
        async with RawServer(script) as server:
            capture = await send(name, replace(chat(server.base_url), **change))
            assert capture.client is not None
            assert len(server.requests) == 1
            return server.requests[0], capture.client

    return run(scene())


EMBEDDING = base64.b64encode(struct.pack("<2f", 0.5, -1.0)).decode()
OPERATIONS: dict[str, tuple[str, str, dict[str, Any], dict[str, Any]]] = {
    "chat.completions": ("POST", "/v1/chat/completions", CHAT_PARAMS, json.loads(CHAT)),
    "completions": (
        "POST",
        "/v1/completions",
        {"model": "m", "prompt": "Say hello."},
        {"id": "c", "object": "text_completion", "created": 1, "model": "m", "choices": []},
    ),
    "embeddings": (
        "POST",
        "/v1/embeddings",
        {"model": "m", "input": "hello"},
        {"object": "list", "model": "m", "data": [{"object": "embedding", "index": 0, "embedding": EMBEDDING}]},
    ),
    "responses": (
        "POST",
        "/v1/responses",
        {"model": "m", "input": "hello"},
        {"id": "r", "object": "response", "created_at": 1, "model": "m", "output": []},
    ),
    "models": (
        "GET",
        "/v1/models",
        {},
        {"object": "list", "data": [{"id": "m", "object": "model", "created": 1, "owned_by": "o"}]},
    ),
    "models.retrieve": ("GET", "/v1/models/a%2Fb", {}, {"id": "a/b", "object": "model", "created": 1, "owned_by": "o"}),
}


@both
@pytest.mark.parametrize("endpoint", OPERATIONS)
def test_operations(name: str, endpoint: str) -> None:
    """Each operation goes through the SDK method: path, key and parameters arrive; the view is its object."""
    method, target, params, reply = OPERATIONS[endpoint]
    change = {"endpoint": endpoint, "method": method, "path": target.removeprefix("/v1"), "params": params, "body": b""}
    sent, view = _exchange(name, json_reply(json.dumps(reply).encode()), **change)
    message = read_request(sent)
    # Releases before 2 write the slash of a model's name as it is.
    assert (message.method, message.target) in {(method, target), (method, unquote(target))}
    assert message.head.get("authorization") == "Bearer sk-test-1"
    if params:
        assert params.items() <= json.loads(message.body).items()
    assert (view.exception, view.version) == ("", load("openai").__version__)
    for key in ("id", "object", "model"):
        assert view.parsed.get(key) == reply.get(key)
    if endpoint == "embeddings":
        assert view.parsed["data"][0]["embedding"] == [0.5, -1.0]


@both
def test_unknown_parameters_and_headers(name: str) -> None:
    """Parameters that the SDK does not know arrive all the same; the call's headers arrive and replace the key."""
    params = {**CHAT_PARAMS, "x_own": {"a": [1]}, "temperature": None}
    headers = (("X-Lane", "7"), ("Authorization", "Bearer sk-test-other"))
    sent, _ = _exchange(name, json_reply(CHAT), params=params, headers=headers)
    message = read_request(sent)
    body = json.loads(message.body)
    assert (body["x_own"], body["temperature"]) == ({"a": [1]}, None)
    assert message.head.get("x-lane") == "7"
    assert message.head.all("authorization") == ("Bearer sk-test-other",)


@both
def test_environment_stays_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the user's own key nor organization, project, base URL or proxy reach the gateway."""
    for variable in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_BASE_URL", "HTTP_PROXY"):
        monkeypatch.setenv(variable, "http://from-environment.test")
    sent, _ = _exchange(name, json_reply(CHAT))
    assert b"from-environment" not in sent
    sent, _ = _exchange(name, json_reply(CHAT), api_key="")
    assert b"from-environment" not in sent
    assert b"authorization" not in sent.lower()


@both
def test_stream_view(name: str) -> None:
    """The view of a stream is the list of chunk objects, without the sentinel."""
    script = (STREAM_HEAD, chunk(delta("a")), chunk(delta("b")), chunk(DONE), STREAM_END)
    _, view = _exchange(name, *script, params={**CHAT_PARAMS, "stream": True})
    assert [one["choices"][0]["delta"]["content"] for one in view.parsed] == ["a", "b"]
    assert view.exception == ""


@both
def test_status_error_view(name: str) -> None:
    """An error status is the exception's class and its public fields."""
    error = {"message": "no such model", "type": "invalid_request_error", "param": "model", "code": "model_not_found"}
    reply = json_reply(json.dumps({"error": error}).encode(), status="404 Not Found", fields="x-request-id: req-1\r\n")
    _, view = _exchange(name, reply)
    assert view.exception == "NotFoundError"
    assert view.parsed is None
    assert {key: view.fields[key] for key in ("status_code", "type", "param", "code", "request_id")} == {
        "status_code": 404,
        "type": "invalid_request_error",
        "param": "model",
        "code": "model_not_found",
        "request_id": "req-1",
    }
    assert "no such model" in view.fields["message"]
    assert view.fields["body"] == error


@both
def test_error_in_a_stream_view(name: str) -> None:
    """An error event in a stream raises after the chunks before it; both are kept."""
    script = (STREAM_HEAD, chunk(delta("a")), chunk(b'data: {"error":{"message":"broke"}}\n\n'), STREAM_END)
    _, view = _exchange(name, *script, params={**CHAT_PARAMS, "stream": True})
    assert (view.exception, view.fields["message"], len(view.parsed)) == ("APIError", "broke", 1)


@both
@pytest.mark.parametrize(
    ("script", "exception"),
    [
        ((json_reply(CHAT)[:-5], "close"), "APIConnectionError"),
        (("reset",), "APIConnectionError"),
        ((json_reply(b"{"),), "JSONDecodeError"),
        ((STREAM_HEAD, chunk(b"data: {\n\n"), STREAM_END), "JSONDecodeError"),
    ],
)
def test_broken_answers_view(name: str, script: tuple[Step, ...], exception: str) -> None:
    """A broken answer is the exception that the SDK's user meets."""
    stream = script[0] == STREAM_HEAD
    _, view = _exchange(name, *script, params={**CHAT_PARAMS, "stream": stream})
    assert view.exception == exception


@both
def test_deadline_view(name: str) -> None:
    """A passed deadline is the SDK's timeout exception."""

    async def scene() -> None:
        async with RawServer(("stall",)) as server:
            call = chat(server.base_url)
            capture = await send(name, replace(call, deadlines=replace(call.deadlines, head=0.1)))
            assert capture.transcript.end is End.STALL
            assert capture.client is not None
            assert capture.client.exception == "APITimeoutError"

    run(scene())


@both
def test_hang_up_view(name: str) -> None:
    """After a hang-up at an event the view holds the chunks until then, and no exception of ours."""

    async def scene() -> None:
        async with RawServer(
            (STREAM_HEAD, chunk(delta("a")) + chunk(delta("b")) + chunk(delta("c")), "stall")
        ) as server:
            call = chat(server.base_url, stream=True, behaviour=Behaviour(hang_up="event:2"))
            capture = await send(name, call)
            assert capture.transcript.end is End.HANGUP
            assert capture.client is not None
            assert (len(capture.client.parsed), capture.client.exception) == (2, "")

    run(scene())


@both
@pytest.mark.parametrize(
    "change",
    [
        {"params": {}},  # raw bytes
        {"endpoint": "other"},
        {"endpoint": "audio"},
        {"base_url": "nowhere"},
        {"params": {"messages": []}},  # the SDK itself refuses: no model
        {"headers": (("X", "a\nb"),)},  # no such header can be written
    ],
)
def test_not_sendable(name: str, change: dict[str, Any]) -> None:
    """What the SDK cannot send is a DriverError, and nothing reaches the gateway."""

    async def scene() -> None:
        async with RawServer((json_reply(CHAT),)) as server:
            call: Call = replace(chat(server.base_url), **change)
            with pytest.raises(DriverError):
                await send(name, call)
            assert server.requests == []

    run(scene())


def test_stack_of_the_sdk() -> None:
    """The HTTP stack is the one that the installed SDK really runs on."""
    sdk = load("openai")
    major = int(sdk.__version__.partition(".")[0])
    assert sdk_stack(sdk).name == ("httpx2" if major >= 3 else "httpx")


def test_many_blocking_calls_at_once() -> None:
    """Blocking calls do not queue behind one another: each has its thread."""
    import asyncio

    async def scene() -> None:
        async with RawServer((0.3, json_reply(CHAT))) as server:
            driver = OpenAIDriver()
            captures = await asyncio.gather(*(driver.send(chat(server.base_url)) for _ in range(40)))
            await driver.aclose()
            firsts = [capture.transcript.origin for capture in captures]
            ends = [one.transcript.origin + one.transcript.ended_at / 1000 for one in captures]
            assert max(firsts) < min(ends)

    run(scene())
