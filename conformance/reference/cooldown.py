"""Windows in which a failing member is left alone: silent at first, then open to one probe at a time.

From outcomes to a standing, by any key. The clock is handed in; knows no member and no request.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import StrEnum

from conformance.reference.rules import Clock, CooldownRule


class Standing(StrEnum):
    """What may be asked of a member."""

    READY = "ready"
    PROBE = "probe"  # one request may try it
    AWAY = "away"


@dataclass(slots=True)
class _State:
    """One key's outages in a row, its last window, and the probe that is on its way."""

    outages: int = 0
    step: int = -1
    opened: float = 0.0
    length: float = 0.0
    probe: object = None

    @property
    def until(self) -> float:
        return self.opened + self.length


class Cooldowns:
    """The windows of all keys."""

    def __init__(self, rule: CooldownRule, clock: Clock) -> None:
        self._rule = rule
        self._clock = clock
        self._states: dict[Hashable, _State] = {}

    def standing(self, key: Hashable) -> Standing:
        """What may be asked of `key` now."""
        state = self._states.get(key)
        if state is None or self._clock() >= state.until:
            return Standing.READY
        return Standing.PROBE if state.probe is None and self._clock() >= self.probe_at(state) else Standing.AWAY

    def probe_at(self, state: _State) -> float:
        """From when on a window is open to a probe."""
        return state.opened + self._rule.silent * state.length

    def take(self, key: Hashable) -> object:
        """A probe is on its way; what it gives back when it is over."""
        token = self._states.setdefault(key, _State()).probe = object()
        return token

    def give_back(self, key: Hashable, token: object) -> None:
        """The probe is over, whatever came of it."""
        state = self._states.get(key)
        if state is not None and state.probe is token:
            state.probe = None

    def failed(self, key: Hashable, asked: float) -> None:
        """An outage. One of a request that was sent (`asked`) before the window opened is no further step."""
        state = self._states.setdefault(key, _State())
        state.outages += 1
        if state.outages < self._rule.after:
            return
        if state.step < 0 or asked >= state.opened:
            state.step += 1
        # Beyond 2^60 every window is the longest.
        self._open(state, min(self._rule.window * 2.0 ** min(state.step, 60), self._rule.longest))

    def shut(self, key: Hashable, seconds: float) -> None:
        """A window of fixed length, that is no step towards longer ones and shortens none."""
        state = self._states.setdefault(key, _State())
        if self._clock() + seconds > state.until:
            self._open(state, seconds)

    def _open(self, state: _State, length: float) -> None:
        state.opened, state.length = self._clock(), length

    def succeeded(self, key: Hashable) -> None:
        """All is forgotten."""
        self._states.pop(key, None)

    def unharmed(self, key: Hashable) -> None:
        """Neither an outage nor a success: outages are no longer in a row, unless a window has been opened."""
        state = self._states.get(key)
        if state is not None and state.step < 0:
            state.outages = 0

    def seconds_left(self, key: Hashable) -> float:
        """Seconds until something may be asked of `key`; 0.0 for now."""
        state = self._states.get(key)
        if state is None:
            return 0.0
        at = state.until if state.probe is not None else min(state.until, self.probe_at(state))
        return max(0.0, at - self._clock())
