"""A clock that stands until it is moved."""

from __future__ import annotations


class HandClock:
    """Call it for the time in seconds; add to it with `pass_by`."""

    def __init__(self, at: float = 1000.0) -> None:
        self.at = at

    def __call__(self) -> float:
        return self.at

    def pass_by(self, seconds: float) -> None:
        """Let so many seconds pass."""
        self.at += seconds
