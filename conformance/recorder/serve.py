"""The recorder: a relay between any client and a provider, or around a gateway, that writes what passes into cassettes.

Listens on loopback, connects with the system's trust, ends on a signal or when it has enough. Each connection is a
passage, what passed is entered at the desk; this module puts them together.
"""

from __future__ import annotations

import asyncio
import queue
import signal
import ssl
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from conformance.driver.request import Place
from conformance.errors import UpstreamError
from conformance.recorder.desk import Desk, Leg
from conformance.recorder.file import RecordFile
from conformance.recorder.passage import READ, Ears, Passage, Terms
from conformance.recorder.request import Route
from conformance.upstream.serve import raise_descriptor_limit

#: How long what still passes may take, in seconds, once there is enough; and who reads it, when there is no more time.
LAST_SECONDS, LAST = 60.0, 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`to` is recorded into `file`; with members `behind`, by name, `to` is their gateway, and their attempts go into
    `attempts`. The first port is `port`, the members' follow (0: free ones). `most` exchanges are enough (0: never).

    `key` replaces the key of clients; `silence` is how many seconds a provider may be silent.
    """

    to: Place
    file: RecordFile
    behind: tuple[tuple[str, Place], ...] = ()
    attempts: RecordFile | None = None
    port: int = 0
    most: int = 0
    key: str = field(default="", repr=False)
    silence: float = 300.0
    tls: ssl.SSLContext | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """How many exchanges were entered, how many were not, and whether the file holds what was entered."""

    kept: int
    left: int
    failure: str = ""


def record(settings: Settings, say: Callable[[str], None]) -> Tally:
    """Record until SIGINT, SIGTERM or enough; `say` is told URLs and what is recorded, line by line.

    Raises UpstreamError when a port cannot be had.
    """
    with _Teller(say) as tell:
        return asyncio.run(recording(settings, tell))


async def recording(settings: Settings, say: Callable[[str], None], stop: asyncio.Event | None = None) -> Tally:
    """The same within an event loop, until `stop` is set."""
    stop = stop or _told_by_signals()
    raise_descriptor_limit()
    desk = Desk(settings.file, settings.attempts, key=settings.key, most=settings.most, say=say)
    office = asyncio.ensure_future(desk.run())
    listeners: list[Listener] = []
    try:
        legs = [("", settings.to), *settings.behind]
        for number, (member, place) in enumerate(legs):
            listener = Listener(desk, settings, place, member)
            listeners.append(listener)
            await listener.start(settings.port + number if settings.port else 0)
        for listener in listeners:
            say(listener.described)
        await _first(office, stop.wait(), desk.full.wait())
        if not stop.is_set():
            closing = [listener.close(LAST_SECONDS) for listener in listeners]
            await _first(office, stop.wait(), asyncio.gather(*closing))
    finally:
        for listener in listeners:
            await listener.close(0.0)
        desk.close()
        await office
    return Tally(desk.kept, desk.left, str(desk.failure or ""))


class Listener:
    """One port of the recorder, for one provider."""

    def __init__(self, desk: Desk, settings: Settings, place: Place, member: str) -> None:
        route = Route(place=place, key=settings.key if not settings.behind or member else "")
        self._leg = Leg(origin=route.origin, member=member)
        tls = (settings.tls or _system_trust()) if place.tls else None
        self._terms = Terms(route=route, tls=tls, silence=settings.silence, gives_up=bool(member))
        self._ears = Ears(
            began=lambda exchange: desk.began(self._leg, exchange),
            ended=lambda exchange, passed: desk.ended(self._leg, exchange, passed),
        )
        self._server: asyncio.Server | None = None
        self._passing: dict[Passage, asyncio.Task[None]] = {}
        self._port = 0

    async def start(self, port: int) -> None:
        """Listen. Raises UpstreamError."""
        try:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", port, limit=READ, backlog=1024)
        except OSError as error:
            hint = "name a free one with --port, or none"
            where = f"127.0.0.1:{port}"
            raise UpstreamError(f"no port can be had: {error.strerror}", where=where, hint=hint) from error
        self._port = self._server.sockets[0].getsockname()[1]

    @property
    def described(self) -> str:
        """The line that tells what to give to a client, or to a gateway for a member."""
        url = f"http://127.0.0.1:{self._port}{self._terms.route.place.prefix}"
        return f"member {self._leg.member} {url}" if self._leg.member else f"base-url {url}"

    async def close(self, seconds: float) -> None:
        """Take no more connections; what passes may go on for so long."""
        if self._server is not None:
            self._server.close()
        busy = [task for passage, task in self._passing.items() if passage.busy]
        for task in self._passing.values():
            if task not in busy:
                task.cancel()
        if busy and seconds:
            await asyncio.wait(busy, timeout=seconds)
        while tasks := list(self._passing.values()):  # the second time, who does not read what came is not waited for
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=LAST)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        passage = Passage(self._terms, self._ears, reader, writer)
        self._passing[passage] = task
        try:
            await passage.run()
        except asyncio.CancelledError:
            pass  # the end of the recorder, not of the world: nobody waits for this task's word
        finally:
            self._passing.pop(passage)


class _Teller:
    """Says lines from a thread of its own: who does not read them holds nothing up."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Callable[[str], None]:
        self._thread.start()
        return self._lines.put

    def __exit__(self, *_: object) -> None:
        self._lines.put(None)
        self._thread.join(2.0)

    def _run(self) -> None:
        while (line := self._lines.get()) is not None:
            try:
                self._say(line)
            except OSError:
                return  # nobody listens any more


def _told_by_signals() -> asyncio.Event:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


def _system_trust() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


async def _first(office: asyncio.Future[None], *waits: Awaitable[Any]) -> None:
    """Wait until one of them is over, or the office (which ends early with a fault of ours alone)."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait([office, *tasks], return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
