"""Facts about the whole gateway on the wire: what a member is asked, what a client sees, and when connections close."""

from __future__ import annotations

import asyncio
import gzip
import json
from typing import Any

import pytest

from conformance.reference.behaviour import FAITHFUL
from tests.reference.stage import (
    ALIAS,
    GOOD,
    HELLO,
    QUICK,
    STREAM_HEAD,
    USAGE,
    Peer,
    chat_request,
    chunk,
    completion,
    delta,
    event,
    hang,
    play,
    reply,
    staged,
    stream,
)

BOTH_SERVERS = pytest.mark.parametrize("behaviour", [FAITHFUL, QUICK], ids=["uvicorn", "own"])


def test_a_member_is_asked_what_the_client_asked() -> None:
    """Every byte of the body stays but the model's value; the client's key and coding do not go up."""
    body = (
        b'{"model": "lane-one", "temperature": 1.50, "seed":12345678901234567890, "max_completion_tokens":8,'
        b'"messages":[{"role":"assistant","content":null,"tool_calls":[]},{"role":"user","content":"caf\xc3\xa9"}],"x_y":[1e2]}'
    )

    async def work() -> None:
        async with staged(GOOD) as client:
            await client.ask(body, fields=["Accept-Encoding: gzip", "X-Custom: 1"])
            (peer,) = client.members[0].peers
            assert peer.body == body.replace(b"lane-one", b"up-model-0")
            head = peer.head.lower()
            assert b"authorization: bearer sk-up-0" in head
            assert b"sk-test-client" not in head
            assert b"gzip" not in head

    play(work)


@BOTH_SERVERS
def test_a_stream_is_whole(behaviour: Any) -> None:
    """Chunks in order, one [DONE], nothing after it; the fields say what it is and not who made it."""

    async def work() -> None:
        async with staged(stream(*HELLO, {"choices": [], "usage": USAGE}), behaviour=behaviour) as client:
            answer = await client.chat(stream=True, stream_options={"include_usage": True})
            assert answer.whole
            assert (answer.text, answer.events[-1], answer.events[-2]["usage"]) == ("Hello", "[DONE]", USAGE)
            assert answer.fields["content-type"] == "text/event-stream; charset=utf-8"
            assert answer.fields["cache-control"] == "no-cache"
            assert not {"content-length", "server"} & set(answer.fields)

    play(work)


@BOTH_SERVERS
def test_an_event_goes_on_when_it_comes(behaviour: Any) -> None:
    """The client has the first text while the member still holds back the second."""
    seen = asyncio.Event()

    async def one_then_wait(peer: Peer) -> None:
        await peer.send(STREAM_HEAD + chunk(event(HELLO[1])))
        await seen.wait()
        await peer.send(chunk(event(HELLO[2]) + event(HELLO[3]) + event(b"[DONE]")) + b"0\r\n\r\n")

    async def work() -> None:
        async with staged(one_then_wait, behaviour=behaviour) as client:
            reader, writer = await client.open(chat_request(stream=True))
            assert b"200" in await reader.readuntil(b"\r\n\r\n")
            assert b'"Hel"' in await reader.readuntil(b"\n\n")
            seen.set()
            assert (await reader.read()).endswith(b"0\r\n\r\n")
            writer.close()

    play(work)


async def _one_event_then_hang(peer: Peer) -> None:
    await peer.send(STREAM_HEAD + chunk(event(HELLO[1])))
    await peer.until_gone()


async def _head_then_hang(peer: Peer) -> None:
    await peer.send(STREAM_HEAD)
    await peer.until_gone()


async def _endless(peer: Peer) -> None:
    await peer.send(STREAM_HEAD)
    try:
        while True:
            await peer.send(chunk(event(delta(content="x" * 4000))))
    finally:
        peer.gone.set()


@BOTH_SERVERS
@pytest.mark.parametrize(
    ("script", "streams", "reads"),
    [
        (hang, False, False),
        (hang, True, False),
        (_head_then_hang, True, False),
        (_one_event_then_hang, True, True),
        (_endless, True, True),
    ],
    ids=["no-head", "no-head-stream", "no-event", "mid-stream", "slow-reader"],
)
def test_a_hang_up_closes_the_upstream(behaviour: Any, script: Any, streams: bool, reads: bool) -> None:
    """Wherever the client goes away, the member's connection closes, and no other member is asked."""

    async def work() -> None:
        async with staged(script, GOOD, behaviour=behaviour) as client:
            reader, writer = await client.open(chat_request(stream=streams))
            await client.members[0].arrived.wait()
            if reads:
                await reader.readuntil(b"\n\n")
            writer.transport.abort()
            (peer,) = client.members[0].peers
            async with asyncio.timeout(5):
                await peer.gone.wait()
            assert client.attempts == [1, 0]

    play(work)


def test_a_client_that_does_not_read_is_given_up() -> None:
    """A slow reader that keeps its socket holds the member for the write timeout, and no longer."""

    async def work() -> None:
        async with staged(_endless, behaviour=FAITHFUL, timeouts={"write": 0.2}) as client:
            _, writer = await client.open(chat_request(stream=True))
            await client.members[0].arrived.wait()
            async with asyncio.timeout(8):
                await client.members[0].peers[0].gone.wait()
            writer.transport.abort()

    play(work)


@pytest.mark.parametrize("end", ["close", "reset", "stall"])
def test_a_break_after_output_is_told(end: str) -> None:
    """Cut, reset or silent: one error event in a whole body, and no [DONE]."""

    async def work() -> None:
        async with staged(stream(*HELLO[:2], done=False, end=end), timeouts={"idle": 0.1}) as client:
            answer = await client.chat(stream=True)
            assert answer.whole
            assert answer.text == "Hel"
            assert answer.events[-1]["error"]["message"]
            assert "[DONE]" not in answer.events

    play(work)


@pytest.mark.parametrize("end", ["complete", "close", "stall"])
def test_a_finished_stream_without_done_is_whole(end: str) -> None:
    """After every finish reason the answer is whole, however the connection ends: the client gets its [DONE]."""

    async def work() -> None:
        async with staged(stream(*HELLO, done=False, end=end), timeouts={"idle": 0.1}) as client:
            answer = await client.chat(stream=True)
            assert (answer.text, answer.events[-1]) == ("Hello", "[DONE]")

    play(work)


def test_an_endless_event_is_not_relayed() -> None:
    """An event past its bound ends the stream with an error, before the member has sent it all."""

    async def endless_event(peer: Peer) -> None:
        await peer.send(STREAM_HEAD + chunk(event(HELLO[1])) + chunk(b"data: "))
        try:
            while True:
                await peer.send(chunk(b"x" * 65536))
        finally:
            peer.gone.set()

    async def work() -> None:
        async with staged(endless_event, limits={"event": 100_000}) as client:
            answer = await client.chat(stream=True)
            assert answer.events[-1]["error"]["code"] == "upstream_error"
            await client.members[0].peers[0].gone.wait()

    play(work)


def test_a_character_cut_in_two_is_whole() -> None:
    """Bytes of one character in two chunks come out as that character."""
    raw = event(json.dumps(delta(content="\u4f60\u597d\U0001f600"), ensure_ascii=False).encode()) + event(HELLO[3])

    async def bytewise(peer: Peer) -> None:
        await peer.send(STREAM_HEAD)
        for position in range(len(raw)):
            await peer.send(chunk(raw[position : position + 1]))
        await peer.send(b"0\r\n\r\n")

    async def work() -> None:
        async with staged(bytewise) as client:
            answer = await client.chat(stream=True)
            assert answer.text == "\u4f60\u597d\U0001f600"

    play(work)


def test_the_form_is_the_one_asked_for() -> None:
    """JSON for a stream becomes chunks, a stream for JSON becomes one object, whatever the label says."""

    async def work() -> None:
        async with staged(reply(completion("Hello"))) as client:
            answer = await client.chat(stream=True)
            assert (answer.text, answer.events[-1]) == ("Hello", "[DONE]")
        for head in (STREAM_HEAD, STREAM_HEAD.replace(b"text/event-stream", b"application/json")):
            async with staged(stream(*HELLO, {"choices": [], "usage": USAGE}, head=head)) as client:
                answer = await client.chat()
                assert answer.doc["choices"][0]["message"]["content"] == "Hello"
                assert answer.doc["usage"] == USAGE

    play(work)


def test_a_coding_is_removed() -> None:
    """A member that compresses without being asked is read all the same, and the client gets plain bytes."""
    body = gzip.compress(json.dumps(completion()).encode())

    async def work() -> None:
        async with staged(reply(body, fields=["Content-Encoding: gzip"])) as client:
            answer = await client.chat()
            assert answer.doc["choices"][0]["message"]["content"] == "Hello"
            assert "content-encoding" not in answer.fields

    play(work)


def test_no_field_of_a_member_is_passed_on() -> None:
    """The response has the gateway's own fields and the rate limit's."""
    fields = [
        "Server: vendor",
        "Set-Cookie: a=b",
        "x-groq-region: x",
        "x-request-id: up-1",
        "x-ratelimit-limit-requests: 5",
    ]

    async def work() -> None:
        async with staged(reply(completion(), fields=fields)) as client:
            answer = await client.chat()
            assert set(answer.fields) == {
                "content-type", "content-length", "connection", "x-request-id", "x-ratelimit-limit-requests"
            }  # fmt: skip
            assert answer.fields["x-request-id"].startswith("req_")

    play(work)


REFUSALS: list[tuple[dict[str, Any], int, str | None, str | None]] = [
    ({"key": None}, 401, "invalid_api_key", None),
    ({"key": "sk-test-wrong"}, 401, "invalid_api_key", None),
    ({"body": b"{"}, 400, "invalid_json", None),
    ({"body": b""}, 400, "invalid_json", None),
    ({"body": b"[]"}, 400, "invalid_type", None),
    ({"body": {"model": ALIAS}}, 400, "missing_required_parameter", "messages"),
    ({"body": {"messages": []}}, 400, "missing_required_parameter", "model"),
    ({"body": chat_request(messages=[])}, 400, "invalid_type", "messages"),
    ({"body": chat_request(messages=["x"])}, 400, "invalid_type", "messages"),
    ({"body": chat_request(stream="yes")}, 400, "invalid_type", "stream"),
    ({"body": chat_request(max_tokens="8")}, 400, "invalid_type", "max_tokens"),
    ({"body": chat_request(temperature="hot")}, 400, "invalid_type", "temperature"),
    ({"body": chat_request(model="other\n<b>")}, 404, "model_not_found", "model"),
    ({"body": chat_request(model=7)}, 400, "invalid_type", "model"),
    ({"path": "/v1/nothing"}, 404, "unknown_url", None),
    ({"path": "/v1/chat/completions/"}, 404, "unknown_url", None),
    ({"method": "GET"}, 405, "method_not_allowed", None),
    ({"path": "/v1/models", "method": "POST"}, 405, "method_not_allowed", None),
    ({"body": chat_request(pad="x" * 3000)}, 413, "request_too_large", None),
    ({"path": "/v1/embeddings"}, 400, "missing_required_parameter", "input"),
    ({"path": "/v1/completions"}, 400, "missing_required_parameter", "prompt"),
    ({"path": "/v1/models/other", "method": "GET"}, 404, "model_not_found", "model"),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "status", "code", "param"), REFUSALS)
def test_a_refusal_is_the_gateways_own(asked: dict[str, Any], status: int, code: str, param: str | None) -> None:
    """What cannot be asked is refused in the API's envelope, and no member hears of it."""

    async def work() -> None:
        async with staged(GOOD, limits={"body": 2000}) as client:
            answer = await client.ask(**{"body": chat_request(), **asked})
            assert (answer.status, answer.error["code"], answer.error["param"]) == (status, code, param)
            assert set(answer.error) == {"message", "type", "param", "code"}
            assert "\n" not in answer.error["message"]
            assert answer.fields["content-type"] == "application/json"
            assert client.attempts == [0]
            if status == 405:
                assert answer.fields["allow"]

    play(work)


@BOTH_SERVERS
def test_the_models_are_the_aliases(behaviour: Any) -> None:
    """The list and each entry name the lane; health needs no key."""

    async def work() -> None:
        async with staged(GOOD, behaviour=behaviour) as client:
            listed = await client.ask(None, "/v1/models", method="GET")
            (entry,) = listed.doc["data"]
            assert (listed.doc["object"], entry["id"], entry["object"]) == ("list", ALIAS, "model")
            assert type(entry["created"]) is int
            assert (await client.ask(None, f"/v1/models/{ALIAS}", method="GET")).doc == entry
            assert (await client.ask(None, "/health", method="GET", key=None)).status == 200
            assert (await client.ask(None, "/v1/models", method="HEAD")).status == 200
            assert (await client.ask(None, "/v1/models", method="GET", key=None)).status == 401

    play(work)


def test_other_operations_are_dispatched_to_their_paths() -> None:
    """Embeddings, legacy completions and responses go to the member's path of the same name."""
    asked = {
        "/v1/embeddings": ({"input": "a"}, {"data": [{"embedding": [0.5]}]}),
        "/v1/completions": ({"prompt": "a"}, {"choices": [{"text": "b", "finish_reason": "stop"}]}),
        "/v1/responses": ({"input": "a"}, {"id": "resp_1", "output": [], "status": "completed"}),
    }

    async def work() -> None:
        for path, (body, doc) in asked.items():
            async with staged(reply(doc)) as client:
                answer = await client.ask({"model": ALIAS, **body}, path)
                assert (answer.status, answer.doc["model"]) == (200, ALIAS)
                assert client.members[0].peers[0].head.startswith(b"POST " + path.encode() + b" ")

    play(work)


def test_a_responses_stream_has_typed_events() -> None:
    """Each event's field names its type, and no [DONE] follows the terminal."""
    done = {"type": "response.completed", "response": {"id": "r", "output": [], "status": "completed"}}
    created = {"type": "response.created", "response": {"id": "r", "output": [], "status": "in_progress"}}

    async def work() -> None:
        async with staged(stream(created, done, done=False)) as client:
            answer = await client.ask({"model": ALIAS, "input": "x", "stream": True}, "/v1/responses")
            assert [block.split(b"\n")[0] for block in answer.body.split(b"\n\n") if block] == [
                b"event: response.created",
                b"event: response.completed",
            ]

    play(work)


def test_many_clients_get_their_own_answers() -> None:
    """At once, each answer is that of its own request."""

    async def echo(peer: Peer) -> None:
        text = peer.doc["messages"][0]["content"]
        await stream(delta(content=text), delta("stop"))(peer)

    async def work() -> None:
        async with staged(echo, echo, behaviour=FAITHFUL) as client:
            asked = [client.chat(stream=True, messages=[{"role": "user", "content": f"n{n}"}]) for n in range(60)]
            assert [answer.text for answer in await asyncio.gather(*asked)] == [f"n{n}" for n in range(60)]

    play(work)
