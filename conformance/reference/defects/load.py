"""Defects that show only under load: what requests share, and what runs dry, when more than a few are open at once.

Each holds for one request after the other. `at` says how many requests at once it takes; the matrix, which plays one
after the other, knows nothing of them, and a load run finds them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from conformance.reference.attempt import attempt
from conformance.reference.behaviour import Behaviour
from conformance.reference.call import Call
from conformance.reference.config import Member
from conformance.reference.defects.entry import Defect
from conformance.reference.errors import refuse
from conformance.reference.failure import Failure
from conformance.reference.health import Health, Permit
from conformance.reference.media import now
from conformance.reference.steps import Step

#: A shared buffer is flushed so many seconds after it was written to.
FLUSH = 0.02
#: A connection is waited for so long, in seconds.
PATIENCE = 0.05
#: Failures count together that are no further apart, and a cooldown lasts so long, in seconds.
TOGETHER, COOLDOWN = 0.06, 1.0
#: The ends of two streams that are no further apart are one to a shared flag, in seconds.
RACE = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadDefect(Defect):
    """A defect of requests that are open together: `at` so many at once it shows, and with fewer it does not."""

    at: int


@asynccontextmanager
async def _open(call: Call) -> AsyncIterator[None]:
    """Counts the requests that are open, and numbers them."""
    call.shared["open"] = call.shared.get("open", 0) + 1
    call.memo["turn"] = call.shared["turn"] = call.shared.get("turn", 0) + 1
    try:
        yield
    finally:
        call.shared["open"] -= 1


def _crowded(call: Call, at: int) -> bool:
    return bool(call.shared["open"] >= at)


async def _shared_buffer(parts: AsyncIterator[bytes], call: Call) -> AsyncIterator[bytes]:
    """Five buffers, dealt in turn: the sixth stream writes into the first one's."""
    buffers: list[bytes] = call.shared.setdefault("buffers", [b""] * 5)
    slot = call.memo["turn"] % len(buffers)
    async for part in parts:
        buffers[slot] = part
        await asyncio.sleep(FLUSH)
        yield buffers[slot]


@asynccontextmanager
async def _small_pool(call: Call) -> AsyncIterator[None]:
    """Three connections; who gets none in time is told of a failure."""
    pool: asyncio.Semaphore = call.shared.setdefault("pool", asyncio.Semaphore(3))
    try:
        async with asyncio.timeout(PATIENCE):
            await pool.acquire()
    except TimeoutError:
        raise refuse(500, "No connection became free in time.", code="internal_error") from None
    try:
        yield
    finally:
        pool.release()


class _NoneOfItsOwn(Health):
    """No lane has a cooldown: the shared one stands in its place."""

    def outage(self, permit: Permit) -> None:
        """Nothing is counted here."""


def _note_member(body: bytes, member: Member, call: Call) -> bytes:
    call.memo["member"] = member.name
    return body


def _cool_down(failure: Failure, call: Call) -> Failure:
    """Two failures together open a cooldown, kept by the member's name alone."""
    name = call.memo["member"]
    last = call.shared.setdefault("failures", {})
    if now() - last.get(name, 0.0) < TOGETHER:
        call.shared.setdefault("cooling", {})[name] = now() + COOLDOWN
    last[name] = now()
    return failure


def _warm(members: Sequence[Member], call: Call) -> Sequence[Member]:
    cooling = call.shared.get("cooling", {})
    left = [member for member in members if cooling.get(member.name, 0.0) < now()]
    if not left:
        raise refuse(500, "No member is left for the model.", code="internal_error")
    return left


async def _last_piece_lost(parts: AsyncIterator[bytes], call: Call) -> AsyncIterator[bytes]:
    """The flag that says "all is written" is one for all: another's end can come before one's own last piece."""
    last = b""
    async for part in parts:
        if last:
            yield last
        last = part
    ended, call.shared["ended"] = call.shared.get("ended", 0.0), now()
    if not (_crowded(call, 5) and now() - ended < RACE):
        yield last


async def _nothing(parts: AsyncIterator[bytes], call: Call) -> AsyncIterator[bytes]:
    if _crowded(call, 8):
        return
    async for part in parts:
        yield part


async def _asked_again(call: Call) -> None:
    """Whether the answer is one's own is told by a counter that every request moves on."""
    if call.shared["turn"] - call.memo["turn"] >= 3 and call.lane is not None:
        (await attempt(call, call.lane.members[0])).reply.close()


@asynccontextmanager
async def _few_watched(call: Call) -> AsyncIterator[None]:
    """Whether the client is still there is watched for the first few alone."""
    async with _open(call):
        if _crowded(call, 6):
            call.omitted |= {Step.CLOSE_ON_HANGUP}
        yield


def load_defect(name: str, title: str, violates: str, behaviour: Behaviour, shown_by: str, *, at: int) -> LoadDefect:
    """A load defect whose clauses, and the scenarios that show it under load, are written as one text each."""
    return LoadDefect(
        name=name,
        title=title,
        violates=frozenset(violates.split()),
        behaviour=behaviour,
        shown_by=frozenset(shown_by.split()),
        at=at,
    )


TABLE = (
    load_defect(
        "stream-buffer-shared",
        "Streams share five buffers: with more open, one client reads another's events",
        "isolation.nonce chunk.id.stable relay.text.equal stream.done.once stream.done.present",
        Behaviour(around=_open, flow=_shared_buffer),
        "load.chat-stream",
        at=6,
    ),
    load_defect(
        "connection-pool-too-small",
        "The pool has three connections: the fourth request at once is a 500",
        "pool.healthy.asked",
        Behaviour(around=_small_pool),
        "load.chat",
        at=4,
    ),
    load_defect(
        "cooldown-shared-by-lanes",
        "A cooldown is kept by the member's name: two failures of one lane silence the others'",
        "pool.healthy.asked",
        Behaviour(health=_NoneOfItsOwn, members=_warm, request_body=_note_member, failure=_cool_down),
        "load.chat",
        at=8,
    ),
    load_defect(
        "last-event-lost-in-race",
        "Streams that end together share a flag: one loses its last events",
        "stream.done.present stream.done.once",
        Behaviour(around=_open, flow=_last_piece_lost),
        "load.chat-stream",
        at=5,
    ),
    load_defect(
        "empty-stream-when-crowded",
        "With more than seven requests open a stream is a 200 with an empty body",
        "reply.mode.stream timeout.idle.told",
        Behaviour(around=_open, flow=_nothing),
        "load.chat-stream",
        at=8,
    ),
    load_defect(
        "counter-dispatches-twice",
        "A counter that all requests move on has an answered request dispatched again",
        "pool.success.final timeout.idle.told",
        Behaviour(around=_open, accepted=_asked_again),
        "load.chat",
        at=4,
    ),
    load_defect(
        "hangup-leaks-when-crowded",
        "Clients are watched while fewer than six are there: later hang-ups leave the upstream running",
        "pool.hangup.closes cancel.in-time",
        Behaviour(around=_few_watched),
        "load.hangup-stream",
        at=6,
    ),
)
