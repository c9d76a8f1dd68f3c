"""Load runs: each scenario alone, then at rising concurrency, through the gateway and straight at the upstream.

Plays the cells of `load.plan`, has every exchange judged and counted in a `Book`, narrows in on thresholds, and hands
the counts to `load.compare`. Exchanges are dropped once judged; one failing exchange of each clause stays as evidence.
"""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from conformance.contract.clause import Clause
from conformance.contract.judge import judge
from conformance.load.compare import Compared, compare, lowest
from conformance.load.plan import Cell, LoadOptions, Shape, bisect, loud_cells, quiet_cell
from conformance.load.stats import alone_needed
from conformance.report.evidence import case_of
from conformance.report.model import Case, InFlight, LoadCell
from conformance.run.book import Book, Tally
from conformance.run.cell import Strain, measured, play_cell
from conformance.run.flights import flight_of, overlapping
from conformance.run.loadplan import LoadPlan, Pair, control_seat
from conformance.run.mask import masked
from conformance.run.play import Gate, Observed, Player
from conformance.run.stage import Stage

#: The harness is called short of CPU when its event loop was this late at the 99th percentile, in ms, or when it or the
#: upstream used this share of a core in a cell that lasted long enough to tell, in seconds.
LAG_MS, BUSY, TELLING_SECONDS = 250.0, 0.9, 0.3
#: So many exchanges are played before they are read and judged; nothing is in flight meanwhile.
HELD = 1024
#: How often the control is played alone: what a bare upstream does not hold, it never holds.
CONTROL_ALONE = 4
#: How long a gateway is left in peace before a quieter cell follows a louder one, in ms, if its windows are no longer.
REST_MS = 500.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """The result of a load run: a comparison for each clause and scenario in which it was ever decided, the cells as
    they went, and the evidence by clause and scenario."""

    rows: tuple[Compared, ...]
    cells: tuple[LoadCell, ...]
    evidence: dict[tuple[str, str], Case]
    faults: tuple[str, ...]


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
        self._loudest = 0
        self._cells: list[LoadCell] = []
        self._faults: list[str] = []
        self._books: dict[Pair, Book] = {}
        self._players: dict[int | None, Player] = {}
        self._mix: tuple[Pair, ...] = ()

    async def run(self, plan: LoadPlan) -> Loaded:
        """Measure everything of `plan`. Raises HarnessError when the stage is lost."""
        mixed = Shape.MIXED in self._options.shapes
        self._mix = plan.mix if mixed else ()
        pairs = tuple(dict.fromkeys((*plan.pairs, *self._mix)))
        self._books = {pair: Book(pair.scenario) for pair in pairs}
        self._players[None] = Player(
            self._stage, self._clauses, seed=self._options.seed, drivers={pair.loud.driver for pair in pairs}
        )
        try:
            for pair in pairs:
                await self._both(pair, quiet_cell(pair.scenario, self._options))
            for pair in plan.pairs:
                for cell in loud_cells(pair.scenario, self._options):
                    await self._both(pair, cell)
                await self._narrow(pair)
            for pair in pairs:
                await self._extend(pair)
        finally:
            for player in self._players.values():
                await player.aclose()
        return self._result()

    @property
    def sent(self) -> int:
        """How many requests were sent until now, both legs."""
        return self._sent

    def _result(self) -> Loaded:
        measures = [row for pair, book in self._books.items() for row in book.measured(self._bound(pair))]
        evidence = {(clause, b.scenario): case for b in self._books.values() for clause, case in b.evidence.items()}
        return Loaded(
            rows=compare(measures, alpha=self._options.alpha),
            cells=tuple(self._cells),
            evidence=evidence,
            faults=tuple(self._faults),
        )

    async def _both(self, pair: Pair, cell: Cell) -> None:
        """Play a cell through the gateway, and then straight at the upstream (alone, a few times tell)."""
        await self._cell(pair, cell, "gateway")
        few = min(cell.requests, CONTROL_ALONE) if cell.shape is Shape.ALONE else cell.requests
        await self._cell(pair, dataclasses.replace(cell, requests=few), "control")

    async def _narrow(self, pair: Pair) -> None:
        """Find the lowest failing concurrency of each clause that fails under load only, by bisection."""
        book = self._books[pair]
        for clause in book.suspects:
            while True:
                shape, levels = book.telling(clause)
                failing = lowest(levels)
                held = max((level for level, n in levels.items() if not n.failed and level < (failing or 0)), default=1)
                middle = bisect(held, failing) if failing else None
                if middle is None or middle in levels:
                    break
                requests = max(middle * self._options.rounds, 8)
                cell = Cell(scenario=pair.scenario, shape=shape, concurrency=middle, requests=requests)
                await self._cell(pair, cell, "gateway")

    async def _extend(self, pair: Pair) -> None:
        """Play alone as often as it takes to be certain of a difference, within the bound."""
        book = self._books[pair]
        alpha = self._options.alpha / max(1, len(self._clauses))
        suspects = [book.loaded(clause) for clause in book.suspects]
        wanted = max(
            (alone_needed(count.failed, count.total, alpha, most=self._options.extend) for count in suspects), default=0
        )
        if wanted > book.alone_played:
            cell = Cell(scenario=pair.scenario, shape=Shape.ALONE, concurrency=1, requests=wanted - book.alone_played)
            await self._cell(pair, cell, "gateway")

    def _bound(self, pair: Pair) -> frozenset[int]:
        mine = [cell for cell in self._cells if cell.scenario == pair.scenario and cell.leg == "gateway"]
        return frozenset(cell.concurrency for cell in mine if _starved(cell))

    async def _rest(self, cell: Cell) -> None:
        """Let what a gateway remembers of a louder cell pass."""
        if self._loudest > cell.concurrency:
            profile = self._stage.seat.profile
            windows = (profile.cooldown_ms, profile.quarantine_ms)
            await asyncio.sleep(max(REST_MS, *(window or 0.0 for window in windows)) / 1000)
        self._loudest = cell.concurrency

    async def _cell(self, pair: Pair, cell: Cell, leg: str) -> None:
        if leg == "gateway":
            await self._rest(cell)
        turns = (pair, *(other for other in self._mix if other is not pair))
        tallies = {one: Tally() for one in turns}
        strain, left = Strain(), cell.requests
        while left > 0:
            part = dataclasses.replace(cell, requests=min(left, max(HELD, cell.concurrency)))
            strain += await self._part(part, turns, tallies, leg)
            left -= part.requests
        self._stage.ensure_alive()
        self._note(pair, cell, leg, tallies, strain)

    async def _part(self, cell: Cell, turns: Sequence[Pair], tallies: dict[Pair, Tally], leg: str) -> Strain:
        """So many requests of a cell as can be held, then their verdicts."""
        held: list[tuple[Pair, Observed]] = []
        flights: list[InFlight] = []
        origin = time.monotonic()

        async def send(kind: int, gate: Gate | None) -> None:
            pair = turns[kind]
            self._sent = number = self._sent + 1
            case = pair.quiet if cell.shape is Shape.ALONE and leg == "gateway" else pair.loud
            observed = await self._player(pair, leg).observe(case, repetition=number, gate=gate)
            held.append((pair, observed))
            flights.append(flight_of(observed, origin))

        async with measured(self._watched()) as strain:
            await play_cell(cell, send, kinds=len(turns) - 1, seed=self._options.seed)
        for pair, observed in held:
            self._judge(pair, observed, tallies[pair], flights, leg)
            await asyncio.sleep(0)  # whoever shares the loop is not held up
        return strain

    def _judge(self, pair: Pair, observed: Observed, tally: Tally, flights: Sequence[InFlight], leg: str) -> None:
        """Read and judge one exchange, count it, and let go of it."""
        exchange = self._player(pair, leg).joined(observed)
        verdicts = judge(exchange, self._clauses)

        def show() -> Case:
            scenario = observed.case.scenario
            made = case_of(
                exchange,
                verdicts,
                scenario=scenario.id,
                title=scenario.title,
                case=f"{observed.case.id}@load",
                upstream=tuple(attempt.sent for attempt in exchange.attempts or ()),
            )
            return dataclasses.replace(
                masked(made, self._stage.seat.profile.secret), beside=overlapping(flights, observed.nonce)
            )

        tally.add(verdicts, observed.case.id, show)

    def _note(self, pair: Pair, cell: Cell, leg: str, tallies: dict[Pair, Tally], strain: Strain) -> None:
        """Book a cell's counts and tell how it went."""
        for one, tally in tallies.items():
            self._faults += tally.faults
            if leg == "gateway":
                self._books[one].add(cell, tally)
            else:
                self._books[one].add_control(cell, tally)
        facts = LoadCell(
            scenario=cell.scenario,
            driver=pair.loud.driver,
            leg=leg,
            shape=cell.shape.value,
            concurrency=cell.concurrency,
            requests=cell.requests,
            seconds=strain.seconds,
            lag_ms=strain.lag_ms,
            client_cpu=strain.share(strain.client),
            upstream_cpu=strain.share(strain.others.get("upstream", 0.0)),
            gateway_cpu=strain.share(strain.others.get("gateway", 0.0)),
            failed=sum(len(tally.failing) for tally in tallies.values()),
        )
        self._cells.append(facts)
        self._watch(facts)

    def _watched(self) -> dict[str, tuple[int, bool]]:
        upstream = self._stage.upstream
        return {
            "upstream": (upstream.pid if upstream is not None else 0, False),
            "gateway": (self._stage.target.pid, True),
        }

    def _player(self, pair: Pair, leg: str) -> Player:
        """The one player of the gateway, or the pair's own that asks the upstream itself."""
        if leg == "gateway":
            return self._players[None]
        lane = pair.loud.lane
        if lane not in self._players:
            seat = control_seat(self._stage.seat, pair.loud)
            self._players[lane] = Player(seat, self._clauses, seed=self._options.seed + 1)
        return self._players[lane]


def _starved(cell: LoadCell) -> bool:
    """Whether the harness or the upstream was short of CPU in a cell."""
    busy = cell.seconds >= TELLING_SECONDS and max(cell.client_cpu, cell.upstream_cpu) > BUSY
    return cell.lag_ms > LAG_MS or busy
