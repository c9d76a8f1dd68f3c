"""`clauses`, `scenarios`, `targets`: what the suite holds, as a table or as JSON."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable

from rich.console import Group
from rich.text import Text

from conformance.commands import holdings
from conformance.commands.shown import Shown, as_json, table

#: Command -> where its rows come from, and the columns of the table (member -> heading).
LISTS: dict[str, tuple[Callable[[], list[holdings.Row]], dict[str, str]]] = {
    "clauses": (
        holdings.clauses,
        {"id": "clause", "level": "level", "basis": "basis", "scope": "scope", "title": "title"},
    ),
    "scenarios": (holdings.scenarios, {"id": "scenario", "endpoint": "endpoint", "needs": "needs", "title": "title"}),
    "targets": (
        holdings.targets,
        {"name": "target", "kind": "kind", "title": "title", "capabilities": "declares"},
    ),
}


def show(arguments: Namespace) -> Shown:
    """The rows of the list that the command names."""
    gather, columns = LISTS[arguments.command]
    rows = gather()
    if arguments.format == "json":
        return as_json(rows)
    return Shown(view=Group(table(rows, columns), Text(f"\n{len(rows)} {arguments.command}", "dim")))
