"""The replay upstream side by side with what could stand in its place: requests/s, SSE events/s, CPU of the server.

    python benchmarks/upstream.py [--nginx PATH] [--aimock DIR] [--seconds S] [--rounds N]

Contestants: ours (journal and nonce matching on; once with the journal taken after each round, once drained all the
time: a nonce armed and taken every 200 requests), raw asyncio with httptools, nginx with static files, and aimock (npm
@copilotkit/aimock in DIR). Rounds are interleaved, the median counts. The load generator runs beside the server on the
same cores; the CPU of the server alone is less disturbed by whatever else runs. nginx writes a stream's file at once,
the others write each event.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import itertools
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from load import load

from conformance.cassette.model import Envelope, Frame
from conformance.upstream.client import ControlClient
from conformance.upstream.process import start_upstream

EVENTS = 100
TAKE_EVERY = 200
TICKS = os.sysconf("SC_CLK_TCK")
HERE = Path(__file__).parent


def chat(prompt: str, *, stream: bool, path: str = "/v1/chat/completions") -> bytes:
    """A raw chat request of about 700 bytes."""
    system = "You are a helpful assistant. Answer briefly. " * 8
    messages = [{"role": "system", "content": system}, {"role": "user", "content": prompt}]
    body = json.dumps({"model": "up-model-x", "messages": messages, "stream": stream}).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: m\r\nAuthorization: Bearer sk-up-k\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def reply() -> bytes:
    """A chat completion of about 600 bytes."""
    message = {"role": "assistant", "content": "All work and no play. " * 16, "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    usage = {"prompt_tokens": 50, "completion_tokens": 90, "total_tokens": 140}
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1735689600, "model": "up-model-x"}
    return json.dumps({**head, "choices": [choice], "usage": usage}).encode()


def stream() -> list[bytes]:
    """So many events of about 200 bytes each, [DONE] the last."""
    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1735689600, "model": "up-model-x"}
    choice = {"index": 0, "delta": {"content": " word and word"}, "finish_reason": None}
    chunk = f"data: {json.dumps({**base, 'choices': [choice]})}\n\n".encode()
    return [*[chunk] * (EVENTS - 1), b"data: [DONE]\n\n"]


class Contestant(ABC):
    """A server that is measured: `pids` are its processes, `port` where it listens."""

    name: str
    port: int
    pids: tuple[int, ...]

    @abstractmethod
    async def measure(self, kind: str, connections: int, seconds: float) -> float:
        """Answers per second of "json" or "sse"."""

    def tidy(self) -> None:  # noqa: B027 - most have nothing to do
        """What is due after a round and is not measured."""

    @abstractmethod
    def stop(self) -> None:
        """End it."""


class Ours(Contestant):
    """The replay upstream; its requests carry nonces, and each attempt is in its journal.

    `take_every` requests share a nonce, whose attempts are then taken, while all is measured; 0: after the round.
    """

    def __init__(self, take_every: int) -> None:
        self.name = "replay upstream, drained" if take_every else "replay upstream"
        self._take_every = take_every
        self._left: list[str] = []
        self._process = start_upstream(1)
        self.port, self.pids = self._process.ports[0], (self._process.pid,)
        self._numbers = itertools.count()
        body, texts = reply(), stream()
        head = ("HTTP/1.1 200 OK", "Content-Type: application/json", f"Content-Length: {len(body)}")
        streamed = ("HTTP/1.1 200 OK", "Content-Type: text/event-stream", "Transfer-Encoding: chunked")
        self._replies = {
            "json": Envelope(head=head, body=body, frames=(Frame(0.0, len(body)),)),
            "sse": Envelope(head=streamed, body=b"".join(texts), frames=tuple(Frame(0.0, len(t)) for t in texts)),
        }

    async def measure(self, kind: str, connections: int, seconds: float) -> float:
        control, pending = ControlClient(self._process.address), set[asyncio.Task[None]]()

        async def renew(new: str, old: str = "") -> None:
            await control.arm(new, {}, [self._replies[kind]])
            if old:
                taken = await control.take(old, wait_ms=2000)
                assert all(entry.played.digest for entry in taken)

        def fresh() -> str:
            return f"cf-bench{next(self._numbers):06d}"

        # The one before the current one is taken: its last request was answered long before the next 200 were sent.
        before, current, following, count = "", fresh(), fresh(), 0
        await renew(current)
        await renew(following)
        request = chat(f"Say hello. {current}", stream=kind == "sse")

        def next_request() -> bytes:
            nonlocal before, current, following, count, request
            count += 1
            if self._take_every and count % self._take_every == 0:
                done, before, current, following = before, current, following, fresh()
                request = chat(f"Say hello. {current}", stream=kind == "sse")
                task = asyncio.ensure_future(renew(following, done))
                pending.add(task)
                task.add_done_callback(pending.discard)
            return request

        found = await load(self.port, next_request, connections=connections, seconds=seconds)
        await asyncio.gather(*pending)
        await control.aclose()
        self._left = [nonce for nonce in (before, current, following) if nonce]
        return found.answers / found.seconds

    def tidy(self) -> None:
        for nonce in self._left:
            self._process.client().take(nonce, wait_ms=2000)

    def stop(self) -> None:
        self._process.stop()


@dataclass
class Command(Contestant):
    """A server that is a command; `requests` are its raw requests by kind."""

    name: str
    port: int
    child: subprocess.Popen[bytes]
    requests: dict[str, bytes]
    pids: tuple[int, ...] = field(default=())

    async def measure(self, kind: str, connections: int, seconds: float) -> float:
        request = self.requests[kind]
        found = await load(self.port, lambda: request, connections=connections, seconds=seconds)
        return found.answers / found.seconds

    def stop(self) -> None:
        self.child.terminate()
        self.child.wait(10)


def raw_asyncio(folder: Path) -> Contestant:
    """asyncio and httptools."""
    (folder / "reply.json").write_bytes(reply())
    (folder / "stream.txt").write_bytes(b"".join(stream()))
    command = [sys.executable, str(HERE / "raw_asyncio.py"), str(folder / "reply.json"), str(folder / "stream.txt")]
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert child.stdout is not None
    requests = {"json": chat("hi", stream=False), "sse": chat("hi", stream=True, path="/stream")}
    return Command("raw asyncio + httptools", int(child.stdout.readline()), child, requests, (child.pid,))


def nginx(path: str, folder: Path) -> Contestant:
    """nginx, one worker, static files; a POST to one is answered with the file."""
    (folder / "reply.json").write_bytes(reply())
    (folder / "stream.sse").write_bytes(b"".join(stream()))
    port = _free_port()
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;"
        "events { worker_connections 1024; }"
        f"http {{ access_log off; keepalive_requests 100000000; {temporary}"
        "types { application/json json; text/event-stream sse; }"
        f"server {{ listen 127.0.0.1:{port}; root {folder}; error_page 405 =200 $uri; }} }}"
    )
    child = subprocess.Popen(
        [path, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]
    )
    _await_port(port)
    requests = {
        "json": chat("hi", stream=False, path="/reply.json"),
        "sse": chat("hi", stream=True, path="/stream.sse"),
    }
    return Command("nginx, static", port, child, requests, _with_children(child.pid))


def aimock(root: str, folder: Path) -> Contestant:
    """aimock with a fixture for each kind: the same text, and one that it cuts into as many events."""
    text = "All work and no play. " * 16
    fixtures = [
        {"match": {"userMessage": "plain"}, "response": {"content": text}},
        {"match": {"userMessage": "stream"}, "response": {"content": " word and word" * (EVENTS - 3)}},
    ]
    (folder / "fixtures.json").write_text(json.dumps({"fixtures": fixtures}))
    port, binary = _free_port(), str(Path(root) / "node_modules/.bin/llmock")
    options = ["-p", str(port), "-f", str(folder / "fixtures.json"), "-c", str(len(" word and word"))]
    child = subprocess.Popen(["node", binary, *options, "--log-level", "silent"])
    _await_port(port)
    requests = {"json": chat("plain", stream=False), "sse": chat("stream", stream=True)}
    return Command("aimock", port, child, requests, (child.pid,))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nginx", default=shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin"))
    parser.add_argument("--aimock", help="the folder that has @copilotkit/aimock in its node_modules")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--connections", type=int, default=32)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)  # nginx's worker is another user when its master is root
        contestants, missing = _assemble(given, Path(name))
        try:
            rows = _measure(contestants, given)
        finally:
            for contestant in contestants:
                contestant.stop()
    _show(rows, missing)


def _assemble(given: argparse.Namespace, folder: Path) -> tuple[list[Contestant], list[str]]:
    contestants: list[Contestant] = [Ours(0), Ours(TAKE_EVERY)]
    missing: list[str] = []
    makers: list[tuple[str, bool, Callable[[Path], Contestant]]] = [
        ("raw asyncio + httptools (pip install httptools)", bool(importlib.util.find_spec("httptools")), raw_asyncio),
        ("nginx (--nginx PATH)", bool(given.nginx), lambda place: nginx(given.nginx, place)),
        (
            "aimock (--aimock DIR)",
            bool(given.aimock and shutil.which("node")),
            lambda place: aimock(given.aimock, place),
        ),
    ]
    for index, (what, there, make) in enumerate(makers):
        place = folder / str(index)
        place.mkdir()
        if there:
            contestants.append(make(place))
        else:
            missing.append(what)
    return contestants, missing


Rates = dict[str, list[tuple[float, float]]]


def _measure(contestants: list[Contestant], given: argparse.Namespace) -> dict[str, Rates]:
    """For each contestant and kind, (answers per second, microseconds of server CPU per answer) of each round."""
    rows: dict[str, Rates] = {contestant.name: {"json": [], "sse": []} for contestant in contestants}
    for number in range(given.rounds + 1):
        for contestant, kind in itertools.product(contestants, ("json", "sse")):
            cpu, begun = _cpu(contestant.pids), time.perf_counter()
            rate = asyncio.run(contestant.measure(kind, given.connections, given.seconds if number else 0.3))
            lasted = time.perf_counter() - begun
            if number:  # the first is a warm-up
                rows[contestant.name][kind].append((rate, (_cpu(contestant.pids) - cpu) / (rate * lasted) * 1e6))
            contestant.tidy()
    return rows


def _show(rows: dict[str, Rates], missing: list[str]) -> None:
    best = {kind: _median(next(iter(rows.values()))[kind], 0) for kind in ("json", "sse")}
    titles = ("JSON req/s", "of ours", "us CPU/req", "SSE events/s", "of ours", "us CPU/event")
    print(f"{'':26}" + "".join(f"{title:>14}" for title in titles))
    for name, rates in rows.items():
        plain, plain_cpu = (_median(rates["json"], index) for index in (0, 1))
        events, events_cpu = (_median(rates["sse"], index) for index in (0, 1))
        print(
            f"{name:26}{plain:14,.0f}{plain / best['json']:14.2f}{plain_cpu:14.1f}"
            f"{events * EVENTS:14,.0f}{events / best['sse']:14.2f}{events_cpu / EVENTS:14.2f}"
        )
    for what in missing:
        print(f"missing: {what}")


def _median(rounds: list[tuple[float, float]], index: int) -> float:
    return statistics.median(values[index] for values in rounds)


def _cpu(pids: tuple[int, ...]) -> float:
    """Seconds of CPU that these processes have used."""
    fields = (Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids)
    return sum(int(words[11]) + int(words[12]) for words in fields) / TICKS


def _with_children(pid: int) -> tuple[int, ...]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return (pid, *map(int, children))


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _await_port(port: int, *, seconds: float = 20.0) -> None:
    until = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


if __name__ == "__main__":
    main()
