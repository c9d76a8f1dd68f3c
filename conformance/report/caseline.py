"""A case to the plain value of its line and back: what held is a list of ids, what did not apply ids by their reason.

There are hundreds of verdicts in a case and few that tell something; written one by one the others would be nine tenths
of a report. Nothing is lost but the order of the verdicts, which the header's requirements have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from conformance.contract.clause import Outcome, Verdict
from conformance.report.model import Case, Requirement
from conformance.report.plain import from_plain, to_plain

#: The members of a line that no field of a case has.
HELD, INAPPLICABLE = "held", "not_applicable"


def fold(case: Case) -> dict[str, Any]:
    """The plain value of a case."""
    telling: list[Verdict] = []
    held: list[str] = []
    inapplicable: dict[str, list[str]] = {}
    for verdict in case.verdicts:
        if verdict.outcome is Outcome.NOT_APPLICABLE and not verdict.findings:
            inapplicable.setdefault(verdict.reason, []).append(verdict.clause)
        elif verdict.outcome is Outcome.HELD and not (verdict.reason or verdict.findings):
            held.append(verdict.clause)
        else:
            telling.append(verdict)
    plain: dict[str, Any] = to_plain(replace(case, verdicts=tuple(telling)))
    return plain | {name: ids for name, ids in ((HELD, held), (INAPPLICABLE, inapplicable)) if ids}


def unfold(plain: Mapping[str, Any]) -> Case:
    """The case of a plain value. Raises Misfit for what is none."""
    bare = {name: value for name, value in plain.items() if name not in (HELD, INAPPLICABLE)}
    case = from_plain(Case, bare)
    held = from_plain(tuple[str, ...], plain.get(HELD, []), HELD)
    inapplicable = from_plain(dict[str, tuple[str, ...]], plain.get(INAPPLICABLE, {}), INAPPLICABLE)
    folded = [_verdict(clause, Outcome.HELD, "") for clause in held]
    folded += [_verdict(clause, Outcome.NOT_APPLICABLE, why) for why, ids in inapplicable.items() for clause in ids]
    return replace(case, verdicts=(*case.verdicts, *folded)) if folded else case


def in_order(cases: Iterable[Case], requirements: Iterable[Requirement]) -> tuple[Case, ...]:
    """The cases with their verdicts in the order of the requirements, among which each verdict's clause is."""
    place = {requirement.id: number for number, requirement in enumerate(requirements)}
    return tuple(
        replace(case, verdicts=tuple(sorted(case.verdicts, key=lambda verdict: place[verdict.clause])))
        for case in cases
    )


@lru_cache(maxsize=4096)
def _verdict(clause: str, outcome: Outcome, reason: str) -> Verdict:
    return Verdict(clause=clause, outcome=outcome, reason=reason)
