"""A recorder within a test's event loop, and raw clients of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.cassette.model import Cassette
from conformance.cassette.store import load
from conformance.driver.request import locate
from conformance.recorder.file import About, open_file
from conformance.recorder.serve import Settings, Tally, recording
from conformance.wire.http1 import ResponseReader

ABOUT = About(title="", provider="test", source="a test", date="2026-01-02")
WAIT = 20.0


@dataclass(slots=True)
class Recorder:
    """A running recorder: what it told, and once it has ended, its tally."""

    path: Path
    lines: list[str]
    tally: Tally | None = None
    urls: list[str] = field(default_factory=list)

    @property
    def port(self) -> int:
        """Where clients connect."""
        port = locate(self.urls[0]).port
        assert isinstance(port, int)
        return port

    def cassette(self) -> Cassette:
        """What stands in the file."""
        return load(self.path)

    async def told(self, count: int) -> list[str]:
        """The lines about exchanges, once there are so many."""

        def about() -> list[str]:
            return [line for line in self.lines if line.startswith(("recorded", "not recorded"))]

        await until(lambda: len(about()) >= count)
        return about()


async def until(condition: Callable[[], bool]) -> None:
    """Wait until the condition comes true."""
    async with asyncio.timeout(WAIT):
        while not condition():  # noqa: ASYNC110 - what is waited for sets no event
            await asyncio.sleep(0.005)


@asynccontextmanager
async def recorder(base_url: str, path: Path, *, append: bool = False, **more: Any) -> AsyncIterator[Recorder]:
    """A recorder before `base_url` that writes `path`; within the block it runs, after it everything is written."""
    lines: list[str] = []
    stop = asyncio.Event()
    settings = Settings(to=locate(base_url), file=open_file(path, ABOUT, append=append), **more)
    task = asyncio.ensure_future(recording(settings, lines.append, stop))
    running = Recorder(path, lines)
    await until(lambda: task.done() or len(lines) > len(settings.behind))
    running.urls = [line.split()[-1] for line in lines[: len(settings.behind) + 1]]
    try:
        yield running
    finally:
        stop.set()
        running.tally = await task


async def ask(port: int, request: bytes, *, method: str = "POST") -> tuple[bytes, str]:
    """The raw response to one request, and how it ended: whole, fin, rst."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request)
        return await answer(reader, method=method)
    finally:
        writer.transport.abort()


async def answer(reader: asyncio.StreamReader, *, method: str = "POST") -> tuple[bytes, str]:
    """The next response on a connection, and how it ended."""
    framing, raw = ResponseReader(method), b""
    async with asyncio.timeout(WAIT):
        while not framing.complete:
            try:
                data = await reader.read(65536)
            except ConnectionResetError:
                return raw, "rst"
            if not data:
                return raw, "fin"
            raw += data
            framing.feed(data)
    return raw, "whole"
