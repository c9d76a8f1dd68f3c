"""conformance.upstream.draft: edits, cuts and re-timings keep head, body and frames consistent."""

from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.cassette.model import Envelope, EnvelopeEnd, Frame
from conformance.errors import ScenarioError
from conformance.upstream.draft import (
    Draft,
    cut,
    delayed,
    draft_of,
    edited,
    header,
    is_chunked,
    recut,
    split,
    with_header,
    without_headers,
)

HEAD = ("HTTP/1.1 200 OK", "Content-Length: 10", "x-a : 1", "X-A:2")


def draft(sizes: list[int], head: tuple[str, ...] = HEAD) -> Draft:
    body = bytes(index % 251 for index in range(sum(sizes)))
    return draft_of(Envelope(head=head, body=body, frames=tuple(Frame(10.0 * i, n) for i, n in enumerate(sizes))))


def shape(made: Draft) -> list[tuple[float, int]]:
    return [(frame.at, frame.size) for frame in made.frames]


@st.composite
def drafts_and_edits(draw: st.DrawFn) -> tuple[Draft, list[tuple[int, int, bytes]]]:
    made = draft(draw(st.lists(st.integers(0, 8), min_size=1, max_size=6)))
    borders = sorted(draw(st.lists(st.integers(0, len(made.body)), max_size=6)))
    pairs = list(zip(borders[::2], borders[1::2], strict=False))
    return made, [(start, end, draw(st.binary(max_size=5))) for start, end in pairs]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(drafts_and_edits())
def test_edits_keep_the_frames_whole(made_and_edits: tuple[Draft, list[tuple[int, int, bytes]]]) -> None:
    """Whatever is replaced, frames sum to the body, keep their times, and the length moves with it."""
    made, edits = made_and_edits
    after = edited(made, edits)
    expected = made.body
    for start, end, new in reversed(edits):
        expected = expected[:start] + new + expected[end:]
    assert after.body == expected
    assert sum(frame.size for frame in after.frames) == len(expected)
    assert all(frame.size >= 0 for frame in after.frames)
    assert [frame.at for frame in after.frames] == [frame.at for frame in made.frames]
    assert header(after, "content-length") == str(max(0, 10 + len(expected) - len(made.body)))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 8), max_size=6), st.lists(st.integers(-3, 60), max_size=8))
def test_splits_add_borders_and_change_nothing_else(sizes: list[int], offsets: list[int]) -> None:
    """Old borders stay, wanted ones inside the body are there, each half keeps the frame's time."""
    made = draft(sizes)
    after = split(made, offsets)
    borders = set(accumulate(frame.size for frame in after.frames))
    assert borders >= set(accumulate(sizes))
    assert borders >= {offset for offset in offsets if 0 < offset < len(made.body)}
    assert sum(frame.size for frame in after.frames) == len(made.body)
    assert {frame.at for frame in after.frames} == {frame.at for frame in made.frames}


def test_an_insertion_belongs_to_the_frame_that_starts_there() -> None:
    """At a border it goes to the later frame, at the end to the last one, into nothing as one frame."""
    assert shape(edited(draft([5, 5]), [(5, 5, b"xx")])) == [(0.0, 5), (10.0, 7)]
    assert shape(edited(draft([5, 5]), [(10, 10, b"xx")])) == [(0.0, 5), (10.0, 7)]
    assert shape(edited(draft([]), [(0, 0, b"xx")])) == [(0.0, 2)]


def test_a_cut_drops_later_frames_and_keeps_the_declared_length() -> None:
    """What is left of a frame keeps its time."""
    made = cut(draft([5, 5]), 6, EnvelopeEnd.RESET)
    assert (shape(made), made.end, header(made, "content-length")) == ([(0.0, 5), (10.0, 1)], EnvelopeEnd.RESET, "10")
    assert shape(cut(draft([5, 5]), 5, EnvelopeEnd.CLOSE)) == [(0.0, 5)]


def test_a_recut_frame_comes_with_its_last_byte() -> None:
    """Unless it is given a time."""
    assert shape(recut(draft([4, 4]), [2, 5, 8])) == [(0.0, 2), (10.0, 3), (10.0, 3)]
    assert shape(recut(draft([4, 4]), [8], lambda index: 7.0)) == [(7.0, 8)]


def test_a_delay_starts_in_the_middle_of_a_frame() -> None:
    """The frame is split there."""
    assert shape(delayed(draft([4, 4]), 2, 5.0)) == [(0.0, 2), (5.0, 2), (15.0, 4)]


def test_header_lines_are_found_by_name_in_any_case() -> None:
    """Found, removed and added; the status line is none."""
    made = draft([])
    assert header(made, "x-a") == "1"
    assert header(made, "http/1.1 200 ok") is None
    assert without_headers(made, "x-a").head == HEAD[:2]
    assert with_header(made, "B: c").head == (*HEAD, "B: c")
    assert is_chunked(draft([], ("HTTP/1.1 200 OK", "transfer-encoding: gzip, Chunked")))
    with pytest.raises(ScenarioError):
        with_header(draft([], ()), "B: c")


def test_a_length_that_is_no_number_stays() -> None:
    """A lie in the recording is not repaired."""
    made = edited(draft([2], ("HTTP/1.1 200 OK", "Content-Length: two")), [(0, 0, b"x")])
    assert made.head[1] == "Content-Length: two"
