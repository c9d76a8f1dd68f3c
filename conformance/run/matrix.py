"""The proof that clauses bite: the faithful reference gateway and every defect of it, over the same scenarios.

One upstream, one process that hosts all gateways; the result is, for each gateway, which clauses were violated where.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO
from zlib import crc32

from conformance.cassette.store import Library
from conformance.contract.catalog import CATALOG
from conformance.contract.clause import Clause, Outcome
from conformance.errors import HarnessError, LaunchError
from conformance.report.model import Case
from conformance.run.plan import PlannedCase, plan_cases
from conformance.run.play import Player
from conformance.run.stage import Seat, lane_sizes, lanes_for
from conformance.scenario.model import Scenario
from conformance.target.load import load_profile
from conformance.target.profile import Profile
from conformance.target.render import RENDERERS
from conformance.upstream.items import Scripts
from conformance.upstream.process import UpstreamProcess, start_upstream

FAITHFUL = "faithful"
#: What the reference gateway writes to its log when an exception of its own ends an exchange.
FAILED = "internal error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What one gateway came to: clause id -> ids of the cases that violate it; faults of our own; cases judged."""

    gateway: str
    violated: dict[str, list[str]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    held: set[str] = field(default_factory=set)
    cases: int = 0


def cover(scenarios: Sequence[Scenario], wanted: Iterable[str], *, always: Iterable[str] = ()) -> tuple[Scenario, ...]:
    """A small set of scenarios that together exercise the `wanted` clauses, and those whose id is in `always`.

    Greedy: each next scenario is the one that exercises the most clauses not exercised yet.
    """
    missing = set(wanted)
    named = frozenset(always)
    chosen = [scenario for scenario in scenarios if scenario.id in named]
    for scenario in chosen:
        missing -= set(scenario.exercises)
    rest = [scenario for scenario in scenarios if scenario.id not in named]
    while missing:
        best = max(rest, key=lambda scenario: len(missing & set(scenario.exercises)), default=None)
        if best is None or not missing & set(best.exercises):
            break
        chosen.append(best)
        rest.remove(best)
        missing -= set(best.exercises)
    order = {scenario.id: number for number, scenario in enumerate(scenarios)}
    return tuple(sorted(chosen, key=lambda scenario: order[scenario.id]))


def run_matrix(
    scenarios: Sequence[Scenario],
    gateways: Iterable[str],
    *,
    drivers: Sequence[str] = ("wire",),
    clauses: Sequence[Clause] = tuple(CATALOG.values()),
    workers: int = 4,
    abreast: int = 6,
    only: Mapping[str, frozenset[str]] | None = None,
) -> dict[str, Row]:
    """One row for each of `gateways` ("faithful" or a defect's name): `abreast` gateways at a time, each with
    `workers` cases at a time. A gateway in `only` is played the scenarios named there alone, one at a time. Raises
    LaunchError, UpstreamError.
    """
    profile = load_profile("reference")
    cases = [case for case in plan_cases(scenarios, drivers, profile) if not case.skipped]
    with start_upstream(sum(lane_sizes(cases))) as upstream, hosted(profile, cases, upstream) as ports:
        lanes = lanes_for(cases, profile, upstream.ports)
        seats = {
            name: Seat(
                upstream=upstream.address,
                base_url=f"http://127.0.0.1:{ports[name]}/v1",
                version="",
                lanes=lanes,
                profile=profile,
            )
            for name in gateways
        }
        return asyncio.run(_rows(seats, cases, clauses, workers, abreast, only or {}))


async def _rows(
    seats: dict[str, Seat],
    cases: Sequence[PlannedCase],
    clauses: Sequence[Clause],
    workers: int,
    abreast: int,
    only: Mapping[str, frozenset[str]],
) -> dict[str, Row]:
    scripts = Scripts(Library().get)
    turn = asyncio.Semaphore(abreast)

    async def play(name: str, seat: Seat) -> Row:
        async with turn:
            player = Player(seat, clauses, seed=crc32(name.encode()), scripts=scripts)
            if name not in only:
                return await _row(name, player, cases, workers)
            return await _row(name, player, [case for case in cases if case.scenario.id in only[name]], 1)

    rows = await asyncio.gather(*(play(name, seat) for name, seat in seats.items()))
    return {row.gateway: row for row in rows}


async def _row(name: str, player: Player, cases: Sequence[PlannedCase], workers: int) -> Row:
    row = Row(gateway=name)
    done: list[Case] = []
    await player.play_all(cases, workers=workers, keep=done.append)
    for case in done:
        if case.error:
            row.faults.append(f"{case.id}: {case.error}")
        for verdict in case.verdicts:
            if verdict.outcome is Outcome.VIOLATED:
                row.violated.setdefault(verdict.clause, []).append(case.id)
            elif verdict.outcome is Outcome.FAULTY:
                row.faults.append(f"{case.id}: {verdict.clause}: {verdict.reason}")
            elif verdict.outcome is Outcome.HELD:
                row.held.add(verdict.clause)
    return dataclasses.replace(row, cases=len(done))


@contextmanager
def hosted(
    profile: Profile, cases: Sequence[PlannedCase], upstream: UpstreamProcess, *, kind: str = "alone"
) -> Iterator[dict[str, int]]:
    """The process that hosts the faithful gateway and every defect of a kind ("alone", "load"); yields their ports.

    Raises LaunchError when it does not start, HarnessError when a gateway failed by itself: that is no defect.
    """
    with TemporaryDirectory(prefix="conformance-matrix-") as folder:
        config = Path(folder) / "gateway.json"
        lanes = lanes_for(cases, profile, upstream.ports)
        config.write_text(RENDERERS[profile.config].text(profile, lanes, 0), encoding="utf-8")
        log = Path(folder) / "log"
        with log.open("wb") as written, _child(config, kind, written) as child:
            assert child.stdout is not None
            line = child.stdout.readline()
            if not line:
                raise LaunchError(f"the reference gateways did not start: exit code {child.wait(5)}", hint=_tail(log))
            yield json.loads(line)
        if FAILED in (told := log.read_text("utf-8", "replace")):
            raise HarnessError("a reference gateway failed by itself", hint=told[told.index(FAILED) :][:4000])


@contextmanager
def _child(config: Path, kind: str, log: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """The process; it ends with the context, and with this process however that ends."""
    command = [sys.executable, "-m", "conformance.reference", "--config", str(config), "--matrix", kind, "--watched"]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
    with child:
        try:
            yield child
        finally:
            child.terminate()
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()


def _tail(log: Path) -> str:
    return log.read_text("utf-8", "replace")[-2000:]
