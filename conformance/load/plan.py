"""The plan of a load run: how often alone, at which concurrencies, in which shape; the same seed gives the same plan.

From options to cells, arrival times, and what is sent beside the measured scenario. Pure: offsets are data, the player
waits for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from random import Random


class Shape(StrEnum):
    """How the requests of a cell come."""

    ALONE = "alone"  # one after the other
    BURST = "burst"  # all at once, again when all are done
    MIXED = "mixed"  # bursts of which half are other scenarios, each in its lane, and clients that hang up
    CLOSED = "closed"  # so many at a time: the next starts when one ends
    OPEN = "open"  # at random moments (Poisson) of a rate, whoever has ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One measurement: `requests` of a scenario at `concurrency` (for OPEN: the rate per second)."""

    scenario: str
    shape: Shape
    concurrency: int
    requests: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """`alone` runs each on its own; under load the concurrency rises 2, 4, 8 ... to `most` with `rounds` bursts each.

    `shapes` are the loaded ones; `alpha` the error rate of the whole comparison; `extend` how many runs alone may be
    added to make a difference certain.
    """

    alone: int = 20
    most: int = 16
    rounds: int = 3
    shapes: tuple[Shape, ...] = (Shape.BURST, Shape.MIXED)
    alpha: float = 0.01
    extend: int = 200
    seed: int = 0


def levels(most: int) -> tuple[int, ...]:
    """The concurrencies 2, 4, 8 ... up to and with `most`."""
    found = []
    level = 2
    while level < most:
        found.append(level)
        level *= 2
    return (*found, most) if most >= 2 else ()


def quiet_cell(scenario: str, options: LoadOptions) -> Cell:
    """The cell in which a scenario is played alone."""
    return Cell(scenario=scenario, shape=Shape.ALONE, concurrency=1, requests=options.alone)


def loud_cells(scenario: str, options: LoadOptions) -> tuple[Cell, ...]:
    """The cells in which it is played under load, at rising concurrency, each level in every shape."""
    return tuple(
        Cell(scenario=scenario, shape=shape, concurrency=level, requests=level * options.rounds)
        for level in levels(options.most)
        for shape in options.shapes
    )


def arrivals(cell: Cell, seed: int) -> Iterator[float]:
    """The offsets in ms at which the requests of an OPEN cell start: a Poisson process of `concurrency` per second."""
    random = Random(f"{seed}/{cell.scenario}/{cell.concurrency}")
    at = 0.0
    for _ in range(cell.requests):
        at += random.expovariate(cell.concurrency) * 1000
        yield at


def beside(cell: Cell, kinds: int, seed: int) -> tuple[int, ...]:
    """What each request of a MIXED cell is: 0 the measured scenario, 1 to `kinds` one of the others.

    Every second request of a burst is another's, the kinds in turn from a random one on, so that each burst has as
    even a share of each as its size allows.
    """
    turn = Random(f"{seed}/{cell.scenario}/{cell.concurrency}/beside").randrange(kinds) if kinds else 0
    made = []
    for number in range(cell.requests):
        place = number % cell.concurrency
        made.append(0 if place % 2 == 0 or not kinds else 1 + (turn + place // 2) % kinds)
    return tuple(made)


def bisect(quiet: int, loud: int) -> int | None:
    """The next concurrency to try between one that holds and one that fails, or None when they are neighbours enough.

    Enough is a factor of 1.25 or one step.
    """
    if loud - quiet <= 1 or loud <= quiet * 1.25:
        return None
    return (quiet + loud) // 2
