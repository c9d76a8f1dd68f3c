"""A stage that stands by itself: brought up once and described in a file, so that load engines can play on it.

The file holds what `Seat.encode` tells, and what was selected; whoever reads it plans the same cases. It carries the
upstream's token, so it is readable for its owner alone, and goes when the stage does.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from conformance.contract.catalog import select as select_clauses
from conformance.contract.clause import Clause
from conformance.errors import UsageError
from conformance.run.plan import PlannedCase, plan_cases
from conformance.run.stage import Seat, Stage, open_stage
from conformance.scenario.load import load_scenarios
from conformance.scenario.load import select as select_scenarios
from conformance.scenario.model import Repeat
from conformance.target.load import load_profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What a standing stage is for: a target, id globs of scenarios and clauses, one driver."""

    target: str = "reference"
    select: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()
    driver: str = "wire"


def cases_of(chosen: Chosen) -> tuple[PlannedCase, ...]:
    """The cases, one lane for each. Raises UsageError when nothing can be put under load.

    Unless some are selected, it is the scenarios that say so themselves (`repeat.load`); sequences are no load.
    """
    found = select_scenarios(load_scenarios(), chosen.select)
    wanted = [
        dataclasses.replace(scenario, repeat=Repeat())
        for scenario in found
        if not scenario.steps and (chosen.select or scenario.repeat.load)
    ]
    cases = plan_cases(wanted, (chosen.driver,), load_profile(chosen.target)) if wanted else ()
    played = tuple(case for case in cases if not case.skipped)
    if not played:
        raise UsageError("no selected scenario can be put under load", where="--select")
    return played


@contextmanager
def stand(chosen: Chosen, file: Path) -> Iterator[Stage]:
    """Bring the stage up and describe it in `file`; both go at the end. Raises what `open_stage` and `cases_of` do."""
    cases = cases_of(chosen)
    profile = load_profile(chosen.target)
    with TemporaryDirectory(prefix="conformance-") as scratch, open_stage(profile, cases, Path(scratch)) as stage:
        told = {"chosen": dataclasses.asdict(chosen), "seat": stage.seat.encode()}
        try:
            _write(file, json.dumps(told))
            yield stage
        finally:
            file.unlink(missing_ok=True)


def _write(file: Path, text: str) -> None:
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as out:
        out.write(text)
    draft.replace(file)


def join(file: Path) -> tuple[Seat, tuple[PlannedCase, ...], tuple[Clause, ...]]:
    """The seat, cases and clauses of the stage that `file` describes. Raises UsageError when it describes none."""
    try:
        told: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        given: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in told["chosen"].items()}
        chosen = Chosen(**given)
        cases = cases_of(chosen)
        seat = Seat.decode(told["seat"], load_profile(chosen.target), cases)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"this is no standing stage: {error}", where=str(file), hint="conformance stage") from error
    return seat, cases, select_clauses(chosen.clauses)


def keep(chosen: Chosen, file: Path, say: Callable[[str], None], ended: Callable[[float], bool]) -> None:
    """Let a stage stand until `ended`, asked with a time in s to wait, says so; `say` is told where it is.

    Raises UpstreamError or TargetDied when a part of it is gone.
    """
    with stand(chosen, file) as stage:
        say(f"gateway {stage.seat.base_url}")
        say(f"stage-file {file}")
        while not ended(0.2):
            stage.ensure_alive()
