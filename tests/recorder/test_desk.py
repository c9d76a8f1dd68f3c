"""conformance.recorder.desk: a gateway recorded from both sides gives the two files that `judge` takes."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic

import pytest

from conformance.cassette.store import load
from conformance.cli import main
from conformance.driver.request import locate
from conformance.recorder.desk import Desk, Leg
from conformance.recorder.exchange import Exchange
from conformance.recorder.file import open_file
from conformance.scenario.model import PlayItem
from conformance.upstream.process import UpstreamProcess, start_upstream
from conformance.wire.transcript import End
from tests.driver.rawserver import CHAT, RawServer, json_reply
from tests.recorder.peers import ABOUT, Recorder, ask, recorder, until
from tests.upstream.peer import fresh_nonce, post

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
async def around_the_reference_gateway(
    ports: Sequence[int], folder: Path, *, keys: Sequence[str] = ("sk-up-0", "sk-up-1"), defect: str = ""
) -> AsyncIterator[Recorder]:
    """The reference gateway with the recorder before and behind it; files in `folder`."""
    port = free_port()
    behind = tuple((f"m{n}", locate(f"http://127.0.0.1:{port}/v1")) for n, port in enumerate(ports))
    attempts = open_file(folder / "upstream.yaml", ABOUT, append=False)
    url = f"http://127.0.0.1:{port}/v1"
    async with recorder(url, folder / "client.yaml", behind=behind, attempts=attempts, silence=6.0) as running:
        lane = [
            {"name": f"m{n}", "base_url": url, "api_key": keys[n], "model": "up"}
            for n, url in enumerate(running.urls[1:])
        ]
        lanes = [{"alias": "m", "members": lane}]
        config = {"api_key": "sk-test-client", "rotate": False, "timeouts": {"first_token": 1.5}, "lanes": lanes}
        (folder / "gateway.json").write_text(json.dumps(config), encoding="utf-8")
        words = [sys.executable, "-m", "conformance.reference", "--config", str(folder / "gateway.json")]
        gateway = await asyncio.create_subprocess_exec(
            *words, "--port", str(port), *(["--defect", defect] if defect else [])
        )
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
        async with around_the_reference_gateway(members.ports, tmp_path) as running:
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
        async with around_the_reference_gateway(members.ports, tmp_path) as running:
            await ask(running.port, request(nonce))
            await running.told(3)

    asyncio.run(scene())
    words = ["judge", str(tmp_path / "client.yaml"), "--upstream", str(tmp_path / "upstream.yaml"), "--format", "json"]
    assert main([*words, "--capabilities", "failover"]) == 0
    (case,) = json.loads(capsys.readouterr().out)["cases"]
    assert {"pool.failover.answers", "relay.text.equal", "relay.request.messages"} <= set(case["held"])


MIXED = "Ab12Cd34Ef56Gh78Ij90Kl12"
KEYS = (f"sk-{'proj'}-{MIXED}", f"gsk{'_'}Zz98{MIXED}")
ORGANISATION = f"org-{MIXED}"
_SHOWN = f"openai-organization: {ORGANISATION}\r\nx-goog-api-key: {KEYS[1]}\r\n".encode()
SHOWN = json_reply(CHAT).replace(b"Content-Type", _SHOWN + b"Content-Type")


def refusal(key: str) -> bytes:
    """A member that refuses the gateway's key, and says which."""
    told = {
        "message": f"Incorrect API key provided: {key}.",
        "type": "invalid_request_error",
        "code": "invalid_api_key",
    }
    body = json.dumps({"error": {**told, "param": None}}).encode()
    return (
        b"HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    )


@pytest.mark.parametrize(
    ("defect", "answer", "found"),
    [
        ("", json_reply(CHAT), set()),
        ("", refusal(KEYS[0]), set()),
        ("member-key-in-field", json_reply(CHAT), {"secret.never-shown"}),
        ("echoed-key-relayed", SHOWN, {"secret.never-shown"}),
        ("account-relayed", SHOWN, {"secret.upstream"}),
        ("member-401-echoed", refusal(KEYS[0]), {"error.message.no-key", "secret.never-shown"}),
        ("member-401-echoed", refusal(f"{KEYS[0][:8]}***{KEYS[0][-4:]}"), {"error.message.no-key"}),
        ("key-head-in-message", refusal("none"), {"error.message.no-key"}),
    ],
)
def test_a_leak_is_seen_and_the_key_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], defect: str, answer: bytes, found: set[str]
) -> None:
    """Keys that look real are in no file and no line, nor is the account; what the gateway shows of them is found."""

    async def scene() -> Recorder:
        async with RawServer((answer,)) as one, RawServer((answer,)) as other:
            ports = (one.port, other.port)
            async with around_the_reference_gateway(ports, tmp_path, keys=KEYS, defect=defect) as running:
                await ask(running.port, request(fresh_nonce()))
                await running.told(2)
            return running

    running = asyncio.run(scene())
    written = "".join((tmp_path / name).read_text(encoding="utf-8") for name in ("client.yaml", "upstream.yaml"))
    for secret in (*KEYS, ORGANISATION, MIXED[:12]):
        assert secret.lower() not in (written + "".join(running.lines)).lower()
    words = ["judge", str(tmp_path / "client.yaml"), "--upstream", str(tmp_path / "upstream.yaml"), "--format", "json"]
    main(words)
    (case,) = json.loads(capsys.readouterr().out)["cases"]
    assert {verdict["clause"] for verdict in case.get("verdicts", ()) if verdict["outcome"] == "violated"} == found


class Legs:
    """A desk with two files, and exchanges that are told to it."""

    def __init__(self, folder: Path) -> None:
        self.lines: list[str] = []
        self.files = [open_file(folder / name, ABOUT, append=False) for name in ("client.yaml", "upstream.yaml")]
        self.desk = Desk(*self.files, key="", most=0, say=self.lines.append)
        self.client, self.member = Leg(origin="http://gateway.test"), Leg(origin="http://up.test", member="m0")

    def begin(self, leg: Leg, at: float, prompt: str, *reads: bytes) -> Exchange:
        """An exchange that began then, and what has come for it."""
        exchange = Exchange(method="POST", began=at, reused=False)
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": prompt}]}).encode()
        exchange.sent(post(body), at)
        for data in reads:
            exchange.received(data, at + 0.1)
        self.desk.began(leg, exchange)
        return exchange

    def end(self, leg: Leg, exchange: Exchange, end: End = End.COMPLETE) -> None:
        """It has ended."""
        self.desk.ended(leg, exchange, exchange.transcript(end, exchange.began + 0.2))

    def written(self) -> list[list[str]]:
        """The prompts in each file, once all is entered; none where there is no file."""
        self.desk.close()
        asyncio.run(self.desk.run())
        held = [load(file.path).interactions if file.path.exists() else () for file in self.files]
        return [[json.loads(one.request.body)["messages"][0]["content"] for one in leg] for leg in held]


def test_a_key_that_is_known_late_goes_from_what_is_entered(tmp_path: Path) -> None:
    """An exchange that shows a key before the attempt with it begins."""
    key, now, legs = f"local-{MIXED}", monotonic() - 5, Legs(tmp_path)
    shown = b'{"k":"%s"}' % key.encode()
    reply = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(shown), shown)
    legs.end(legs.client, legs.begin(legs.client, now, "first", reply))
    second = legs.begin(legs.client, now + 1, "second", OK)
    attempt = Exchange(method="POST", began=now + 1.1, reused=False)
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "second"}]}).encode()
    attempt.sent(post(body, headers=f"Authorization: Bearer {key}\r\n"), now + 1.1)
    attempt.received(OK, now + 1.2)
    legs.desk.began(legs.member, attempt)
    legs.end(legs.client, second)
    legs.end(legs.member, attempt)
    assert legs.written() == [["first", "second"], ["second"]]
    assert key not in legs.files[0].path.read_text(encoding="utf-8")
    (asked,) = load(legs.files[1].path).interactions
    stand_in = dict(asked.request.headers)["Authorization"].removeprefix("Bearer ")
    assert load(legs.files[0].path).interactions[0].envelope.body == b'{"k":"%s"}' % stand_in.encode()


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
UNREADABLE = b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\nxx"


@pytest.mark.parametrize("late", [False, True])
def test_an_attempt_that_is_not_held_takes_its_exchange_with_it(tmp_path: Path, late: bool) -> None:
    """Before it ended, or after; another exchange and its attempt stay."""
    now, legs = monotonic(), Legs(tmp_path)
    torn, good = legs.begin(legs.client, now, "torn", OK), legs.begin(legs.client, now, "good", OK)
    bad, fine = legs.begin(legs.member, now, "torn", UNREADABLE), legs.begin(legs.member, now, "good", OK)
    first, second = ((legs.client, torn), (legs.member, bad)) if late else ((legs.member, bad), (legs.client, torn))
    for leg, exchange in (first, second, (legs.member, fine), (legs.client, good)):
        legs.end(leg, exchange)
    assert legs.written() == [["good"], ["good"]]
    assert legs.desk.kept == 1
    assert any("br content cannot be searched" in line for line in legs.lines)


def test_whose_attempts_they_are_decides(tmp_path: Path) -> None:
    """Nobody's, and those that may be of two, are not written; the two are not, either."""
    now, legs = monotonic(), Legs(tmp_path)
    twins = [legs.begin(legs.client, now, "twin", OK) for _ in range(2)]
    alone = legs.begin(legs.client, now, "alone", OK)
    for prompt in ("twin", "nobody's", "alone"):
        legs.end(legs.member, legs.begin(legs.member, now + 0.01, prompt, OK))
    for exchange in (*twins, alone):
        legs.end(legs.client, exchange)
    assert legs.written() == [["alone"], ["alone"]]
    assert load(legs.files[1].path).interactions[0].at == pytest.approx(10.0)
    assert sum("belongs to no request" in line for line in legs.lines) == 1
    assert sum("it may belong to several" in line for line in legs.lines) == 3


def test_an_attempt_of_a_client_that_left_is_not_written_alone(tmp_path: Path) -> None:
    """What the client leg does not hold, the other does not hold, either."""
    now, legs = monotonic(), Legs(tmp_path)
    left = legs.begin(legs.client, now, "left")
    legs.end(legs.member, legs.begin(legs.member, now, "left", OK))
    legs.end(legs.client, left, End.HANGUP)
    assert legs.written() == [[], []]


def test_a_file_that_cannot_be_written_is_told_once(tmp_path: Path) -> None:
    """And again when it is written: the failure is over then."""
    now, legs = monotonic(), Legs(tmp_path / "away")
    (tmp_path / "away").rmdir()
    (tmp_path / "away").write_text("in the way", encoding="utf-8")
    legs.end(legs.client, legs.begin(legs.client, now, "one", OK))
    assert legs.desk.failure is None
    legs.desk.close()
    asyncio.run(legs.desk.run())
    assert legs.desk.failure is not None
    assert [line for line in legs.lines if line.startswith("not written")]


def test_a_silent_member_that_the_gateway_gave_up(members: UpstreamProcess, tmp_path: Path) -> None:
    """It is a stall on the upstream leg, and the next attempt's answer is the client's."""
    nonce = fresh_nonce()
    members.client().arm(nonce, {"u0": [HANG], "u1": [HELLO]})

    async def scene() -> Recorder:
        async with around_the_reference_gateway(members.ports, tmp_path) as running:
            raw, _ = await ask(running.port, request(nonce))
            assert raw.startswith(b"HTTP/1.1 200")
            await running.told(3)
        return running

    asyncio.run(scene())
    told = [(one.member, one.envelope.end.value) for one in load(tmp_path / "upstream.yaml").interactions]
    assert told == [("m0", "stall"), ("m1", "complete")]
