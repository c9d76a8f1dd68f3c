"""What a command hands back to the command line: a text or a renderable, and the exit code."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from conformance.report.wireview import clean


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """`text` goes to standard output as it is, `view` as a terminal shows it; `code` is the exit code."""

    text: str = ""
    view: RenderableType | None = None
    code: int = 0


def as_json(value: Any, code: int = 0) -> Shown:
    """A JSON value, for programs."""
    return Shown(text=json.dumps(value, indent=2, ensure_ascii=True) + "\n", code=code)


def table(rows: list[dict[str, Any]], columns: dict[str, str]) -> Table:
    """Rows as a table of `columns` (member -> heading); lists are joined, false is a blank."""
    made = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for number, heading in enumerate(columns.values()):
        made.add_column(heading, overflow="fold", no_wrap=number == 0, style="bold" if number == 0 else "")
    for row in rows:
        made.add_row(*(Text(word(row[member])) for member in columns))
    return made


def facts(rows: dict[str, Any]) -> Table:
    """Names on the left, values on the right; what is empty is left out."""
    made = Table.grid(padding=(0, 2))
    made.add_column(style="dim", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in rows.items():
        if word(value):
            made.add_row(name, Text(word(value)))
    return made


def word(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, list | tuple | frozenset):
        return ", ".join(map(str, value))
    return "" if value is None or value is False else clean(str(value))
