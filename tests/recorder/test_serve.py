"""conformance.recorder.serve: what is played is recorded as it was; real clients, TLS, and how it ends."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import openai
import pytest

from conformance.capture import exchanges
from conformance.cassette.model import Envelope
from conformance.cassette.store import Library
from conformance.errors import UpstreamError, UsageError
from conformance.recorder.known import Known
from conformance.recorder.redact import cleaned
from conformance.scenario.model import PlayItem
from conformance.upstream.process import UpstreamProcess, start_upstream
from conformance.upstream.script import script
from tests.driver.rawserver import CHAT, DONE, STREAM_END, STREAM_HEAD, RawServer, chunk, delta, json_reply
from tests.recorder.peers import Recorder, ask, recorder
from tests.upstream.peer import chat, fresh_nonce, post

LIBRARY = Library()
MESSAGES = [{"role": "user", "content": "Say hello."}]


@pytest.fixture(scope="module")
def shipped() -> Iterator[UpstreamProcess]:
    """A replay upstream that plays the shipped cassettes."""
    with start_upstream(1) as started:
        yield started


def steps(envelope: Envelope, nonce: str) -> list[tuple[str, bytes]]:
    """What is played, up to the times: adjoining writes of one moment are told apart by their chunks alone."""
    played = script(envelope, nonce=nonce).steps
    return [(played[-1].action.value, _STAND_IN.sub(_unnumbered, b"".join(step.data for step in played)))]


_STAND_IN = re.compile(rb"(?:standin|sk-up-|sk-test-)[0-9]+z*")


def _unnumbered(stand_in: re.Match[bytes]) -> bytes:
    """Which number it has is a matter of order."""
    return b"-" * len(stand_in[0])


def test_what_is_played_is_recorded_as_it_was(shipped: UpstreamProcess, tmp_path: Path) -> None:
    """Every shipped cassette, over real sockets and all at once: head, content, chunks and end, up to the times.

    Those that take seconds are left out. Ids of requests are taken out by the recorder, and here for the comparison.
    """
    control = shipped.client()
    wanted: dict[bytes, Envelope] = {}
    for name in LIBRARY.names():
        for number, interaction in enumerate(LIBRARY.get(name).interactions):
            envelope = interaction.envelope
            if max((frame.at for frame in envelope.frames), default=0.0) > 1500.0:
                continue
            nonce = fresh_nonce()
            control.arm(nonce, {"u0": [PlayItem(cassette=name, interaction=number)]})
            wanted[chat(nonce).partition(b"\r\n\r\n")[2]] = cleaned(interaction, Known()).interaction.envelope

    async def scene() -> Recorder:
        url = f"http://127.0.0.1:{shipped.ports[0]}/v1"
        async with recorder(url, tmp_path / "all.yaml", silence=4.0) as running:
            await asyncio.gather(*(ask(running.port, post(body)) for body in wanted))
            await running.told(len(wanted))
        return running

    running = asyncio.run(scene())
    assert [line for line in running.lines if line.startswith("not")] == []
    recorded = {one.request.body: one.envelope for one in running.cassette().interactions}
    assert recorded.keys() == wanted.keys()
    assert len(recorded) > 200
    for body, envelope in recorded.items():
        nonce = json.loads(body)["messages"][0]["content"].split()[-1]
        assert steps(envelope, "") == steps(wanted[body], nonce)
        assert envelope.end is wanted[body].end


def test_what_was_recorded_is_played_again(shipped: UpstreamProcess, tmp_path: Path) -> None:
    """A recording, found by its name, plays the same bytes: recorded again it is the same cassette."""
    folder = tmp_path / "cassettes" / "recorded" / "test"

    async def pass_by(port: int, path: Path, nonce: str) -> Envelope:
        async with recorder(f"http://127.0.0.1:{port}/v1", path) as running:
            await ask(running.port, chat(nonce))
            await running.told(1)
        return running.cassette().interactions[0].envelope

    first = asyncio.run(pass_by(shipped.ports[0], folder / "one.yaml", "cf-none00"))
    with start_upstream(1, cassettes=tmp_path / "cassettes") as again:
        again.client().arm("cf-again0", {"u0": [PlayItem(cassette="recorded/test/one")]})
        second = asyncio.run(pass_by(again.ports[0], tmp_path / "two.yaml", "cf-again0"))
    assert steps(first, "") == steps(second, "")
    assert first.frames


def sdk_calls(url: str) -> None:
    """The official SDK, synchronous and not, streaming and not; httpx."""
    with openai.OpenAI(base_url=url, api_key="sk-test-client", max_retries=0) as client:
        assert client.chat.completions.create(model="m", messages=MESSAGES).choices[0].message.content  # type: ignore[call-overload]
        stream = client.chat.completions.create(model="m", messages=MESSAGES, stream=True)  # type: ignore[call-overload]
        assert "".join(event.choices[0].delta.content or "" for event in stream)

    async def several() -> None:
        async with openai.AsyncOpenAI(base_url=url, api_key="sk-test-client", max_retries=0) as client:

            async def one() -> str:
                stream = await client.chat.completions.create(model="m", messages=MESSAGES, stream=True)  # type: ignore[call-overload]
                return "".join([event.choices[0].delta.content or "" async for event in stream])

            assert all(await asyncio.gather(*(one() for _ in range(8))))

    asyncio.run(several())
    answer = httpx.post(f"{url}/chat/completions", json={"model": "m", "messages": MESSAGES}, timeout=20)
    assert answer.status_code == 200


def test_real_clients(shipped: UpstreamProcess, tmp_path: Path) -> None:
    """openai-python and httpx through the recorder: each call succeeds, each is written, and all of it conforms."""

    async def scene() -> Recorder:
        async with recorder(f"http://127.0.0.1:{shipped.ports[0]}/v1", tmp_path / "sdk.yaml") as running:
            await asyncio.to_thread(sdk_calls, running.urls[0])
            await running.told(11)
        return running

    running = asyncio.run(scene())
    cassette = running.cassette()
    assert len(cassette.interactions) == 11
    assert {one.envelope.head[0] for one in cassette.interactions} == {"HTTP/1.1 200 OK"}
    assert sum(b'"stream":true' in one.request.body for one in cassette.interactions) == 9
    judged = exchanges(cassette, None, frozenset())
    assert all(exchange.reply is not None and exchange.reply.message.complete for exchange in judged)
    assert "REDACTED" not in str(cassette.interactions[0].request.headers)  # a key made for tests


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs the curl command")
def test_curl(tmp_path: Path) -> None:
    """curl gets the stream, and waits for 100 (Continue) with a large body."""

    async def scene() -> Recorder:
        async with RawServer((STREAM_HEAD, chunk(delta("a")), chunk(DONE), STREAM_END)) as server:
            async with recorder(server.base_url, tmp_path / "curl.yaml") as running:
                words = ["curl", "-sN", f"{running.urls[0]}/chat/completions", "--data-binary", "@-"]
                child = await asyncio.create_subprocess_exec(*words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                out, _ = await child.communicate(b"x" * 2_000_000)
                assert out == delta("a") + DONE
                await running.told(1)
            return running

    (one,) = asyncio.run(scene()).cassette().interactions
    assert one.request.body == b"x" * 2_000_000


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs the openssl command")
def test_tls(tmp_path: Path) -> None:
    """The client speaks plain text, the provider TLS; one that is not trusted is a 502."""
    pem, crt = tmp_path / "server.pem", tmp_path / "server.crt"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test"
    extra = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(pem), "-out", str(crt)]
    subprocess.run([*command.split(), *extra], check=True, capture_output=True)
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_side.load_cert_chain(crt, pem)
    scripts = ((json_reply(CHAT),), (json_reply(CHAT)[:-4], "close"))

    async def scene() -> None:
        trusting = ssl.create_default_context(cafile=str(crt))
        async with RawServer(*scripts, ssl_context=server_side) as server:
            async with recorder(server.base_url, tmp_path / "tls.yaml", tls=trusting) as running:
                assert await ask(running.port, post(b"{}")) == (json_reply(CHAT), "whole")
                assert await ask(running.port, post(b"{}")) == (json_reply(CHAT)[:-4], "fin")
                await running.told(2)
            assert running.urls == [f"http://127.0.0.1:{running.port}/v1"]
            ends = [(one.request.uri, one.envelope.end.value) for one in running.cassette().interactions]
            url = f"https://127.0.0.1:{server.port}/v1/chat/completions"
            assert ends == [(url, "complete"), (url, "close")]
            async with recorder(server.base_url, tmp_path / "doubt.yaml") as running:
                raw, _ = await ask(running.port, post(b"{}"))
            assert raw.startswith(b"HTTP/1.1 502 ")
            assert b"certificate verify failed" in raw
            assert len(server.requests) == 2

    asyncio.run(scene())


def test_enough_is_enough(tmp_path: Path) -> None:
    """After so many exchanges it ends by itself; what is still on its way comes to its end, and is not written."""

    async def scene() -> Recorder:
        slow = (STREAM_HEAD, chunk(delta("a")), 0.6, chunk(DONE) + STREAM_END)
        async with RawServer(slow, (json_reply(),)) as server:
            async with recorder(server.base_url, tmp_path / "a.yaml", most=1) as running:
                slowly = asyncio.ensure_future(ask(running.port, post(b"[0]")))
                async with asyncio.timeout(10):
                    await server.asked.wait()
                assert await ask(running.port, post(b"[1]")) == (json_reply(), "whole")
                assert (await slowly)[1] == "whole"
                lines = await running.told(2)
            assert lines[1].endswith(": 1 are recorded")
            return running

    running = asyncio.run(scene())
    assert [one.request.body for one in running.cassette().interactions] == [b"[1]"]
    assert running.tally is not None
    assert (running.tally.kept, running.tally.left) == (1, 1)


def test_adding_to_a_file(tmp_path: Path) -> None:
    """What it held comes first and stays; without being told so, nothing is added; another's file is refused."""

    async def once(body: bytes, *, append: bool) -> Recorder:
        async with (
            RawServer((json_reply(body),)) as server,
            recorder(server.base_url, tmp_path / "a.yaml", append=append) as running,
        ):
            await ask(running.port, post(body))
            await running.told(1)
        return running

    asyncio.run(once(b"[0]", append=True))
    with pytest.raises(UsageError, match="exists"):
        asyncio.run(once(b"[1]", append=False))
    running = asyncio.run(once(b"[1]", append=True))
    assert [one.request.body for one in running.cassette().interactions] == [b"[0]", b"[1]"]
    text = running.path.read_text(encoding="utf-8")
    running.path.write_text(text.replace("origin: recorded", "origin: authored"), encoding="utf-8")
    with pytest.raises(UsageError, match="not one of the recorder's"):
        asyncio.run(once(b"[2]", append=True))


def test_keys_of_another_time_have_stand_ins_of_their_own(tmp_path: Path) -> None:
    """Added to a file, a key is not taken for one that the file holds."""

    async def once(key: str) -> Recorder:
        async with (
            RawServer((json_reply(),)) as server,
            recorder(server.base_url, tmp_path / "a.yaml", append=True) as running,
        ):
            await ask(running.port, post(b"{}", headers=f"Authorization: Bearer {key}\r\n"))
            await running.told(1)
        return running

    asyncio.run(once("the-first-k3y-of-all"))
    running = asyncio.run(once("another-k3y-of-somebody"))
    told = [dict(one.request.headers)["Authorization"] for one in running.cassette().interactions]
    assert told == ["Bearer sk-test-00001-stand-", "Bearer sk-test-00002-stand-in-"]


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    """It is told, with what to do."""

    async def scene() -> None:
        async with RawServer((json_reply(),)) as server:
            with pytest.raises(UpstreamError, match="no port can be had"):
                async with recorder(server.base_url, tmp_path / "a.yaml", port=server.port):
                    pass

    asyncio.run(scene())
