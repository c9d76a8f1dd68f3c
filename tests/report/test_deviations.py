"""Known violations do not fail a run; one that is stale, expired, or of another scenario does."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator
from rich.console import Console

from conformance.contract.clause import Outcome
from conformance.data import data_root
from conformance.report import draft, junit, markdown, terminal, views
from conformance.report.codec import decode, document, encode
from conformance.report.deviations import Account, Standing, accounts
from conformance.report.gate import CONFORMS, VIOLATIONS, close, numbers
from conformance.report.model import Case, Deviation, LoadRow, Report, RunEnd, RunHeader

from . import sample

KNOWN = Deviation(
    clause="stream.done.once",
    scenarios=("stream.*",),
    reason="fixed in <2.0>",
    link="https://tracker.example/1",
    expires="2026-12-31",
)
HOLDS = (sample.verdict("stream.done.once", Outcome.HELD),)
SOUND = replace(sample.HELD, scenario="stream.twice", verdicts=HOLDS, exercises=())
ONCE = sample.REPEATED[0]
PARALLEL = LoadRow(
    scenario="stream.twice", clause="stream.done.once", result="load-shaped", alone=(0, 20), load={"16": (7, 48)}
)


def header(**changes: Any) -> RunHeader:
    """The sample's header with one deviation, changed so."""
    return replace(sample.HEADER, planned=1, deviations=(replace(KNOWN, **changes),))


def ended(told: RunHeader, *cases: Case, end: RunEnd = RunEnd.COMPLETE) -> Report:
    """A finished report, and read back again."""
    report = close(told, cases, ended_at="2026-11-29T12:01:00Z", end=end)
    assert decode(encode(report)) == report
    return report


def code(report: Report) -> int:
    """Its exit code."""
    assert report.footer is not None
    return report.footer.exit_code


def account(report: Report) -> Account:
    """What became of its one deviation."""
    (only,) = accounts(report)
    return only


def test_a_known_violation_does_not_fail_the_run() -> None:
    """It is counted apart, and still counted as violated."""
    report = ended(header(), ONCE, SOUND)
    told = numbers(report)
    assert code(report) == CONFORMS
    assert (told.gate, told.known, told.stale, told.count(Outcome.VIOLATED)) == (0, 1, 0, 1)
    assert (account(report).standing, account(report).violated) == (Standing.SEEN, 1)
    assert views.result(report) == "conforms, but for 1 known violation: 2 checks over 2 exchanges"
    assert views.violations(report) == ()
    assert [(row.gate, row.rank) for row in views.areas(report)] == [(0, 2)]


@pytest.mark.parametrize(
    "changes", [{"clause": "cache.key.whole"}, {"scenarios": ("stream.plain", "chat.*")}, {"expires": "2026-11-28"}]
)
def test_another_one_does(changes: dict[str, Any]) -> None:
    """Another clause, another scenario and a day that is over excuse nothing."""
    report = ended(header(**changes), ONCE)
    assert code(report) == VIOLATIONS
    assert numbers(report).gate == 1
    assert [found.requirement.id for found in views.violations(report)] == ["stream.done.once"]


def test_the_last_day_counts() -> None:
    """On the day itself it still excuses; the day after it is told as expired."""
    assert code(ended(header(expires="2026-11-29"), ONCE)) == CONFORMS
    late = ended(header(expires="2026-11-28"), ONCE)
    assert account(late).standing is Standing.EXPIRED
    assert "expired on 2026-11-28 and still violated, 1 time: it excuses nothing" in views.known(late)[0]


def test_all_scenarios_are_meant_without_a_glob() -> None:
    """A deviation without scenarios excuses its clause wherever it is violated."""
    assert code(ended(header(scenarios=()), ONCE, sample.HELD)) == CONFORMS


def test_a_stale_one_fails_the_run() -> None:
    """Where all of it was played and nothing of it is violated, the run fails until it is off the list."""
    report = ended(header(), SOUND)
    assert account(report).standing is Standing.STALE
    assert (code(report), numbers(report).stale) == (VIOLATIONS, 1)
    assert views.result(report) == "does not pass: 1 stale deviation"
    assert "take it off the list" in views.known(report)[0]
    root = ElementTree.fromstring(junit.render(report))
    (suite,) = [suite for suite in root if suite.get("failures") != "0"]
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("known-violations", "1", "1")
    assert suite.find("testcase/failure[@type='stale']") is not None


@pytest.mark.parametrize(
    ("changes", "cases"),
    [
        ({"flaky": True}, (SOUND,)),
        ({"whole": False}, (SOUND,)),
        ({"scenarios": ("stream.plain",)}, (SOUND,)),
        ({"clause": "chat.id.present", "scenarios": ("stream.*",)}, (SOUND,)),
    ],
)
def test_what_was_not_decided_is_not_stale(changes: dict[str, Any], cases: tuple[Case, ...]) -> None:
    """A flaky one, one of which a part alone was played, one whose clause was decided nowhere."""
    report = ended(header(**changes), *cases)
    assert account(report).standing is Standing.UNSEEN
    assert code(report) == CONFORMS


def test_a_run_that_decides_less_calls_nothing_stale() -> None:
    """A live run's answers are not ours; a run that ended early has not played all."""
    assert account(ended(replace(header(), mode="live"), SOUND)).standing is Standing.UNSEEN
    assert account(ended(header(), SOUND, end=RunEnd.CAPPED)).standing is Standing.UNSEEN


def test_a_verdict_that_was_not_reached_calls_nothing_stale() -> None:
    """Where it holds in one case and could not be decided in another, the violation may stand behind that."""
    unsure = replace(SOUND, id="stream.twice[wire]#2", verdicts=(sample.verdict(KNOWN.clause, Outcome.INCONCLUSIVE),))
    apart = replace(SOUND, id="stream.late[wire]", verdicts=(sample.verdict("chat.id.present", Outcome.HELD),))
    late = replace(apart, scenario="stream.late", skipped="it came too late")
    unplayed = replace(late, verdicts=(), skipped="the target does not declare cache")
    assert account(ended(header(), SOUND, apart, unplayed)).standing is Standing.STALE
    assert account(ended(header(), SOUND, unsure)).standing is Standing.UNSEEN
    assert account(ended(header(), SOUND, late)).standing is Standing.UNSEEN


def test_a_part_of_what_was_planned_calls_nothing_stale() -> None:
    """pytest may have deselected the very test that shows the violation."""
    assert account(ended(header(), SOUND)).standing is Standing.STALE
    assert account(ended(replace(header(), planned=2), SOUND)).standing is Standing.UNSEEN


def test_load_calls_nothing_stale() -> None:
    """A load run keeps the exchanges that failed, and drops those in which the violation would show."""
    report = close(header(), (SOUND,), ended_at="2026-11-29T12:01:00Z", load=(PARALLEL,))
    assert decode(encode(report)) == report
    assert account(report).standing is Standing.UNSEEN


def test_every_form_shows_it() -> None:
    """Text, Markdown and JUnit name the reason and the link, escaped; JUnit's case does not fail; JSON holds it."""
    report = ended(header(), ONCE)
    schema = Draft202012Validator(json.loads((data_root("schemas") / "report.json").read_text(encoding="utf-8")))
    assert [
        error.message for line in encode(report).splitlines() for error in schema.iter_errors(json.loads(line))
    ] == []
    console = Console(width=200)
    with console.capture() as capture:
        console.print(terminal.render(report))
    shown = capture.get()
    assert "known violations" in shown
    assert "fixed in <2.0> (https://tracker.example/1)" in shown
    assert "fixed in &lt;2.0&gt;" in markdown.render(report)
    root = ElementTree.fromstring(junit.render(report))
    assert root.find(".//failure") is None
    note = root.findtext(".//system-out") or ""
    assert note.startswith("known until 2026-12-31: fixed in <2.0> (https://tracker.example/1)\nMUST contract")
    (violated,) = document(report)["violated"]
    assert violated["deviation"]["link"] == "https://tracker.example/1"
    assert document(ended(sample.HEADER, ONCE))["violated"][0]["deviation"] is None


def test_a_case_with_a_known_violation_is_told_as_such() -> None:
    """Progress says so; nothing fails the case."""
    assert terminal.case_line(header(), ONCE).plain == f"known    {ONCE.id}  stream.done.once"
    assert terminal.failure(header(), ONCE) is None
    assert terminal.failure(sample.HEADER, ONCE) is not None


def test_a_draft_lists_what_fails_the_run() -> None:
    """A table for each gating clause with its scenarios, for 90 days, reason and link left for a person."""
    table = tomllib.loads(draft.render(ended(sample.HEADER, *sample.REPEATED, sample.VIOLATED)))
    found = {entry["clause"]: entry for entry in table["deviation"]}
    assert list(found) == ["stream.done.once", "pool.failover.answers"]
    entry = found["stream.done.once"]
    assert entry["scenarios"] == ["stream.twice"]
    assert (entry["reason"], entry["link"], entry["expires"].isoformat()) == ("", "", "2027-02-27")


def test_a_draft_keeps_what_still_holds() -> None:
    """Entries that still excuse stay as they are, the stale ones go; where nothing is left there is no file."""
    kept = tomllib.loads(draft.render(ended(header(flaky=True, reason='a "b" \\ c'), ONCE)))["deviation"]
    assert kept == [
        {
            "clause": "stream.done.once",
            "scenarios": ["stream.*"],
            "reason": 'a "b" \\ c',
            "link": "https://tracker.example/1",
            "expires": kept[0]["expires"],
            "flaky": True,
        }
    ]
    assert draft.render(ended(header(), SOUND)) == ""


def test_a_draft_keeps_an_expired_entry_alone() -> None:
    """It waits for a person to give it another day: a second entry, blank, would hide who was to mend it."""
    (entry,) = tomllib.loads(draft.render(ended(header(expires="2026-11-28"), ONCE)))["deviation"]
    assert (entry["expires"].isoformat(), entry["reason"]) == ("2026-11-28", "fixed in <2.0>")


@pytest.mark.parametrize(("alone", "flaky"), [((0, 20), True), ((3, 20), None)])
def test_a_draft_knows_what_shows_in_parallel_alone(alone: tuple[int, int], flaky: bool | None) -> None:
    """A run that plays one at a time would call it stale; what fails alone as well shows there, too."""
    row = replace(PARALLEL, alone=alone)
    report = close(sample.HEADER, (ONCE,), ended_at="2026-11-29T12:01:00Z", load=(row,))
    (entry,) = tomllib.loads(draft.render(report))["deviation"]
    assert entry.get("flaky") is flaky
