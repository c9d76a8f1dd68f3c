"""conformance.upstream.rewrites: how events are counted, and bodies of other line ends and shapes."""

from __future__ import annotations

import pytest

from conformance.cassette.model import Envelope, EnvelopeEnd, Frame
from conformance.errors import ScenarioError
from conformance.upstream import rewrites
from conformance.upstream.draft import Draft, draft_of


def draft(body: bytes) -> Draft:
    return draft_of(Envelope(head=("HTTP/1.1 200 OK",), body=body, frames=(Frame(0.0, len(body)),)))


def test_comments_and_lone_fields_are_not_counted() -> None:
    """Only what carries data is an event; the one that the end cuts off counts too."""
    found = rewrites.events(draft(b": hi\n\nevent: x\n\nid: 1\ndata: a\n\n\n\ndata: b"))
    assert [event.data for event in found] == [b"a", b"b"]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_events_are_found_with_every_line_end(end: bytes) -> None:
    """A cut after an event keeps its blank line, whatever ends the lines."""
    body = b"data: a\n\ndata: b\n\n".replace(b"\n", end)
    assert rewrites.end_after(draft(body), 1, EnvelopeEnd.STALL).body == body[: len(body) // 2]


def test_mixed_line_ends_become_one() -> None:
    """Those that are right already are not touched."""
    assert rewrites.line_ends(draft(b"a\nb\r\nc\rd"), b"\r\n").body == b"a\r\nb\r\nc\r\nd"


def test_all_done_events_are_dropped_and_the_last_is_doubled() -> None:
    """White space around the sentinel does not hide it."""
    body = b"data: [DONE]\n\ndata: a\n\ndata:  [DONE] \n\n"
    assert rewrites.drop_done(draft(body)).body == b"data: a\n\n"
    assert rewrites.double_done(draft(body)).body == body + b"data:  [DONE] \n\n"


def test_only_spaces_after_a_fields_colon_are_removed() -> None:
    """Not those inside the data, nor of a comment."""
    body = b": c\nevent: e\ndata: a data: b\n\n"
    assert rewrites.no_space_after_colon(draft(body)).body == b": c\nevent:e\ndata:a data: b\n\n"


def test_a_big_event_of_a_typed_event_keeps_its_type() -> None:
    """It is the data that grows."""
    made = rewrites.big_event(draft(b'event: e\ndata: {"a":1}\n\n'), 4096)
    assert made.body.startswith(b"event: e\ndata: {\ndata:  ")
    assert made.body.endswith(b'data: "a":1}\n\n')


def test_a_long_text_stands_in_one_event() -> None:
    """The text of the named event grows, in frames of bounded size; an event without a text is refused."""
    first, second = b'data: {"delta":{"role":"assistant"}}\n\n', b'data: {"delta":{"content":"Hi"}}\n\n'
    made = rewrites.long_text(draft(first + second), 2, 100_000)
    assert made.body == first + second.replace(b"Hi", b"x" * 100_000 + b"Hi")
    assert max(frame.size for frame in made.frames) <= rewrites.PIECE
    with pytest.raises(ScenarioError, match="event 1 has no content"):
        rewrites.long_text(draft(first + second), 1, 8)


def test_gzip_of_an_empty_body_is_an_empty_gzip() -> None:
    """With and without frames."""
    empty = draft_of(Envelope(head=("HTTP/1.1 200 OK",), body=b"", frames=()))
    assert rewrites.gzip(empty).body[:2] == b"\x1f\x8b"


def test_an_event_without_enough_data_cannot_be_broken() -> None:
    """One byte of data has no middle."""
    with pytest.raises(ScenarioError, match="no data to break"):
        rewrites.bad_json(draft(b"data: 1\n\n"), 1)
