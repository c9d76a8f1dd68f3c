"""Scenarios × drivers -> the cases of a run, each with a lane of its own, so that no case disturbs another. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from conformance.driver.registry import DRIVERS
from conformance.errors import UsageError
from conformance.nearest import near
from conformance.scenario.codec import LANES
from conformance.scenario.model import Scenario, StepLane, Wait, Window
from conformance.target.profile import Profile, lacking

#: What a run uses unless told otherwise: the wire judged raw, and the official SDK on the same scenarios.
DEFAULT_DRIVERS = ("wire", "openai-python")
#: The areas that the SDK plays by default; all that fit when it is named. A whole run stays under a minute.
SDK_AREAS = frozenset({"baseline", "completions", "embeddings", "models", "responses", "tools", "usage"})
#: How often a sequence is played again, each time in fresh lanes, when it came too late for its windows.
SPARES = 2
#: A sequence whose waits come to more is not played: a run has to end.
LONGEST_WAIT_MS = 15 * 60_000.0
#: Nor is one of more requests.
MOST_REQUESTS = 1000
#: Endpoints that tell which models are served.
_LISTS = ("models", "models.retrieve")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCase:
    """One scenario through one driver. `lane` numbers its lane (-1: none needed, it is skipped for the reason given).

    `other` and `sibling` number the lanes that a sequence needs besides (-1: none); see scenario.model.StepLane.
    `spares` are as many more groups of such lanes, for a sequence that came too late for its windows.
    """

    scenario: Scenario
    driver: str
    lane: int = -1
    skipped: str = ""
    number: int = 1
    other: int = -1
    sibling: int = -1
    spares: int = 0

    @property
    def id(self) -> str:
        """ "scenario[driver]", with "#2" and so on where the scenario is played again."""
        again = f"#{self.number}" if self.number > 1 else ""
        return f"{self.scenario.id}[{self.driver}]{again}"

    @property
    def members(self) -> int:
        """How many members its lane has."""
        return len(LANES[self.scenario.lane])

    @property
    def parts(self) -> int:
        """How many cases of the report it comes to: a sequence is one for each request, and one for the whole."""
        return sum(step.times for step in self.scenario.steps) + 1

    def lane_of(self, lane: StepLane) -> int:
        """The number of the lane that a step is sent to."""
        return {StepLane.OWN: self.lane, StepLane.OTHER: self.other, StepLane.SIBLING: self.sibling}[lane]

    @property
    def group(self) -> int:
        """How many lanes it is played in."""
        return sum(number >= 0 for number in (self.lane, self.other, self.sibling))

    @property
    def tries(self) -> tuple[PlannedCase, ...]:
        """The case, then the case in each of its spare groups of lanes."""
        return tuple(self._moved(again * self.group) for again in range(self.spares + 1))

    def _moved(self, lanes: int) -> PlannedCase:
        moved = (number + lanes if number >= 0 else -1 for number in (self.lane, self.other, self.sibling))
        lane, other, sibling = moved
        return replace(self, lane=lane, other=other, sibling=sibling, spares=0)

    @property
    def lanes(self) -> tuple[int, ...]:
        """The numbers of all its lanes, in order, spare ones too."""
        return tuple(range(self.lane, self.lane + self.group * (self.spares + 1))) if self.lane >= 0 else ()

    @property
    def shared(self) -> dict[int, int]:
        """Its lanes that have the ports of another: each group's sibling has those of the group's first."""
        return {one.sibling: one.lane for one in self.tries if one.sibling >= 0}


def fits(scenario: Scenario, driver: str) -> bool:
    """Whether `driver` can send the scenario: raw bytes are the wire driver's alone, unless the scenario says more."""
    if scenario.drivers:
        return driver in scenario.drivers
    return driver == "wire" or all(one.request.raw is None for one in scenario.steps or (scenario,))


def closes_a_port(scenario: Scenario) -> bool:
    """Whether a member refuses connections in it: its port is closed then, for everybody."""
    plays = [scenario.play, *(step.play for step in scenario.steps if step.play is not None)]
    return any(item.cassette == "@refuse" for play in plays for items in play.members.values() for item in items)


#: Why a case is skipped that one worker would play.
CLOSES = "it closes a port of a lane that other workers use: run it with one worker"


def apart(cases: Iterable[PlannedCase], profile: Profile) -> tuple[PlannedCase, ...]:
    """The cases that several processes may play at once: on lanes that they share, none may close a member's port."""
    return tuple(
        replace(case, skipped=case.skipped or CLOSES)
        if profile.kind == "url" and closes_a_port(case.scenario)
        else case
        for case in cases
    )


def drivers_of(cases: Iterable[PlannedCase]) -> tuple[str, ...]:
    """The drivers that the cases are played through, each once."""
    return tuple(dict.fromkeys(case.driver for case in cases if not case.skipped))


def _by_default(scenario: Scenario, driver: str) -> bool:
    """Whether `driver` plays the scenario when none was named: the SDK then plays the areas of plain use alone."""
    return driver == "wire" or scenario.id.partition(".")[0] in SDK_AREAS


def checked_drivers(names: Iterable[str]) -> tuple[str, ...]:
    """The drivers by these names, the default ones for none. Raises UsageError for an unknown one."""
    chosen = tuple(names) or DEFAULT_DRIVERS
    for name in chosen:
        if name not in DRIVERS:
            raise UsageError(f"there is no driver {name!r}", where="--driver", hint=near(name, DRIVERS))
    return chosen


def plan_cases(scenarios: Sequence[Scenario], drivers: Iterable[str], profile: Profile) -> tuple[PlannedCase, ...]:
    """The cases, in the scenarios' order; one that the target's declaration rules out is skipped, with the reason.

    Raises UsageError when a driver is unknown, or when nothing at all is left to run.
    """
    named = tuple(drivers)
    chosen = checked_drivers(named)
    cases: list[PlannedCase] = []
    lane = 0
    for scenario in (_told(_sized(one, profile), profile) for one in scenarios):
        reason = ruled_out(scenario, profile)
        for driver in chosen:
            if not fits(scenario, driver) or (not named and not _by_default(scenario, driver)):
                continue
            if reason:
                cases.append(PlannedCase(scenario=scenario, driver=driver, skipped=reason))
                continue
            # The raw driver alone repeats: what a random pick shows is the gateway's, whoever asks.
            for number in range(1, (scenario.repeat.alone if driver == "wire" else 1) + 1):
                planned = PlannedCase(
                    scenario=scenario, driver=driver, number=number, spares=_spares(scenario, profile)
                )
                cases.append(_placed(planned, lane))
                lane += len(cases[-1].lanes)
    if not cases:
        fitting = [name for name in DRIVERS if any(fits(scenario, name) for scenario in scenarios)]
        hint = f"{' or '.join(fitting)} can send some of them" if fitting else ""
        raise UsageError("no selected scenario fits the selected drivers", where="--select, --driver", hint=hint)
    if all(case.skipped for case in cases):
        reasons = ", ".join(dict.fromkeys(case.skipped for case in cases))
        hint = "select others, too, or let the target's profile declare it where it keeps that promise"
        raise UsageError(f"every selected scenario is left out: {reasons}", where="--select", hint=hint)
    return tuple(cases)


def _placed(case: PlannedCase, lane: int) -> PlannedCase:
    """The case with its lanes, numbered from `lane` on."""
    places = case.scenario.places
    other = lane + 1 if StepLane.OTHER in places else -1
    sibling = lane + 1 + (other >= 0) if StepLane.SIBLING in places else -1
    return replace(case, lane=lane, other=other, sibling=sibling)


#: Clauses that need the key and the model of each member.
_OF_MEMBERS = frozenset({"relay.request.key", "relay.request.model"})


def _told(scenario: Scenario, profile: Profile) -> Scenario:
    """The scenario, not held to what nobody knows of a running target: its members' keys and models may be left out."""
    members = [member for lane in profile.lanes for member in lane.members]
    if profile.kind != "url" or all(member.api_key and member.model for member in members):
        return scenario
    return replace(scenario, exercises=tuple(name for name in scenario.exercises if name not in _OF_MEMBERS))


def _sized(scenario: Scenario, profile: Profile) -> Scenario:
    """The scenario with every step's number of requests worked out for the target."""
    if not any(step.per_failure for step in scenario.steps):
        return scenario
    steps = tuple(
        replace(step, times=step.times * profile.cooldown_after, per_failure=False) if step.per_failure else step
        for step in scenario.steps
    )
    return replace(scenario, steps=steps)


def _spares(scenario: Scenario, profile: Profile) -> int:
    """How often a sequence may be played again: the lanes of a running target are what they are."""
    return SPARES if scenario.steps and profile.kind != "url" else 0


def ruled_out(scenario: Scenario, profile: Profile) -> str:
    """Why the target's declaration leaves nothing to judge in `scenario`, or ""."""
    size = len(LANES[scenario.lane])
    if profile.upstream_control and all(len(lane.members) < size for lane in profile.lanes):
        return f"no lane of the target has {size} members"
    missing = lacking(scenario.needs, profile.capabilities)
    if missing:
        return f"the target does not declare {', '.join(missing)}"
    for window in sorted(scenario.windows):
        if not length_of(window, profile):
            return f"the target does not declare how long its {window} lasts"
    if sum(step.times for step in scenario.steps) > MOST_REQUESTS:
        return f"it takes more than {MOST_REQUESTS} requests: the target's cooldown_after is {profile.cooldown_after}"
    waits = sum(milliseconds(step.after, profile) + step.gap_ms * (step.times - 1) for step in scenario.steps)
    if waits > LONGEST_WAIT_MS:
        return f"its waits come to more than {LONGEST_WAIT_MS / 60_000:g} min: give the target shorter windows"
    if "cooldown.threshold" in scenario.exercises and profile.cooldown_after < 2:
        return "a single failure opens the target's cooldown"
    failing = len(scenario.play.members) if "pool.failover.answers" in scenario.exercises else 0
    if profile.max_attempts is not None and failing >= profile.max_attempts:
        return f"as many members fail as the target asks for one request: {profile.max_attempts}"
    if StepLane.SIBLING in scenario.places and profile.one_lane_a_member:
        return "the target's lanes cannot share members"
    if scenario.steps and profile.kind == "url":
        lanes = [lane for lane in profile.lanes if len(lane.members) >= len(LANES[scenario.lane])]
        if profile.fault_isolation == "none":
            return "the target's memory of failures cannot be kept apart by lanes"
        if StepLane.SIBLING in scenario.places or len(lanes) <= len(scenario.places):
            return "the target's lanes do not allow it"
    if profile.lane_headers and _asks_what_is_served(scenario):
        return "a header picks the target's lanes: it was told no models and no client keys"
    return ""


def _asks_what_is_served(scenario: Scenario) -> bool:
    """Whether it is about the models that a target lists, or about a model or a client key that it does not know."""
    requests = (scenario.request, *(step.request for step in scenario.steps))
    return any(one.model is not None or one.api_key is not None or one.endpoint in _LISTS for one in requests)


def milliseconds(wait: Wait, profile: Profile) -> float:
    """How long a wait is for this target, in ms."""
    return wait.amount if wait.window is None else wait.amount * (length_of(wait.window, profile) or 0.0)


def length_of(window: Window, profile: Profile) -> float | None:
    """How long a window lasts, in ms; None when the target does not say."""
    lengths = {
        Window.COOLDOWN: profile.cooldown_ms,
        Window.QUARANTINE: profile.quarantine_ms,
        Window.RETRY_AFTER: profile.retry_after_max_ms,
    }
    return lengths[window]
