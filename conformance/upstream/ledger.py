"""The live side of the journal: attempts while they happen, kept by nonce within a bound, and waited for.

Connections write here, the control port reads. An attempt is a journal Record all the time. Times are handed in;
the only thing of asyncio here is the future that a waiting reader is woken by.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from conformance.upstream.journal import AFTER_END, Played, close_point
from conformance.upstream.plays import ArmedPlay
from conformance.upstream.script import Script
from conformance.wire.transcript import End

#: Writes less than this many seconds apart are one in the journal.
WRITE_GRAIN = 1e-4

#: What an entry costs besides its request, in bytes, for the bound.
ENTRY_BYTES = 1024


class Attempt:
    """One request at one member, from its head to its end. `page` is its nonce's, None for a stray one."""

    __slots__ = (
        "at",
        "connection",
        "end",
        "ended_at",
        "finished",
        "member",
        "nonce",
        "number",
        "on_connection",
        "page",
        "peer_closed",
        "peer_closed_at",
        "played",
        "port",
        "read_at",
        "request",
        "script",
        "settled",
        "writes",
        "written",
    )

    def __init__(
        self, nonce: str, member: str, port: int, number: int, played: Played, script: Script, request: bytes,
        at: float, read_at: float, connection: int, on_connection: int, page: Page | None,
    ) -> None:  # fmt: skip
        self.nonce = nonce
        self.member = member
        self.port = port
        self.number = number
        self.played = played
        self.script = script
        self.request = request
        self.at = at
        self.read_at = read_at
        self.connection = connection
        self.on_connection = on_connection
        self.page = page
        self.writes: list[tuple[float, int]] = []
        self.written = 0
        self.end = End.STALL
        self.finished = False
        self.ended_at = 0.0
        self.peer_closed = ""
        self.peer_closed_at: float | None = None
        self.settled = False

    def wrote(self, now: float, size: int) -> None:
        """`size` more bytes went to the kernel."""
        self.written += size
        writes = self.writes
        if writes and now - writes[-1][0] < WRITE_GRAIN:
            writes[-1] = (writes[-1][0], writes[-1][1] + size)
        else:
            writes.append((now, size))

    def ended(self, now: float, end: End, *, settled: bool = True) -> None:
        """The member did what ends its script; unsettled: the peer's close is still worth waiting for."""
        self.end, self.ended_at, self.finished = end, now, True
        if settled:
            self.settle(now)

    def peer_gone(self, now: float) -> None:
        """The peer closed or reset the connection."""
        if self.peer_closed_at is not None:
            return
        self.peer_closed_at = now
        if self.end in (End.COMPLETE, End.CLOSE) and self.settled:
            self.peer_closed = AFTER_END
        else:
            sent = b"".join(step.data for step in self.script.steps)[: self.written]
            self.peer_closed = close_point(sent)
        if not self.finished:
            self.end, self.ended_at, self.finished = End.HANGUP, now, True
        self.settle(now)

    def settle(self, now: float) -> None:
        """Nothing more is to be expected of this attempt."""
        if not self.settled:
            self.settled = True
            if self.page is not None:
                self.page.changed(now)

    @property
    def open(self) -> bool:
        """Whether something is still to be expected."""
        return not self.settled

    def seen(self, now: float) -> Attempt:
        """The attempt as it stands at `now`: an unfinished one has stalled until then."""
        if not self.finished:
            self.ended_at = now
        return self


class Page:
    """One nonce's play and its attempts in order of arrival; `lost` counts those that the bound kept out."""

    __slots__ = ("_waiter", "attempts", "changed_at", "lost", "play")

    def __init__(self, play: ArmedPlay, now: float) -> None:
        self.play = play
        self.attempts: list[Attempt] = []
        self.lost = 0
        self.changed_at = now
        self._waiter: asyncio.Future[None] | None = None

    @property
    def settled(self) -> bool:
        """Whether every attempt so far has come to its end."""
        return all(attempt.settled for attempt in self.attempts)

    def changed(self, now: float) -> None:
        """An attempt began or settled: wake who waits."""
        self.changed_at = now
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def settle(self, *, wait: float, quiet: float) -> None:
        """Wait until all attempts are settled and nothing has changed for `quiet` seconds; at most `wait` seconds."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        while True:
            still = max(self.changed_at, begun) + quiet if self.settled else begun + wait
            until = min(still, begun + wait)
            if loop.time() >= until:
                return
            self._waiter = loop.create_future()
            timer = loop.call_at(until, _wake, self._waiter)
            try:
                await self._waiter
            finally:
                timer.cancel()
                self._waiter = None


class Ledger:
    """All attempts that were not taken yet, by nonce, and the stray ones; bounded in entries and bytes."""

    def __init__(self, *, max_entries: int, max_bytes: int) -> None:
        self.pages: dict[str, Page] = {}
        self.stray: list[Attempt] = []
        self.stray_lost = 0
        self.lost = 0
        self.entries = 0
        self.bytes = 0
        self._max_entries, self._max_bytes = max_entries, max_bytes

    def record(self, attempt: Attempt) -> None:
        """Keep an attempt that begins now, or count it as lost when the bound is reached."""
        cost = len(attempt.request) + ENTRY_BYTES
        kept = self.entries < self._max_entries and self.bytes + cost <= self._max_bytes
        page = attempt.page
        if kept:
            self.entries += 1
            self.bytes += cost
            (self.stray if page is None else page.attempts).append(attempt)
        else:
            self.lost += 1
            if page is None:
                self.stray_lost += 1
            else:
                page.lost += 1
        if page is not None:
            page.changed(attempt.at)

    def remove(self, nonce: str) -> Page | None:
        """Take a nonce's page out; its attempts no longer count."""
        page = self.pages.pop(nonce, None)
        for attempt in page.attempts if page else ():
            self.entries -= 1
            self.bytes -= len(attempt.request) + ENTRY_BYTES
        return page

    def all(self) -> Iterator[Attempt]:
        """Every attempt kept: those of armed nonces, then the stray ones."""
        for page in self.pages.values():
            yield from page.attempts
        yield from self.stray


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
