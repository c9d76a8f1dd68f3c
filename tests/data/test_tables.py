"""The tables in docs/ name what there is: clauses, scenarios, defects, capabilities."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.contract.catalog import CATALOG
from conformance.contract.sources import SOURCES
from conformance.reference.defects import DEFECTS
from conformance.scenario.load import load_scenarios
from conformance.target.profile import CAPABILITIES

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
SCENARIOS = {scenario.id: scenario for scenario in load_scenarios()}
WORD = re.compile(r"`([^`]+)`")


def rows(name: str) -> list[list[list[str]]]:
    """The words in each cell of each row of a page's tables, heads left out."""
    found = []
    for line in (DOCS / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("| ") and "`" in line:
            found.append([WORD.findall(cell) for cell in line.strip().strip("|").split("|")])
    return found


@pytest.mark.parametrize("row", rows("incidents.md"), ids=lambda row: row[1][0])
def test_incidents_name_what_there_is(row: list[list[str]]) -> None:
    """Each fact has clauses and scenarios; each named thing exists, and a defect violates one of the clauses."""
    _, clauses, scenarios, *defects = row
    assert clauses
    assert scenarios
    assert set(clauses) <= set(CATALOG)
    assert set(scenarios) <= set(SCENARIOS)
    for defect in defects[0] if defects else []:
        assert set(clauses) & set(DEFECTS[defect].violates), defect


@pytest.mark.parametrize("row", rows("failoverbench.md"), ids=lambda row: row[2][0])
def test_each_fault_has_its_counterpart(row: list[list[str]]) -> None:
    """The scenario exercises exactly the clauses that the table names."""
    (scenario,) = row[2]
    assert list(SCENARIOS[scenario].exercises) == row[3]
    assert all(name in SCENARIOS for name in row[4] if "*" not in name)


def test_there_are_sixteen_faults() -> None:
    """All sixteen, each with a scenario of its own, and no scenario beside them."""
    named = [row[2][0] for row in rows("failoverbench.md")]
    assert len(named) == 16
    assert set(named) == {name for name in SCENARIOS if name.startswith("failoverbench.")}


def test_capabilities_are_documented() -> None:
    """Every capability has a row with its promise and the clauses that judge it, and no other has."""
    table = {row[0][0]: row for row in rows("capabilities.md") if row[0]}
    assert set(table) == set(CAPABILITIES)
    text = (DOCS / "capabilities.md").read_text(encoding="utf-8")
    for name, promise in CAPABILITIES.items():
        assert promise in text, name
        judged = {clause.id for clause in CATALOG.values() if name in clause.capabilities}
        if name.startswith("failover:"):
            assert table[name][3] == ["failover"]  # a part of the promise, judged by the same clauses
            continue
        # The silence of a lone member is cooldown's clause, and asked of those alone that promise a probe.
        named = {word for word in table[name][3] if word in CATALOG} - (
            {"cooldown.silent"} if name == "probe" else set()
        )
        assert judged == named, name


def test_sources_point_at_sections() -> None:
    """Each source of a clause that lies in docs/ is there."""
    for source in SOURCES.values():
        if source.url.startswith("docs/"):
            page, _, anchor = source.url.removeprefix("docs/").partition("#")
            text = (DOCS / page).read_text(encoding="utf-8")
            assert not anchor or f'<a id="{anchor}"></a>' in text, source.url
