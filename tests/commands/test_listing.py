"""`clauses`, `scenarios`, `targets`, `explain`: what the suite holds, as a table or as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from conformance.cli import main
from conformance.commands import holdings, listing

CLAUSE = {
    "id": "stream.done.once",
    "level": "MUST",
    "basis": "contract",
    "title": "A stream carries exactly one [DONE]",
    "rationale": "Clients stop reading there.",
    "source": "openai-api/chat-streaming",
    "link": "https://example.org/",
    "capabilities": [],
    "scope": "exchange",
    "defects": ["done-twice"],
}
SCENARIO = {
    "id": "stream.twice",
    "title": "The upstream says [DONE] twice",
    "endpoint": "chat.completions",
    "stream": True,
    "needs": ["failover"],
    "exercises": ["stream.done.once"],
    "lane": "single",
    "live": False,
    "steps": 0,
    "drivers": [],
    "source": "",
}
DEFECT = {"name": "done-twice", "title": "[DONE] is sent twice", "violates": ["stream.done.once"]}


@pytest.fixture(autouse=True)
def _holdings(monkeypatch: pytest.MonkeyPatch) -> None:
    """One clause, one scenario, one defect."""
    rows: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "clauses": lambda: [CLAUSE],
        "scenarios": lambda: [SCENARIO],
        "defects": lambda: [DEFECT],
    }
    for name, gather in rows.items():
        monkeypatch.setattr(holdings, name, gather)
        if name in listing.LISTS:
            monkeypatch.setitem(listing.LISTS, name, (gather, listing.LISTS[name][1]))


def test_json_is_the_rows(capsys: pytest.CaptureFixture[str]) -> None:
    """`--format json` is an array of objects with all members."""
    assert main(["clauses", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == [CLAUSE]


def test_text_is_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    """The text form has a line for each row and a count."""
    assert main(["scenarios"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[1].startswith("stream.twice")
    assert "1 scenarios" in out


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "stream.done.once",
            ["clause stream.done.once", "https://example.org/", "stream.twice", "done-twice", "--clauses"],
        ),
        ("stream.twice", ["scenario stream.twice", "chat.completions (stream)", "failover", "--select stream.twice"]),
        ("done-twice", ["defect done-twice", "[DONE] is sent twice", "stream.done.once", "--target reference:"]),
    ],
)
def test_explain(name: str, told: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A clause, a scenario and a defect are each explained, with what they point at and how to select them."""
    assert main(["explain", name]) == 0
    out = capsys.readouterr().out
    assert [part for part in told if part not in out] == []
    assert main(["explain", name, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["id"] == name


def test_explain_proposes_near_ids(capsys: pytest.CaptureFixture[str]) -> None:
    """An id that names nothing is a usage error that proposes near ones."""
    assert main(["explain", "stream.done.onec"]) == 2
    assert "did you mean stream.done.once" in capsys.readouterr().err
