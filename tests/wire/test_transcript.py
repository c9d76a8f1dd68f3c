"""Timed bytes of one leg, and when a byte arrived."""

from __future__ import annotations

import pytest

from conformance.wire.facts import Span
from conformance.wire.transcript import Arrivals, End, Segment, Transcript

RECEIVED = (Segment(1.0, b"abc"), Segment(2.0, b""), Segment(3.0, b"de"))


def test_joined() -> None:
    """Segments join to the bytes of each direction."""
    transcript = Transcript(sent=(Segment(0.0, b"x"), Segment(0.5, b"y")), received=RECEIVED, end=End.CLOSE, ended_at=4)
    assert (transcript.request, transcript.raw) == (b"xy", b"abcde")


@pytest.mark.parametrize(("offset", "at"), [(0, 1.0), (2, 1.0), (3, 3.0), (4, 3.0), (5, 3.0), (99, 3.0)])
def test_arrival(offset: int, at: float) -> None:
    """A byte arrived with the read that returned it; past the end, with the last one."""
    assert Arrivals(RECEIVED).at(offset) == at


def test_arrival_of_span() -> None:
    """A span is there when its last byte is; an empty one when its start is."""
    arrivals = Arrivals(RECEIVED)
    assert [arrivals.of(span) for span in (Span(0, 3), Span(2, 4), Span(3, 3))] == [1.0, 3.0, 3.0]


def test_nothing_arrived() -> None:
    """Without any byte there is no arrival."""
    assert Arrivals(()).at(0) == 0.0
