"""Records for a reader: on a terminal two or three lines each, into a pipe one line each, whatever its length.

From rows to a renderable and to a text. The first member of a record is its id: never wrapped, never cut.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.text import Text

from conformance.commands.holdings import Row
from conformance.commands.shown import word
from conformance.report.views import counted

_GAP = "  "


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Which members a record shows: the id and the short ones on its first line, the others on one of their own each.

    `noun` is what one record is called; a member with a label is shown behind it, where it is not empty.
    """

    noun: str
    id: str
    short: tuple[str, ...]
    long: tuple[str, ...]
    labels: tuple[tuple[str, str], ...] = ()


def piped(rows: list[Row], layout: Layout) -> str:
    """One line a record in aligned columns, "-" for what is empty; no heading and no count, so that lines count."""
    members = (layout.id, *layout.short, *layout.long)
    cells = [[word(row[member]) or "-" for member in members] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = (_GAP.join(map(str.ljust, line, widths)).rstrip() for line in cells)
    return "".join(f"{line}\n" for line in lines)


class Records:
    """The records on a terminal, as wide as it is."""

    def __init__(self, rows: list[Row], layout: Layout) -> None:
        self._rows, self._layout = rows, layout

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """The records, then how many they are."""
        for row in self._rows:
            yield from self._record(row, options.max_width)
        yield Text(f"\n{counted(len(self._rows), self._layout.noun)}", "dim")

    def _record(self, row: Row, width: int) -> Iterator[RenderableType]:
        name, short = word(row[self._layout.id]), _GAP.join(word(row[member]) for member in self._layout.short)
        fits = len(name) + len(_GAP) + len(short) <= width
        first = Text.assemble((name, "bold"), (f"{_GAP}{short}" if fits else "", "dim"))
        first.no_wrap, first.overflow = True, "ignore"
        yield first
        labels = dict(self._layout.labels)
        told = [] if fits else [Text(short, "dim")]
        for member in self._layout.long:
            if value := word(row[member]):
                told.append(Text.assemble((f"{labels[member]} " if member in labels else "", "dim"), value))
        yield from (Padding(line, (0, 0, 0, 4), expand=False) for line in told)
