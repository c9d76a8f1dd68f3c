"""Gateways on ports of the loopback interface: one, or a faithful one and every defect side by side in one process.

One uvicorn serves all of them and tells them apart by the port; those that write HTTP themselves get a server of
their own.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from conformance.reference.app import build_app
from conformance.reference.behaviour import Behaviour
from conformance.reference.config import Config
from conformance.reference.rawserver import serve_raw
from conformance.reference.rules import Clock

HOST = "127.0.0.1"
BACKLOG = 2048


def bind(port: int = 0) -> socket.socket:
    """A listening socket on the loopback interface; port 0 lets the system choose."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((HOST, port))
    sock.listen(BACKLOG)
    return sock


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosts:
    """Gateways that are being served: the port of each, and a future that is done when a signal has ended them."""

    ports: dict[str, int]
    ended: asyncio.Future[None]


class _Switchboard:
    """Hands each request to the application of the port that it came in on."""

    def __init__(self, apps: Mapping[int, ASGIApp]) -> None:
        self._apps = apps

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._apps[scope["server"][1]](scope, receive, send)


class _Server(uvicorn.Server):
    """A uvicorn that lets one wait until it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()


@asynccontextmanager
async def hosted(
    config: Config, gateways: Mapping[str, Behaviour], port: int = 0, clock: Clock = time.monotonic
) -> AsyncIterator[Hosts]:
    """Serve each named behaviour on a port of its own (`port`, when there is one alone) for as long as the context
    lasts. Each has a memory of its own, which goes by `clock`.
    """
    apps: dict[int, ASGIApp] = {}
    ports: dict[str, int] = {}
    raw: list[asyncio.Server] = []
    sockets: list[socket.socket] = []
    for name, behaviour in gateways.items():
        sock = bind(port)
        ports[name] = sock.getsockname()[1]
        apps[ports[name]] = build_app(config, behaviour, clock)
        if behaviour.framing is not None:
            raw.append(await serve_raw(apps[ports[name]], behaviour.framing, sock))
        else:
            sockets.append(sock)
    async with _uvicorn(_Switchboard(apps), sockets) as ended:
        yield Hosts(ports=ports, ended=ended)
    for other in raw:
        other.close()


@asynccontextmanager
async def _uvicorn(app: ASGIApp, sockets: list[socket.socket]) -> AsyncIterator[asyncio.Future[None]]:
    """uvicorn on the sockets, listening; the future is done when a signal has ended it. Nothing when there is no
    socket.
    """
    if not sockets:
        yield asyncio.get_running_loop().create_future()
        return
    server = _Server(settings(app))
    ended = asyncio.ensure_future(server.serve(sockets=sockets))
    listening = asyncio.ensure_future(server.listening.wait())
    await asyncio.wait({ended, listening}, return_when=asyncio.FIRST_COMPLETED)
    try:
        yield ended
    finally:
        server.should_exit = True
        await ended


def settings(app: ASGIApp) -> uvicorn.Config:
    """uvicorn as the gateway wants it: no word about itself in the headers, no access log, a quick end."""
    return uvicorn.Config(
        app,
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=True,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_graceful_shutdown=1,
        timeout_keep_alive=30,
    )
