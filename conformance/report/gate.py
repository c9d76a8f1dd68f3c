"""The rules over a report: its numbers, what fails a run, and that a run which proves nothing is not green.

From cases to a summary and an exit code. Knows nothing of how a report is written or shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from conformance.contract.clause import Level, Outcome
from conformance.report.deviations import Standing, accounts, excused
from conformance.report.model import Case, LoadCell, LoadRow, Report, RunEnd, RunFooter, RunHeader, Summary
from conformance.report.reading import Reading

CONFORMS, VIOLATIONS, USAGE, HARNESS = 0, 1, 2, 3
_LOST_SUCCESS = "relay.success.kept"
#: The areas of clauses that only an answer can exercise: a scenario that exists for one of them deserves a success.
_ANSWERS = frozenset({"chat", "chunk", "completion", "embeddings", "models", "responses", "stream", "tool", "usage"})
_SOUND_ENDS = frozenset({RunEnd.COMPLETE, RunEnd.CAPPED})


def unexercised(case: Case, exercises: Iterable[str]) -> tuple[str, ...]:
    """The clauses among `exercises` that this case did not exercise, though nothing violated in it explains why.

    Not exercised is what is not applicable or was not judged at all. A case that was skipped, or in which the harness
    itself failed, owes nothing; nor does one in which the gateway refused an answer that it was free to refuse.
    """
    if case.skipped or case.error or case.of(Outcome.VIOLATED) or _refused(case):
        return ()
    exercised = {verdict.clause for verdict in case.verdicts if verdict.outcome is not Outcome.NOT_APPLICABLE}
    return tuple(clause for clause in exercises if clause not in exercised)


def _refused(case: Case) -> bool:
    """Whether members answered with 2xx, the client got an error, and the clause on lost successes does not apply: the
    answer was not the API's own, so that a gateway may mend it or refuse it."""
    free = any(v.clause == _LOST_SUCCESS and v.outcome is Outcome.NOT_APPLICABLE for v in case.verdicts)
    statuses = [attempt.status for attempt in case.attempts or ()]
    answered = bool(statuses) and all(200 <= status < 300 for status in statuses)
    return free and answered and case.reading is Reading.CLEAN_ERROR


def owed(header: RunHeader, case: Case) -> tuple[str, ...]:
    """The clauses that `case` has to exercise here: selected, and promised by the target where they need a promise."""
    index, declared = header.index(), frozenset(header.capabilities)
    chosen = (index[clause] for clause in case.exercises if clause in index)
    return tuple(need.id for need in chosen if not need.capabilities or declared.intersection(need.capabilities))


def missed(header: RunHeader, case: Case) -> tuple[str, ...]:
    """The clauses that `case` had to exercise in this run and did not."""
    return unexercised(case, owed(header, case))


def tally(cases: Iterable[Case]) -> Counter[tuple[str, Outcome]]:
    """How often each clause had each outcome: there are hundreds of verdicts in a case, and few different ones."""
    return Counter((verdict.clause, verdict.outcome) for case in cases for verdict in case.verdicts)


def numbers(report: Report) -> Summary:
    """The numbers of a report: its footer's, which were counted when it was closed and checked when it was read."""
    return summarise(report) if report.footer is None else report.footer.summary


def summarise(report: Report) -> Summary:
    """The numbers of a report. Raises KeyError when a verdict's clause is not among the header's requirements."""
    index, footer = report.header.index(), report.footer
    counts = {outcome: dict.fromkeys(Level, 0) for outcome in Outcome}
    gate = 0
    for (clause, outcome), number in tally(report.cases).items():
        counts[outcome][index[clause].level] += number
        gate += number if outcome is Outcome.VIOLATED and index[clause].gates else 0
    known = [index[verdict.clause].gates for case in report.cases for verdict, _ in excused(report.header, case)]
    return Summary(
        cases=len(report.cases),
        skipped=sum(bool(case.skipped) for case in report.cases),
        checks=sum(counts[Outcome.HELD].values()) + sum(counts[Outcome.VIOLATED].values()) + _loaded(footer),
        gate=gate - sum(known),
        known=len(known),
        stale=sum(account.standing is Standing.STALE for account in accounts(report)),
        unexercised=sum(len(missed(report.header, case)) for case in report.cases),
        errors=sum(bool(case.error) for case in report.cases) + (len(footer.errors) if footer else 0),
        counts=counts,
        end=footer.end if footer else None,
    )


def _loaded(footer: RunFooter | None) -> int:
    """How many verdicts a load run counted; their exchanges are dropped, so that no case holds them."""
    rows = footer.load if footer is not None else ()
    return sum(row.alone[1] + sum(counts[1] for counts in row.load.values()) for row in rows)


def exit_code(summary: Summary) -> int:
    """0 conforms; 1 violated (a MUST, or a declared policy) or a stale deviation; 3 when the run cannot be trusted.

    That is: no footer or an unsound end, a fault of a clause or of the harness, a clause that a scenario exists for and
    did not reach, or no check at all. Such a run's violations are still shown, but they are not its result.
    """
    faulty = summary.count(Outcome.FAULTY) or summary.errors or summary.unexercised
    if summary.end not in _SOUND_ENDS or faulty or not summary.checks:
        return HARNESS
    return VIOLATIONS if summary.gate or summary.stale else CONFORMS


def refused_throughout(cases: Iterable[tuple[Case, Iterable[str]]]) -> str:
    """What is wrong with a run in which not one request that deserves an answer got one, else "".

    Each case comes with the clauses for which its scenario exists. A dead gateway, a wrong key or a wrong model would
    be green otherwise: refusals can be told well. What a gateway is free to refuse deserves none.
    """
    deserving = [
        case
        for case, exercises in cases
        if any(name.partition(".")[0] in _ANSWERS for name in exercises) and not _refused(case)
    ]
    # A list of models says nothing of whether one answers.
    generating = [case for case in deserving if case.area != "models"]
    statuses = [case.client.status for case in generating or deserving if case.client is not None]
    if not statuses or any(200 <= status < 300 for status in statuses):
        return ""
    told = ", ".join(str(status) for status in sorted(set(statuses)))
    what = f"none of the {len(statuses)} requests that deserve an answer got one (status {told})"
    return f"{what}: is the gateway up, are its key, its models and aliases right?"


def close(
    header: RunHeader,
    cases: Iterable[Case],
    *,
    ended_at: str,
    end: RunEnd = RunEnd.COMPLETE,
    errors: tuple[str, ...] = (),
    spent: dict[str, int] | None = None,
    load: tuple[LoadRow, ...] = (),
    cells: tuple[LoadCell, ...] = (),
) -> Report:
    """The whole report, its footer computed. `ended_at` is an ISO 8601 time, `spent` what a live run cost.

    A run that conforms although nothing was answered in it gets an error that says so.
    """
    done = tuple(cases)
    made = _closed(header, done, ended_at=ended_at, end=end, errors=errors, spent=spent, load=load, cells=cells)
    silent = refused_throughout((case, case.exercises) for case in done) if exit_code(numbers(made)) == CONFORMS else ""
    if not silent:
        return made
    told = (*errors, silent)
    return _closed(header, done, ended_at=ended_at, end=end, errors=told, spent=spent, load=load, cells=cells)


def _closed(
    header: RunHeader,
    done: tuple[Case, ...],
    *,
    ended_at: str,
    end: RunEnd,
    errors: tuple[str, ...],
    spent: dict[str, int] | None,
    load: tuple[LoadRow, ...],
    cells: tuple[LoadCell, ...],
) -> Report:
    blank = Summary(cases=0, skipped=0, checks=0, gate=0, unexercised=0, errors=0, counts={})
    draft = RunFooter(summary=blank, exit_code=HARNESS, ended_at=ended_at, end=end, errors=errors, load=load)
    summary = summarise(Report(header=header, cases=done, footer=draft))
    footer = RunFooter(
        summary=summary,
        exit_code=exit_code(summary),
        ended_at=ended_at,
        end=end,
        errors=errors,
        spent=dict(spent or {}),
        load=load,
        cells=cells,
    )
    return Report(header=header, cases=done, footer=footer)
