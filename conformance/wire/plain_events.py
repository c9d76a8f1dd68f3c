"""The common stream, read column by column: every event is one `data: ` line, every line ends in LF.

Either the whole body is of that form, and its events come out as the general algorithm would give them, or there is no
answer. Building frozen objects one by one would cost more than all the parsing; here each field is set for all events
in one pass of C code.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from itertools import accumulate, repeat
from typing import Any

from conformance.wire.event import Event
from conformance.wire.facts import Span

_PREFIX = b"data: "
_END = b"\n\n"

_run: Callable[[Iterable[None]], None] = deque[None](maxlen=0).extend


def read_plain_events(body: bytes, max_data: int, max_events: int) -> tuple[Event, ...] | None:
    """The events of a plain body; None when it is not plain, or when a line or the count is past its bound."""
    if not body.startswith(_PREFIX) or not body.endswith(_END) or b"\r" in body:
        return None
    data = body[len(_PREFIX) : -len(_END)].split(_END + _PREFIX)
    # No line feed but those of the separators: every piece is one data line.
    if body.count(b"\n") != 2 * len(data) or len(data) >= max_events:
        return None
    sizes = list(map(len, data))
    if max(sizes) > max_data - len(_PREFIX):
        return None
    ends = list(accumulate(map((len(_PREFIX) + len(_END)).__add__, sizes)))
    return _build(data, [0, *ends[:-1]], ends)


def _build(data: list[bytes], starts: list[int], ends: list[int]) -> tuple[Event, ...]:
    spans = _blank(Span, len(data))
    _set(Span, "start", spans, starts)
    _set(Span, "end", spans, ends)
    events = _blank(Event, len(data))
    _set(Event, "index", events, range(len(data)))
    _set(Event, "data", events, data)
    _set(Event, "span", events, spans)
    for name, constant in (
        ("type", ""), ("id", None), ("retry", None), ("data_lines", 1), ("terminated", True), ("dispatched", True),
    ):  # fmt: skip
        _set(Event, name, events, repeat(constant))
    return tuple(events)


def _blank(kind: type[Any], count: int) -> list[Any]:
    """`count` objects of a slotted class with no field set yet."""
    return list(map(object.__new__, repeat(kind, count)))


def _set(kind: type[Any], name: str, objects: list[Any], values: Iterable[Any]) -> None:
    """Set one field of all objects, past the guard that makes them frozen (they are not shared yet)."""
    _run(map(getattr(kind, name).__set__, objects, values))
