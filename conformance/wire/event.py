"""Server-sent events as facts: events, comments, faults. Data that `sse` makes and everyone reads.

Knows nothing of how they are parsed, and nothing of what the events carry.
"""

from __future__ import annotations

from dataclasses import dataclass

from conformance.wire.facts import Fault, Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event. `data` is the joined data lines as bytes (never decoded with replacement).

    `type` is the `event` field ("" when absent: the standard's "message"); `id` the event's own `id` field or None (the
    standard's last event id would persist from event to event; this one does not). `dispatched` is what a conforming
    client would do with it: False for an event without data, or for one that the stream's end cut off (`terminated`
    False). `data_lines` counts the `data` fields. `span` runs from the first byte of its first field to the end of the
    blank line, in the body.
    """

    index: int
    type: str
    data: bytes
    span: Span
    id: str | None = None
    retry: int | None = None
    data_lines: int = 1
    terminated: bool = True
    dispatched: bool = True


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment line (starts with a colon); `text` without the colon."""

    text: bytes
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class EventStream:
    """All that one body holds when read as server-sent events.

    `events` are in order, undispatched ones included. `line_ends` is the set of line endings met: "LF", "CR", "CRLF".
    `bom` is whether a byte order mark led the stream.
    """

    events: tuple[Event, ...]
    comments: tuple[Comment, ...]
    faults: tuple[Fault, ...]
    line_ends: frozenset[str]
    bom: bool = False
