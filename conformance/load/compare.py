"""Alone against in parallel: from counts of failures to what a clause is under load, with the odds.

Counts of one clause in one scenario -> holds, violated, load-shaped, flaky or inconclusive. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from conformance.load.stats import fisher_greater, holm, wilson


class LoadResult(StrEnum):
    """What a clause is in a scenario, alone and under load."""

    HOLDS = "holds"
    VIOLATED = "violated"  # alone too, always
    FLAKY = "flaky"  # alone too, sometimes
    LOAD_SHAPED = "load-shaped"  # holds alone, violated under load
    INCONCLUSIVE = "inconclusive"  # seen under load, but not certain, or the harness may be the cause


@dataclass(frozen=True, slots=True)
class Count:
    """`failed` of `total` exchanges on which a clause was decided."""

    failed: int = 0
    total: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(self.failed + other.failed, self.total + other.total)

    @property
    def rate(self) -> float:
        """The failure rate, 0.0 for nothing counted."""
        return self.failed / self.total if self.total else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the rate."""
        return wilson(self.failed, self.total)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One clause in one scenario: its counts alone, and at each concurrency.

    A count is of the exchanges on which the clause was decided; `alone_played` and `played` are all exchanges (0 or
    None: the same), since one to which a clause did not apply did not fail it either. `shaken` is the lowest
    concurrency at which the control failed any clause that it holds alone (None: it never did), `bound` are the
    concurrencies at which the harness itself was short of CPU.
    """

    clause: str
    scenario: str
    alone: Count
    load: Mapping[int, Count]
    alone_played: int = 0
    played: Mapping[int, int] | None = None
    shaken: int | None = None
    bound: frozenset[int] = frozenset()

    @property
    def loaded(self) -> Count:
        """All loaded counts together."""
        return sum(self.load.values(), Count())


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """The result: the counts, the interval of the loaded rate, the corrected p, and the lowest failing concurrency."""

    clause: str
    scenario: str
    result: LoadResult
    alone: Count
    loaded: Count
    load: Mapping[int, Count]
    p: float
    threshold: int | None = None
    reason: str = ""


def _raw(measured: Measured) -> float:
    """The p value of what is at least as loud as the lowest failing concurrency, counted together."""
    threshold = lowest(measured.load)
    if threshold is None:
        return 1.0
    played = measured.played or {}
    loud = [level for level in measured.load if level >= threshold]
    failed = sum(measured.load[level].failed for level in loud)
    total = sum(max(measured.load[level].total, played.get(level, 0)) for level in loud)
    quiet = measured.alone
    return fisher_greater(quiet.failed, max(quiet.total, measured.alone_played), failed, total)


def lowest(load: Mapping[int, Count]) -> int | None:
    """The lowest concurrency at which anything failed, or None."""
    return min((level for level, count in load.items() if count.failed), default=None)


def compare(rows: Sequence[Measured], *, alpha: float) -> tuple[Compared, ...]:
    """The result of every row; p values are corrected (Holm) over the rows in which anything failed under load."""
    candidates = [row for row in rows if row.loaded.failed and not row.alone.failed]
    corrected = dict(
        zip(((row.clause, row.scenario) for row in candidates), holm([_raw(row) for row in candidates]), strict=True)
    )
    return tuple(_one(row, corrected.get((row.clause, row.scenario), 1.0), alpha) for row in rows)


def _one(row: Measured, p: float, alpha: float) -> Compared:
    made = Compared(
        clause=row.clause,
        scenario=row.scenario,
        result=LoadResult.HOLDS,
        alone=row.alone,
        loaded=row.loaded,
        load=dict(row.load),
        p=p,
        threshold=lowest(row.load),
    )
    if row.alone.failed:
        always = row.alone.failed == row.alone.total
        return replace(made, result=LoadResult.VIOLATED if always else LoadResult.FLAKY, p=_raw(row))
    if not row.loaded.failed:
        return made
    doubt = _doubt(row)
    if doubt:
        return replace(made, result=LoadResult.INCONCLUSIVE, reason=doubt)
    if p > alpha:
        quiet = max(row.alone.total, row.alone_played)
        reason = f"{row.loaded.failed} of {row.loaded.total} under load, 0 of {quiet} alone: p {p:.3f} after correction"
        return replace(made, result=LoadResult.INCONCLUSIVE, reason=reason)
    return replace(made, result=LoadResult.LOAD_SHAPED)


def _doubt(row: Measured) -> str:
    """Why the harness may be the cause, or ""."""
    highest = max((level for level, count in row.load.items() if count.failed), default=0)
    if row.shaken is not None and row.shaken <= highest:
        return f"the same load straight at the upstream fails too, at concurrency {row.shaken}"
    loud = {level for level, count in row.load.items() if count.failed}
    if loud and loud <= row.bound:
        return f"the harness was short of CPU at concurrency {', '.join(map(str, sorted(loud)))}"
    return ""
