"""Runs of the scenarios that a gateway remembers between their steps, in any order, and what they came to."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from pathlib import Path

from conformance.contract.catalog import select as select_clauses
from conformance.contract.clause import Outcome
from conformance.report.model import Case
from conformance.run.plan import plan_cases
from conformance.run.play import Player
from conformance.run.stage import open_stage
from conformance.scenario.load import load_scenarios, select
from conformance.scenario.model import Scenario
from conformance.target.profile import Profile

CLAUSES = select_clauses(())
AREAS = ("cooldown.*", "breaker.*", "quarantine.*", "retry-after.*", "cache.*", "isolation.*", "lifecycle.*")
FEW = (
    "cooldown.silent-half",
    "cooldown.probe-alone",
    "breaker.rate-limit",
    "quarantine.skips-400",
    "quarantine.lone",
    "cache.tools",
    "isolation.parameters",
    "lifecycle.alive-after-hang-up",
)

#: Case id -> its violated clauses, and what became of those that it exercises.
Verdicts = dict[str, dict[str, str]]


def remembering(globs: Sequence[str]) -> tuple[Scenario, ...]:
    """The sequences that these globs select."""
    return tuple(scenario for scenario in select(load_scenarios(), globs) if scenario.steps)


def run(
    profile: Profile,
    scenarios: Sequence[Scenario],
    scratch: Path,
    *,
    workers: int = 1,
    order: random.Random | None = None,
) -> Verdicts:
    """The verdicts of one run on a fresh gateway; `order` shuffles the cases, whose lanes stay what they are."""
    cases = plan_cases(scenarios, ["wire"], profile)
    scratch.mkdir(parents=True)
    done: list[Case] = []
    with open_stage(profile, cases, scratch) as stage:
        queue = list(cases)
        if order is not None:
            order.shuffle(queue)
        asyncio.run(Player(stage, CLAUSES).play_all(queue, workers=workers, keep=done.append))
    assert [case.error for case in done if case.error] == []
    return {case.id: _verdicts(case) for case in done if not case.skipped}


def _verdicts(case: Case) -> dict[str, str]:
    return {
        verdict.clause: verdict.outcome.value
        for verdict in case.verdicts
        if verdict.outcome in (Outcome.VIOLATED, Outcome.FAULTY) or verdict.clause in case.exercises
    }


def whole(verdicts: Verdicts) -> Verdicts:
    """What the sequences as a whole came to, and whatever was violated."""
    return {
        name: {clause: outcome for clause, outcome in found.items() if "/" not in name or outcome == "violated"}
        for name, found in verdicts.items()
    }


def disagreements(one: Verdicts, other: Verdicts) -> dict[str, tuple[dict[str, str], dict[str, str]]]:
    """The cases to which two runs came differently. A sequence that a busy machine made too late for its windows has no
    verdict in that run; a tenth of all at most may be missing so.
    """
    common = one.keys() & other.keys()
    assert len(common) > 0.9 * len(one.keys() | other.keys())
    return {name: (one[name], other[name]) for name in common if one[name] != other[name]}
