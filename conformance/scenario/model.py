"""A scenario in memory: a client request, its play, the client's behaviour, and the clauses that it must exercise.

Data only; `load` makes it from TOML.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from conformance.driver.model import Behaviour


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayItem:
    """One envelope of a play: a cassette's name, which of its interactions, and the transforms applied, in order.

    `cassette` may instead be one of the words that need no envelope: "@refuse" (the member's port is closed),
    "@close" (closes after reading the request, before any head), "@reset" (resets then), "@hang" (never answers).
    """

    cassette: str
    interaction: int = 0
    transforms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """What each member answers for one client request; the last item of a list repeats. `default` serves the others."""

    members: dict[str, tuple[PlayItem, ...]] = field(default_factory=dict)
    default: tuple[PlayItem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioRequest:
    """What the client sends: an endpoint and the JSON parameters besides `model`, or raw body bytes.

    `model` replaces the lane's alias when set (a model that the gateway does not know). `raw` is sent as it is, with
    {{nonce}} and {{model}} filled in. `headers` are extra field lines; `api_key` replaces the target's when not None.
    """

    endpoint: str
    params: dict[str, Any] = field(default_factory=dict)
    model: str | None = None
    raw: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    api_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """How often a scenario is played: `alone` times, each in a lane of its own (a pool picks members at random), and
    at each concurrency of `load` when a run puts it under load."""

    alone: int = 1
    load: tuple[int, ...] = ()


class Window(StrEnum):
    """The windows of a gateway's memory whose length a target declares (Profile.cooldown_ms and so on)."""

    COOLDOWN = "cooldown"
    QUARANTINE = "quarantine"
    RETRY_AFTER = "retry-after"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """A time to let pass: `amount` ms, or `amount` times the length of a `window`."""

    amount: float = 0.0
    window: Window | None = None


class StepLane(StrEnum):
    """Which lane a step is sent to."""

    OWN = "own"  # the scenario's
    OTHER = "other"  # another alias, with members of its own
    SIBLING = "sibling"  # another alias, whose members are other models at the same origins


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceStep:
    """One step of a sequence: a request with its play and client, whole, sent `times` times (`per_failure`: for each
    failure that the target takes before it opens a cooldown).

    It begins `after` the end of the step before. Its requests follow each other with `gap_ms` between, or are sent at
    once (`together`). `same_nonce`: they carry the nonce of the request before, so that both have the same prompt.
    """

    request: ScenarioRequest
    play: Play
    behaviour: Behaviour = field(default_factory=Behaviour)
    after: Wait = Wait()
    times: int = 1
    per_failure: bool = False
    gap_ms: float = 0.0
    together: bool = False
    same_nonce: bool = False
    lane: StepLane = StepLane.OWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One scenario. `lane` is the kind of lane that it needs: "single" (one member), "pool2" (two) or "pool4" (four).

    `live` says that it needs no play and can be sent to a deployed gateway; `drivers` are those that can send it (all
    that fit when empty). With `steps` it is a sequence, and `request`, `play` and `behaviour` are what its steps share.
    """

    id: str
    title: str
    request: ScenarioRequest
    play: Play
    lane: str = "single"
    behaviour: Behaviour = field(default_factory=Behaviour)
    needs: frozenset[str] = frozenset()
    exercises: tuple[str, ...] = ()
    source: str = ""
    live: bool = False
    drivers: tuple[str, ...] = ()
    repeat: Repeat = Repeat()
    steps: tuple[SequenceStep, ...] = ()

    @property
    def places(self) -> frozenset[StepLane]:
        """The lanes that it needs besides its own."""
        return frozenset(step.lane for step in self.steps) - {StepLane.OWN}

    @property
    def windows(self) -> frozenset[Window]:
        """The windows whose length it has to know."""
        return frozenset(step.after.window for step in self.steps if step.after.window is not None)

    @property
    def stream(self) -> bool:
        """Whether the request asks for a stream."""
        return self.request.params.get("stream") is True
