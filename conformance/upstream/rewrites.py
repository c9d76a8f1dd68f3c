"""What a transform does to a draft: each function here is one named change of a body's events, bytes, times or head.

Draft (and typed arguments) -> Draft. Events are counted from 1, `[DONE]` among them; comments are not events. A change
that finds nothing to change raises ScenarioError: a play that silently is the plain one would prove nothing. Pure.
"""

from __future__ import annotations

import re
import zlib
from bisect import bisect_right
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http import HTTPStatus
from itertools import accumulate

from conformance.cassette.model import EnvelopeEnd, Frame
from conformance.errors import ScenarioError
from conformance.upstream.draft import (
    Draft,
    Edit,
    cut,
    delayed,
    edited,
    header,
    recut,
    split,
    with_header,
    without_headers,
)
from conformance.wire.sse import Event, read_events

#: What a date is where nobody has said when "now" is.
EPOCH = "Thu, 01 Jan 1970 00:00:00 GMT"
COMMENT = b": keep-alive\n\n"
UNKNOWN_EVENT = b'event: provider.notice\ndata: {"notice":"capacity"}\n\n'
PIECE = 65536
_FIELD_SPACE = re.compile(rb"(?:\A|(?<=[\r\n]))((?:data|event|id|retry):) ")
_TEXT = re.compile(rb'"(?:content|text)" ?: ?"')
_DATA_LINE = re.compile(rb"(?:\A|(?<=[\r\n]))data: ?([^\r\n]*)")


def events(draft: Draft) -> tuple[Event, ...]:
    """The body's events that carry data, in order."""
    return tuple(event for event in read_events(draft.body).events if event.data_lines)


def event(draft: Draft, number: int) -> Event:
    """Event `number`, counted from 1. Raises ScenarioError when the body has no such event."""
    found = events(draft)
    if not 1 <= number <= len(found):
        raise ScenarioError(f"there is no event {number}: the body has {len(found)}", hint="events are counted from 1")
    return found[number - 1]


def end_after(draft: Draft, number: int, end: EnvelopeEnd) -> Draft:
    """Keep `number` events (0: only the head), then end so."""
    return cut(draft, event(draft, number).span.end if number else 0, end)


def end_after_bytes(draft: Draft, size: int) -> Draft:
    """Keep `size` body bytes, then close."""
    if size > len(draft.body):
        raise ScenarioError(f"the body has {len(draft.body)} bytes, fewer than {size}")
    return cut(draft, size, EnvelopeEnd.CLOSE)


def rechunk(draft: Draft, size: int) -> Draft:
    """Frames of `size` bytes; each comes when its last byte would have come."""
    if size < 1:
        raise ScenarioError("a frame holds at least one byte")
    total = len(draft.body)
    return recut(draft, [*range(size, total, size), total]) if total else draft


def split_characters(draft: Draft, ms: float) -> Draft:
    """Every character outside ASCII is cut after its first byte; all that follows, its rest first, comes `ms` later."""
    cuts = [offset + 1 for offset, byte in enumerate(draft.body) if byte >= 0xC2]
    if not cuts:
        raise ScenarioError("the body has no character outside ASCII to cut")
    parted = split(draft, cuts)
    starts = accumulate((frame.size for frame in parted.frames), initial=0)
    frames = (
        Frame(f.at + bisect_right(cuts, start) * ms, f.size) for f, start in zip(parted.frames, starts, strict=False)
    )
    return replace(parted, frames=tuple(frames))


def coalesce(draft: Draft) -> Draft:
    """The whole body in one frame, together with the head."""
    return replace(draft, frames=(Frame(0.0, len(draft.body)),))


def line_ends(draft: Draft, new: bytes) -> Draft:
    """Every line of the body ends with `new`."""
    found = [(m.start(), m.end(), new) for m in re.finditer(rb"\r\n|\n|\r", draft.body) if m[0] != new]
    return edited(draft, _some(found, "line end to change"))


def byte_order_mark(draft: Draft) -> Draft:
    """A UTF-8 byte order mark leads the body."""
    return edited(draft, [(0, 0, b"\xef\xbb\xbf")])


def drop_done(draft: Draft) -> Draft:
    """No `[DONE]` event."""
    return edited(draft, [(e.span.start, e.span.end, b"") for e in _done(draft)])


def double_done(draft: Draft) -> Draft:
    """The last `[DONE]` event comes twice."""
    last = _done(draft)[-1].span
    return edited(draft, [(last.end, last.end, last.of(draft.body))])


def comment_before(draft: Draft, number: int) -> Draft:
    """A comment stands before event `number`."""
    start = event(draft, number).span.start
    return edited(draft, [(start, start, COMMENT)])


def comments_everywhere(draft: Draft) -> Draft:
    """A comment stands before every event."""
    starts = [e.span.start for e in events(draft)]
    return edited(draft, _some([(start, start, COMMENT) for start in starts], "event"))


def no_space_after_colon(draft: Draft) -> Draft:
    """`data:x` instead of `data: x`, for every field."""
    found = [(m.end(1), m.end(), b"") for m in _FIELD_SPACE.finditer(draft.body)]
    return edited(draft, _some(found, "field with a space after its colon"))


def no_final_blank_line(draft: Draft) -> Draft:
    """The last event is not ended by a blank line; the line end of its last field stays."""
    match = re.search(rb"(?:\r\n|\n|\r)((?:\r\n|\n|\r)+)\Z", draft.body)
    found = [(match.start(1), match.end(1), b"")] if match else []
    return edited(draft, _some(found, "blank line at the end"))


def repeat_event(draft: Draft, number: int, times: int) -> Draft:
    """Event `number` comes `times` times in all."""
    if not 1 <= times <= 100_000:
        raise ScenarioError("an event comes 1 to 100000 times")
    span = event(draft, number).span
    return edited(draft, [(span.end, span.end, span.of(draft.body) * (times - 1))])


def unknown_event(draft: Draft, number: int) -> Draft:
    """An event of a type that no API names stands before event `number`."""
    start = event(draft, number).span.start
    return edited(draft, [(start, start, UNKNOWN_EVENT)])


def bad_json(draft: Draft, number: int) -> Draft:
    """The data of event `number` breaks off in the middle of its JSON."""
    span = event(draft, number).span
    line = _DATA_LINE.search(draft.body, span.start, span.end)
    if line is None or len(line[1]) < 2:
        raise ScenarioError(f"event {number} has no data to break")
    return edited(draft, [(line.start(1) + len(line[1]) // 2, line.end(1), b"")])


def big_event(draft: Draft, size: int) -> Draft:
    """The first JSON event grows to about `size` bytes: white space over many data lines, still the same JSON."""
    for candidate in events(draft):
        line = _DATA_LINE.search(draft.body, candidate.span.start, candidate.span.end)
        if line is not None and line[1].startswith(b"{"):
            start = line.start(1) + 1
            grown = edited(draft, [(start, start, b"\n" + _data_lines(b" ", size) + b"data: ")])
            return split(grown, range(start, start + size, PIECE))
    raise ScenarioError("the body has no event with a JSON object to grow")


def long_text(draft: Draft, number: int, size: int) -> Draft:
    """The text of event `number` grows by `size` letters, on its one data line."""
    span = event(draft, number).span
    text = _TEXT.search(draft.body, span.start, span.end)
    if text is None:
        raise ScenarioError(f"event {number} has no content to grow")
    grown = edited(draft, [(text.end(), text.end(), b"x" * size)])
    return split(grown, range(text.end(), text.end() + size, PIECE))


def endless_event(draft: Draft, size: int) -> Draft:
    """After the first event comes one of about `size` bytes of data lines that never ends; then the member closes."""
    kept = end_after(draft, min(1, len(events(draft))), EnvelopeEnd.CLOSE)
    start = len(kept.body)
    grown = edited(kept, [(start, start, _data_lines(b"x", size))])
    return split(replace(grown, head=draft.head), range(start, start + size, PIECE))


def delay_event(draft: Draft, number: int, ms: float) -> Draft:
    """Event `number` and all after it come `ms` later."""
    return delayed(draft, event(draft, number).span.start, ms)


def delay_head(draft: Draft, ms: float) -> Draft:
    """Head and body come `ms` later."""
    return replace(draft, head_at=draft.head_at + ms)


def pace(draft: Draft, ms: float) -> Draft:
    """Each event is one frame, `ms` after the one before; the first comes with the head."""
    ends = [e.span.end for e in events(draft)]
    if not ends:
        raise ScenarioError("the body has no events to pace")
    return recut(draft, [*ends[:-1], len(draft.body)], lambda index: index * ms)


def gzip(draft: Draft) -> Draft:
    """The body is gzip (flushed at each frame, so that frames keep their times), and the head says so."""
    squeeze = zlib.compressobj(wbits=31)
    pieces, position = [], 0
    for frame in draft.frames:
        piece = squeeze.compress(draft.body[position : position + frame.size])
        pieces.append(piece + squeeze.flush(zlib.Z_SYNC_FLUSH))
        position += frame.size
    pieces = [*pieces[:-1], b"".join((*pieces[-1:], squeeze.flush()))]
    body = b"".join(pieces)
    times = [frame.at for frame in draft.frames] or [0.0]
    squeezed = edited(draft, [(0, len(draft.body), body)])
    frames = tuple(Frame(at, len(piece)) for at, piece in zip(times, pieces, strict=True))
    return with_header(replace(squeezed, frames=frames), "Content-Encoding: gzip")


def until_close(draft: Draft) -> Draft:
    """No content length and no chunks: the body runs until the member closes."""
    return without_headers(draft, "content-length", "transfer-encoding")


def content_type(draft: Draft, value: str) -> Draft:
    """The head says this media type, in the place of the old line."""
    if header(draft, "content-type") is None:
        return with_header(draft, f"Content-Type: {value}")
    lines = [
        f"{line.partition(':')[0]}: {value}" if line.partition(":")[0].strip().lower() == "content-type" else line
        for line in draft.head[1:]
    ]
    return replace(draft, head=(draft.head[0], *lines))


def no_content_type(draft: Draft) -> Draft:
    """The head names no media type."""
    return without_headers(draft, "content-type")


def status(draft: Draft, code: int) -> Draft:
    """The status line says `code`, with its registered reason phrase (none when it has none)."""
    if not 100 <= code <= 999 or not draft.head:
        raise ScenarioError(f"{code} cannot be the status of this envelope")
    known = code in HTTPStatus._value2member_map_
    phrase = HTTPStatus(code).phrase if known else ""
    return replace(draft, head=(f"{draft.head[0].partition(' ')[0]} {code} {phrase}", *draft.head[1:]))


def extra_header(draft: Draft, name: str, value: str) -> Draft:
    """One more header line."""
    return with_header(draft, f"{name}: {value}")


def retry_date(draft: Draft, seconds: int, now: str = EPOCH) -> Draft:
    """The head says in dates (RFC 9110, section 10.2.3) that it is `now`, and to ask again `seconds` later."""
    try:
        made = datetime.strptime(now, "%a, %d %b %Y %H:%M:%S GMT").replace(tzinfo=UTC)
    except ValueError:
        raise ScenarioError(f"{now!r} is no date", hint=f"written {EPOCH}") from None
    until = format_datetime(made + timedelta(seconds=seconds), usegmt=True)
    plain = without_headers(draft, "date", "retry-after")
    return with_header(with_header(plain, f"Date: {now}"), f"Retry-After: {until}")


def _done(draft: Draft) -> list[Event]:
    found = [e for e in events(draft) if e.data.strip() == b"[DONE]"]
    if not found:
        raise ScenarioError("the body has no [DONE] event")
    return found


def _some(edits: list[Edit], what: str) -> list[Edit]:
    if not edits:
        raise ScenarioError(f"the body has no {what}")
    return edits


def _data_lines(fill: bytes, size: int) -> bytes:
    """About `size` bytes of `data` lines, each of 1,024 bytes."""
    return (b"data: " + fill * 1017 + b"\n") * max(1, size // 1024)
