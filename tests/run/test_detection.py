"""Load runs tell: each load defect is found, load-shaped, at the right concurrency; nothing on the faithful gateway.

One seed and the clauses that the defects violate, so that it stays quick; `benchmarks/load_detection.py` has many seeds
and the whole catalogue.
"""

from __future__ import annotations

import re
from functools import cache

import pytest

from conformance.contract.catalog import CATALOG
from conformance.load.compare import Compared, Count, LoadResult
from conformance.load.plan import LoadOptions, Shape
from conformance.reference.defects import DEFECTS, LOAD_DEFECTS, find_defect
from conformance.run.detection import Detection, detect, detection
from conformance.run.load import Loaded
from conformance.run.matrix import FAITHFUL
from conformance.scenario.load import load_scenarios

#: Some that every answer is judged by, besides what the defects violate.
ALWAYS = {"http.body.complete", "reply.mode.json", "chat.choices.present", "relay.usage.kept", "json.body.valid"}
LISTED = frozenset[str]().union(*(defect.violates for defect in LOAD_DEFECTS.values()))
QUICK = LoadOptions(alone=6, rounds=2, shapes=(Shape.BURST,))
#: The one that needs other lanes beside it is played mixed.
MIXED = ("cooldown-shared-by-lanes", FAITHFUL)
#: The scenario that shows each of the others, and those.
SHOWN_BY = {
    scenario: [name for name, defect in LOAD_DEFECTS.items() if scenario in defect.shown_by and name not in MIXED]
    for scenario in sorted(frozenset[str]().union(*(defect.shown_by for defect in LOAD_DEFECTS.values())))
}
SHOWN_BY["load.chat"].append(FAITHFUL)

pytestmark = pytest.mark.xdist_group("load-detection")


@cache
def found() -> dict[str, tuple[Detection, ...]]:
    """What each gateway's runs came to."""
    clauses = [clause for clause in CATALOG.values() if clause.id in LISTED | ALWAYS]
    runs: list[Detection] = []
    for scenario, gateways in SHOWN_BY.items():
        runs += detect(gateways, scenarios=(scenario,), options=QUICK, clauses=clauses, abreast=3)
    mixed = LoadOptions(alone=6, rounds=2, shapes=(Shape.MIXED,))
    runs += detect(MIXED, scenarios=("load.chat",), options=mixed, clauses=clauses, abreast=2)
    return {name: tuple(run for run in runs if run.gateway == name) for name in (FAITHFUL, *LOAD_DEFECTS)}


@pytest.mark.load
@pytest.mark.parametrize("name", [FAITHFUL, *LOAD_DEFECTS])
def test_what_load_shows_is_found(name: str) -> None:
    """A defect is load-shaped, its threshold within a factor of two; the faithful gateway shows nothing."""
    runs = found()[name]
    assert runs
    for run in runs:
        assert run.faults == ()
        assert run.right, (run.threshold, run.found, run.other, run.undecided)


@pytest.mark.parametrize("name", LOAD_DEFECTS)
def test_a_load_defect_is_well_formed(name: str) -> None:
    """A written name of its own, a fact as its title, known clauses, and more than one request at once."""
    defect = LOAD_DEFECTS[name]
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
    assert name not in DEFECTS
    assert find_defect(name) is defect
    assert defect.violates <= CATALOG.keys()
    assert defect.violates
    assert defect.at > 1
    assert defect.shown_by
    assert defect.shown_by <= {scenario.id for scenario in load_scenarios()}


def row(clause: str, result: LoadResult, threshold: int | None) -> Compared:
    """One row of a result."""
    return Compared(
        clause=clause,
        scenario="s",
        result=result,
        alone=Count(0, 9),
        loaded=Count(3, 9),
        load={},
        p=0.0,
        threshold=threshold,
    )


def test_only_the_right_clause_at_the_right_concurrency_counts() -> None:
    """Beyond a factor of two, or another clause, is not the defect found; any finding on the faithful one is wrong."""
    name, clause = "connection-pool-too-small", "pool.healthy.asked"

    def judged(gateway: str, *rows: Compared) -> Detection:
        return detection(gateway, 0, Loaded(rows=rows, cells=(), evidence={}, faults=()))

    assert judged(name, row(clause, LoadResult.LOAD_SHAPED, 8)).right
    assert not judged(name, row(clause, LoadResult.LOAD_SHAPED, 9)).right
    assert not judged(name, row("chat.shape", LoadResult.LOAD_SHAPED, 4)).right
    assert not judged(name, row(clause, LoadResult.INCONCLUSIVE, 4)).right
    assert judged(FAITHFUL, row(clause, LoadResult.INCONCLUSIVE, 4), row(clause, LoadResult.HOLDS, None)).right
    assert not judged(FAITHFUL, row(clause, LoadResult.FLAKY, 4)).right
