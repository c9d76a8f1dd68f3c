"""Load runs: each scenario alone, then at rising concurrency, through the gateway and straight at the upstream.

Plays the cells of `load.plan`, counts the verdicts of every exchange, keeps one failing exchange for each clause as
evidence with what was in flight beside it, and hands the counts to `load.compare`. Exchanges are dropped once judged.
"""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from conformance.contract.clause import Clause, Outcome
from conformance.contract.judge import judge
from conformance.errors import HarnessError
from conformance.load.compare import Compared, Count, LoadResult, Measured, compare, lowest
from conformance.load.plan import Cell, LoadOptions, Shape, arrivals, bisect, cells
from conformance.load.stats import alone_needed
from conformance.report.evidence import case_of
from conformance.report.model import Case, InFlight, LoadCell
from conformance.run.plan import PlannedCase, checked_drivers, fits
from conformance.run.play import Observed, Player
from conformance.run.stage import Seat, Stage
from conformance.scenario.model import Scenario
from conformance.target.profile import Profile

#: The harness is called short of CPU when its event loop was this late at the 99th percentile, in ms.
LAG_MS = 250.0

#: So many exchanges are held before they are read and judged.
HELD = 1024

#: What is shown of the requests that were in flight beside a failing one.
BESIDE = 24


@dataclass(slots=True)
class Tally:
    """Counts by clause of one cell, and the first failing exchange of each clause."""

    counts: dict[str, Count] = field(default_factory=lambda: defaultdict(Count))
    evidence: dict[str, Case] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    flights: list[InFlight] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """The result of a load run: a comparison for each clause and scenario in which it was ever decided, the cells as
    they went, and the evidence."""

    rows: tuple[Compared, ...]
    cells: tuple[LoadCell, ...]
    evidence: dict[tuple[str, str], Case]
    faults: tuple[str, ...]


def plan_load(scenarios: Sequence[Scenario], drivers: Iterable[str], profile: Profile) -> tuple[PlannedCase, ...]:
    """Two cases for each scenario, with a lane each: number 1 is played alone, number 2 under load.

    Raises UsageError for an unknown driver. Scenarios of several steps are sequences, not loads.
    """
    chosen = checked_drivers(tuple(drivers) or ("wire",))
    made: list[PlannedCase] = []
    for scenario in scenarios:
        if scenario.needs - profile.capabilities or scenario.steps:
            continue
        for driver in chosen:
            if fits(scenario, driver):
                for number in (1, 2):
                    made.append(PlannedCase(scenario=scenario, driver=driver, lane=len(made), number=number))
    return tuple(made)


class LoadRunner:
    """Plays load on a stage. `watch` is told each cell as it is done."""

    def __init__(
        self,
        stage: Stage,
        clauses: Sequence[Clause],
        options: LoadOptions,
        *,
        watch: Callable[[LoadCell], None] = lambda _: None,
    ) -> None:
        self._stage = stage
        self._clauses = tuple(clauses)
        self._options = options
        self._watch = watch
        self._sent = 0
        self._cells: list[LoadCell] = []
        self._faults: list[str] = []

    async def run(self, cases: Sequence[PlannedCase]) -> Loaded:
        """Measure every scenario of `cases` (from `plan_load`). Raises HarnessError when the stage is lost."""
        rows: list[Measured] = []
        evidence: dict[tuple[str, str], Case] = {}
        for quiet, loud in zip(cases[::2], cases[1::2], strict=True):
            found, kept = await self._scenario(quiet, loud)
            rows += found
            evidence |= kept
        compared = compare(rows, alpha=self._options.alpha)
        return Loaded(rows=compared, cells=tuple(self._cells), evidence=evidence, faults=tuple(self._faults))

    async def _scenario(
        self, quiet: PlannedCase, loud: PlannedCase
    ) -> tuple[list[Measured], dict[tuple[str, str], Case]]:
        gateway = Player(self._stage.seat, self._clauses, seed=self._options.seed)
        straight = Player(control_seat(self._stage.seat, loud), self._clauses, seed=self._options.seed + 1)
        try:
            book = _Book(loud.scenario.id)
            for cell in cells(loud.scenario.id, self._options):
                alone = cell.shape is Shape.ALONE
                case = quiet if alone else loud
                book.add(cell, await self._cell(cell, case, gateway, "gateway"))
                book.add_control(cell, await self._cell(cell, loud, straight, "control"))
            await self._narrow(book, loud, gateway)
            await self._extend(book, quiet, gateway)
            self._faults += book.faults
            return book.rows(self._bound(loud.scenario.id)), book.evidence
        finally:
            await gateway.aclose()
            await straight.aclose()

    async def _narrow(self, book: _Book, loud: PlannedCase, player: Player) -> None:
        """Find the lowest failing concurrency of each clause that fails under load only, by bisection."""
        for clause in book.suspects():
            while True:
                failing = lowest(book.load[clause])
                held = max(
                    (level for level, n in book.load[clause].items() if not n.failed and level < (failing or 0)),
                    default=1,
                )
                middle = bisect(held, failing) if failing else None
                if middle is None or middle in book.load[clause]:
                    break
                requests = max(middle * self._options.rounds, 8)
                cell = Cell(
                    scenario=loud.scenario.id, shape=self._options.shapes[0], concurrency=middle, requests=requests
                )
                book.add(cell, await self._cell(cell, loud, player, "gateway"))

    async def _extend(self, book: _Book, quiet: PlannedCase, player: Player) -> None:
        """Play alone as often as it takes to be certain of a difference, within the bound."""
        suspects = book.suspects()
        if not suspects:
            return
        alpha = self._options.alpha / max(1, len(self._clauses))
        wanted = max(
            alone_needed(book.loaded(clause).failed, book.loaded(clause).total, alpha, most=self._options.extend)
            for clause in suspects
        )
        missing = wanted - min(book.alone[clause].total for clause in suspects)
        if missing > 0:
            cell = Cell(scenario=quiet.scenario.id, shape=Shape.ALONE, concurrency=1, requests=missing)
            book.add(cell, await self._cell(cell, quiet, player, "gateway"))

    def _bound(self, scenario: str) -> frozenset[int]:
        mine = [cell for cell in self._cells if cell.scenario == scenario and cell.leg == "gateway"]
        return frozenset(cell.concurrency for cell in mine if cell.lag_ms > LAG_MS)

    async def _cell(self, cell: Cell, case: PlannedCase, player: Player, leg: str) -> Tally:
        tally = Tally()
        held: list[Observed] = []
        origin = time.monotonic()

        async def one() -> None:
            self._sent += 1
            observed = await player.observe(case, repetition=self._sent)
            tally.flights.append(_flight(observed, origin))
            held.append(observed)
            if len(held) >= HELD and cell.shape is not Shape.BURST:
                self._judge(held, case, player, tally)

        async with _measured() as lag:
            await _play(cell, one, seed=self._options.seed)
        self._judge(held, case, player, tally)
        self._stage.ensure_alive()
        facts = LoadCell(
            scenario=cell.scenario,
            driver=case.driver,
            leg=leg,
            shape=cell.shape.value,
            concurrency=cell.concurrency,
            requests=cell.requests,
            seconds=lag.seconds,
            lag_ms=lag.p99,
            client_cpu=lag.cpu,
            failed=sum(bool(count.failed) for count in tally.counts.values()),
        )
        self._cells.append(facts)
        self._watch(facts)
        return tally

    def _judge(self, held: list[Observed], case: PlannedCase, player: Player, tally: Tally) -> None:
        """Read and judge what is held, count it, and let go of it."""
        for observed in held:
            exchange = player.joined(observed)
            verdicts = judge(exchange, self._clauses)
            for verdict in verdicts:
                if verdict.outcome is Outcome.HELD:
                    tally.counts[verdict.clause] += Count(0, 1)
                elif verdict.outcome is Outcome.VIOLATED:
                    tally.counts[verdict.clause] += Count(1, 1)
                    if verdict.clause not in tally.evidence:
                        made = case_of(
                            exchange,
                            verdicts,
                            scenario=case.scenario.id,
                            title=case.scenario.title,
                            case=f"{case.id}@load",
                            upstream=tuple(attempt.sent for attempt in exchange.attempts or ()),
                        )
                        beside = _beside(tally.flights, observed.nonce)
                        tally.evidence[verdict.clause] = dataclasses.replace(made, beside=beside)
                elif verdict.outcome is Outcome.FAULTY:
                    tally.faults.append(f"{case.id}: {verdict.clause}: {verdict.reason}")
        held.clear()


class _Book:
    """What one scenario's cells came to, by clause."""

    def __init__(self, scenario: str) -> None:
        self.scenario = scenario
        self.alone: dict[str, Count] = defaultdict(Count)
        self.load: dict[str, dict[int, Count]] = defaultdict(dict)
        self.control_alone: dict[str, Count] = defaultdict(Count)
        self.control_load: dict[str, dict[int, Count]] = defaultdict(dict)
        self.evidence: dict[tuple[str, str], Case] = {}
        self.faults: list[str] = []

    def add(self, cell: Cell, tally: Tally) -> None:
        """A cell played through the gateway."""
        self.faults += tally.faults
        self._count(cell, tally, self.alone, self.load)
        for clause, case in tally.evidence.items():
            if cell.shape is not Shape.ALONE or (clause, self.scenario) not in self.evidence:
                self.evidence.setdefault((clause, self.scenario), case)

    def add_control(self, cell: Cell, tally: Tally) -> None:
        """The same cell played straight at the upstream."""
        self._count(cell, tally, self.control_alone, self.control_load)

    def _count(self, cell: Cell, tally: Tally, alone: dict[str, Count], load: dict[str, dict[int, Count]]) -> None:
        for clause, count in tally.counts.items():
            if cell.shape is Shape.ALONE:
                alone[clause] += count
            else:
                before = load[clause].get(cell.concurrency, Count())
                load[clause][cell.concurrency] = before + count

    def suspects(self) -> list[str]:
        """The clauses that failed under load and never alone."""
        return [clause for clause, load in self.load.items() if lowest(load) and not self.alone[clause].failed]

    def loaded(self, clause: str) -> Count:
        """All loaded counts of a clause."""
        return sum(self.load[clause].values(), Count())

    def rows(self, bound: frozenset[int]) -> list[Measured]:
        """The counts as `compare` takes them."""
        return [
            Measured(
                clause=clause,
                scenario=self.scenario,
                alone=self.alone[clause],
                load=self.load[clause],
                control_alone=self.control_alone[clause],
                control_load=self.control_load[clause],
                bound=bound,
            )
            for clause in sorted(self.alone.keys() | self.load.keys())
        ]


def control_seat(seat: Seat, case: PlannedCase) -> Seat:
    """The seat of the control: the same load straight at a member of the case's lane, nothing declared."""
    member = seat.lanes[case.lane].members[-1]
    profile = dataclasses.replace(
        seat.profile, capabilities=frozenset(), api_key=member.api_key, lane_headers=(), model_prefix="", settle_ms=0.0
    )
    return dataclasses.replace(seat, base_url=f"{member.base_url}/v1", profile=profile)


async def _play(cell: Cell, one: Callable[[], object], *, seed: int) -> None:
    """Start the requests of a cell in its shape and wait for all of them."""

    async def call() -> None:
        await one()  # type: ignore[misc]

    if cell.shape is Shape.OPEN:
        start = time.monotonic()

        async def later(at: float) -> None:
            await asyncio.sleep(max(0.0, start + at / 1000 - time.monotonic()))
            await call()

        await _all([later(at) for at in arrivals(cell, seed)])
    elif cell.shape is Shape.BURST:
        left = cell.requests
        while left > 0:
            size = min(cell.concurrency, left)
            await _all([call() for _ in range(size)])
            left -= size
    else:
        turns = iter(range(cell.requests))

        async def worker() -> None:
            for _ in turns:
                await call()

        await _all([worker() for _ in range(cell.concurrency)])


async def _all(calls: list[object]) -> None:
    try:
        async with asyncio.TaskGroup() as group:
            for made in calls:
                group.create_task(made)  # type: ignore[arg-type]
    except* HarnessError as errors:
        error: BaseException = errors
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from None


class _Lag:
    """How late the event loop was while a cell was played (ms, 99th percentile), how long it took, its CPU share."""

    def __init__(self) -> None:
        self.samples: list[float] = []
        self.seconds = 0.0
        self.cpu = 0.0

    @property
    def p99(self) -> float:
        ordered = sorted(self.samples)
        return ordered[int(0.99 * (len(ordered) - 1))] if ordered else 0.0


@asynccontextmanager
async def _measured() -> AsyncIterator[_Lag]:
    lag = _Lag()
    loop = asyncio.get_running_loop()

    async def sample() -> None:
        while True:
            before = loop.time()
            await asyncio.sleep(0.01)
            lag.samples.append((loop.time() - before - 0.01) * 1000)

    task = loop.create_task(sample())
    started, cpu = time.monotonic(), time.process_time()
    try:
        yield lag
    finally:
        lag.seconds = time.monotonic() - started
        lag.cpu = (time.process_time() - cpu) / lag.seconds if lag.seconds else 0.0
        task.cancel()


def _flight(observed: Observed, origin: float) -> InFlight:
    transcript = observed.capture.transcript
    start = (transcript.origin - origin) * 1000
    return InFlight(
        nonce=observed.nonce,
        start=start,
        end=start + transcript.ended_at,
        attempts=tuple(((entry.at - origin) * 1000, entry.member) for entry in observed.entries),
    )


def _beside(flights: Sequence[InFlight], nonce: str) -> tuple[InFlight, ...]:
    """The flight of `nonce`, and those that overlapped it, in order of start; at most BESIDE."""
    mine = next((flight for flight in flights if flight.nonce == nonce), None)
    if mine is None:
        return ()
    others = sorted(
        (flight for flight in flights if flight is not mine and flight.start < mine.end and flight.end > mine.start),
        key=lambda flight: abs(flight.start - mine.start),
    )[: BESIDE - 1]
    return tuple(sorted([mine, *others], key=lambda flight: flight.start))


__all__ = ["LoadResult", "LoadRunner", "Loaded", "control_seat", "plan_load"]
