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
    """`text` goes to standard output as it is, `view` as a terminal shows it; `code` is the exit code.

    Where standard output is no terminal, `piped` takes the place of a view, if there is any.
    """

    text: str = ""
    view: RenderableType | None = None
    piped: str = ""
    code: int = 0


def as_json(value: Any, code: int = 0) -> Shown:
    """A JSON value, for programs."""
    return Shown(text=json.dumps(value, indent=2, ensure_ascii=True) + "\n", code=code)


def facts(rows: dict[str, Any]) -> Table:
    """Names on the left, values on the right; what is empty is left out."""
    made = Table.grid(padding=(0, 2))
    made.add_column(style="dim", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in rows.items():
        if word(value):
            made.add_row(name, Text(word(value)))
    return made


def unwrapped(rows: dict[str, Any]) -> str:
    """The same as a text with one line each, whatever its length."""
    told = {name: word(value) for name, value in rows.items() if word(value)}
    wide = max(map(len, told), default=0)
    return "".join(f"{name.ljust(wide)}  {value}\n" for name, value in told.items())


def word(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, list | tuple | frozenset):
        return ", ".join(map(str, value))
    return "" if value is None or value is False else clean(str(value))
