"""conformance.upstream.transforms: every named transform, from its text to the bytes that it makes."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import pytest

from conformance.cassette.model import Envelope, EnvelopeEnd, Frame
from conformance.errors import ScenarioError
from conformance.upstream.draft import Draft, draft_of
from conformance.upstream.transforms import TRANSFORMS, dated, transformed
from conformance.wire.sse import read_events

HEAD = ("HTTP/1.1 200 OK", "content-type: text/event-stream", "Transfer-Encoding: chunked")
EVENTS = (b'data: {"a":1}\n\n', b'data: {"b":2}\n\n', b"data: [DONE]\n\n")
BODY = b"".join(EVENTS)
C = b": keep-alive\n\n"


def draft(body: bytes = BODY, head: tuple[str, ...] = HEAD) -> Draft:
    """One frame for each event, 10 ms apart."""
    sizes = [len(event) for event in EVENTS] if body == BODY else [len(body)]
    return draft_of(Envelope(head=head, body=body, frames=tuple(Frame(10.0 * i, size) for i, size in enumerate(sizes))))


def frames(made: Draft) -> list[tuple[float, int]]:
    return [(frame.at, frame.size) for frame in made.frames]


def pieces(made: Draft) -> Iterator[bytes]:
    position = 0
    for frame in made.frames:
        yield made.body[position : position + frame.size]
        position += frame.size


BODIES = {
    "crlf": BODY.replace(b"\n", b"\r\n"),
    "cr": BODY.replace(b"\n", b"\r"),
    "bom": b"\xef\xbb\xbf" + BODY,
    "no-space-after-colon": BODY.replace(b"data: ", b"data:"),
    "no-final-blank-line": BODY[:-1],
    "comment-before-event:2": EVENTS[0] + C + EVENTS[1] + EVENTS[2],
    "comments-every-event": C + EVENTS[0] + C + EVENTS[1] + C + EVENTS[2],
    "drop-done": EVENTS[0] + EVENTS[1],
    "double-done": BODY + EVENTS[2],
    "repeat-event:1:3": EVENTS[0] * 3 + EVENTS[1] + EVENTS[2],
    "repeat-event:1:1": BODY,
    "bad-json-at:2": EVENTS[0] + b'data: {"b\n\n' + EVENTS[2],
    "unknown-event-at:3": EVENTS[0]
    + EVENTS[1]
    + b'event: provider.notice\ndata: {"notice":"capacity"}\n\n'
    + EVENTS[2],
}


@pytest.mark.parametrize(("text", "body"), BODIES.items(), ids=list(BODIES))
def test_a_body_is_changed_as_named_and_stays_framed(text: str, body: bytes) -> None:
    """The body is exactly the expected one, its frames sum to it, and head and end are untouched."""
    made = transformed(draft(), text)
    assert made.body == body
    assert b"".join(pieces(made)) == body
    assert (made.head, made.end) == (HEAD, EnvelopeEnd.COMPLETE)
    assert [frame.at for frame in made.frames] == [0.0, 10.0, 20.0]


@pytest.mark.parametrize("text", [text for text in BODIES if text != "repeat-event:1:1"])
def test_a_declared_length_follows_a_changed_body(text: str) -> None:
    """A content length is computed anew when a transform changes the body; its spelling stays."""
    head = ("HTTP/1.1 200 OK", f"content-LENGTH:{len(BODY)}")
    made = transformed(draft(head=head), text)
    assert made.head == ("HTTP/1.1 200 OK", f"content-LENGTH:{len(made.body)}")


@pytest.mark.parametrize(
    ("text", "kept", "end"),
    [
        ("truncate-after-event:1", 1, EnvelopeEnd.CLOSE),
        ("close-after-event:2", 2, EnvelopeEnd.CLOSE),
        ("stall-after-event:0", 0, EnvelopeEnd.STALL),
        ("reset-after-event:1", 1, EnvelopeEnd.RESET),
        ("half-close-after-event:3", 3, EnvelopeEnd.HALF_CLOSE),
    ],
)
def test_a_cut_keeps_whole_events_and_ends_so(text: str, kept: int, end: EnvelopeEnd) -> None:
    """So many events stay, with their times; the declared length stays too, and is now a lie."""
    made = transformed(draft(head=("HTTP/1.1 200 OK", f"Content-Length: {len(BODY)}")), text)
    assert (made.body, made.end) == (b"".join(EVENTS[:kept]), end)
    assert [at for at, _ in frames(made)] == [0.0, 10.0, 20.0][:kept]
    assert made.head[1] == f"Content-Length: {len(BODY)}"


def test_bytes_are_cut_anywhere() -> None:
    """truncate-bytes keeps so many bytes, in the middle of a frame too."""
    made = transformed(draft(), "truncate-bytes:20")
    assert (made.body, frames(made)) == (BODY[:20], [(0.0, 15), (10.0, 5)])
    assert made.end is EnvelopeEnd.CLOSE
    with pytest.raises(ScenarioError, match="fewer than 1000"):
        transformed(draft(), "truncate-bytes:1000")


def test_frames_are_cut_anew() -> None:
    """rechunk and split-every-byte set borders; a new frame comes when its last byte would have come."""
    assert frames(transformed(draft(), "rechunk:16")) == [(10.0, 16), (20.0, 16), (20.0, 12)]
    singles = frames(transformed(draft(), "split-every-byte"))
    assert [size for _, size in singles] == [1] * len(BODY)
    assert singles[14][0] == 0.0
    assert singles[15][0] == 10.0
    assert frames(transformed(draft(b""), "rechunk:5")) == [(0.0, 0)]


def test_characters_are_cut_between_their_bytes() -> None:
    """Each character outside ASCII is in two frames, the second and all after it MS later; the bytes stay."""
    body = 'data: {"a":"ß🌍"}\n\n'.encode()
    made = transformed(draft(body), "split-characters:5")
    assert made.body == body
    assert frames(made) == [(0.0, 13), (5.0, 2), (10.0, 7)]
    with pytest.raises(ScenarioError, match="no character"):
        transformed(draft(), "split-characters:5")


def test_coalesce_makes_one_write() -> None:
    """All frames become one that goes out with the head."""
    assert frames(transformed(draft(), "coalesce")) == [(0.0, len(BODY))]


def test_pace_gives_each_event_a_time() -> None:
    """Event k comes k times MS after the first, whatever the frames were."""
    made = transformed(transformed(draft(), "coalesce"), "pace:2.5")
    assert [at for at, _ in frames(made)] == [0.0, 2.5, 5.0]
    assert list(pieces(made)) == list(EVENTS)


def test_delays_move_what_follows() -> None:
    """delay-head moves everything, delay-event the event and what comes after it."""
    assert transformed(draft(), "delay-head:30").head_at == 30.0
    assert [at for at, _ in frames(transformed(draft(), "delay-event:2:100"))] == [0.0, 110.0, 120.0]
    one_frame = transformed(draft(), "coalesce")
    assert frames(transformed(one_frame, "delay-event:2:7")) == [(0.0, 15), (7.0, 29)]


def test_the_big_event_is_still_one_json_event() -> None:
    """It grows over many data lines, each frame is bounded, and its data is the same JSON."""
    made = transformed(draft(), "big-event:200000")
    first = read_events(made.body).events[0]
    assert 190_000 < first.span.end - first.span.start < 210_000
    assert b"".join(first.data.split()) == b'{"a":1}'
    assert made.body.endswith(EVENTS[1] + EVENTS[2])
    assert max(size for _, size in frames(made)) <= 65536
    assert sum(size for _, size in frames(made)) == len(made.body)


def test_the_endless_event_never_ends() -> None:
    """After the first event come data lines without a blank line, and the member closes."""
    made = transformed(draft(), "endless-event:100000")
    assert made.body.startswith(EVENTS[0] + b"data: xxxx")
    assert b"\n\n" not in made.body[len(EVENTS[0]) :]
    assert made.end is EnvelopeEnd.CLOSE
    assert sum(size for _, size in frames(made)) == len(made.body) > 99_000


def test_gzip_says_so_and_each_frame_can_be_read_when_it_comes() -> None:
    """The body is gzip, flushed at each frame; the head names the coding."""
    made = transformed(draft(), "gzip")
    assert made.head[-1] == "Content-Encoding: gzip"
    decoder = zlib.decompressobj(31)
    assert [decoder.decompress(piece) for piece in pieces(made)] == list(EVENTS)
    assert decoder.eof
    assert frames(transformed(draft(b""), "gzip"))[0][1] > 0


def test_until_close_drops_the_framing() -> None:
    """No length, no chunks."""
    made = transformed(draft(head=(*HEAD, "Content-Length: 44")), "until-close")
    assert made.head == HEAD[:2]


def test_heads_are_changed_as_named() -> None:
    """Status, media type and extra lines; the line's place and spelling are kept."""
    assert transformed(draft(), "content-type:text/html; a=b:c").head[1] == "content-type: text/html; a=b:c"
    assert transformed(draft(head=HEAD[:1]), "content-type:x/y").head == (HEAD[0], "Content-Type: x/y")
    assert transformed(draft(), "no-content-type").head == (HEAD[0], HEAD[2])
    assert transformed(draft(), "status:404").head[0] == "HTTP/1.1 404 Not Found"
    assert transformed(draft(), "status:599").head[0] == "HTTP/1.1 599 "
    assert transformed(draft(), "header:Retry-After=1").head == (*HEAD, "Retry-After: 1")
    assert transformed(draft(), "header:X=a=b:c").head[-1] == "X: a=b:c"


def test_a_wait_can_be_told_by_a_date() -> None:
    """It counts from the date in the head, which is that of the arming; an old one of either is replaced."""
    now = "Mon, 30 Nov 2026 23:59:58 GMT"
    text = dated("retry-date:3", now)
    old = draft(head=(HEAD[0], "date: yesterday", "Retry-After: 7"))
    assert transformed(old, text).head == (HEAD[0], f"Date: {now}", "Retry-After: Tue, 01 Dec 2026 00:00:01 GMT")
    assert transformed(draft(), "retry-date:3").head[-1] == "Retry-After: Thu, 01 Jan 1970 00:00:03 GMT"
    assert dated("header:A=retry-date:3", now) == "header:A=retry-date:3"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("drop-don", "no transform"),
        ("nonsense", "no transform"),
        ("drop-done:1", "number of arguments"),
        ("rechunk", "number of arguments"),
        ("delay-event:1", "number of arguments"),
        ("header:X", "number of arguments"),
        ("rechunk:x", "is no N"),
        ("rechunk:-1", "is no N"),
        ("delay-head:nan", "is no MS"),
        ("big-event:999999999999", "is no BYTES"),
        ("rechunk:0", "at least one byte"),
        ("repeat-event:1:0", "1 to 100000"),
        ("truncate-after-event:4", "no event 4: the body has 3"),
        ("comment-before-event:0", "no event 0"),
        ("status:42", "cannot be the status"),
        ("header:X=a\r\nb", "line end"),
        ("retry-date-from:3:tomorrow", "'tomorrow' is no date"),
    ],
)
def test_a_bad_text_says_what_is_wrong_and_where(text: str, what: str) -> None:
    """An unknown name, a wrong argument or a missing event is a ScenarioError that shows the transform."""
    with pytest.raises(ScenarioError, match=what) as caught:
        transformed(draft(), text)
    assert text.split("\r")[0] in caught.value.where or "\\r" in caught.value.where


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("drop-done", EVENTS[0]),
        ("double-done", EVENTS[0]),
        ("comments-every-event", b"{}"),
        ("pace:1", b"{}"),
        ("crlf", b"{}"),
        ("no-space-after-colon", b"{}"),
        ("no-final-blank-line", b"{}"),
        ("big-event:2048", EVENTS[2]),
        ("bad-json-at:1", b"data: 1\n\n"),
    ],
)
def test_a_change_that_finds_nothing_to_change_is_refused(text: str, body: bytes) -> None:
    """A play that silently is the plain one would prove nothing."""
    with pytest.raises(ScenarioError):
        transformed(draft(body), text)


def test_a_near_name_is_suggested() -> None:
    """The hint names the transform that was probably meant."""
    with pytest.raises(ScenarioError) as caught:
        transformed(draft(), "doubledone")
    assert "'double-done'" in caught.value.hint


def test_a_head_cannot_be_changed_where_there_is_none() -> None:
    """An envelope that sends nothing has no header lines."""
    empty = draft(b"", ())
    for text in ("header:A=b", "status:404", "content-type:x/y"):
        with pytest.raises(ScenarioError):
            transformed(empty, text)


def test_every_transform_says_its_form_and_meaning() -> None:
    """The table is complete: unique names, a meaning of one line."""
    assert all(name == row.name and row.meaning and "\n" not in row.meaning for name, row in TRANSFORMS.items())
