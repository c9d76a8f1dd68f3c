"""A load plan rises, repeats from its seed, and narrows in on the threshold."""

from __future__ import annotations

import pytest

from conformance.load.plan import (
    Cell,
    LoadOptions,
    Shape,
    arrivals,
    beside,
    bisect,
    levels,
    loud_cells,
    quiet_cell,
)


def test_concurrency_doubles_up_to_the_most() -> None:
    """The last level is the bound itself, be it no power of two."""
    assert levels(16) == (2, 4, 8, 16)
    assert levels(20) == (2, 4, 8, 16, 20)
    assert levels(2) == (2,)
    assert levels(1) == ()


def test_every_shape_is_played_at_every_level() -> None:
    """A cell's requests are its rounds times its concurrency."""
    options = LoadOptions(alone=5, most=4, rounds=2, shapes=(Shape.BURST, Shape.CLOSED))
    assert quiet_cell("s", options) == Cell(scenario="s", shape=Shape.ALONE, concurrency=1, requests=5)
    assert [(cell.shape, cell.concurrency, cell.requests) for cell in loud_cells("s", options)] == [
        (Shape.BURST, 2, 4),
        (Shape.CLOSED, 2, 4),
        (Shape.BURST, 4, 8),
        (Shape.CLOSED, 4, 8),
    ]


def test_arrivals_repeat_from_their_seed_and_keep_the_rate() -> None:
    """A thousand arrivals at 100 a second take about ten seconds, the same ones for the same seed."""
    cell = Cell(scenario="s", shape=Shape.OPEN, concurrency=100, requests=1000)
    first = list(arrivals(cell, 7))
    assert first == list(arrivals(cell, 7)) != list(arrivals(cell, 8))
    assert first == sorted(first)
    assert first[-1] == pytest.approx(10_000, rel=0.15)


def test_half_of_a_mixed_burst_is_others() -> None:
    """The first request of a burst is the measured one; the other kinds take turns, the same ones for the same seed."""
    cell = Cell(scenario="s", shape=Shape.MIXED, concurrency=8, requests=24)
    made = beside(cell, 2, 7)
    assert made == beside(cell, 2, 7)
    for burst in (made[:8], made[8:16], made[16:]):
        assert sorted(burst) == [0, 0, 0, 0, 1, 1, 2, 2]
        assert burst[::2] == (0, 0, 0, 0)
    assert set(beside(cell, 0, 7)) == {0}


@pytest.mark.parametrize("true_threshold", [2, 3, 5, 11, 31, 64])
def test_bisection_ends_within_a_quarter_of_the_threshold(true_threshold: int) -> None:
    """From any doubling pair it ends at a failing level that is at most a factor of 1.25 (or one step) too high."""
    quiet, loud = max(1, 1 << (true_threshold - 1).bit_length() - 1), 1 << (true_threshold - 1).bit_length()
    quiet, loud = (quiet, loud) if quiet < true_threshold else (1, true_threshold)
    while (middle := bisect(quiet, loud)) is not None:
        quiet, loud = (middle, loud) if middle < true_threshold else (quiet, middle)
    assert true_threshold <= loud <= max(true_threshold + 1, true_threshold * 1.25)
