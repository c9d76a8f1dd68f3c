"""What counts as plain (that plain bodies are read as the general algorithm reads them: tests/fuzz)."""

from __future__ import annotations

import pytest

from conformance.wire.facts import Span
from conformance.wire.plain_events import read_plain_events


def test_plain() -> None:
    """One data line for each event, LF alone: every event has its data and its span."""
    events = read_plain_events(b"data: a\n\ndata: \n\ndata:  c\n\n", 100, 100)
    assert events is not None
    assert [(event.index, event.data, event.span) for event in events] == [
        (0, b"a", Span(0, 9)),
        (1, b"", Span(9, 17)),
        (2, b" c", Span(17, 27)),
    ]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\n\n",
        b"data: a",
        b"data: a\n",
        b"data: a\n\ndata: b",
        b"data: a\n\n\n",
        b"data: a\n\n\n\n",
        b"data: a\n\n\ndata: b\n\n",
        b"data: a\ndata: b\n\n",
        b"data:a\n\n",
        b"data: a\n\n: comment\n\n",
        b"data: a\n\nevent: b\n\n",
        b"data: a\r\n\r\n",
        b"data: a\r\n\n",
        b"\xef\xbb\xbfdata: a\n\n",
    ],
)
def test_not_plain(body: bytes) -> None:
    """Any other form is left to the general algorithm."""
    assert read_plain_events(body, 100, 100) is None


def test_bounds() -> None:
    """A line or a count at its bound is left to the general algorithm, which says so."""
    assert read_plain_events(b"data: abc\n\n", 9, 2) is not None
    assert read_plain_events(b"data: abcd\n\n", 9, 2) is None
    assert read_plain_events(b"data: abc\n\ndata: abc\n\n", 9, 2) is None
