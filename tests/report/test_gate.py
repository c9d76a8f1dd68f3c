"""The rules over a report: its numbers, what fails a run, and that a run which proves nothing is not green."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.contract.clause import Basis, Level, Outcome
from conformance.report.gate import close, exit_code, missed, summarise, unexercised
from conformance.report.model import AttemptLine, Case, ClientLine, Requirement, RunEnd, RunFooter
from conformance.report.reading import Reading

from . import sample


def code(*cases: Case, errors: tuple[str, ...] = (), end: RunEnd = RunEnd.COMPLETE) -> int:
    """The exit code of a finished run over `cases`."""
    report = close(sample.HEADER, cases, ended_at="2026-11-29T12:01:00Z", errors=errors, end=end)
    assert report.footer is not None
    assert exit_code(summarise(report)) == report.footer.exit_code
    return report.footer.exit_code


def violating(clause: str) -> Case:
    """A case in which one clause is violated."""
    return Case(id="a.b[wire]", scenario="a.b", verdicts=(sample.verdict(clause, Outcome.VIOLATED, sample.TWICE),))


def test_held_conforms() -> None:
    """A run in which all applicable clauses hold ends with 0."""
    assert code(sample.HELD) == 0


@pytest.mark.parametrize(
    ("clause", "expected"),
    [("stream.done.once", 1), ("pool.failover.answers", 1), ("stream.utf8", 0), ("chat.id.present", 0)],
)
def test_gate_takes_must_and_policy(clause: str, expected: int) -> None:
    """A violated MUST and a violated policy of any level end with 1, a violated SHOULD or MAY with 0."""
    assert code(sample.HELD, violating(clause)) == expected


@pytest.mark.parametrize("case", [sample.FAULTY, sample.UNREACHED, sample.BROKEN])
def test_faults_outweigh_violations(case: Case) -> None:
    """A faulty clause, an unreached one and a harness error end with 3, whatever else was violated."""
    assert code(sample.HELD, case) == 3
    assert code(sample.VIOLATED, case) == 3


@pytest.mark.parametrize("cases", [(), (sample.SKIPPED,), (sample.NOTHING,)])
def test_no_check_is_never_green(cases: tuple[Case, ...]) -> None:
    """A run in which no clause was decided ends with 3."""
    assert code(*cases) == 3


def test_run_errors_and_early_ends_are_faulty() -> None:
    """An error that belongs to no case and an end before the end are faulty; a cap that was kept is not."""
    assert code(sample.HELD, errors=("the journal overflowed",)) == 3
    assert code(sample.HELD, end=RunEnd.INTERRUPTED) == 3
    assert code(sample.HELD, end=RunEnd.FAILED) == 3
    assert code(sample.HELD, end=RunEnd.CAPPED) == 0


def test_a_run_in_which_all_is_refused_proves_nothing() -> None:
    """Violations of SHOULD may explain each unreached clause; that nothing at all was answered is no conformance."""
    refused = replace(
        violating("stream.utf8"),
        client=ClientLine(status=503, end="complete", ended_at=1.0),
        exercises=("chat.id.present",),
    )
    assert code(refused, refused) == 3
    report = close(sample.HEADER, [refused], ended_at="2026-11-29T12:01:00Z")
    assert report.footer is not None
    assert "none of the 1 requests that deserve an answer got one (status 503)" in report.footer.errors[0]
    assert code(refused, sample.HELD) == 0
    assert code(refused, sample.VIOLATED) == 1
    assert code(replace(refused, exercises=("error.body.json",))) == 0


def test_no_footer_is_faulty() -> None:
    """A report without its footer ends with 3."""
    assert exit_code(summarise(replace(sample.report(sample.HELD), footer=None))) == 3


def test_a_violation_explains_an_unreached_clause() -> None:
    """A clause that is not applicable because another was violated in the case is no fault of the run."""
    assert unexercised(sample.UNREACHED, ("stream.done.once",)) == ("stream.done.once",)
    explained = replace(sample.UNREACHED, verdicts=sample.UNREACHED.verdicts + violating("chat.id.present").verdicts)
    assert unexercised(explained, ("stream.done.once",)) == ()
    assert unexercised(sample.SKIPPED, ("stream.done.once",)) == ()
    assert unexercised(sample.BROKEN, ("stream.done.once",)) == ()


def refusing(**changed: Any) -> Case:
    """A case in which the gateway told a clean error of a member's 200 that was not the API's own."""
    free = sample.verdict("relay.success.kept", Outcome.NOT_APPLICABLE)
    base = replace(
        sample.UNREACHED,
        verdicts=(*sample.UNREACHED.verdicts, free),
        attempts=(AttemptLine(member="m0", at=1.0, status=200, end="complete"),),
        reading=Reading.CLEAN_ERROR,
    )
    return replace(base, **changed)


def test_a_refusal_that_is_free_explains_an_unreached_clause() -> None:
    """What a gateway may refuse does not have to reach the clauses about the answer."""
    assert unexercised(refusing(), ("stream.done.once",)) == ()


def test_a_run_of_refusals_that_are_free_is_a_result() -> None:
    """A scenario may exist for an answer that is better refused: the gateway that does so is not dead."""
    success = Requirement(id="relay.success.kept", level=Level.MUST, basis=Basis.CONTRACT, title="A success is kept")
    header = replace(sample.HEADER, requirements=(*sample.REQUIREMENTS, success))
    free = refusing(
        client=ClientLine(status=502, end="complete", ended_at=1.0),
        verdicts=(*refusing().verdicts, sample.verdict("chat.id.present", Outcome.HELD)),
    )

    def ended(case: Case) -> RunFooter:
        footer = close(header, [case], ended_at="2026-11-29T12:01:00Z").footer
        assert footer is not None
        return footer

    assert (ended(free).exit_code, ended(free).errors) == (0, ())
    owed = replace(free, verdicts=(sample.verdict("chat.id.present", Outcome.HELD),), exercises=("chat.id.present",))
    assert ended(owed).exit_code == 3
    assert "none of the 1 requests" in ended(owed).errors[0]


@pytest.mark.parametrize(
    "changed",
    [
        {"reading": Reading.ANSWERED},
        {"reading": Reading.BROKEN},
        {"attempts": ()},
        {"attempts": None},
        {"attempts": (AttemptLine(member="m0", at=1.0, status=500, end="complete"),)},
        {"verdicts": sample.UNREACHED.verdicts},
        {"verdicts": (*sample.UNREACHED.verdicts, sample.verdict("relay.success.kept", Outcome.HELD))},
    ],
)
def test_nothing_else_explains_it(changed: dict[str, Any]) -> None:
    """An answer, a member's own error, a request that reached nobody, or a success that was owed explain nothing."""
    assert unexercised(refusing(**changed), ("stream.done.once",)) == ("stream.done.once",)


def test_inconclusive_counts_as_exercised() -> None:
    """A clause that applied and could not be decided was reached."""
    case = replace(sample.UNREACHED, verdicts=(sample.verdict("stream.done.once", Outcome.INCONCLUSIVE),))
    assert unexercised(case, ("stream.done.once", "stream.utf8")) == ("stream.utf8",)


def test_only_promised_and_selected_clauses_are_owed() -> None:
    """A policy that the target does not declare and a clause that was not selected are not missed."""
    assert missed(sample.HEADER, sample.HELD) == ()
    declaring = replace(sample.HEADER, capabilities=("cache",))
    assert missed(declaring, sample.HELD) == ("cache.key.whole",)


def test_summary_counts() -> None:
    """The numbers are those of the cases, by outcome and level."""
    summary = summarise(sample.EVERYTHING)
    assert (summary.cases, summary.skipped, summary.checks) == (18, 1, 15)
    assert (summary.gate, summary.unexercised, summary.errors) == (13, 1, 2)
    assert summary.counts[Outcome.VIOLATED] == {Level.MUST: 12, Level.SHOULD: 2, Level.MAY: 0}
    assert summary.count(Outcome.NOT_APPLICABLE) == 3
    assert summary.end is RunEnd.COMPLETE
