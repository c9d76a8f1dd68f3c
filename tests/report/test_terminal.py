"""The report for a person at a terminal."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console, RenderableType

from conformance.report import terminal
from conformance.report.model import Case
from conformance.report.reading import Reading

from . import sample


def shown(renderable: RenderableType, **options: object) -> str:
    """What a console of 80 columns prints."""
    console = Console(file=StringIO(), width=80, **options)  # type: ignore[arg-type]
    console.print(renderable)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


PLAIN = shown(terminal.render(sample.EVERYTHING))


def test_header_tells_what_was_run() -> None:
    """Target, version and capabilities come first; every default of the harness has a line of its own."""
    rows = [line.split(maxsplit=1) for line in shown(terminal.header(sample.HEADER)).splitlines() if line.strip()]
    names = [row[0] for row in rows]
    assert names == [
        *("target", "declares", "suite", "drivers", "cassettes", "started", "command", "environment"),
        *("defaults", *sample.HEADER.defaults),
    ]
    told = {row[0]: row[1].strip() for row in rows}
    assert (told["target"], told["declares"]) == ("sample 1.2.3 (command)", "failover, retries")
    assert told["suite"] == "0.1.0, 5 clauses, replay, seed 7"
    assert {name: told[name] for name in sample.HEADER.defaults} == sample.HEADER.defaults


def test_violation_shows_requirement_expected_actual_and_bytes() -> None:
    """A violated clause shows what is required and why, what was expected and there, the bytes and when they came."""
    for part in (
        "MUST contract · stream.done.once",
        "A stream carries exactly one [DONE], as its last event",
        "Clients stop reading at [DONE]",
        "https://example.org/chat-streaming",
        "expected   one [DONE]",
        "actual     2, the second at byte 180\\x07",
        "+41.5 ms > data: [DONE]",
        "m0 at 5.0 ms: 404 complete; m1 at 9.2 ms",
        "4 findings in this case, 3 shown",
    ):
        assert part in PLAIN


def test_repeated_findings_are_grouped() -> None:
    """A clause violated in twelve cases is shown once, the others are listed and counted."""
    assert PLAIN.count("MUST contract · stream.done.once") == 1
    assert "stream.twice[wire]#2" in PLAIN
    assert "and 3 more" in PLAIN


def test_other_outcomes_are_shown() -> None:
    """What does not fail the run, what could not be decided and what was faulty are each shown as such."""
    assert "does not fail the run" in PLAIN
    assert "chat.id.present: the stream was cut  [stream.twice[wire]]" in PLAIN
    assert "the driver fell over" in PLAIN
    assert "spent: 17 requests, 1,200 tokens" in PLAIN
    assert "no result: the run itself is faulty" in PLAIN.splitlines()


def test_table_has_the_areas_where_not_all_held() -> None:
    """The table by area has those where not all held, the gravest first, and a column for each telling outcome."""
    rows = [line.split() for line in PLAIN.splitlines()]
    at = rows.index(["clauses", "held", "violated", "inconclusive", "faulty"])
    assert rows[at + 1 : at + 4] == [
        ["stream", "·", "13", "·", "·"],
        ["pool", "·", "1", "·", "·"],
        ["chat", "1", "·", "1", "1"],
    ]


def test_areas_that_held_take_a_line() -> None:
    """Where all held the number stands beside the area's name; an area in which nothing applied is named as such."""
    text = shown(terminal.render(sample.report(sample.HELD)))
    assert "clauses  " not in text
    told = [line.split() for line in text.splitlines()]
    assert ["held", "chat", "1"] in told
    assert ["untested", "stream"] in told


def test_readings_show_who_was_misled() -> None:
    """Only the areas with a misled caller have a row of their own; the last row is all of them."""
    cases = [
        replace(sample.HELD, id=f"{scenario}[wire]", scenario=scenario, reading=reading)
        for scenario, reading in (("a.b", Reading.ANSWERED), ("a.c", Reading.RESCUED), ("h.i", Reading.HANG))
    ]
    rows = [line.split() for line in shown(terminal.render(sample.report(*cases))).splitlines()]
    at = rows.index(["scenarios", "answered", "rescued", "hang"])
    assert rows[at + 1 : at + 4] == [["h", "·", "·", "1"], ["all", "1", "1", "1"], []]


def test_reasons_of_skipped_cases_are_counted() -> None:
    """Why cases were skipped is told once for each reason, the commonest first; past the limit they are counted."""
    cases = [Case(id=f"a.{n}", scenario="a", skipped="no cache") for n in range(3)]
    cases += [Case(id=f"b.{n}", scenario="b", skipped=f"reason {n}") for n in range(9)]
    lines = shown(terminal.render(sample.report(sample.HELD, *cases))).splitlines()
    at = lines.index("skipped 3 cases: no cache")
    assert lines[at + 1] == "skipped 1 case: reason 0"
    assert lines[at + terminal.REASONS] == "skipped 2 cases: 2 more reasons"
    assert lines[at + terminal.REASONS + 1] == "13 cases, 12 skipped; 1 check decided"


def test_a_load_run_tells_what_parallel_requests_change() -> None:
    """What does not simply hold has its numbers below its clause, whose id is whole; then the control and flights."""
    lines = [line.rstrip() for line in shown(terminal.render(sample.LOADED)).splitlines()]
    at = lines.index("stream.done.once  load-shaped in stream.twice")
    assert " ".join(line.strip() for line in lines[at + 1 : at + 3]) == (
        "failed 0 of 20 alone, 3 of 36 in parallel (3% to 20% at 95 %); p 0.001; from 8 at a time on"
    )
    assert lines[at + 3] == "1 pair of clause and scenario held alone and in parallel"
    assert any(line.startswith("control, straight at the upstream: 24 requests in 1 cell, in 0 of") for line in lines)
    assert f"in flight beside cf-abc125 ({sample.CROWDED.id})" in lines


def test_an_area_that_load_judged_is_not_untested() -> None:
    """The exchanges of a load run are dropped; what they were judged by stands in its rows."""
    unmet = replace(sample.CROWDED, verdicts=sample.NOTHING.verdicts)
    assert "untested" not in shown(terminal.render(replace(sample.LOADED, cases=(unmet,))))


def test_a_failed_run_ends_with_the_next_step() -> None:
    """The last lines are the commands that show the first finding alone and explain its clause, each on one line."""
    far = replace(sample.HEADER, command=f"conformance run --target ./{'long-name/' * 9}mine.toml")
    console = Console(file=StringIO(), width=60)
    with console.capture() as capture:
        console.print(terminal.render(replace(sample.EVERYTHING, header=far)), crop=False)
    chosen = "--select stream.twice --driver wire --clauses stream.done.once"
    assert capture.get().splitlines()[-5:] == [
        "to see one finding alone:",
        f"  {far.command} {chosen}",
        "",
        "to read about a clause:",
        "  conformance explain stream.done.once",
    ]


def test_plain_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """No escape sequence is written to a file, nor colour to a terminal when NO_COLOR is set; 80 columns are kept."""
    assert "\x1b" not in PLAIN
    assert max(len(line) for line in PLAIN.splitlines() if not line.startswith("  conformance ")) <= 80
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    uncoloured = shown(terminal.render(sample.EVERYTHING), force_terminal=True)
    assert "\x1b[31" not in uncoloured
    assert "31m" not in uncoloured.replace("\\x1b[31m", "")


def test_colour_marks_the_span() -> None:
    """On a terminal with colour the bytes of the finding stand out."""
    text = shown(terminal.render(sample.EVERYTHING), force_terminal=True, color_system="standard")
    assert "\x1b[1;31mdata: [DONE]\x1b[0m" in text


def test_conforming_report_ends_well() -> None:
    """A conforming run says so in its last line."""
    text = shown(terminal.render(sample.report(sample.HELD)))
    assert text.rstrip().endswith("conforms: 1 check over 1 exchange")
    assert "faults of the run" not in text


@pytest.mark.parametrize(
    ("case", "line"),
    [
        (sample.HELD, "held     chat.hello[wire]"),
        (sample.VIOLATED, "violated stream.twice[wire]  stream.done.once, stream.utf8, pool.failover.answers"),
        (sample.SKIPPED, "skipped  cache.two[wire]  the target does not declare cache"),
        (sample.BROKEN, "faulty   stream.broken[wire]  the driver fell over"),
        (sample.FAULTY, "faulty   models.list[openai-python]"),
        (sample.UNREACHED, "faulty   stream.plain[wire]"),
    ],
)
def test_case_line(case: Case, line: str) -> None:
    """A case is one line: its gravest outcome, its id, what was violated or why not run."""
    assert terminal.case_line(sample.HEADER, case).plain == line
