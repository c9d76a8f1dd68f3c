"""What every rendering shows, picked and grouped from a report."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.contract.clause import Finding, Outcome
from conformance.report import views
from conformance.report.gate import close
from conformance.report.model import Leg, RunEnd
from conformance.wire.facts import Span

from . import sample


def test_areas_count_verdicts() -> None:
    """Each area that was judged has a row, in the header's order; an area without verdicts has none."""
    rows = {row.area: row for row in views.areas(sample.EVERYTHING)}
    assert list(rows) == ["stream", "chat", "pool"]
    assert rows["stream"].counts[Outcome.VIOLATED] == 13
    assert rows["stream"].gate == 12
    assert rows["chat"].counts[Outcome.FAULTY] == 1


def test_what_was_not_played_is_told() -> None:
    """Six cases were planned: a report of one says so, and one that holds all or a load run's evidence has no need."""
    assert views.cases_line(sample.report(sample.HELD)) == "1 case of 6 planned, 0 skipped"
    assert views.cases_line(sample.EVERYTHING) == "18 cases, 1 skipped"
    assert " of " not in views.cases_line(sample.LOADED)


def test_violations_are_grouped_and_gating_ones_first() -> None:
    """One entry for a clause: first case in full, the others by id; clauses that fail the run come first."""
    found = views.violations(sample.EVERYTHING)
    assert [item.requirement.id for item in found] == ["stream.done.once", "pool.failover.answers", "stream.utf8"]
    assert found[0].case is sample.VIOLATED
    assert found[0].others == tuple(case.id for case in sample.REPEATED)


def test_faults_name_their_case() -> None:
    """Every fault of the run is one line that names its case and its cause."""
    assert views.faults(sample.EVERYTHING) == (
        "the upstream's journal overflowed",
        "models.list[openai-python]: the clause chat.id.present failed itself: KeyError: 'id'",
        "stream.plain[wire]: the clause stream.done.once was not exercised (no stream came)",
        "stream.broken[wire]: the driver fell over",
    )


def test_run_faults() -> None:
    """A missing footer, an early end and a run without a check are faults of the run."""
    report = sample.report()
    assert views.run_faults(report) == ("no check ran",)
    assert "no footer" in views.run_faults(replace(report, footer=None))[0]
    failed = close(sample.HEADER, [sample.HELD], ended_at="", end=RunEnd.FAILED)
    assert views.run_faults(failed) == ("the run ended early: failed",)


@pytest.mark.parametrize(
    ("report", "sentence"),
    [
        (sample.report(sample.HELD), "conforms: 1 check over 1 exchange"),
        (sample.report(sample.REPEATED[0]), "does not conform: 1 clause violated, 1 time"),
        (sample.report(*sample.REPEATED), "does not conform: 1 clause violated, 11 times"),
        (sample.EVERYTHING, "no result: the run itself is faulty"),
    ],
)
def test_result(report: sample.Report, sentence: str) -> None:
    """The result is one sentence."""
    assert views.result(report) == sentence


def test_a_load_run_tells_what_it_sent() -> None:
    """Its exchanges are dropped: their number is that of the requests sent through the gateway."""
    (control,) = sample.LOADED.footer.cells if sample.LOADED.footer is not None else ()
    cells = (control, replace(control, leg="gateway"), replace(control, leg="gateway", requests=6))
    held = sample.LOADED.footer.load[1:] if sample.LOADED.footer is not None else ()
    report = close(sample.HEADER, (), ended_at="2026-11-29T12:01:00Z", load=held, cells=cells)
    assert views.result(report) == "conforms: 32 checks over 30 exchanges"


def test_lines_of_an_exchange() -> None:
    """What the client saw and which members were asked, in a line each."""
    assert views.exchange_line(sample.VIOLATED) == "200 text/event-stream, close at 54.0 ms, the SDK raised APIError"
    assert views.exchange_line(sample.REPEATED[0]) == "no response, stall at 9.0 ms"
    assert views.exchange_line(sample.SKIPPED) == "no exchange"
    assert views.attempts_line(sample.VIOLATED) == (
        "m0 at 5.0 ms: 404 complete; m1 at 9.2 ms: no response hangup, closed by the gateway before-head"
    )
    assert views.attempts_line(sample.REPEATED[0]) == "none"
    assert views.attempts_line(sample.FAULTY) == "not known"


def test_excerpt_stands_in_for_a_leg() -> None:
    """Where the leg was not kept, or not that far, the finding's own excerpt is shown; without any, nothing."""
    far = Finding(expected="a", actual="b", span=Span(9_999, 10_010), at=3.0, excerpt=b"far\n")
    assert [(line.at, line.text) for line in views.evidence(sample.VIOLATED, far)] == [(3.0, "far\\n")]
    assert [line.text for line in views.evidence(sample.VIOLATED, sample.NOT_KEPT)] == ['{"error":\\x00}']
    assert views.evidence(sample.VIOLATED, Finding(expected="a", actual="b", leg="upstream:3")) == ()


def test_a_finding_without_span_shows_the_leg() -> None:
    """A finding about a whole leg shows how the leg starts."""
    case = replace(sample.VIOLATED, evidence=(Leg(name="client", data=b"HTTP/1.1 500 X\r\n\r\n"),))
    assert [line.text for line in views.evidence(case, Finding(expected="a", actual="b"))] == ["HTTP/1.1 500 X"]


def test_a_load_row_is_a_line() -> None:
    """Failures of decided ones alone and in parallel, the interval, the corrected p, the threshold, the reason."""
    shaped, holds = sample.LOADED.footer.load if sample.LOADED.footer else ()
    assert views.load_line(shaped) == (
        "failed 0 of 20 alone, 3 of 36 in parallel (3% to 20% at 95 %); p 0.001; from 8 at a time on"
    )
    assert views.load_line(replace(holds, reason="the harness was slow")) == (
        "failed 0 of 20 alone, 0 of 12 in parallel; the harness was slow"
    )


def test_what_was_in_flight_fits_a_terminal() -> None:
    """Each request beside the failing one is a bar on one clock with who was asked when; the failing one is marked."""
    lines = list(views.flight_lines(sample.CROWDED))
    assert [line.split()[:2] for line in lines] == [[">", "cf-abc125"], ["cf-abc126", "─" * 29]]
    assert lines[0].endswith("0 to 8 ms  u1 +2, u2 +3")
    assert all(len(line.rstrip()) <= 80 for line in lines)


def test_legs_have_names() -> None:
    """A leg is named for a person."""
    names = [views.leg_title(leg) for leg in ("client", "request", "upstream:2")]
    assert names == ["to the client", "from the client", "upstream attempt 2"]


def test_one_is_no_plural() -> None:
    """A noun has its plural but beside one."""
    assert [views.counted(number, "case") for number in (0, 1, 2, 1200)] == [
        "0 cases",
        "1 case",
        "2 cases",
        "1,200 cases",
    ]


def test_norms_can_be_opened() -> None:
    """A norm is its address, or its key; one that is a page of this project is told with the command that shows it."""
    need = sample.REQUIREMENTS[0]
    assert views.norm(need) == "https://example.org/chat-streaming"
    assert views.norm(replace(need, link="")) == "openai-api/chat-streaming"
    told = views.norm(replace(need, source="incident/x", link="docs/incidents.md#a"))
    assert told == "docs/incidents.md#a of this project; `conformance explain incident/x` shows it"


def test_long_lists_are_counted() -> None:
    """Past the limit a list says how many more there are."""
    assert views.listed("abc", 3) == "a, b, c"
    assert views.listed("abcd", 3) == "a, b, c and 1 more"
