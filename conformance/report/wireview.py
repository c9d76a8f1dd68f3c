"""Raw bytes with arrival times, cut down to the lines around a span, as text that any terminal or document can show.

From a leg and a span to lines. Knows no output format; nothing in the text can act on a terminal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from conformance.report.model import Leg
from conformance.wire.facts import Span
from conformance.wire.transcript import Arrivals, Segment

OPEN, SHUT = "⟦", "⟧"
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass(frozen=True, slots=True, kw_only=True)
class WireLine:
    """One line. `at` is when its last byte arrived (ms; None for a note on what was left out).

    `before`, `marked` and `after` join to the text; `hit` is whether the span touches the line.
    """

    at: float | None
    before: str
    marked: str = ""
    after: str = ""
    hit: bool = False

    @property
    def text(self) -> str:
        """The whole text, the marked part in brackets where it is not the whole line."""
        if not self.marked or not (self.before or self.after):
            return self.before + self.marked + self.after
        return f"{self.before}{OPEN}{self.marked}{SHUT}{self.after}"


def visible(data: bytes) -> str:
    """`data` as printable text: UTF-8 where it is; other bytes, control and invisible characters escaped."""
    return clean(data.decode("utf-8", "backslashreplace"))


def clean(text: str) -> str:
    """`text` on one line, every control or invisible character and every lone surrogate escaped."""
    return text if text.isprintable() else "".join(map(_escape, text))


def view(leg: Leg, span: Span | None, *, context: int = 2, most: int = 8, width: int = 240) -> tuple[WireLine, ...]:
    """The lines that `span` touches (at most `most`), `context` lines around them and the first line, the rest noted.

    Lines are cut to about `width` bytes around the span, with the number of bytes cut. No span: the first lines.
    """
    bounds = list(_lines(leg.data))
    touched = _touched(bounds, span, whole=not leg.cut)
    first, last = (touched[0], touched[min(len(touched), most) - 1]) if touched else (0, min(most, len(bounds)) - 1)
    wanted = sorted({0, *range(max(0, first - context), min(len(bounds), last + 1 + context))}) if bounds else []
    arrivals = Arrivals(tuple(Segment(a.at, bytes(a.size)) for a in leg.arrivals))
    lines: list[WireLine] = []
    reached = 0
    for number in wanted:
        start, end = bounds[number]
        lines += _gap(reached, start)
        reached = end
        if number in touched or leg.data[start:end].strip(b"\r\n"):
            lines.append(_line(leg.data, start, end, span if number in touched else None, arrivals, width))
    lines += _gap(reached, len(leg.data))
    if leg.cut:
        lines.append(WireLine(at=None, before=f"… {leg.cut:,} more bytes were not kept"))
    return tuple(lines)


def _touched(bounds: list[tuple[int, int]], span: Span | None, *, whole: bool) -> list[int]:
    """The numbers of the lines that the span touches; the last one for a span at the end of all that came."""
    if span is None or not bounds:
        return []
    if span.start >= bounds[-1][1]:
        return [len(bounds) - 1] if whole else []
    stop = max(span.end, span.start + 1)
    return [number for number, (start, end) in enumerate(bounds) if start < stop and span.start < end]


def _lines(data: bytes) -> Iterator[tuple[int, int]]:
    """The bounds of each line, its line feed included."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start) + 1 or len(data)
        yield start, end
        start = end


def _line(data: bytes, start: int, end: int, span: Span | None, arrivals: Arrivals, width: int) -> WireLine:
    at = arrivals.of(Span(start, end))
    if span is None:
        shown = data[start:end].removesuffix(b"\n").removesuffix(b"\r")
        return WireLine(at=at, before=_head(shown, width))
    left = min(max(start, span.start), end)
    right = min(max(left, span.end), end)
    room = max(width - (right - left), width // 3)
    return WireLine(
        at=at,
        hit=True,
        before=_tail(data[start:left], room // 2),
        marked=_head(data[left:right], width),
        after=_head(data[right:end].removesuffix(b"\n").removesuffix(b"\r"), room // 2),
    )


def _head(data: bytes, limit: int) -> str:
    """The start of `data`, cut at a character's border, with the number of bytes cut."""
    if len(data) <= limit + 20:
        return visible(data)
    while limit and data[limit] & 0xC0 == 0x80:
        limit -= 1
    return f"{visible(data[:limit])}…({len(data) - limit:,} bytes cut)"


def _tail(data: bytes, limit: int) -> str:
    """The end of `data`, likewise."""
    if len(data) <= limit + 20:
        return visible(data)
    start = len(data) - limit
    while start < len(data) and data[start] & 0xC0 == 0x80:
        start += 1
    return f"({start:,} bytes cut)…{visible(data[start:])}"


def _gap(start: int, end: int) -> list[WireLine]:
    return [WireLine(at=None, before=f"… {end - start:,} bytes")] if end > start else []


def _escape(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x100:
        return _SHORT.get(character, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
