"""Scenarios that a gateway remembers between their steps have the same verdicts alone, in any order, and side by side.

A few of them here; all of them, three times each, by their marker: `pytest -m orders tests/run/test_order.py`.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from conformance.contract.catalog import select as select_clauses
from conformance.contract.clause import Outcome
from conformance.report.model import Case
from conformance.run.plan import plan_cases
from conformance.run.play import Player
from conformance.run.stage import open_stage
from conformance.scenario.load import load_scenarios, select
from conformance.scenario.model import Scenario
from conformance.target.load import load_profile

PROFILE = load_profile("reference")
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
    scenarios: Sequence[Scenario], scratch: Path, *, workers: int = 1, order: random.Random | None = None
) -> Verdicts:
    """The verdicts of one run on a fresh gateway; `order` shuffles the cases, whose lanes stay what they are."""
    cases = plan_cases(scenarios, ["wire"], PROFILE)
    scratch.mkdir()
    done: list[Case] = []
    with open_stage(PROFILE, cases, scratch) as stage:
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


def test_order_makes_no_difference(tmp_path: Path) -> None:
    """A few scenarios of each kind: in order, reversed, and four at a time."""
    scenarios = remembering(FEW)
    straight = whole(run(scenarios, tmp_path / "straight"))
    assert straight
    assert disagreements(whole(run(scenarios[::-1], tmp_path / "reversed")), straight) == {}
    assert disagreements(whole(run(scenarios, tmp_path / "abreast", workers=4)), straight) == {}


@pytest.mark.orders
@pytest.mark.parametrize("time", range(3))
def test_any_order_of_all(tmp_path: Path, time: int) -> None:
    """All of them: in order, reversed, shuffled, each alone on a gateway of its own, and four at a time."""
    scenarios = remembering(AREAS)
    straight = whole(run(scenarios, tmp_path / "straight"))
    assert disagreements(whole(run(scenarios[::-1], tmp_path / "reversed")), straight) == {}
    assert disagreements(whole(run(scenarios, tmp_path / "shuffled", order=random.Random(time))), straight) == {}
    assert disagreements(whole(run(scenarios, tmp_path / "abreast", workers=4)), straight) == {}
    alone: Verdicts = {}
    for scenario in scenarios:
        alone |= run([scenario], tmp_path / f"alone-{scenario.id}")
    assert disagreements(whole(alone), straight) == {}
