"""`explain ID`: all about one clause, scenario, target, defect, capability or norm, and how to select or see it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator
from typing import Any

from rich.console import Group
from rich.text import Text

from conformance.commands import holdings, norms
from conformance.commands.shown import Shown, as_json, facts, unwrapped
from conformance.contract.sources import SOURCES
from conformance.errors import UsageError
from conformance.nearest import near
from conformance.target.profile import CAPABILITIES

#: Members that are a command: shown last, and never wrapped, so that it can be copied.
_COMMANDS = ("select", "see it")


def show(arguments: Namespace) -> Shown:
    """What the id names. Raises UsageError for an id that names nothing."""
    clauses = {row["id"]: row for row in holdings.clauses()}
    scenarios = {row["id"]: row for row in holdings.scenarios()}
    defects = {row["name"]: row for row in holdings.defects()}
    targets = {row["name"]: row for row in holdings.targets()}
    wanted = _named(arguments.id, defects)
    if wanted in clauses:
        return _shown(arguments, "clause", wanted, _clause(clauses[wanted], scenarios))
    if wanted in scenarios:
        return _shown(arguments, "scenario", wanted, _scenario(scenarios[wanted]))
    if wanted in defects:
        return _shown(arguments, "defect", wanted, _defect(defects[wanted]))
    if wanted in targets:
        return _shown(arguments, "target", wanted, _target(targets[wanted]))
    if wanted in CAPABILITIES:
        about = _capability(wanted, clauses.values(), scenarios.values(), targets.values())
        return _shown(arguments, "capability", wanted, about)
    if wanted in SOURCES:
        return _shown(arguments, "norm", wanted, norms.about(wanted, clauses.values()))
    lists = "`conformance clauses`, `scenarios`, `targets` and `defects` list what there is"
    hint = near(wanted, [*clauses, *scenarios, *targets, *defects, *CAPABILITIES, *SOURCES], otherwise=lists)
    what = f"no clause, scenario, target, defect, capability or norm is called {wanted!r}"
    raise UsageError(what, where="explain", hint=hint)


def _named(told: str, defects: Iterable[str]) -> str:
    """The id that was told: of a defect also as the target that has it, of a norm also by its address."""
    target, _, defect = told.partition(":")
    if target == "reference" and defect in defects:
        return defect
    return next((key for key, source in SOURCES.items() if source.url == told), told)


def _clause(row: holdings.Row, scenarios: dict[str, holdings.Row]) -> dict[str, Any]:
    return {
        "title": row["title"],
        "level": f"{row['level']} ({row['basis']})",
        "judged on": row["scope"],
        "why": row["rationale"],
        "norm": f"{row['source']}  {norms.address_of(row['link'])}",
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


def _capability(
    name: str, clauses: Iterable[holdings.Row], scenarios: Iterable[holdings.Row], targets: Iterable[holdings.Row]
) -> dict[str, Any]:
    return {
        "the promise": CAPABILITIES[name],
        "judged by": [clause["id"] for clause in clauses if name in clause["capabilities"]],
        "needed by": [scenario["id"] for scenario in scenarios if name in scenario["needs"]],
        "declared by": [target["name"] for target in targets if name in target["capabilities"]],
        "read": "docs/capabilities.md: the times that belong to it, and how windows are measured",
    }


def _target(row: holdings.Row) -> dict[str, Any]:
    variable = row["program_variable"]
    return {
        "title": row["title"],
        "kind": row["kind"],
        "program": ", or ".join(filter(None, [row["program"], variable and f"what {variable} names"])),
        "install": row["install"],
        "declares": row["capabilities"],
        "profile": row["profile"],
        "see it": f"conformance run --target {row['name']}",
    }


def _defect(row: holdings.Row) -> dict[str, Any]:
    return {
        "title": row["title"],
        "violates": row["violates"],
        "shows": f"with {row['at']} requests at once, and with fewer not" if row["at"] > 1 else "",
        "shown by": row["shown_by"],
        "see it": " ".join(_see(row)),
    }


def _see(row: holdings.Row) -> Iterator[str]:
    """The words of the command that shows a defect."""
    yield f"conformance run --target reference:{row['name']}"
    if row["at"] > 1:
        yield "--load"
    if row["shown_by"]:
        yield f"--select {','.join(row['shown_by'])}"


def _shown(arguments: Namespace, kind: str, name: str, about: dict[str, Any]) -> Shown:
    if arguments.format == "json":
        return as_json({"kind": kind, "id": name, **about})
    commands = [about[key] for key in _COMMANDS if key in about]
    rows = facts({key: value for key, value in about.items() if key not in _COMMANDS})
    view = Group(Text.assemble((f"{kind} ", "dim"), (name, "bold")), rows, *map(_unbroken, commands))
    return Shown(view=view, piped=f"{kind} {name}\n{unwrapped(about)}")


def _unbroken(command: str) -> Text:
    return Text(f"\n  {command}", no_wrap=True, overflow="ignore")
