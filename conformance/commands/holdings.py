"""What the suite holds, as plain rows: clauses, scenarios, targets, defects, and how they point at each other.

From the catalogue and the data files to JSON values; how they are shown is the listing's matter.
"""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]


def clauses() -> list[Row]:
    """Every clause, in the catalogue's order, with its source's address and the defects that violate it."""
    from conformance.contract.catalog import CATALOG
    from conformance.contract.sources import SOURCES

    violating = _violating()
    return [
        {
            "id": clause.id,
            "level": clause.level.value,
            "scope": clause.scope.value,
            "basis": clause.basis.value,
            "title": clause.title,
            "rationale": clause.rationale,
            "source": clause.source,
            "link": SOURCES[clause.source].url,
            "capabilities": sorted(clause.capabilities),
            "defects": violating.get(clause.id, []),
        }
        for clause in CATALOG.values()
    ]


def scenarios() -> list[Row]:
    """Every bundled scenario, in file order."""
    from conformance.scenario.load import load_scenarios

    return [
        {
            "id": scenario.id,
            "title": scenario.title,
            "endpoint": scenario.request.endpoint,
            "stream": scenario.stream,
            "needs": sorted(scenario.needs),
            "exercises": list(scenario.exercises),
            "lane": scenario.lane,
            "live": scenario.live,
            "steps": len(scenario.steps),
            "drivers": list(scenario.drivers),
            "source": scenario.source,
        }
        for scenario in load_scenarios()
    ]


def targets() -> list[Row]:
    """Every bundled target profile."""
    from conformance.target.load import load_profile, names

    profiles = [load_profile(name) for name in names()]
    return [
        {
            "name": profile.name,
            "kind": profile.kind,
            "title": profile.title,
            "program": profile.program,
            "program_variable": profile.program_variable,
            "install": profile.install,
            "capabilities": sorted(profile.capabilities),
            "profile": f"targets/{profile.name}.toml",
        }
        for profile in profiles
    ]


def defects() -> list[Row]:
    """Every defect of the reference gateway, those that only load shows too, with the clauses that it violates."""
    from conformance.reference.defects import DEFECTS, LOAD_DEFECTS, LoadDefect

    known = (*DEFECTS.values(), *LOAD_DEFECTS.values())
    return [
        {
            "name": defect.name,
            "title": defect.title,
            "violates": sorted(defect.violates),
            "shows": "under load" if isinstance(defect, LoadDefect) else "alone",
            "at": defect.at if isinstance(defect, LoadDefect) else 1,
            "shown_by": sorted(defect.shown_by),
        }
        for defect in known
    ]


def _violating() -> dict[str, list[str]]:
    """Clause id -> the names of the defects that violate it."""
    found: dict[str, list[str]] = {}
    for defect in defects():
        for clause in defect["violates"]:
            found.setdefault(clause, []).append(defect["name"])
    return found
