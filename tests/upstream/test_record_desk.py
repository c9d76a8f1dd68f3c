"""conformance.upstream.record_desk: a gateway recorded from both sides gives the two files that `judge` takes."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from conformance.cassette.store import load
from conformance.cli import main
from conformance.driver.request import locate
from conformance.scenario.model import PlayItem
from conformance.upstream.process import UpstreamProcess, start_upstream
from conformance.upstream.record_file import open_file
from tests.upstream.peer import fresh_nonce, post
from tests.upstream.recorder import ABOUT, Recorder, ask, recorder, until

GONE = PlayItem(cassette="authored/errors/openrouter-no-endpoints")
HELLO = PlayItem(cassette="authored/openai/chat-hello")
HANG = PlayItem(cassette="@hang")


@pytest.fixture(scope="module")
def members() -> Iterator[UpstreamProcess]:
    """Two members that play the shipped cassettes."""
    with start_upstream(2) as started:
        yield started


def free_port() -> int:
    """A port that nobody has."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@asynccontextmanager
async def around_the_reference_gateway(members: UpstreamProcess, folder: Path) -> AsyncIterator[Recorder]:
    """The reference gateway with the recorder before and behind it; files in `folder`."""
    port = free_port()
    behind = tuple((f"m{n}", locate(f"http://127.0.0.1:{port}/v1")) for n, port in enumerate(members.ports))
    attempts = open_file(folder / "upstream.yaml", ABOUT, append=False)
    url = f"http://127.0.0.1:{port}/v1"
    async with recorder(url, folder / "client.yaml", behind=behind, attempts=attempts, silence=6.0) as running:
        lane = [
            {"name": f"m{n}", "base_url": url, "api_key": f"sk-up-{n}", "model": "up"}
            for n, url in enumerate(running.urls[1:])
        ]
        lanes = [{"alias": "m", "members": lane}]
        config = {"api_key": "sk-test-client", "rotate": False, "timeouts": {"first_token": 1.5}, "lanes": lanes}
        (folder / "gateway.json").write_text(json.dumps(config), encoding="utf-8")
        words = [sys.executable, "-m", "conformance.reference", "--config", str(folder / "gateway.json")]
        gateway = await asyncio.create_subprocess_exec(*words, "--port", str(port))
        try:
            await until(lambda: _listens(port))
            yield running
        finally:
            gateway.kill()
            await gateway.wait()


def _listens(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def request(nonce: str, *, stream: bool = False) -> bytes:
    """A chat request of a client of the gateway."""
    messages = [{"role": "user", "content": f"Say hello. {nonce}"}]
    body = json.dumps({"model": "m", "messages": messages, "stream": stream}).encode()
    return post(body, headers="Authorization: Bearer sk-test-client\r\nContent-Type: application/json\r\n")


def test_both_legs_of_several_requests(members: UpstreamProcess, tmp_path: Path) -> None:
    """Failover, three at once: the client leg has three exchanges, the other their attempts, each with its member and
    the time since its client asked; `judge` tells whose they are and finds that the gateway keeps its promise."""
    nonces = [fresh_nonce() for _ in range(3)]
    for nonce in nonces:
        members.client().arm(nonce, {"u0": [GONE], "u1": [HELLO]})

    async def scene() -> Recorder:
        async with around_the_reference_gateway(members, tmp_path) as running:
            answers = await asyncio.gather(*(ask(running.port, request(nonce)) for nonce in nonces))
            assert {raw[:12] for raw, _ in answers} == {b"HTTP/1.1 200"}
            await until(lambda: sum(line.startswith("recorded") for line in running.lines) >= 6)
        return running

    running = asyncio.run(scene())
    assert running.tally is not None
    assert (running.tally.kept, running.tally.left) == (3, 0)
    client, upstream = load(tmp_path / "client.yaml"), load(tmp_path / "upstream.yaml")
    assert [one.member for one in client.interactions] == [""] * 3
    order = [next(n for n in nonces if n.encode() in one.request.body) for one in upstream.interactions]
    asked = [next(n for n in nonces if n.encode() in one.request.body) for one in client.interactions]
    assert list(dict.fromkeys(order)) == asked
    for nonce in nonces:
        mine = [one for one in upstream.interactions if nonce.encode() in one.request.body]
        assert [one.member for one in mine] == ["m0", "m1"]
        times = [one.at for one in mine if one.at is not None]
        assert len(times) == len(mine)
        assert times == sorted(times)
        assert all(0.0 <= at < 6000.0 for at in times)
    words = ["judge", str(tmp_path / "client.yaml"), "--upstream", str(tmp_path / "upstream.yaml")]
    assert main([*words, "--capabilities", "failover"]) == 0


def test_what_the_judge_says_of_it(
    members: UpstreamProcess, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The clauses about dispatch and relaying are decided, as in a run."""
    nonce = fresh_nonce()
    members.client().arm(nonce, {"u0": [GONE], "u1": [HELLO]})

    async def scene() -> None:
        async with around_the_reference_gateway(members, tmp_path) as running:
            await ask(running.port, request(nonce))
            await running.told(3)

    asyncio.run(scene())
    words = ["judge", str(tmp_path / "client.yaml"), "--upstream", str(tmp_path / "upstream.yaml"), "--format", "json"]
    assert main([*words, "--capabilities", "failover"]) == 0
    (case,) = json.loads(capsys.readouterr().out)["cases"]
    assert {"pool.failover.answers", "relay.text.equal", "relay.request.messages"} <= set(case["held"])


def test_an_attempt_that_is_not_held_takes_its_exchange_with_it(members: UpstreamProcess, tmp_path: Path) -> None:
    """The gateway leaves a stream in its middle: the client's exchange is not written without that attempt."""
    good, torn = fresh_nonce(), fresh_nonce()
    members.client().arm(good, {}, [HELLO])
    cut = PlayItem(cassette="authored/openai/chat-hello-stream", transforms=("stall-after-event:3",))
    members.client().arm(torn, {}, [cut])

    async def scene() -> Recorder:
        async with around_the_reference_gateway(members, tmp_path) as running:
            reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
            writer.write(request(torn, stream=True))
            await reader.readuntil(b"data: ")
            writer.transport.abort()
            await running.told(2)
            await ask(running.port, request(good))
            await running.told(4)
        return running

    running = asyncio.run(scene())
    for name in ("client", "upstream"):
        bodies = [one.request.body for one in load(tmp_path / f"{name}.yaml").interactions]
        assert bodies
        assert all(good.encode() in body for body in bodies)
    assert sum("not recorded" in line for line in running.lines) == 2


def test_a_silent_member_that_the_gateway_gave_up(members: UpstreamProcess, tmp_path: Path) -> None:
    """It is a stall on the upstream leg, and the next attempt's answer is the client's."""
    nonce = fresh_nonce()
    members.client().arm(nonce, {"u0": [HANG], "u1": [HELLO]})

    async def scene() -> Recorder:
        async with around_the_reference_gateway(members, tmp_path) as running:
            raw, _ = await ask(running.port, request(nonce))
            assert raw.startswith(b"HTTP/1.1 200")
            await running.told(3)
        return running

    asyncio.run(scene())
    told = [(one.member, one.envelope.end.value) for one in load(tmp_path / "upstream.yaml").interactions]
    assert told == [("m0", "stall"), ("m1", "complete")]
