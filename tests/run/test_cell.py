"""Cells: how requests come in each shape, and what is measured of the machine meanwhile."""

from __future__ import annotations

import asyncio
import os
from collections import Counter

import pytest

from conformance.errors import UpstreamError
from conformance.load.plan import Cell, Shape
from conformance.run.cell import Gate, Strain, measured, play_cell
from conformance.run.cpu import cpu_seconds


class Crowd:
    """Requests that end when as many are there as are waited for, or at once."""

    def __init__(self, wanted: int = 0) -> None:
        self.inside = self.most = 0
        self.kinds: Counter[int] = Counter()
        self._wanted = wanted
        self._full = asyncio.Event()

    async def send(self, kind: int, gate: Gate | None) -> None:
        if gate is not None:
            await gate()
        self.kinds[kind] += 1
        self.inside += 1
        self.most = max(self.most, self.inside)
        if self.inside >= self._wanted:
            self._full.set()
        await asyncio.wait_for(self._full.wait(), 10)
        await asyncio.sleep(0)
        self.inside -= 1


def play(cell: Cell, kinds: int = 0, wanted: int = 0) -> Crowd:
    """Play a cell with a crowd."""

    async def body() -> Crowd:
        crowd = Crowd(wanted)
        await play_cell(cell, crowd.send, kinds=kinds, seed=1)
        return crowd

    return asyncio.run(body())


def cell(shape: Shape, concurrency: int, requests: int) -> Cell:
    """A cell of a scenario."""
    return Cell(scenario="s", shape=shape, concurrency=concurrency, requests=requests)


def test_alone_is_one_at_a_time() -> None:
    """No two requests of that cell are in flight together."""
    assert play(cell(Shape.ALONE, 1, 5)).most == 1


@pytest.mark.parametrize("shape", [Shape.BURST, Shape.CLOSED, Shape.MIXED])
def test_so_many_are_in_flight_and_no_more(shape: Shape) -> None:
    """The concurrency of a cell is reached, and never passed."""
    crowd = play(cell(shape, 4, 10), kinds=2, wanted=4)
    assert crowd.most == 4
    assert sum(crowd.kinds.values()) == 10


def test_a_mixed_cell_sends_others_too() -> None:
    """Half of the requests are of other kinds."""
    assert play(cell(Shape.MIXED, 4, 8), kinds=2).kinds == {0: 4, 1: 2, 2: 2}
    assert play(cell(Shape.BURST, 4, 8), kinds=2).kinds == {0: 8}


def test_open_arrivals_wait_for_nobody() -> None:
    """At a thousand a second all are there long before the first would end by itself."""
    assert play(cell(Shape.OPEN, 1000, 20), wanted=20).most == 20


def test_a_fault_of_the_harness_comes_out_as_it_is() -> None:
    """Not wrapped in a group."""

    async def broken(kind: int, gate: Gate | None) -> None:
        raise UpstreamError("gone")

    with pytest.raises(UpstreamError, match="gone"):
        asyncio.run(play_cell(cell(Shape.BURST, 4, 4), broken))


def test_a_blocked_loop_and_its_cpu_are_seen() -> None:
    """The lag is as long as the block, and the CPU time is the harness's own."""

    async def body() -> Strain:
        async with measured({"me": (os.getpid(), False), "nobody": (0, False)}) as strain:
            await asyncio.sleep(0.03)
            until = cpu_seconds(os.getpid()) + 0.15
            while cpu_seconds(os.getpid()) < until:
                sum(range(10_000))
            await asyncio.sleep(0.03)
        return strain

    strain = asyncio.run(body())
    assert strain.lag_ms > 50 or max(strain.samples) > 50
    assert strain.client >= 0.1
    assert strain.others.keys() == {"me"}
    assert strain.others["me"] >= 0.1
    assert strain.share(strain.client) > 0


def test_a_process_that_is_gone_has_used_nothing() -> None:
    """No error, no number."""
    assert cpu_seconds(2**22 + 1) == 0.0
