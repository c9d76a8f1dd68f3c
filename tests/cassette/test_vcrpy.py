"""Plain vcrpy and this package read each other's cassettes: httpx, the OpenAI SDK, and a live recording."""

from __future__ import annotations

import asyncio
import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import openai
import pytest
import vcr

from conformance.cassette import dialect
from conformance.cassette.codec import decode, encode
from conformance.cassette.model import Cassette, Envelope, EnvelopeEnd, Frame, Interaction, RecordedRequest
from conformance.cassette.store import load, save

DATA = Path(__file__).parent / "data"

CHAT = (
    b'{"id":"chatcmpl-1","object":"chat.completion","created":1785402847,"model":"alias-1","choices":[{"index":0,'
    b'"message":{"role":"assistant","content":"Gr\xc3\xbc\xc3\x9fe.","refusal":null},"logprobs":null,'
    b'"finish_reason":"stop"}],"usage":{"prompt_tokens":11,"completion_tokens":2,"total_tokens":13}}'
)


def _replays(path: Path) -> vcr.VCR:
    return vcr.use_cassette(str(path), record_mode="none", match_on=["method", "uri"])


def _interaction(path: str, media_type: str, body: bytes, *, status: str = "200 OK") -> Interaction:
    return Interaction(
        request=RecordedRequest(method="POST", uri=f"http://gateway.test/v1/{path}", body=b"{}"),
        envelope=Envelope(
            head=(f"HTTP/1.1 {status}", f"Content-Type: {media_type}", f"Content-Length: {len(body)}"),
            body=body,
            frames=(Frame(0.0, 5), Frame(2.5, len(body) - 5)),
        ),
    )


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    """A cassette of ours with one chat completion, saved."""
    interaction = _interaction("chat/completions", "application/json", CHAT)
    save(Cassette(name="chat", interactions=(interaction,), origin="authored"), tmp_path / "chat.yaml")
    return tmp_path / "chat.yaml"


def test_ours_replays_through_httpx(chat: Path) -> None:
    """Plain vcrpy serves our cassette to httpx, byte for byte."""
    with _replays(chat), httpx.Client() as client:
        response = client.post("http://gateway.test/v1/chat/completions", json={"model": "alias-1"})
    assert response.status_code == 200
    assert response.content == CHAT


def test_ours_replays_through_the_openai_sdk(chat: Path) -> None:
    """Plain vcrpy serves our cassette to the installed OpenAI SDK, whichever HTTP library that runs on."""
    with _replays(chat), openai.OpenAI(base_url="http://gateway.test/v1", api_key="sk-test", max_retries=0) as client:
        completion = client.chat.completions.create(model="alias-1", messages=[{"role": "user", "content": "Hi"}])
    assert completion.choices[0].message.content == "Grüße."


def test_ours_replays_through_the_async_openai_sdk(chat: Path) -> None:
    """The SDK's asynchronous client is served as well."""

    async def ask() -> str | None:
        async with openai.AsyncOpenAI(base_url="http://gateway.test/v1", api_key="sk-test", max_retries=0) as client:
            completion = await client.chat.completions.create(
                model="alias-1", messages=[{"role": "user", "content": "Hi"}]
            )
        return completion.choices[0].message.content

    with _replays(chat):
        assert asyncio.run(ask()) == "Grüße."


def test_a_stream_of_ours_replays_through_the_openai_sdk() -> None:
    """A captured stream in our format replays as chunks."""
    with (
        _replays(DATA / "upstream-network-error.yaml"),
        openai.OpenAI(base_url="http://m0.test/v1", api_key="sk-test", max_retries=0) as client,
    ):
        stream = client.chat.completions.create(
            model="up-model", messages=[{"role": "user", "content": "Hi"}], stream=True
        )
        assert [chunk.choices[0].finish_reason for chunk in stream] == ["network_error"]


def test_an_error_of_ours_replays_as_the_sdks_exception(tmp_path: Path) -> None:
    """An error envelope in our format raises the SDK's own exception."""
    body = (
        b'{"error":{"message":"No such model.","type":"invalid_request_error","param":null,"code":"model_not_found"}}'
    )
    interaction = _interaction("chat/completions", "application/json", body, status="404 Not Found")
    save(Cassette(name="x", interactions=(interaction,)), tmp_path / "x.yaml")
    client = openai.OpenAI(base_url="http://gateway.test/v1", api_key="sk-test", max_retries=0)
    with _replays(tmp_path / "x.yaml"), client, pytest.raises(openai.NotFoundError) as raised:
        client.chat.completions.create(model="x", messages=[{"role": "user", "content": "Hi"}])
    assert raised.value.code == "model_not_found"


def test_binary_and_odd_bytes_replay(tmp_path: Path) -> None:
    """A binary body and header bytes beyond ASCII do not stop plain vcrpy; ours stay exact."""
    interaction = _interaction("x", "text/plain; name=\xfc", b"\x00\xff\xfebinary")
    save(Cassette(name="x", interactions=(interaction,)), tmp_path / "x.yaml")
    assert load(tmp_path / "x.yaml").interactions == (interaction,)
    with _replays(tmp_path / "x.yaml"), httpx.Client() as client:
        assert client.post("http://gateway.test/v1/x").content == b"\x00\xff\xfebinary"


@pytest.mark.skipif(int(vcr.__version__.split(".")[0]) < 9, reason="vcrpy keeps metadata since 9.4")
def test_metadata_survives_vcrpys_own_save(chat: Path) -> None:
    """What vcrpy loads and writes back still holds our facts."""
    requests, responses, metadata = vcr.serialize.deserialize(chat.read_text(), vcr.serializers.yamlserializer)
    contents = {"requests": requests, "responses": responses, "metadata": metadata}
    written = vcr.serialize.serialize(contents, vcr.serializers.yamlserializer)
    assert decode(dialect.parse(written.encode()), name="chat") == load(chat)


class _Origin(BaseHTTPRequestHandler):
    """A small origin: chunked events, a gzip body, an empty answer."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in (b"data: {}\n\n", b"data: [DONE]\n\n"):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))
        self.wfile.write(b"0\r\n\r\n")

    def do_GET(self) -> None:
        body = gzip.compress(b'{"object":"list","data":[]}', mtime=0)
        self.send_response(200)
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_DELETE(self) -> None:
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Stay quiet."""


@pytest.fixture
def origin() -> Iterator[str]:
    """The origin's address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Origin)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("decoded", [False, True])
def test_a_live_vcrpy_recording_loads(tmp_path: Path, origin: str, decoded: bool) -> None:
    """What plain vcrpy records of a stream, a gzip body and an empty answer becomes envelopes that play."""
    path = tmp_path / "recorded.yaml"
    with vcr.use_cassette(str(path), decode_compressed_response=decoded), httpx.Client(base_url=origin) as client:
        client.post("/v1/chat/completions", json={"stream": True})
        client.get("/v1/models")
        client.delete("/v1/models/x")
    cassette = load(path)
    stream, models, empty = (interaction.envelope for interaction in cassette.interactions)
    assert cassette.interactions[0].request.body == b'{"stream":true}'
    assert stream.body == b"data: {}\n\ndata: [DONE]\n\n"
    assert [
        line for line in map(str.lower, stream.head) if line.startswith(("transfer-encoding", "content-length"))
    ] == ["transfer-encoding: chunked"]
    plain = b'{"object":"list","data":[]}'
    assert (models.body if decoded else gzip.decompress(models.body)) == plain
    assert any("gzip" in line for line in models.head) is not decoded
    assert f"content-length: {len(models.body)}" in [line.lower() for line in models.head]
    assert empty.head[0] == "HTTP/1.1 204 No Content"
    assert (empty.body, empty.frames, empty.end) == (b"", (), EnvelopeEnd.COMPLETE)
    assert decode(encode(cassette), name=cassette.name) == cassette
