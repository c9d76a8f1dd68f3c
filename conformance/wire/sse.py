"""Server-sent events: the WHATWG parsing algorithm (HTML Living Standard, 9.2.6); what it forgives is kept as facts.

Bytes of a body become events, comments and faults. Total and bounded: a line and an event each have a byte bound (what
is longer is cut there), and so have the counts. The closed set of fault codes:

    utf8.invalid  line.too-long  event.too-long  event.unterminated  field.unknown (the detail shows the line)
    retry.invalid  id.nul  event.too-many  comment.too-many  faults.too-many
"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.wire.event import Comment, Event, EventStream
from conformance.wire.event_counter import BOM, EventCounter
from conformance.wire.facts import FaultLog, Span, clip
from conformance.wire.plain_events import read_plain_events
from conformance.wire.utf8 import note_invalid_utf8

__all__ = ["Comment", "Event", "EventCounter", "EventStream", "read_events"]

MAX_LINE = 16 * 1024 * 1024
MAX_EVENT = 16 * 1024 * 1024
MAX_EVENTS = 500_000
MAX_COMMENTS = 100_000


def read_events(body: bytes, *, max_line: int = MAX_LINE, max_event: int = MAX_EVENT) -> EventStream:
    """All events of `body`. A line is cut past `max_line` bytes, an event's data past `max_event`, with a fault."""
    log = FaultLog()
    if not body.isascii():
        note_invalid_utf8(body, log)
    plain = read_plain_events(body, min(max_line, max_event), MAX_EVENTS)
    if plain is None:
        return _Reading(body, max_line, max_event, log).run()
    return EventStream(events=plain, comments=(), faults=log.freeze(), line_ends=frozenset({"LF"}))


class _Reading:
    """The state of one run of the algorithm: what was read, and the buffers of the event that is being read."""

    def __init__(self, body: bytes, max_line: int, max_event: int, log: FaultLog) -> None:
        self._body = body
        self._max_line = max_line
        self._max_event = max_event
        self._log = log
        self._events: list[Event] = []
        self._comments: list[Comment] = []
        self._comment_count = 0
        self._line_ends: set[str] = set()
        self._reset()

    def _reset(self) -> None:
        self._begin = -1  # where the event's first field starts
        self._type = ""
        self._id: str | None = None
        self._retry: int | None = None
        self._data: list[bytes] = []
        self._data_lines = 0
        self._room = self._max_event
        self._cut = False

    def run(self) -> EventStream:
        """Read the whole body."""
        bom = self._body.startswith(BOM)
        position = len(BOM) if bom else 0
        for end, following in self._lines(position):
            if end > position:
                self._read_line(position, end)
            elif self._begin >= 0:
                self._finish(following, terminated=True)
            position = following
            if len(self._events) == MAX_EVENTS:
                self._log.note("event.too-many", position, len(self._body), f"reading ends after {MAX_EVENTS} events")
                position = len(self._body)
                break
        if position < len(self._body):
            self._read_line(position, len(self._body))
        if self._begin >= 0:
            # "If the file ends in the middle of an event, before the final empty line, the incomplete event is not
            # dispatched" (9.2.6).
            self._log.note("event.unterminated", self._begin, len(self._body), "no blank line ends the last event")
            self._finish(len(self._body), terminated=False)
        return EventStream(
            events=tuple(self._events), comments=tuple(self._comments), faults=self._log.freeze(),
            line_ends=frozenset(self._line_ends), bom=bom,
        )  # fmt: skip

    def _lines(self, position: int) -> Iterator[tuple[int, int]]:
        """The end of each line that has a line end, and the offset behind that."""
        body = self._body
        feed, carriage = body.find(b"\n", position), body.find(b"\r", position)
        while feed >= 0 or carriage >= 0:
            if carriage < 0 or 0 <= feed < carriage:
                name, end, following = "LF", feed, feed + 1
            elif feed == carriage + 1:
                name, end, following = "CRLF", carriage, carriage + 2
            else:
                name, end, following = "CR", carriage, carriage + 1
            self._line_ends.add(name)
            yield end, following
            if 0 <= feed < following:
                feed = body.find(b"\n", following)
            if 0 <= carriage < following:
                carriage = body.find(b"\r", following)

    def _read_line(self, start: int, end: int) -> None:
        if end - start > self._max_line:
            self._log.note("line.too-long", start, end, f"{end - start} bytes; cut after {self._max_line}")
        line = self._body[start : min(end, start + self._max_line)]
        name, _, value = line.partition(b":")
        if not name:
            self._comment(value, Span(start, end))
            return
        value = value.removeprefix(b" ")
        if name == b"data":
            self._append(value, start, end)
        elif name == b"event":
            self._type = value.decode("utf-8", "replace")
        elif name == b"id":
            self._set_id(value, start, end)
        elif name == b"retry":
            self._set_retry(value, start, end)
        else:
            self._log.note("field.unknown", start, end, f"{clip(line)} is no field that the standard knows")
            return
        if self._begin < 0:
            self._begin = start

    def _comment(self, text: bytes, span: Span) -> None:
        self._comment_count += 1
        if self._comment_count <= MAX_COMMENTS:
            self._comments.append(Comment(text, span))
        elif self._comment_count == MAX_COMMENTS + 1:
            self._log.note("comment.too-many", span.start, span.end, f"more than {MAX_COMMENTS} comments; not kept")

    def _append(self, value: bytes, start: int, end: int) -> None:
        self._data_lines += 1
        if self._cut:
            return
        self._cut = len(value) > self._room
        if self._cut:
            self._log.note("event.too-long", start, end, f"more than {self._max_event} bytes of data; cut there")
        if self._room >= 0:
            self._data.append(value[: self._room])
        self._room -= len(value) + 1  # the line feed that joins two lines

    def _set_id(self, value: bytes, start: int, end: int) -> None:
        if b"\0" in value:
            self._log.note("id.nul", start, end, "an id with a NUL is ignored")
        else:
            self._id = value.decode("utf-8", "replace")

    def _set_retry(self, value: bytes, start: int, end: int) -> None:
        if value.isdigit() and len(value) <= 18:
            self._retry = int(value)
        else:
            self._log.note("retry.invalid", start, end, f"{clip(value)} is not a number of milliseconds")

    def _finish(self, end: int, *, terminated: bool) -> None:
        event = Event(
            index=len(self._events), type=self._type, data=b"\n".join(self._data), span=Span(self._begin, end),
            id=self._id, retry=self._retry, data_lines=self._data_lines, terminated=terminated,
            dispatched=terminated and self._data_lines > 0,
        )  # fmt: skip
        self._events.append(event)
        self._reset()
