"""The replay upstream inside its process: N member ports, the plays that are armed, and the journal of every attempt.

Ties members, plays and ledger together: which script answers which request, and what a control port may ask. Every
method is called on the one event loop.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from email.utils import formatdate

from conformance.cassette.model import Cassette
from conformance.errors import ScenarioError, UpstreamError
from conformance.upstream.connection import Connection
from conformance.upstream.healthy import healthy, unknown_nonce, unplanned
from conformance.upstream.items import WORDS, Item, Scripts, armed
from conformance.upstream.journal import Played
from conformance.upstream.ledger import Attempt, Ledger, Page
from conformance.upstream.member import MemberPort
from conformance.upstream.plays import MAX_ARMED, ArmedPlay, find_nonce, plan_play
from conformance.upstream.script import Script

DEFAULT, UNKNOWN, UNPLANNED = Played(cassette="@default"), Played(cassette="@unknown"), Played(cassette="@unplanned")
REFUSED = Played(cassette="@refuse")


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """Attempts in order of arrival, as they stand; `lost` counts those that the bound kept out (never silently)."""

    attempts: tuple[Attempt, ...]
    lost: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What the journal may hold: attempts not taken yet, and their bytes."""

    entries: int = 200_000
    bytes: int = 512 * 1024 * 1024


DEFAULT_BOUNDS = Bounds()


class Upstream:
    """N members on `host`; `port_base` 0 means free ports, else port_base, port_base + 1 and so on.

    Made inside a running loop. Raises UpstreamError when a port cannot be had.
    """

    def __init__(
        self,
        members: int,
        cassette: Callable[[str], Cassette],
        *,
        host: str = "127.0.0.1",
        port_base: int = 0,
        bounds: Bounds = DEFAULT_BOUNDS,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._scripts = Scripts(cassette)
        self._ledger = Ledger(max_entries=bounds.entries, max_bytes=bounds.bytes)
        self._connections = 0
        self._refusals: dict[str, int] = {}
        self.members: dict[str, MemberPort] = {}
        try:
            for index in range(members):
                port = port_base + index if port_base else 0
                self.members[f"u{index}"] = MemberPort(self._loop, f"u{index}", host, port, self._accepted)
        except BaseException:
            self.close()
            raise

    @property
    def ports(self) -> tuple[int, ...]:
        """The members' ports, u0 first."""
        return tuple(member.port for member in self.members.values())

    def arm(self, nonce: str, members: Mapping[str, Sequence[Item]], default: Sequence[Item]) -> None:
        """Play this to requests that carry `nonce`. Raises ScenarioError or CassetteError for what cannot be played."""
        if nonce in self._ledger.pages:
            hint = "each request has its own: a second run on this upstream needs another --seed"
            raise ScenarioError(f"the nonce {nonce} is armed already", where="arm", hint=hint)
        if len(self._ledger.pages) >= MAX_ARMED:
            raise UpstreamError(f"{MAX_ARMED} plays are armed", where="arm", hint="take each nonce when it is done")
        now = formatdate(usegmt=True)
        lists = {name: [armed(item, now) for item in items] for name, items in members.items()}
        play = plan_play(self._scripts, nonce, lists, [armed(item, now) for item in default], self.members)
        self._ledger.pages[nonce] = Page(play, self._loop.time())
        for name in play.refusing:
            self._refusals[name] = self._refusals.get(name, 0) + 1
            self.members[name].refuse()

    async def take(self, nonce: str, *, wait: float, quiet: float) -> Taken:
        """The attempts of `nonce`, once all have ended and nothing came for `quiet` seconds; at most `wait` seconds on.

        The play is disarmed: what comes later is stray. Raises ScenarioError when the nonce is not armed.
        """
        page = self._page(nonce)
        if quiet or not page.settled:
            await page.settle(wait=wait, quiet=quiet)
        return self.take_now(nonce)

    def settled(self, nonce: str) -> bool:
        """Whether every attempt of `nonce` has ended. Raises ScenarioError when the nonce is not armed."""
        return self._page(nonce).settled

    def take_now(self, nonce: str) -> Taken:
        """Like take, without any wait."""
        page = self._page(nonce)
        self._ledger.remove(nonce)
        self._let_listen(page.play)
        now = self._loop.time()
        return Taken(attempts=tuple([attempt.seen(now) for attempt in page.attempts]), lost=page.lost)

    def journal(self) -> Taken:
        """Every attempt that is held, those of armed nonces first; nothing is removed."""
        now = self._loop.time()
        return Taken(attempts=tuple(attempt.seen(now) for attempt in self._ledger.all()), lost=self._ledger.lost)

    def stray(self) -> Taken:
        """The attempts that belong to no play: without a nonce, or with one that was not armed. Nothing is removed."""
        now = self._loop.time()
        return Taken(attempts=tuple(attempt.seen(now) for attempt in self._ledger.stray), lost=self._ledger.stray_lost)

    def health(self) -> dict[str, object]:
        """Counts for a person or a probe."""
        members = self.members.values()
        return {
            "members": {
                m.name: {"port": m.port, "refusing": m.refusing, "connections": len(m.connections)} for m in members
            },
            "armed": len(self._ledger.pages),
            "entries": self._ledger.entries,
            "bytes": self._ledger.bytes,
            "lost": self._ledger.lost,
            "exhausted": sum(member.exhausted for member in members),
        }

    def close(self) -> None:
        """Close every port and connection."""
        for member in self.members.values():
            member.close()

    def _page(self, nonce: str) -> Page:
        page = self._ledger.pages.get(nonce)
        if page is None:
            raise ScenarioError(f"the nonce {nonce} is not armed", where="take", hint="was it taken already?")
        return page

    def _let_listen(self, play: ArmedPlay) -> None:
        """Members that refused for this play alone take connections again."""
        for name in play.refusing:
            self._refusals[name] -= 1
            if not self._refusals[name]:
                del self._refusals[name]
                self.members[name].listen()

    def _accepted(self, member: MemberPort, accepted: socket.socket) -> None:
        number, self._connections = self._connections, self._connections + 1
        member.connections.add(
            Connection(self._loop, accepted, member.name, member.port, number, self._begin, member.connections.discard)
        )

    def _begin(self, connection: Connection, request: bytes, at: float, now: float) -> Attempt:
        """The attempt that `request` is, with the script that answers it; recorded."""
        pages = self._ledger.pages
        nonce = find_nonce(request, pages)
        page = pages.get(nonce)
        number, played, script = self._answer(connection.member, nonce, page, request)
        attempt = Attempt(
            nonce, connection.member, connection.port, number, played, script, request, at, now,
            connection.number, connection.served, page,
        )  # fmt: skip
        self._ledger.record(attempt)
        return attempt

    def _answer(self, member: str, nonce: str, page: Page | None, request: bytes) -> tuple[int, Played, Script]:
        if page is not None:
            number, planned = page.play.next(member)
            if planned is None:
                return number, UNPLANNED, unplanned(nonce, member)
            return number, planned.played, planned.script
        if nonce:
            return 0, UNKNOWN, unknown_nonce(nonce)
        if member in self._refusals:
            return 0, REFUSED, WORDS["@refuse"]
        return 0, DEFAULT, healthy(request)
