"""Lines of wire as rows of a terminal, folded here and not by it: a mark that a fold cuts is closed and opened again.

From wire lines to a rich renderable. Knows nothing of reports.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.text import Text

from conformance.report.wireview import OPEN, SHUT, WireLine

_INDENT, _LEAST = 2, 16


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a folded line: its text, and from where to where it is marked (the brackets not counted)."""

    text: str
    start: int = 0
    end: int = 0


def folded(line: WireLine, width: int) -> tuple[Row, ...]:
    """The rows of at most `width` cells that a line takes; each that holds some of the mark has brackets of its own."""
    bracket = len(OPEN) if line.marked and (line.before or line.after) else 0
    parts = ((line.before, False), (line.marked, True), (line.after, False))
    rows: list[Row] = []
    text, used, start, end = "", 0, 0, 0
    for character, marked in ((one, marked) for part, marked in parts for one in part):
        opening = 2 * bracket if marked and not end else 0
        if text and used + opening + cell_len(character) > width:
            rows.append(_row(text, start, end, bracket))
            text, used, start, end = "", 0, 0, 0
            opening = 2 * bracket if marked else 0
        if marked:
            start = start if end else len(text)
            end = len(text) + 1
        text += character
        used += opening + cell_len(character)
    return (*rows, _row(text, start, end, bracket))


def _row(text: str, start: int, end: int, bracket: int) -> Row:
    if not bracket or not end:
        return Row(text, start, end)
    whole = f"{text[:start]}{OPEN}{text[start:end]}{SHUT}{text[end:]}"
    return Row(whole, start + bracket, end + bracket)


class WireTable:
    """When each line came, whether a finding is about it, and the line, as wide as the terminal."""

    def __init__(self, lines: tuple[WireLine, ...]) -> None:
        self._lines = [("" if line.at is None else f"+{line.at:.1f} ms", line) for line in lines]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """The rows."""
        wide = max((len(label) for label, _ in self._lines), default=0)
        room = max(options.max_width - _INDENT - wide - len(" > "), _LEAST)
        for label, line in self._lines:
            for row in folded(line, room):
                text = Text(" " * _INDENT, no_wrap=True, overflow="ignore")
                text.append(label.rjust(wide), "dim").append(" > " if line.hit else "   ")
                text.append(row.text, "dim" if line.at is None else "")
                first = len(text) - len(row.text)
                text.stylize("bold red", first + row.start, first + row.end)
                yield text
                label = ""
