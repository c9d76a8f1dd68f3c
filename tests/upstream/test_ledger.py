"""conformance.upstream.ledger: attempts while they happen, bounded and waited for."""

from __future__ import annotations

import asyncio

import pytest

from conformance.upstream.items import WORDS
from conformance.upstream.journal import Played
from conformance.upstream.ledger import ENTRY_BYTES, Attempt, Ledger, Page
from conformance.upstream.plays import ArmedPlay
from conformance.upstream.script import Script, script
from conformance.wire.transcript import End
from tests.upstream.peer import document


def page() -> Page:
    return Page(ArmedPlay("cf-abcdef", {}, ()), 0.0)


def attempt(owner: Page | None = None, played: Script | None = None) -> Attempt:
    return Attempt(
        nonce="cf-abcdef", member="u0", port=1, number=0, played=Played(), script=played or WORDS["@hang"],
        request=b"r" * 10, at=1.0, read_at=1.0, connection=0, on_connection=0, page=owner,
    )  # fmt: skip


def test_writes_within_the_grain_are_one() -> None:
    """At the time of the first; the sizes add up."""
    made = attempt()
    for now, size in ((1.0, 5), (1.00005, 3), (1.00012, 2), (1.5, 1)):
        made.wrote(now, size)
    assert made.writes == [(1.0, 8), (1.00012, 2), (1.5, 1)]
    assert made.written == 11


def test_an_unfinished_attempt_is_open() -> None:
    """Its end is a stall until now."""
    entry = attempt().seen(9.0)
    assert (entry.open, entry.end, entry.ended_at) == (True, End.STALL, 9.0)


def test_a_peer_that_goes_ends_what_goes_on() -> None:
    """A hang-up at the point that the sent bytes tell; the second word about it changes nothing."""
    made = attempt(played=script(document()))
    made.peer_gone(2.0)
    made.peer_gone(3.0)
    entry = made.seen(9.0)
    assert (entry.end, entry.ended_at, entry.peer_closed, entry.peer_closed_at) == (End.HANGUP, 2.0, "before-head", 2.0)
    assert not entry.open


def test_a_stall_stays_one_when_the_peer_goes() -> None:
    """The member's end is kept, the peer's close is told besides."""
    made = attempt()
    made.ended(1.5, End.STALL, settled=False)
    assert made.seen(1.6).open
    made.peer_gone(2.0)
    entry = made.seen(9.0)
    assert (entry.end, entry.ended_at, entry.peer_closed, entry.open) == (End.STALL, 1.5, "before-head", False)


def test_a_close_after_a_whole_response_is_after_the_end() -> None:
    """Nothing was cut."""
    made = attempt()
    made.ended(1.5, End.COMPLETE)
    made.peer_gone(2.0)
    assert made.seen(9.0).peer_closed == "after-end"


@pytest.mark.parametrize("bounds", [(1, 10**6), (10, ENTRY_BYTES + 15)])
def test_what_the_bound_keeps_out_is_counted(bounds: tuple[int, int]) -> None:
    """By page, or as stray; taking makes room again."""
    ledger = Ledger(max_entries=bounds[0], max_bytes=bounds[1])
    owner = ledger.pages["cf-abcdef"] = page()
    ledger.record(attempt(owner))
    ledger.record(attempt(owner))
    ledger.record(attempt())
    assert (len(owner.attempts), owner.lost, ledger.stray_lost, ledger.lost, ledger.entries) == (1, 1, 1, 2, 1)
    assert ledger.remove("cf-abcdef") is owner
    assert (ledger.entries, ledger.bytes) == (0, 0)
    assert ledger.remove("cf-abcdef") is None
    ledger.record(attempt())
    assert len(list(ledger.all())) == 1


def test_who_waits_is_woken_by_the_last_end() -> None:
    """Not by the first of two, and without polling."""

    async def main() -> None:
        owner = page()
        first, second = attempt(owner), attempt(owner)
        owner.attempts += [first, second]
        waiting = asyncio.ensure_future(owner.settle(wait=30.0, quiet=0.0))
        await asyncio.sleep(0)
        now = asyncio.get_running_loop().time()
        first.ended(now, End.COMPLETE)
        for _ in range(3):
            await asyncio.sleep(0)
        assert not waiting.done()
        second.ended(now, End.COMPLETE)
        await asyncio.wait_for(waiting, 5)

    asyncio.run(main())


def test_a_wait_ends_when_it_passes() -> None:
    """Also when an attempt never ends, and when there is none and quiet is asked for."""

    async def main() -> None:
        owner, loop = page(), asyncio.get_running_loop()
        begun = loop.time()
        await owner.settle(wait=5.0, quiet=0.02)
        assert 0.02 <= loop.time() - begun < 4.0
        owner.attempts.append(attempt(owner))
        begun = loop.time()
        await owner.settle(wait=0.02, quiet=0.0)
        assert loop.time() - begun >= 0.02

    asyncio.run(main())
