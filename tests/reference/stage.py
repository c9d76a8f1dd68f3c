"""A stage for the gateway's tests: raw upstream members that play scripts, the gateway before them, and a raw client.

Everything runs on one loop on loopback ports; each member keeps the requests that it got and when its peer went.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from conformance.reference.behaviour import Behaviour
from conformance.reference.config import decode_config
from conformance.reference.framing import Framing
from conformance.reference.rules import Clock
from conformance.reference.serve import hosted

KEY = "sk-test-client"
ALIAS = "lane-one"
DEADLINE = 10.0

Script = Callable[["Peer"], Awaitable[None]]


@dataclass
class Peer:
    """One connection to a member: the request that came, the way to answer, and whether the gateway has gone."""

    request: bytes
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    def reset(self) -> None:
        self.writer.transport.abort()

    async def until_gone(self) -> None:
        """Wait until the gateway has closed the connection."""
        try:
            while await self.reader.read(65536):
                pass
        except OSError:
            pass
        self.gone.set()

    @property
    def body(self) -> bytes:
        return self.request.partition(b"\r\n\r\n")[2]

    @property
    def doc(self) -> Any:
        return json.loads(self.body)

    @property
    def head(self) -> bytes:
        return self.request.partition(b"\r\n\r\n")[0]


class Member:
    """An upstream on a port of its own that plays one script for every request."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.peers: list[Peer] = []
        self.arrived = asyncio.Event()
        self.server: asyncio.Server | None = None
        self.port = 0

    async def start(self) -> None:
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(
                int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")
            )
            peer = Peer(head + await reader.readexactly(length), reader, writer)
            self.peers.append(peer)
            self.arrived.set()
            await self.script(peer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


def reply(
    body: bytes | dict[str, Any] | list[Any],
    *,
    status: int = 200,
    kind: str = "application/json",
    fields: Sequence[str] = (),
) -> Script:
    """A script that answers with one body of known length."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()

    async def play(peer: Peer) -> None:
        lines = [f"HTTP/1.1 {status} X", f"Content-Type: {kind}", f"Content-Length: {len(data)}", *fields]
        await peer.send("\r\n".join(lines).encode() + b"\r\n\r\n" + data)

    return play


STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunk(data: bytes) -> bytes:
    """`data` as one HTTP chunk."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def event(doc: Any) -> bytes:
    """One server-sent event."""
    return b"data: " + (doc if isinstance(doc, bytes) else json.dumps(doc).encode()) + b"\n\n"


def delta(reason: str | None = None, **members: Any) -> dict[str, Any]:
    """A chat chunk document."""
    choice = {"index": 0, "delta": members, "finish_reason": reason}
    return {
        "id": "gen-1",
        "object": "chat.completion.chunk",
        "created": 1700000000,
        "model": "up-model-0",
        "choices": [choice],
    }


USAGE = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
HELLO = [delta(role="assistant", content=""), delta(content="Hel"), delta(content="lo"), delta("stop")]


def stream(*docs: Any, done: bool = True, end: str = "complete", head: bytes = STREAM_HEAD) -> Script:
    """A script that streams each document as one event; `end` is complete, close, reset or stall."""

    async def play(peer: Peer) -> None:
        await peer.send(head)
        for doc in docs:
            await peer.send(chunk(doc if isinstance(doc, bytes) and not doc.startswith(b"{") else event(doc)))
        if done:
            await peer.send(chunk(event(b"[DONE]")))
        if end == "complete":
            await peer.send(b"0\r\n\r\n")
        elif end == "reset":
            peer.reset()
        elif end == "stall":
            await peer.until_gone()

    return play


async def hang(peer: Peer) -> None:
    """A script that never answers."""
    await peer.until_gone()


async def slam(peer: Peer) -> None:
    """A script that closes before any byte."""


def completion(content: Any = "Hello", reason: Any = "stop", **members: Any) -> dict[str, Any]:
    """A chat completion document."""
    message = {"role": "assistant", "content": content, **members}
    return {
        "id": "gen-2",
        "object": "chat.completion",
        "created": 1700000000,
        "model": "up-model-0",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": USAGE,
    }


GOOD = reply(completion())


@dataclass
class Answer:
    """What the client got: status, field lines by lower-case name, the body with chunks removed, and whether it is
    whole.
    """

    status: int
    fields: dict[str, str]
    body: bytes
    whole: bool

    @property
    def doc(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> dict[str, Any]:
        return dict(self.doc["error"])

    @property
    def events(self) -> list[Any]:
        """The data of each event: parsed, or the text `[DONE]`."""
        blocks = [block for block in self.body.split(b"\n\n") if block]
        data = [b"\n".join(line[6:] for line in block.split(b"\n") if line.startswith(b"data: ")) for block in blocks]
        return ["[DONE]" if item == b"[DONE]" else json.loads(item) for item in data]

    @property
    def text(self) -> str:
        """The streamed content of choice 0."""
        return "".join(
            choice["delta"].get("content") or ""
            for doc in self.events
            if isinstance(doc, dict)
            for choice in doc.get("choices", [])
        )


class Client:
    """A raw client of the gateway: one connection for each request."""

    def __init__(self, port: int, members: Sequence[Member]) -> None:
        self.port = port
        self.members = list(members)

    async def open(
        self,
        body: Any,
        path: str = "/v1/chat/completions",
        method: str = "POST",
        key: str | None = KEY,
        fields: Sequence[str] = (),
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        data = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else b""
        lines = [
            f"{method} {path} HTTP/1.1",
            "Host: gateway",
            "Connection: close",
            f"Content-Length: {len(data)}",
            *fields,
        ]
        lines += [f"Authorization: Bearer {key}"] if key is not None else []
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + data)
        await writer.drain()
        return reader, writer

    async def ask(self, body: Any, path: str = "/v1/chat/completions", **options: Any) -> Answer:
        """The whole answer to one request."""
        reader, writer = await self.open(body, path, **options)
        async with asyncio.timeout(DEADLINE):
            raw = await reader.read()
        writer.close()
        return parse(raw)

    async def chat(self, **members: Any) -> Answer:
        """The answer to one chat request."""
        return await self.ask(chat_request(**members))

    @property
    def attempts(self) -> list[int]:
        """How many requests each member got."""
        return [len(member.peers) for member in self.members]


def chat_request(**members: Any) -> dict[str, Any]:
    """A chat request's document."""
    return {"model": ALIAS, "messages": [{"role": "user", "content": "Say hello."}], **members}


def parse(raw: bytes) -> Answer:
    """The answer in the bytes of one connection."""
    head, _, rest = raw.partition(b"\r\n\r\n")
    status_line, *lines = head.decode("latin-1").split("\r\n")
    fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if fields.get("transfer-encoding") != "chunked":
        return Answer(
            int(status_line.split()[1]), fields, rest, len(rest) == int(fields.get("content-length", len(rest)))
        )
    body, whole = b"", False
    while rest and not whole:
        size, _, rest = rest.partition(b"\r\n")
        count = int(size, 16)
        whole = count == 0
        body, rest = body + rest[:count], rest[count + 2 :]
    return Answer(int(status_line.split()[1]), fields, body, whole)


QUICK = Behaviour(framing=Framing)


@asynccontextmanager
async def staged(
    *scripts: Script, behaviour: Behaviour = QUICK, dead: int = 0, clock: Clock = time.monotonic, **settings: Any
) -> AsyncIterator[Client]:
    """A gateway with one lane whose members play `scripts`; the first `dead` of them are then made unreachable.

    Its own server serves it, which starts and ends at once; give FAITHFUL for uvicorn.
    """
    members = [Member(script) for script in scripts]
    for member in members:
        await member.start()
    table = {
        "api_key": KEY,
        "lanes": [
            {
                "alias": ALIAS,
                "members": [
                    {
                        "name": f"m{number}",
                        "base_url": f"http://127.0.0.1:{member.port}/v1",
                        "api_key": f"sk-up-{number}",
                        "model": f"up-model-{number}",
                    }
                    for number, member in enumerate(members)
                ],
            }
        ],
        **settings,
    }
    for member in members[:dead]:
        assert member.server is not None
        member.server.close()
    async with hosted(decode_config(table), {"it": behaviour}, clock=clock) as hosts:
        yield Client(hosts.ports["it"], members)
    for member in members:
        assert member.server is not None
        member.server.close()


def play(work: Callable[[], Awaitable[None]]) -> None:
    """Run one test's coroutine, within a deadline."""

    async def bounded() -> None:
        async with asyncio.timeout(2 * DEADLINE):
            await work()

    asyncio.run(bounded())
