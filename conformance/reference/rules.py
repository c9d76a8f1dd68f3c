"""What the gateway is told to remember of its members and answers, and for how long. Times are seconds.

Data alone. A rule that is absent from the configuration (None there) is off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

#: Gives the time in seconds; only differences mean something. The process uses time.monotonic, a test what it likes.
Clock = Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class CooldownRule:
    """A member that failed is left alone.

    `after` outages in a row open a window of `window` seconds; each further one doubles it, up to `longest`. For the
    share `silent` of a window the member is not asked; from then on one request at a time may try it. `auth` and
    `limited` are fixed windows for a refused key (401, 403) and for a limit (429); without them only outages count.
    """

    window: float
    after: float = 1
    longest: float = 300.0
    silent: float = 0.5
    auth: float | None = None
    limited: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantineRule:
    """A model that a member rejected by name twice in a row, within `window` seconds, is skipped for as long."""

    window: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitRule:
    """A member's Retry-After is honoured, up to `longest` seconds."""

    longest: float = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryRule:
    """When all members failed in a way that may pass, they are asked again after `pause` seconds, `rounds` times; each
    pause is `growth` times the one before."""

    pause: float = 0.3
    rounds: float = 2
    growth: float = 2.5


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheRule:
    """Whole answers are kept for `seconds`: the last `entries` of them, each of at most `bytes`."""

    seconds: float = 60.0
    entries: float = 256
    bytes: float = 1024 * 1024
