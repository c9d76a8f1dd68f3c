"""What was in flight beside a failing exchange: observed requests become spans on one clock, and those that overlap.

Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from conformance.report.model import InFlight
from conformance.run.play import Observed

#: What is shown of the requests that were in flight beside a failing one.
BESIDE = 24


def flight_of(observed: Observed, origin: float) -> InFlight:
    """One request on the clock of its cell, which began at `origin` (CLOCK_MONOTONIC, s)."""
    transcript = observed.capture.transcript
    start = (transcript.origin - origin) * 1000
    return InFlight(
        nonce=observed.nonce,
        start=start,
        end=start + transcript.ended_at,
        attempts=tuple(((entry.at - origin) * 1000, entry.member) for entry in observed.entries),
    )


def overlapping(flights: Sequence[InFlight], nonce: str) -> tuple[InFlight, ...]:
    """The flight of `nonce`, and those that overlapped it, in order of start; at most BESIDE."""
    mine = next((flight for flight in flights if flight.nonce == nonce), None)
    if mine is None:
        return ()
    others = sorted(
        (flight for flight in flights if flight is not mine and flight.start < mine.end and flight.end > mine.start),
        key=lambda flight: abs(flight.start - mine.start),
    )[: BESIDE - 1]
    return tuple(sorted([mine, *others], key=lambda flight: flight.start))
