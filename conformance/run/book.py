"""What the cells of a load run came to, by clause: counts alone, at each concurrency, and of the control; evidence.

Exchanges come in as verdicts and are let go of; what is kept is a number for each, and one failing exchange of each
clause. Gives the counts in the form that `load.compare` takes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from conformance.contract.clause import Outcome, Verdict
from conformance.load.compare import Count, Measured, lowest
from conformance.load.plan import Cell, Shape
from conformance.report.model import Case

Levels = dict[int, Count]


@dataclass(slots=True)
class Tally:
    """The counts by clause of one scenario in one cell, and the first failing exchange of each clause."""

    counts: dict[str, Count] = field(default_factory=dict)
    evidence: dict[str, Case] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    played: int = 0

    def add(self, verdicts: Iterable[Verdict], where: str, show: Callable[[], Case]) -> None:
        """Count the verdicts of one exchange; `show` makes the case of it, where it is wanted as evidence."""
        self.played += 1
        for verdict in verdicts:
            if verdict.outcome in (Outcome.HELD, Outcome.VIOLATED):
                failed = verdict.outcome is Outcome.VIOLATED
                self.counts[verdict.clause] = self.counts.get(verdict.clause, Count()) + Count(int(failed), 1)
                if failed and verdict.clause not in self.evidence:
                    self.evidence[verdict.clause] = show()
            elif verdict.outcome is Outcome.FAULTY:
                self.faults.append(f"{where}: {verdict.clause}: {verdict.reason}")

    @property
    def failing(self) -> set[str]:
        """The clauses that failed at least once."""
        return {clause for clause, count in self.counts.items() if count.failed}


class Book:
    """One scenario's counts."""

    def __init__(self, scenario: str) -> None:
        self.scenario = scenario
        self.alone: dict[str, Count] = defaultdict(Count)
        self.load: dict[str, dict[Shape, Levels]] = defaultdict(dict)
        self.evidence: dict[str, Case] = {}
        self.alone_played = 0
        self._played: dict[Shape, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        self._control_alone: set[str] = set()
        self._control_load: Levels = {}

    def add(self, cell: Cell, tally: Tally) -> None:
        """A cell that was played through the gateway."""
        if cell.shape is Shape.ALONE:
            self.alone_played += tally.played
        else:
            self._played[cell.shape][cell.concurrency] += tally.played
        for clause, count in tally.counts.items():
            if cell.shape is Shape.ALONE:
                self.alone[clause] += count
            else:
                levels = self.load[clause].setdefault(cell.shape, {})
                levels[cell.concurrency] = levels.get(cell.concurrency, Count()) + count
        for clause, case in tally.evidence.items():
            self.evidence.setdefault(clause, case)

    def add_control(self, cell: Cell, tally: Tally) -> None:
        """The same cell straight at the upstream; alone it tells which clauses a bare upstream does not hold anyway."""
        if cell.shape is Shape.ALONE:
            self._control_alone |= tally.failing
            return
        failed = Count(len(tally.failing - self._control_alone), len(tally.counts))
        self._control_load[cell.concurrency] = self._control_load.get(cell.concurrency, Count()) + failed

    @property
    def suspects(self) -> tuple[str, ...]:
        """The clauses that failed under load and never alone."""
        return tuple(
            clause for clause in sorted(self.load) if self.loaded(clause).failed and not self.alone[clause].failed
        )

    def levels(self, clause: str) -> Levels:
        """The counts of a clause at each concurrency, over all shapes."""
        merged: Levels = {}
        for levels in self.load[clause].values():
            for level, count in levels.items():
                merged[level] = merged.get(level, Count()) + count
        return merged

    def loaded(self, clause: str) -> Count:
        """All loaded counts of a clause."""
        return sum(self.levels(clause).values(), Count())

    def telling(self, clause: str) -> tuple[Shape, Levels]:
        """The shape in which a clause fails at the lowest concurrency, and its counts at every concurrency played there
        (none, where it was not decided).
        """
        failing = [(lowest(levels) or 1 << 30, shape) for shape, levels in self.load[clause].items()]
        _, shape = min(failing, key=lambda found: found[0])
        return shape, {level: self.load[clause][shape].get(level, Count()) for level in self._played[shape]}

    def measured(self, bound: frozenset[int]) -> list[Measured]:
        """The counts as `compare` takes them; `bound` are the concurrencies at which the harness was short of CPU."""
        shaken = lowest(self._control_load)
        played: dict[int, int] = defaultdict(int)
        for levels in self._played.values():
            for level, count in levels.items():
                played[level] += count
        return [
            Measured(
                clause=clause,
                scenario=self.scenario,
                alone=self.alone[clause],
                load=self.levels(clause),
                alone_played=self.alone_played,
                played=played,
                shaken=shaken,
                bound=bound,
            )
            for clause in sorted(self.alone.keys() | self.load.keys())
        ]
