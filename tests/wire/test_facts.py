"""Spans, faults, and the bounded log of faults."""

from __future__ import annotations

from conformance.wire.facts import FaultLog, Span, clip


def test_span() -> None:
    """A span covers the bytes from start up to, not including, end."""
    assert Span(1, 3).of(b"abcd") == b"bc"


def test_log_order() -> None:
    """Faults come out in order of position, whatever order they were noted in."""
    log = FaultLog()
    log.note("b", 5, 6, "later")
    log.note("a", 0, 9, "longer")
    log.note("c", 0, 1, "first")
    assert [fault.code for fault in log.freeze()] == ["c", "a", "b"]


def test_log_bound() -> None:
    """A full log takes one more fault, which says so, and then none."""
    log = FaultLog(2)
    for position in range(5):
        assert log.full == (position > 2)
        log.note("x", position, position, "")
    assert [fault.code for fault in log.freeze()] == ["x", "x", "faults.too-many"]


def test_clip() -> None:
    """Bytes become one printable line, cut."""
    assert clip(b"a\n\xff") == r"'a\n\xff'"
    assert clip(b"abcdef", 3) == "'abc'..."
