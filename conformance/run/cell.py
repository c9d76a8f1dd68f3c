"""One cell of a load run: its requests started in their shape, all waited for, and how the harness fared meanwhile.

What a request is, is a function that is handed in. Knows no gateway, no clause and no report.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from conformance.errors import HarnessError
from conformance.load.plan import Cell, Shape, arrivals, beside
from conformance.run.cpu import cpu_seconds

#: Awaited once a request is prepared: those of one burst pass it together.
Gate = Callable[[], Awaitable[object]]
#: Sends one request to its end: 0 is the measured scenario, other numbers are others that are sent beside it.
Send = Callable[[int, Gate | None], Awaitable[None]]

BEAT = 0.01


@dataclass(slots=True)
class Strain:
    """How a cell went for the machine: how long it took, how late the harness's event loop was (samples in ms), and the
    CPU seconds of the harness and of each process that was watched."""

    seconds: float = 0.0
    samples: list[float] = field(default_factory=list)
    client: float = 0.0
    others: dict[str, float] = field(default_factory=dict)

    @property
    def lag_ms(self) -> float:
        """The 99th percentile of the lateness."""
        ordered = sorted(self.samples)
        return ordered[int(0.99 * (len(ordered) - 1))] if ordered else 0.0

    def share(self, seconds: float) -> float:
        """CPU seconds as a share of one core."""
        return seconds / self.seconds if self.seconds else 0.0

    def __iadd__(self, other: Strain) -> Strain:
        self.seconds += other.seconds
        self.samples += other.samples
        self.client += other.client
        for name, used in other.others.items():
            self.others[name] = self.others.get(name, 0.0) + used
        return self


@asynccontextmanager
async def measured(watched: Mapping[str, tuple[int, bool]]) -> AsyncIterator[Strain]:
    """Measures what happens inside. `watched` names processes: id, and whether it leads a session of its own."""
    strain = Strain()

    async def sample() -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(BEAT)
            strain.samples.append((time.monotonic() - before - BEAT) * 1000)

    def used() -> dict[str, float]:
        return {name: cpu_seconds(pid, session=session) for name, (pid, session) in watched.items() if pid}

    task = asyncio.get_running_loop().create_task(sample())
    before, began, cpu = used(), time.monotonic(), time.process_time()
    try:
        yield strain
    finally:
        strain.seconds = time.monotonic() - began
        strain.client = time.process_time() - cpu
        strain.others = {name: after - before[name] for name, after in used().items()}
        task.cancel()


async def play_cell(cell: Cell, send: Send, *, kinds: int = 0, seed: int = 0) -> None:
    """Start the requests of a cell in its shape and wait for all of them. Raises HarnessError."""
    if cell.shape is Shape.OPEN:
        await _open(cell, send, seed)
    elif cell.shape in (Shape.BURST, Shape.MIXED):
        others = beside(cell, kinds if cell.shape is Shape.MIXED else 0, seed)
        for start in range(0, cell.requests, cell.concurrency):
            burst = others[start : start + cell.concurrency]
            gate = asyncio.Barrier(len(burst)).wait
            await _together(send(kind, gate) for kind in burst)
    else:
        await _closed(cell, send)


async def _open(cell: Cell, send: Send, seed: int) -> None:
    start = time.monotonic()

    async def later(at: float) -> None:
        await asyncio.sleep(max(0.0, start + at / 1000 - time.monotonic()))
        await send(0, None)

    await _together(later(at) for at in arrivals(cell, seed))


async def _closed(cell: Cell, send: Send) -> None:
    turns = iter(range(cell.requests))

    async def worker() -> None:
        for _ in turns:
            await send(0, None)

    await _together(worker() for _ in range(min(cell.concurrency, cell.requests)))


async def _together(calls: Iterable[Awaitable[None]]) -> None:
    try:
        async with asyncio.TaskGroup() as group:
            for call in calls:
                group.create_task(_awaited(call))
    except* HarnessError as errors:
        error: BaseException = errors
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from None


async def _awaited(call: Awaitable[None]) -> None:
    await call
