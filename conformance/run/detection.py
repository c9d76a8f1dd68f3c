"""The proof that load runs tell: each load defect of the reference gateway is found and named load-shaped, at the right
concurrency, and nothing is found on the faithful one.

One upstream, one process that hosts all gateways; each gateway's runs (one for each seed) follow one another, since two
at once would add up, and different gateways' run side by side.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from zlib import crc32

from conformance.contract.catalog import CATALOG
from conformance.contract.clause import Clause
from conformance.load.compare import LoadResult
from conformance.load.plan import LoadOptions
from conformance.reference.defects import LOAD_DEFECTS
from conformance.run.load import Loaded, LoadRunner
from conformance.run.loadplan import MIX, LoadPlan, plan_load
from conformance.run.matrix import FAITHFUL, hosted
from conformance.run.stage import Seat, Stage, lane_sizes, lanes_for
from conformance.scenario.load import load_scenarios, select
from conformance.target.launch import RunningTarget
from conformance.target.load import load_profile
from conformance.target.profile import Profile
from conformance.upstream.process import UpstreamProcess, start_upstream

#: The scenarios that together show every load defect; what is sent beside them shows the rest.
SCENARIOS = ("load.chat", "load.chat-stream", "load.hangup-stream")
DEFAULTS = LoadOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """What one run came to.

    `found` are the load-shaped clauses that the gateway is known to violate, with the lowest concurrency of each;
    `other` the load-shaped, flaky or violated ones besides; `undecided` those that stayed inconclusive.
    """

    gateway: str
    seed: int
    found: dict[str, int]
    other: tuple[str, ...]
    undecided: tuple[str, ...]
    faults: tuple[str, ...]
    seconds: float = 0.0

    @property
    def threshold(self) -> int:
        """The concurrency from which the defect was seen, 0 when it was not."""
        return min(self.found.values(), default=0)

    @property
    def right(self) -> bool:
        """Whether the defect was found, its threshold within a factor of two; the faithful gateway: nothing found."""
        if self.gateway == FAITHFUL:
            return not self.other
        at = LOAD_DEFECTS[self.gateway].at
        return at / 2 <= self.threshold <= at * 2


def detect(
    gateways: Iterable[str] = (FAITHFUL, *LOAD_DEFECTS),
    *,
    seeds: Sequence[int] = (0,),
    scenarios: Sequence[str] = SCENARIOS,
    options: LoadOptions = DEFAULTS,
    clauses: Sequence[Clause] = tuple(CATALOG.values()),
    abreast: int = 4,
) -> tuple[Detection, ...]:
    """Run every gateway under load once for each seed. Raises LaunchError, UpstreamError."""
    profile = load_profile("reference")
    known = load_scenarios()
    beside = [scenario for scenario in known if scenario.id in MIX]
    plan = plan_load(select(known, scenarios), ("wire",), profile, beside=beside)
    with (
        start_upstream(sum(lane_sizes(plan.cases))) as upstream,
        hosted(profile, plan.cases, upstream, kind="load") as ports,
    ):
        stages = {name: _stage(profile, plan, upstream, ports[name]) for name in gateways}
        return asyncio.run(_runs(stages, plan, clauses, options, seeds, abreast))


def _stage(profile: Profile, plan: LoadPlan, upstream: UpstreamProcess, port: int) -> Stage:
    base_url = f"http://127.0.0.1:{port}/v1"
    lanes = lanes_for(plan.cases, profile, upstream.ports)
    seat = Seat(upstream=upstream.address, base_url=base_url, version="", lanes=lanes, profile=profile)
    return Stage(seat, upstream, RunningTarget(profile, base_url=base_url))


async def _runs(
    stages: dict[str, Stage],
    plan: LoadPlan,
    clauses: Sequence[Clause],
    options: LoadOptions,
    seeds: Sequence[int],
    abreast: int,
) -> tuple[Detection, ...]:
    turn = asyncio.Semaphore(abreast)
    loop = asyncio.get_running_loop()

    async def play(name: str, stage: Stage) -> list[Detection]:
        made = []
        for seed in seeds:
            async with turn:
                began = loop.time()
                mine = dataclasses.replace(options, seed=crc32(f"{name}/{seed}".encode()))
                found = detection(name, seed, await LoadRunner(stage, clauses, mine).run(plan))
                made.append(dataclasses.replace(found, seconds=loop.time() - began))
        return made

    rows = await asyncio.gather(*(play(name, stage) for name, stage in stages.items()))
    return tuple(row for made in rows for row in made)


def detection(gateway: str, seed: int, loaded: Loaded) -> Detection:
    """What a run's result means for the gateway of that name."""
    listed = LOAD_DEFECTS[gateway].violates if gateway in LOAD_DEFECTS else frozenset()
    found: dict[str, int] = {}
    other, undecided = [], []
    for row in loaded.rows:
        if row.result is LoadResult.LOAD_SHAPED and row.clause in listed:
            found[row.clause] = min(found.get(row.clause, 1 << 30), row.threshold or 1 << 30)
        elif row.result is LoadResult.INCONCLUSIVE:
            undecided.append(f"{row.clause} in {row.scenario}: {row.reason}")
        elif row.result is not LoadResult.HOLDS:
            other.append(f"{row.clause} in {row.scenario}: {row.result}")
    return Detection(
        gateway=gateway,
        seed=seed,
        found=found,
        other=tuple(other),
        undecided=tuple(undecided),
        faults=loaded.faults,
    )
