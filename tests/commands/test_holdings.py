"""What the suite holds, as plain rows."""

from __future__ import annotations

import pytest

from conformance.commands import holdings
from conformance.contract.catalog import CATALOG
from conformance.scenario import load
from conformance.scenario.model import Play, Scenario, ScenarioRequest


def test_clauses_have_their_members() -> None:
    """Every clause of the catalogue is a row with its norm's address and the defects that violate it."""
    rows = holdings.clauses()
    assert [row["id"] for row in rows] == list(CATALOG)
    members = {"id", "level", "basis", "title", "rationale", "source", "link", "capabilities", "defects", "scope"}
    assert all(row.keys() == members for row in rows)
    assert all(row["link"] for row in rows)


def test_defects_point_at_clauses() -> None:
    """What a defect violates is a clause, and that clause's row names the defect."""
    defects = {row["id"]: row["defects"] for row in holdings.clauses()}
    for row in holdings.defects():
        assert row["violates"]
        for clause in row["violates"]:
            assert row["name"] in defects[clause]


def test_scenarios_have_their_members(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scenario is a row with what it asks for, needs and exercises."""
    scenario = Scenario(
        id="stream.x",
        title="A fact",
        request=ScenarioRequest(endpoint="chat.completions", params={"stream": True}),
        play=Play(),
        needs=frozenset({"failover", "cache"}),
        exercises=("stream.done.once",),
    )
    monkeypatch.setattr(load, "load_scenarios", lambda: (scenario,))
    (row,) = holdings.scenarios()
    expected = {
        "id": "stream.x",
        "title": "A fact",
        "endpoint": "chat.completions",
        "stream": True,
        "needs": ["cache", "failover"],
        "exercises": ["stream.done.once"],
    }
    assert {name: row[name] for name in expected} == expected
