"""`explain ID`: all that is known about one clause, scenario or defect, and how to select it."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from rich.console import Group
from rich.text import Text

from conformance.commands import holdings
from conformance.commands.shown import Shown, as_json, facts
from conformance.errors import UsageError
from conformance.options import near


def show(arguments: Namespace) -> Shown:
    """What the id names. Raises UsageError for an id that names nothing."""
    clauses = {row["id"]: row for row in holdings.clauses()}
    scenarios = {row["id"]: row for row in holdings.scenarios()}
    defects = {row["name"]: row for row in holdings.defects()}
    wanted = arguments.id
    if wanted in clauses:
        return _shown(arguments, "clause", wanted, _clause(clauses[wanted], scenarios))
    if wanted in scenarios:
        return _shown(arguments, "scenario", wanted, _scenario(scenarios[wanted]))
    if wanted in defects:
        return _shown(arguments, "defect", wanted, _defect(defects[wanted]))
    hint = near(wanted, [*clauses, *scenarios, *defects]) if clauses or scenarios else ""
    raise UsageError(f"no clause, scenario or defect is called {wanted!r}", where="explain", hint=hint)


def _clause(row: holdings.Row, scenarios: dict[str, holdings.Row]) -> dict[str, Any]:
    return {
        "title": row["title"],
        "level": f"{row['level']} ({row['basis']})",
        "judged on": row["scope"],
        "why": row["rationale"],
        "norm": f"{row['source']}  {row['link']}",
        "judged when declared": row["capabilities"],
        "exercised by": [scenario["id"] for scenario in scenarios.values() if row["id"] in scenario["exercises"]],
        "violated by defect": row["defects"],
        "select": f"conformance run --clauses {row['id']}",
    }


def _scenario(row: holdings.Row) -> dict[str, Any]:
    return {
        "title": row["title"],
        "endpoint": row["endpoint"] + (" (stream)" if row["stream"] else ""),
        "lane": row["lane"],
        "steps": row["steps"] or "",
        "needs": row["needs"],
        "exercises": row["exercises"],
        "drivers": row["drivers"],
        "live": "can run live" if row["live"] else "",
        "source": row["source"],
        "select": f"conformance run --select {row['id']}",
    }


def _defect(row: holdings.Row) -> dict[str, Any]:
    return {
        "title": row["title"],
        "violates": row["violates"],
        "see it": f"conformance run --target reference:{row['name']}",
    }


def _shown(arguments: Namespace, kind: str, name: str, about: dict[str, Any]) -> Shown:
    if arguments.format == "json":
        return as_json({"kind": kind, "id": name, **about})
    return Shown(view=Group(Text.assemble((f"{kind} ", "dim"), (name, "bold")), facts(about)))
