"""`clauses`, `scenarios`, `targets`, `defects`: what the suite holds, a record for each, or as JSON."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase

from conformance.commands import holdings
from conformance.commands.records import Layout, Records, piped
from conformance.commands.shown import Shown, as_json
from conformance.errors import UsageError
from conformance.nearest import near_glob

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
    """The rows of the list that the command names, or those that globs name. Raises UsageError for a glob of none."""
    gather, layout = LISTS[arguments.command]
    rows = _chosen(gather(), arguments.globs, layout)
    if arguments.format == "json":
        return as_json(rows)
    return Shown(view=Records(rows, layout), piped=piped(rows, layout))


def _chosen(rows: list[holdings.Row], globs: Sequence[str], layout: Layout) -> list[holdings.Row]:
    names = [row[layout.id] for row in rows]
    for glob in globs:
        if not any(fnmatchcase(name, glob) for name in names):
            lists = f"`conformance {layout.noun}s` lists all"
            raise UsageError(f"no {layout.noun} matches {glob!r}", hint=near_glob(glob, names, otherwise=lists))
    return [row for row in rows if not globs or any(fnmatchcase(row[layout.id], glob) for glob in globs)]
