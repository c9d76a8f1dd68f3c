"""Plays cases on a stage that stands, asked line by line: `python -m conformance.run.attendant STAGE.json`.

For load engines that are no friends of asyncio: each has an attendant in a process of its own. A line asks for a case
by its number, {"id": 7, "case": 3}; the answer, in any order, tells its time, its bytes and the clauses that it
violates. Ends with its input.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from conformance.contract.clause import Clause, Outcome
from conformance.contract.judge import judge
from conformance.errors import ConformanceError
from conformance.run.plan import PlannedCase
from conformance.run.play import Player
from conformance.run.standing import join

LINE = 1 << 20


class Attendant:
    """The player of this process; its nonces are its own, so that any number of attendants share one upstream."""

    def __init__(self, player: Player, cases: Sequence[PlannedCase], clauses: Sequence[Clause]) -> None:
        self._player, self._cases, self._clauses = player, cases, clauses
        self._levels = {clause.id: clause for clause in clauses}
        self._sent = 0

    async def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """What came of one case."""
        case = self._cases[asked["case"] % len(self._cases)]
        self._sent += 1
        told: dict[str, Any] = {"id": asked["id"], "scenario": case.scenario.id, "driver": case.driver}
        try:
            exchange = await self._player.exchange(case, repetition=self._sent)
        except ConformanceError as error:
            return told | {"ms": 0.0, "bytes": 0, "violated": [], "error": str(error)}
        verdicts = judge(exchange, self._clauses)
        faults = [f"{v.clause}: {v.reason}" for v in verdicts if v.outcome is Outcome.FAULTY]
        return told | {
            "ms": exchange.transcript.ended_at,
            "bytes": len(exchange.transcript.raw),
            "nonce": exchange.nonce,
            "violated": [v.clause for v in verdicts if v.outcome is Outcome.VIOLATED and self._gates(v.clause)],
            "error": faults[0] if faults else "",
        }

    def _gates(self, clause: str) -> bool:
        return self._levels[clause].gates


async def main(file: Path) -> None:
    """Serve until standard input ends."""
    seat, cases, clauses = join(file)
    reader = asyncio.StreamReader(limit=LINE)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    player = Player(seat, clauses, seed=secrets.randbits(48), drivers={case.driver for case in cases})
    attendant = Attendant(player, cases, clauses)
    say({"cases": [case.scenario.id for case in cases]})
    tasks: set[asyncio.Task[None]] = set()

    async def serve(line: bytes) -> None:
        say(await attendant.answer(json.loads(line)))

    while line := await reader.readline():
        task = asyncio.create_task(serve(line))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    await player.aclose()


def say(line: dict[str, Any]) -> None:
    """Write one line."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
