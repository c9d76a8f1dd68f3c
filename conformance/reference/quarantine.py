"""Which models are skipped: those rejected by name twice in a row, each for a while, and only at that origin.

From rejections, and whatever comes between them, to yes or no, by any key. The clock is handed in.
"""

from __future__ import annotations

from collections.abc import Hashable

from conformance.reference.rules import Clock, QuarantineRule


class Quarantine:
    """The rejections that stand alone so far, and the ends of what two of them began."""

    def __init__(self, rule: QuarantineRule, clock: Clock) -> None:
        self._rule = rule
        self._clock = clock
        self._lone: dict[Hashable, float] = {}
        self._until: dict[Hashable, float] = {}

    def rejected(self, key: Hashable) -> None:
        """`key` was rejected by name. The second in a row within the window begins a quarantine."""
        now = self._clock()
        before = self._lone.pop(key, None)
        if before is not None and now - before < self._rule.window:
            self._until[key] = now + self._rule.window
        else:
            self._lone[key] = now

    def cleared(self, key: Hashable) -> None:
        """Anything but a rejection by name: the next one is the first again."""
        self._lone.pop(key, None)

    def seconds_left(self, key: Hashable) -> float:
        """Seconds for which `key` is to be skipped; 0.0 for none."""
        until = self._until.get(key)
        if until is None:
            return 0.0
        left = until - self._clock()
        if left <= 0:
            del self._until[key]
        return max(0.0, left)
