"""The counter on its own (its agreement with whole bodies: test_sse)."""

from __future__ import annotations

from conformance.wire.event_counter import EventCounter


def test_counts_as_it_goes() -> None:
    """An event counts when its blank line is there, not before."""
    counter = EventCounter()
    pieces = (b"data: a\n", b"\ndata", b": b\n\nevent: x\n\n", b"data\r\r")
    assert [counter.feed(piece) for piece in pieces] == [0, 1, 2, 3]
    assert counter.count == 3


def test_memory() -> None:
    """Of an unfinished line only the first bytes are kept."""
    counter = EventCounter()
    for _ in range(100):
        counter.feed(b"data: " + b"x" * 10_000)
    assert len(counter._line) < 100
    assert counter.feed(b"\n\n") == 1
