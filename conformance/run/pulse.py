"""How late this process's event loop is, all the time: what a starved harness sees late is not the gateway's fault.

A beat every 10 ms; a beat that comes late is remembered with the span of time in which the loop did not run.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque

BEAT = 0.01
#: A beat later than this is remembered, in seconds.
LATE = 0.02
KEPT = 4096


class Pulse:
    """The beat of one event loop; starts with the first `beat`, ends with `stop`."""

    def __init__(self) -> None:
        self._late: deque[tuple[float, float]] = deque(maxlen=KEPT)
        self._task: asyncio.Task[None] | None = None

    def beat(self) -> None:
        """See to it that the pulse beats in the running loop."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run())

    def stop(self) -> None:
        """End the beat."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def worst_ms(self, start: float, end: float) -> float:
        """The longest time in ms without the loop that touches `start` to `end` (monotonic seconds)."""
        touching = ((until - since) * 1000 for since, until in self._late if since < end and until > start)
        return max(touching, default=0.0)

    async def _run(self) -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(BEAT)
            now = time.monotonic()
            if now - before - BEAT > LATE:
                self._late.append((before, now))
