"""The report for a person at a terminal."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console, RenderableType

from conformance.report import terminal
from conformance.report.model import Case

from . import sample


def shown(renderable: RenderableType, **options: object) -> str:
    """What a console of 80 columns prints."""
    console = Console(file=StringIO(), width=80, **options)  # type: ignore[arg-type]
    console.print(renderable)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


PLAIN = shown(terminal.render(sample.EVERYTHING))


def test_header_tells_what_was_run() -> None:
    """Target, version, capabilities and every default of the harness are printed."""
    text = shown(terminal.header(sample.HEADER))
    for part in ("sample 1.2.3 (command)", "failover, retries", "deadline.connect 5 s, deadline.head 15 s", "seed 7"):
        assert part in text


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
    assert PLAIN.rstrip().endswith("no result: the run itself is faulty")


def test_table_has_every_outcome() -> None:
    """The table by area has a column for every outcome."""
    rows = [line.split() for line in PLAIN.splitlines()]
    assert ["area", "held", "violated", "not-applicable", "inconclusive", "faulty"] in rows
    assert ["stream", "·", "13", "3", "·", "·"] in rows


def test_plain_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """No escape sequence is written to a file, nor colour to a terminal when NO_COLOR is set; 80 columns are kept."""
    assert "\x1b" not in PLAIN
    assert max(map(len, PLAIN.splitlines())) <= 80
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
    assert text.rstrip().endswith("conforms: 1 checks over 1 exchanges")
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
