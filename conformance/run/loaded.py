"""A load run as a whole: stage up, every scenario measured, the comparison and its evidence as a report."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from conformance.contract.clause import Clause, Outcome, Verdict
from conformance.errors import HarnessError, UsageError
from conformance.load.compare import Compared, LoadResult
from conformance.load.plan import LoadOptions, Shape
from conformance.options import Observe, RunOptions
from conformance.report.gate import close
from conformance.report.model import Case, LoadCell, LoadRow, Report, RunEnd
from conformance.run.choice import roots_of
from conformance.run.header import header_of, now
from conformance.run.load import Loaded, LoadRunner
from conformance.run.loadplan import MIX, plan_load
from conformance.run.serial import row_of
from conformance.run.stage import open_stage
from conformance.scenario.load import load_scenarios
from conformance.scenario.model import Scenario
from conformance.target.profile import Profile


def run(
    options: RunOptions,
    load: LoadOptions,
    profile: Profile,
    scenarios: Sequence[Scenario],
    clauses: Sequence[Clause],
    observe: Observe,
) -> Report:
    """Run the selected scenarios under load. Raises UsageError, LaunchError, UpstreamError before anything is sent.

    Unless some are selected or one's own, it is those that say so themselves (`repeat.load`).
    """
    named = options.select or options.scenarios
    chosen = scenarios if named else [scenario for scenario in scenarios if scenario.repeat.load]
    beside = [scenario for scenario in load_scenarios() if scenario.id in MIX] if Shape.MIXED in load.shapes else []
    plan = plan_load(chosen, options.drivers, profile, beside=beside)
    cases = plan.cases
    if not plan.pairs:
        raise UsageError("no selected scenario can be put under load", where="--select")
    errors: tuple[str, ...] = ()
    result = Loaded(rows=(), cells=(), evidence={}, faults=())
    cells: list[LoadCell] = []
    with (
        TemporaryDirectory(prefix="conformance-") as scratch,
        open_stage(profile, cases, Path(scratch), cassettes=roots_of(options)) as stage,
    ):
        header = header_of(options, profile, clauses, cases, version=stage.version)
        told = {
            "load": f"{load.alone} alone, then {', '.join(shape.value for shape in load.shapes)} of up to {load.most}, "
            f"{load.rounds} rounds each; error rate {load.alpha:g} after Holm's correction"
        }
        header = dataclasses.replace(header, defaults={**header.defaults, **told}, planned=len(plan.pairs))
        observe(header)
        try:
            result = asyncio.run(LoadRunner(stage, clauses, load, watch=cells.append).run(plan))
        except HarnessError as error:
            errors = (str(error),)
        except KeyboardInterrupt:
            errors = ("interrupted by the caller",)
    kept = evidence(result)
    for case in kept:
        observe(case)
    report = close(
        header,
        kept,
        ended_at=now(),
        end=RunEnd.FAILED if errors else RunEnd.COMPLETE,
        errors=(*errors, *result.faults),
        load=tuple(_row(row, result) for row in result.rows),
        cells=result.cells or tuple(cells),
    )
    assert report.footer is not None
    observe(report.footer)
    return report


def evidence(result: Loaded) -> tuple[Case, ...]:
    """One failing exchange for each clause and scenario that does not hold, each exchange once."""
    kept: dict[str, Case] = {}
    for row in result.rows:
        if row.result is LoadResult.HOLDS:
            continue
        case = result.evidence.get((row.clause, row.scenario))
        if case is not None:
            kept.setdefault(case.nonce, case)
    return tuple(
        dataclasses.replace(case, id=f"{case.id}:{case.nonce}", verdicts=_certain(case, result.rows))
        for case in kept.values()
    )


def _certain(case: Case, rows: Sequence[Compared]) -> tuple[Verdict, ...]:
    """The verdicts of an evidence case; a violation whose comparison is inconclusive is told so, and gates nothing."""
    doubtful = {
        row.clause: row.reason
        for row in rows
        if row.scenario == case.scenario and row.result is LoadResult.INCONCLUSIVE
    }
    return tuple(
        dataclasses.replace(verdict, outcome=Outcome.INCONCLUSIVE, reason=doubtful[verdict.clause], findings=())
        if verdict.outcome is Outcome.VIOLATED and verdict.clause in doubtful
        else verdict
        for verdict in case.verdicts
    )


def _row(row: Compared, result: Loaded) -> LoadRow:
    case = result.evidence.get((row.clause, row.scenario))
    return row_of(row, f"{case.id}:{case.nonce}" if case is not None else "")
