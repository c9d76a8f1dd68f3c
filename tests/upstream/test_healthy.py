"""conformance.upstream.healthy: the default answers, as the API's shapes want them."""

from __future__ import annotations

import base64
import gzip
import json
import struct
from typing import Any

import pytest

from conformance.contract.shape import problems
from conformance.upstream.healthy import healthy, unknown_nonce, unplanned
from conformance.upstream.script import Action, Script
from conformance.wire.http1 import Message, read_response
from conformance.wire.sse import read_events
from tests.upstream.peer import post


def reply(played: Script) -> Message:
    assert played.steps[-1].action is Action.KEEP
    message = read_response(b"".join(step.data for step in played.steps), closed=False)
    assert message.complete
    assert message.faults == ()
    return message


def ask(path: str, **asked: Any) -> Message:
    asked = {"messages": []} | asked if path == "/chat/completions" else asked
    return reply(healthy(post(json.dumps({"model": "m", **asked}).encode(), path=f"/v1{path}")))


def chunks(message: Message) -> list[Any]:
    assert message.head.get("content-type") == "text/event-stream"
    return [json.loads(event.data) for event in read_events(message.body).events if event.data != b"[DONE]"]


@pytest.mark.parametrize(
    ("path", "schema"),
    [
        ("/chat/completions", "chat-completion"),
        ("/completions", "completion"),
        ("/embeddings", "embedding-list"),
        ("/responses", "response"),
    ],
)
def test_each_endpoint_answers_in_its_shape_and_echoes_the_model(path: str, schema: str) -> None:
    """A 200 with a valid document."""
    message = ask(path)
    document = json.loads(message.body)
    assert (message.status, document["model"]) == (200, "m")
    assert problems(schema, document) == ()


def test_a_chat_stream_is_whole() -> None:
    """Valid chunks, one finish reason, one [DONE]; a usage chunk only where it was asked for."""
    message = ask("/chat/completions", stream=True)
    found = chunks(message)
    assert all(problems("chat-completion-chunk", chunk) == () for chunk in found)
    assert [c["choices"][0]["finish_reason"] for c in found] == [None] * 4 + ["stop"]
    assert message.body.endswith(b"data: [DONE]\n\n")
    assert message.body.count(b"[DONE]") == 1
    with_usage = chunks(ask("/chat/completions", stream=True, stream_options={"include_usage": True}))
    assert with_usage[-1]["choices"] == []
    assert with_usage[-1]["usage"]["total_tokens"] == 8


def test_a_completion_stream_is_whole() -> None:
    """Texts, then the reason."""
    found = chunks(ask("/completions", stream=True))
    assert "".join(chunk["choices"][0]["text"] for chunk in found) == "Hello there."
    assert found[-1]["choices"][0]["finish_reason"] == "stop"


def test_a_responses_stream_is_whole() -> None:
    """Typed events, numbered, from created to completed."""
    message = ask("/responses", stream=True)
    events = read_events(message.body).events
    documents = [json.loads(event.data) for event in events]
    assert [event.type for event in events] == [document["type"] for document in documents]
    assert [document["sequence_number"] for document in documents] == list(range(len(documents)))
    assert (documents[0]["type"], documents[-1]["type"]) == ("response.created", "response.completed")
    assert documents[-1]["response"]["output"][0]["content"][0]["text"] == "Hello there."


@pytest.mark.parametrize(
    ("given", "count"), [("one", 1), (["one", "two", "three"], 3), ([1, 2, 3], 1), ([[1, 2], [3]], 2), ([], 1)]
)
def test_embeddings_honour_the_number_of_inputs(given: object, count: int) -> None:
    """A text or a list of tokens is one input."""
    data = json.loads(ask("/embeddings", input=given).body)["data"]
    assert [item["index"] for item in data] == list(range(count))


def test_embeddings_honour_the_encoding() -> None:
    """Base64 of little-endian floats holds the same vector."""
    floats = json.loads(ask("/embeddings", input="x").body)["data"][0]["embedding"]
    coded = json.loads(ask("/embeddings", input="x", encoding_format="base64").body)["data"][0]["embedding"]
    assert list(struct.unpack(f"<{len(floats)}f", base64.b64decode(coded))) == floats


def test_gets_are_healthy() -> None:
    """Models have a list, everything else a status; HEAD has no body."""
    models = reply(healthy(b"GET /v1/models?x=1 HTTP/1.1\r\n\r\n"))
    assert problems("model-list", json.loads(models.body)) == ()
    assert json.loads(reply(healthy(b"GET /metrics HTTP/1.1\r\n\r\n")).body) == {"status": "ok"}
    assert reply(healthy(b"HEAD / HTTP/1.1\r\n\r\n")).body == b""


def test_another_post_is_a_404_in_the_apis_shape() -> None:
    """There is no default for it."""
    message = ask("/messages")
    assert message.status == 404
    assert problems("error", json.loads(message.body)) == ()


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b"{}", b'{"messages":"hello"}'])
def test_what_the_api_does_not_accept_is_refused(body: bytes) -> None:
    """As a member would: a gateway that passes such a request on gets a 400 to pass back."""
    message = reply(healthy(post(body)))
    assert message.status == 400
    assert problems("error", json.loads(message.body)) == ()


def test_a_coded_body_is_read() -> None:
    """gzip is undone."""
    body = gzip.compress(b'{"model":"m","stream":true,"messages":[]}')
    message = reply(healthy(post(body, headers="Content-Encoding: gzip\r\n")))
    assert chunks(message)[0]["model"] == "m"


@pytest.mark.parametrize("played", [unknown_nonce("cf-abcdef"), unplanned("cf-abcdef", "u0")])
def test_a_599_says_which_nonce(played: Script) -> None:
    """In an error of the API's shape."""
    message = reply(played)
    document = json.loads(message.body)
    assert message.status == 599
    assert "cf-abcdef" in document["error"]["message"]
    assert problems("error", document) == ()
