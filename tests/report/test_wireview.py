"""Raw bytes with arrival times, cut down to the lines around a span."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.report.model import Arrival, Leg
from conformance.report.wireview import clean, view, visible
from conformance.wire.facts import Span

from . import sample


def leg(data: bytes, cut: int = 0) -> Leg:
    """A leg that came in one read at 5 ms."""
    return Leg(name="client", data=data, arrivals=(Arrival(5.0, len(data)),), cut=cut)


def texts(data: bytes, span: Span | None, **options: int) -> list[str]:
    """The lines as texts, the hit ones with a leading mark."""
    return [("> " if line.hit else "  ") + line.text for line in view(leg(data), span, **options)]


def test_marked_line_has_its_arrival() -> None:
    """A line is labelled with the arrival of its last byte, the marked one is hit, the rest is counted."""
    lines = view(sample.CLIENT, sample.SECOND_DONE)
    hit = [line for line in lines if line.hit]
    assert [(line.at, line.marked) for line in hit] == [(41.5, "data: [DONE]")]
    assert lines[0].text == "HTTP/1.1 200 OK"
    assert lines[-1].text == "… 1,200 more bytes were not kept"
    notes = [line.text for line in lines if line.at is None]
    assert notes == ["… 114 bytes", "… 1,200 more bytes were not kept"]


def test_part_of_a_line_is_bracketed() -> None:
    """A span inside a line stands in brackets, a span over the whole line does not."""
    assert texts(b"one\ntwo three\nfour\n", Span(8, 13)) == ["  one", "> two ⟦three⟧", "  four"]
    assert texts(b"one\ntwo\n", Span(4, 8)) == ["  one", "> two\\n"]


def test_span_over_lines_marks_each() -> None:
    """A span over several lines hits each of them, at most as many as asked for."""
    assert texts(b"a\nb\nc\nd\n", Span(2, 6)) == ["  a", "> b\\n", "> c\\n", "  d"]
    assert texts(b"a\n" * 9, Span(0, 18), most=2, context=0) == ["> a\\n", "> a\\n", "  … 14 bytes"]


def test_span_at_the_end_hits_the_last_line() -> None:
    """A span at the end of all that came (something is missing there) hits the last line."""
    assert texts(b"a\nb\n", Span(4, 4)) == ["  a", "> b\\n"]


def test_without_a_span_the_first_lines_show() -> None:
    """Without a span the first lines are shown and none is hit."""
    assert texts(b"a\nb\nc\n", None, most=2, context=0) == ["  a", "  b", "  … 2 bytes"]
    assert view(leg(b""), None) == ()


def test_long_lines_are_cut_around_the_span() -> None:
    """A long line keeps the span and says how many bytes were cut, at character borders."""
    data = "é".encode() * 300 + b"HERE" + "é".encode() * 300
    (line,) = view(leg(data), Span(600, 604), width=100)
    assert line.marked == "HERE"
    assert line.before == "(552 bytes cut)…" + "é" * 24
    assert line.after == "é" * 24 + "…(552 bytes cut)"


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"caf\xc3\xa9", "café"),
        (b"\xff\x00\x1b[31m\r\t", "\\xff\\x00\\x1b[31m\\r\\t"),
        ("\u202e\ufeff\U000e0001".encode(), "\\u202e\\ufeff\\U000e0001"),
    ],
)
def test_nothing_acts_on_the_terminal(data: bytes, shown: str) -> None:
    """Control, invisible and undecodable bytes are escaped."""
    assert visible(data) == shown


def test_lone_surrogates_are_escaped() -> None:
    """A lone surrogate, which no terminal can print, is escaped."""
    assert clean("a\ud800\n") == "a\\ud800\\n"


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.binary(max_size=200),
    st.integers(0, 220),
    st.integers(0, 220),
    st.integers(0, 60),
    st.integers(0, 3),
    st.booleans(),
)
def test_any_bytes_and_span_can_be_shown(data: bytes, start: int, size: int, width: int, cut: int, some: bool) -> None:
    """Any bytes, spans and widths give printable lines."""
    for line in view(leg(data, cut), Span(start, start + size) if some else None, width=width):
        assert line.text.isprintable()
