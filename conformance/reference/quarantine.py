"""Which models are skipped: those rejected by name twice in a row, each for a while, and only at that origin.

From rejections, and whatever comes between them, to yes or no, by any key. The clock is handed in.
"""

from __future__ import annotations

from collections.abc import Hashable

from conformance.reference.rules import Clock, QuarantineRule


class Quarantine:
    """When each rejection that stands alone so far came (`lone`), and when each quarantine was `begun`."""

    def __init__(self, rule: QuarantineRule, clock: Clock) -> None:
        self.window = rule.window
        self.clock = clock
        self.lone: dict[Hashable, float] = {}
        self.begun: dict[Hashable, float] = {}

    def rejected(self, key: Hashable) -> None:
        """`key` was rejected by name. The second in a row within the window begins a quarantine."""
        now = self.clock()
        before = self.lone.pop(key, None)
        if before is not None and now - before < self.window:
            self.begin(key)
        else:
            self.lone[key] = now

    def begin(self, key: Hashable) -> None:
        """`key` is skipped from now on, for the window."""
        self.begun[key] = self.clock()

    def cleared(self, key: Hashable) -> None:
        """Anything but a rejection by name: the next one is the first again."""
        self.lone.pop(key, None)

    def seconds_left(self, key: Hashable) -> float:
        """Seconds for which `key` is to be skipped; 0.0 for none."""
        begun = self.begun.get(key)
        return 0.0 if begun is None else max(0.0, begun + self.window - self.clock())
