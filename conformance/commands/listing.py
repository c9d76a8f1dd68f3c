"""`clauses`, `scenarios`, `targets`, `defects`: what the suite holds, a record for each, or as JSON."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable

from conformance.commands import holdings
from conformance.commands.records import Layout, Records, piped
from conformance.commands.shown import Shown, as_json

#: Command -> where its rows come from, and how one is shown.
LISTS: dict[str, tuple[Callable[[], list[holdings.Row]], Layout]] = {
    "clauses": (
        holdings.clauses,
        Layout(noun="clause", id="id", short=("level", "basis", "scope"), long=("title",)),
    ),
    "scenarios": (
        holdings.scenarios,
        Layout(noun="scenario", id="id", short=("endpoint",), long=("title", "needs"), labels=(("needs", "needs"),)),
    ),
    "targets": (
        holdings.targets,
        Layout(
            noun="target",
            id="name",
            short=("kind",),
            long=("title", "capabilities"),
            labels=(("capabilities", "declares"),),
        ),
    ),
    "defects": (
        holdings.defects,
        Layout(
            noun="defect",
            id="name",
            short=("shows",),
            long=("title", "violates"),
            labels=(("violates", "violates"),),
        ),
    ),
}


def show(arguments: Namespace) -> Shown:
    """The rows of the list that the command names."""
    gather, layout = LISTS[arguments.command]
    rows = gather()
    if arguments.format == "json":
        return as_json(rows)
    return Shown(view=Records(rows, layout), piped=piped(rows, layout))
