"""A suite in parallel against the same suite in series: what each case violates when others run beside it, and alone.

From the cases of both passes to the rows of a comparison, by clause and scenario. Pure but for `play_alone`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from conformance.contract.clause import Clause, Outcome
from conformance.load.compare import Compared, Count, LoadResult, Measured, compare
from conformance.load.plan import Shape
from conformance.report.model import Case, LoadCell, LoadRow
from conformance.run.plan import PlannedCase, drivers_of
from conformance.run.play import Player
from conformance.run.stage import Stage

#: The error rate of the whole comparison.
ALPHA = 0.01
#: A case's twin has its number and this on top.
APART = 1000


def twins(cases: Sequence[PlannedCase]) -> tuple[PlannedCase, ...]:
    """For each case that is played, the same once more, in a lane of its own; sequences have no twin."""
    lane = 1 + max((lane for case in cases for lane in case.lanes), default=-1)
    played = [case for case in cases if not case.skipped and not case.scenario.steps]
    return tuple(replace(case, lane=lane + at, number=case.number + APART) for at, case in enumerate(played))


async def play_alone(stage: Stage, cases: Sequence[PlannedCase], clauses: Sequence[Clause], seed: int) -> list[Case]:
    """Play the cases one after the other. Raises HarnessError when the stage is lost."""
    made: list[Case] = []
    player = Player(stage, clauses, seed=seed, drivers=drivers_of(cases))
    await player.play_all(cases, workers=1, keep=made.append)
    return made


def difference(parallel: Iterable[Case], alone: Iterable[Case], workers: int) -> tuple[LoadRow, ...]:
    """The rows of the comparison: each clause that was decided in a scenario, through whichever driver."""
    quiet, loud = _counts(alone), _counts(parallel)
    rows = [
        Measured(clause=clause, scenario=scenario, alone=quiet[clause, scenario], load={workers: count})
        for (clause, scenario), count in sorted(loud.items())
    ]
    return tuple(row_of(row) for row in compare(rows, alpha=ALPHA))


def _counts(cases: Iterable[Case]) -> dict[tuple[str, str], Count]:
    counts: dict[tuple[str, str], Count] = defaultdict(Count)
    for case in cases:
        for verdict in case.of(Outcome.HELD, Outcome.VIOLATED):
            failed = int(verdict.outcome is Outcome.VIOLATED)
            counts[verdict.clause, f"{case.scenario}[{case.driver}]"] += Count(failed, 1)
    return counts


def cell_of(shape: Shape, workers: int, cases: int, seconds: float) -> LoadCell:
    """A pass of the whole suite, as a load run tells of its cells."""
    return LoadCell(
        scenario="suite",
        driver="",
        leg="gateway",
        shape=shape.value,
        concurrency=workers,
        requests=cases,
        seconds=seconds,
        lag_ms=0.0,
        client_cpu=0.0,
    )


def row_of(row: Compared, case: str = "") -> LoadRow:
    """A comparison as the report tells it; `case` is the id of its evidence."""
    low, high = row.loaded.interval
    holds = row.result is LoadResult.HOLDS
    return LoadRow(
        scenario=row.scenario,
        clause=row.clause,
        result=row.result.value,
        alone=(row.alone.failed, row.alone.total),
        load={str(level): (count.failed, count.total) for level, count in sorted(row.load.items())},
        low=low,
        high=high,
        p=row.p,
        threshold=None if holds else row.threshold,
        reason=row.reason,
        case="" if holds else case,
    )
