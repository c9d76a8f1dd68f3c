"""The replay upstream's own process, from inside: members and control port up, announced, served until told to stop.

`serve_attached` belongs to a parent (handshake on stdout, ends when stdin does); `serve_alone` is behind
`conformance upstream`, for a gateway on another host.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import resource
import secrets
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from conformance.cassette.store import Library
from conformance.upstream.client import Address
from conformance.upstream.control import Control, ControlProtocol
from conformance.upstream.server import DEFAULT_BOUNDS, Bounds, Upstream

PARENT_CHECK_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`members` ports on `host`, from `port_base` on (0: free ones); folders of cassettes (none: the shipped ones)."""

    members: int
    port_base: int = 0
    host: str = "127.0.0.1"
    cassettes: tuple[Path, ...] = ()
    bounds: Bounds = DEFAULT_BOUNDS


def serve_attached(settings: Settings) -> int:
    """Serve a parent process: one JSON line on stdout says where, the end of stdin or of the parent ends it.

    A terminal's Ctrl-C reaches both: what it ends, and when, is the parent's to say.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def announce(address: Address) -> None:
        told = {"control_port": address.control_port, "token": address.token, "ports": address.ports}
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()

    async def main() -> None:
        stop = asyncio.Event()
        async with _running(settings, stop, signal.SIGTERM) as address:
            _watch_parent(stop)
            announce(address)
            await stop.wait()

    asyncio.run(main())
    return 0


def serve_alone(settings: Settings, say: Callable[[str], None]) -> int:
    """Serve until interrupted or shut down; `say` is told control URL, token file and ports, line by line.

    Raises UpstreamError when a port cannot be had.
    """

    async def main() -> None:
        stop = asyncio.Event()
        async with _running(settings, stop, signal.SIGTERM, signal.SIGINT) as address:
            with _token_file(address.token) as path:
                say(f"control http://127.0.0.1:{address.control_port}")
                say(f"token-file {path}")
                for name, port in zip(address.members, address.ports, strict=True):
                    say(f"member {name} http://{settings.host}:{port}")
                await stop.wait()

    asyncio.run(main())
    return 0


@asynccontextmanager
async def _running(settings: Settings, stop: asyncio.Event, *ending: signal.Signals) -> AsyncIterator[Address]:
    """Members and control port, up; closed at the end. The signals `ending` set `stop`."""
    loop = asyncio.get_running_loop()
    raise_descriptor_limit()
    library = Library(settings.cassettes or None)
    upstream = Upstream(
        settings.members, library.get, host=settings.host, port_base=settings.port_base, bounds=settings.bounds
    )
    token = secrets.token_urlsafe(32)
    control = Control(upstream, token, stop.set)
    server = await loop.create_server(lambda: ControlProtocol(control), "127.0.0.1", 0, backlog=1024)
    for number in ending:
        loop.add_signal_handler(number, stop.set)
    _calm_collector()
    try:
        port: int = server.sockets[0].getsockname()[1]
        yield Address(control_port=port, token=token, ports=upstream.ports)
    finally:
        server.close()
        upstream.close()


def _watch_parent(stop: asyncio.Event) -> None:
    """Set `stop` at the end of stdin, or when the parent is another: a copy of the pipe may live on in a fork of it."""
    loop, parent = asyncio.get_running_loop(), os.getppid()

    def read() -> None:
        with contextlib.suppress(BlockingIOError):
            if not os.read(0, 4096):
                loop.remove_reader(0)
                stop.set()

    def check() -> None:
        if os.getppid() != parent:
            stop.set()
        loop.call_later(PARENT_CHECK_SECONDS, check)

    os.set_blocking(0, False)
    loop.add_reader(0, read)
    check()


@contextlib.contextmanager
def _token_file(token: str) -> Iterator[Path]:
    handle, name = tempfile.mkstemp(prefix="conformance-upstream-", suffix=".token")
    path = Path(name)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(token)
        yield path
    finally:
        path.unlink(missing_ok=True)


def raise_descriptor_limit() -> None:
    """As many connections as the system grants."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _calm_collector() -> None:
    """What lives now lives to the end, and there are few cycles: collections would only disturb the timing."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def folders(names: Sequence[str]) -> tuple[Path, ...]:
    """Folder names as paths."""
    return tuple(Path(name) for name in names)
