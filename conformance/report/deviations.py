"""What known violations excuse in a report, and which of them are none any more.

From a header's deviations and the cases to an account of each. An expired one excuses nothing; a stale one fails the
run, so that a list of excuses never outlives its reasons.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase

from conformance.contract.clause import Outcome, Verdict
from conformance.report.model import Case, Deviation, Report, RunEnd, RunHeader


class Standing(StrEnum):
    """What became of a deviation in a run."""

    SEEN = "seen"  # the clause was violated, and the run does not fail for it
    UNSEEN = "not seen"  # nothing to tell: it is flaky, or not all of it was played and decided
    STALE = "stale"  # all of it was played and nothing of it violated
    EXPIRED = "expired"  # its last day is over, and the clause is still violated


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A deviation, what became of it, and how many verdicts it excuses (or would, had it not expired)."""

    deviation: Deviation
    standing: Standing
    violated: int


def expired(header: RunHeader, deviation: Deviation) -> bool:
    """Whether its last day was over when the run began."""
    return deviation.expires < header.started_at[:10]


def covers(deviation: Deviation, clause: str, scenario: str) -> bool:
    """Whether it speaks of this clause in this scenario."""
    named = deviation.scenarios or ("*",)
    return deviation.clause == clause and any(fnmatchcase(scenario, glob) for glob in named)


def excuse(header: RunHeader, case: Case, verdict: Verdict) -> Deviation | None:
    """The deviation that excuses this violated verdict, or None."""
    for deviation in header.deviations:
        if covers(deviation, verdict.clause, case.scenario) and not expired(header, deviation):
            return deviation
    return None


def unexcused(header: RunHeader, case: Case) -> tuple[Verdict, ...]:
    """The violated verdicts of a case that no deviation excuses, in order."""
    return tuple(v for v in case.of(Outcome.VIOLATED) if excuse(header, case, v) is None)


def excused(header: RunHeader, case: Case) -> tuple[tuple[Verdict, Deviation], ...]:
    """The violated verdicts of a case that a deviation excuses, in order, each with that."""
    if not header.deviations:
        return ()
    pairs = ((verdict, excuse(header, case, verdict)) for verdict in case.of(Outcome.VIOLATED))
    return tuple((verdict, deviation) for verdict, deviation in pairs if deviation is not None)


def accounts(report: Report) -> tuple[Account, ...]:
    """What became of each deviation, in the order of the header."""
    counts = _counts(report)
    return tuple(_account(report, d, count) for d, count in zip(report.header.deviations, counts, strict=True))


def _counts(report: Report) -> list[Counter[Outcome]]:
    """For each deviation how often its clause had which outcome in its scenarios: there are few deviations and
    hundreds of thousands of verdicts, so these are passed once."""
    counts = [Counter[Outcome]() for _ in report.header.deviations]
    of: dict[str, dict[str, list[Counter[Outcome]]]] = {}
    for case in report.cases if counts else ():
        if case.scenario not in of:
            of[case.scenario] = _speaking(report.header, case.scenario, counts)
        if of[case.scenario]:
            for verdict in case.verdicts:
                for count in of[case.scenario].get(verdict.clause, ()):
                    count[verdict.outcome] += 1
    return counts


def _speaking(header: RunHeader, scenario: str, counts: list[Counter[Outcome]]) -> dict[str, list[Counter[Outcome]]]:
    """The counts of the deviations that speak of a scenario, by their clause."""
    found: dict[str, list[Counter[Outcome]]] = {}
    for deviation, count in zip(header.deviations, counts, strict=True):
        if covers(deviation, deviation.clause, scenario):
            found.setdefault(deviation.clause, []).append(count)
    return found


def _account(report: Report, deviation: Deviation, count: Counter[Outcome]) -> Account:
    violated = count[Outcome.VIOLATED]
    if violated:
        standing = Standing.EXPIRED if expired(report.header, deviation) else Standing.SEEN
    elif count[Outcome.HELD] and not count[Outcome.INCONCLUSIVE] and _told(report, deviation):
        standing = Standing.STALE
    else:
        standing = Standing.UNSEEN
    return Account(deviation=deviation, standing=standing, violated=violated)


def _told(report: Report, deviation: Deviation) -> bool:
    """Whether this run would have shown the violation.

    A live one does not decide what its upstream answers, one under load keeps few of its exchanges, and in one that
    came to an end not all that was planned need have been played: pytest deselects tests.
    """
    header, footer = report.header, report.footer
    if footer is None or footer.end is not RunEnd.COMPLETE or footer.load or len(report.cases) < header.planned:
        return False
    # A sequence that came too late for its windows was played and is skipped all the same.
    late = any(
        case.skipped and case.verdicts and covers(deviation, deviation.clause, case.scenario) for case in report.cases
    )
    return header.mode == "replay" and deviation.whole and not deviation.flaky and not late
