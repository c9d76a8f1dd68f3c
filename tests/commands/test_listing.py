"""`clauses`, `scenarios`, `targets`, `explain`: what the suite holds, as a table or as JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from conformance.cli import main
from conformance.commands import explain, holdings, listing
from conformance.contract.sources import SOURCES

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
DEFECT = {
    "name": "done-twice",
    "title": "[DONE] is sent twice",
    "violates": ["stream.done.once"],
    "shows": "alone",
    "at": 1,
    "shown_by": [],
}
CROWDED = DEFECT | {"name": "lost-in-race", "shows": "under load", "at": 5, "shown_by": ["load.chat", "load.stream"]}


@pytest.fixture(autouse=True)
def _holdings(monkeypatch: pytest.MonkeyPatch) -> None:
    """One clause, one scenario, one defect."""
    rows: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "clauses": lambda: [CLAUSE],
        "scenarios": lambda: [SCENARIO],
        "defects": lambda: [DEFECT, CROWDED],
    }
    for name, gather in rows.items():
        monkeypatch.setattr(holdings, name, gather)
        if name in listing.LISTS:
            monkeypatch.setitem(listing.LISTS, name, (gather, listing.LISTS[name][1]))


def test_json_is_the_rows(capsys: pytest.CaptureFixture[str]) -> None:
    """`--format json` is an array of objects with all members."""
    assert main(["clauses", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == [CLAUSE]


def test_a_pipe_gets_a_line_for_each(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Into a pipe each record is one line, its id first, however narrow a terminal would be, and nothing else."""
    monkeypatch.setenv("COLUMNS", "20")
    assert main(["scenarios"]) == 0
    assert capsys.readouterr().out == "stream.twice  chat.completions  The upstream says [DONE] twice  failover\n"
    assert main(["defects"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "done-twice    alone       [DONE] is sent twice  stream.done.once",
        "lost-in-race  under load  [DONE] is sent twice  stream.done.once",
    ]


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (
            44,
            [
                "stream.done.once  MUST  contract  exchange",
                "    A stream carries exactly one [DONE]",
                "",
                "1 clause",
            ],
        ),
        (
            30,
            [
                "stream.done.once",
                "    MUST  contract  exchange",
                "    A stream carries exactly",
                "    one [DONE]",
                "",
                "1 clause",
            ],
        ),
        (
            12,
            [
                "stream.done.once",
                "    MUST",
                "    contract",
                "    exchange",
                "    A stream",
                "    carries",
                "    exactly",
                "    one",
                "    [DONE]",
                "",
                "1 clause",
            ],
        ),
    ],
)
def test_a_terminal_never_cuts_an_id(width: int, lines: list[str]) -> None:
    """On a terminal the id stands whole on a line of its own, and the rest is wrapped by words below it."""
    console = Console(file=StringIO(), width=width, force_terminal=True, color_system=None)
    view = listing.show(Namespace(command="clauses", format="text", globs=[])).view
    assert view is not None
    with console.capture() as capture:
        console.print(view, crop=False)
    assert [line.rstrip() for line in capture.get().splitlines()] == lines


def test_the_lists_are_whole() -> None:
    """Each list of the real suite has a line for each record, and its first word is the record's id."""
    code = "import sys; from conformance.cli import main; sys.exit(main([sys.argv[1]]))"
    for command, name in (("clauses", "id"), ("scenarios", "id"), ("targets", "name"), ("defects", "name")):
        done = subprocess.run([sys.executable, "-c", code, command], capture_output=True, check=True, text=True)
        told = subprocess.run(
            [sys.executable, "-m", "conformance", command, "--format", "json"],
            capture_output=True,
            check=True,
            text=True,
        )
        assert [line.split()[0] for line in done.stdout.splitlines()] == [row[name] for row in json.loads(told.stdout)]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "stream.done.once",
            ["clause stream.done.once", "https://example.org/", "stream.twice", "done-twice", "--clauses"],
        ),
        ("stream.twice", ["scenario stream.twice", "chat.completions (stream)", "failover", "--select stream.twice"]),
        ("done-twice", ["defect done-twice", "[DONE] is sent twice", "stream.done.once", "--target reference:"]),
        (
            "lost-in-race",
            [
                "with 5 requests at once, and with fewer not",
                "conformance run --target reference:lost-in-race --load --select load.chat,load.stream\n",
            ],
        ),
        ("rfc9110/status", ["norm rfc9110/status", "https://www.rfc-editor.org/", "2026-"]),
        ("incident/content-null", ["docs/incidents.md#b of this project", "made the missing member a JSON null"]),
        ("failover:429", ["capability failover:429", "a member that answers 429 is passed over", "portkey"]),
        ("litellm", ["target litellm", "CONFORMANCE_LITELLM", "failover", "conformance run --target litellm"]),
    ],
)
def test_explain(name: str, told: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Clauses, scenarios, targets, defects and norms are explained, with what each points at and how it is selected."""
    assert main(["explain", name]) == 0
    out = capsys.readouterr().out
    assert [part for part in told if part not in out] == []
    assert main(["explain", name, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["id"] == name


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ("reference:done-twice", "done-twice"),
        ("https://www.rfc-editor.org/rfc/rfc9110.html#section-15", "rfc9110/status"),
    ],
)
def test_explain_knows_other_names(told: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A defect is also called by the target that has it, a norm by its address."""
    assert main(["explain", told, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["id"] == name


def test_globs_choose_from_a_list(capsys: pytest.CaptureFixture[str]) -> None:
    """A list can be of some alone, in its own order; a glob that names none is told, with what is near."""
    assert main(["defects", "lost-*", "--format", "json"]) == 0
    assert [row["name"] for row in json.loads(capsys.readouterr().out)] == ["lost-in-race"]
    assert main(["defects", "lost-*", "done-twice", "--format", "json"]) == 0
    assert [row["name"] for row in json.loads(capsys.readouterr().out)] == ["done-twice", "lost-in-race"]
    assert main(["targets", "litelm"]) == 2
    assert "no target matches 'litelm'\n  hint: did you mean litellm?" in capsys.readouterr().err


def test_explain_proposes_near_ids(capsys: pytest.CaptureFixture[str]) -> None:
    """An id that names nothing is a usage error that proposes near ones."""
    assert main(["explain", "stream.done.onec"]) == 2
    assert "did you mean stream.done.once" in capsys.readouterr().err


def test_what_is_near_nothing_is_told_where_to_look(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a near id the error names the lists, and does not pour them out."""
    assert main(["explain", "zzzzzz"]) == 2
    err = capsys.readouterr().err
    assert "`targets` and `defects` list what there is" in err
    assert len(err) < 400


@pytest.mark.parametrize("key", sorted(key for key, source in SOURCES.items() if source.url.startswith("docs/")))
def test_norms_of_this_project_have_their_text(key: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A norm that is a page of this project is shown as text, so that an installed wheel is enough to read it."""
    assert main(["explain", key, "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["address"].endswith(" of this project")
    assert len(told["text"]) > 200
    assert not {"|", "<a id"} & {word for word in ("|", "<a id") if word in told["text"]}


def test_a_command_to_copy_is_not_wrapped() -> None:
    """On a terminal the command stands below the facts, on one line however long it is."""
    console = Console(file=StringIO(), width=40, force_terminal=True, color_system=None)
    view = explain.show(Namespace(id="lost-in-race", format="text")).view
    assert view is not None
    with console.capture() as capture:
        console.print(view, crop=False)
    assert capture.get().splitlines()[-1] == (
        "  conformance run --target reference:lost-in-race --load --select load.chat,load.stream"
    )
