"""Scenarios × drivers -> the cases of a run, each with a lane of its own, so that no case disturbs another. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from conformance.driver.registry import DRIVERS
from conformance.errors import UsageError
from conformance.options import near
from conformance.scenario.model import Scenario
from conformance.target.profile import Profile

#: What a run uses unless told otherwise: the wire judged raw, and the official SDK on the same scenarios.
DEFAULT_DRIVERS = ("wire", "openai-python")
MEMBERS = {"single": 1, "pool4": 4}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCase:
    """One scenario through one driver. `lane` numbers its lane (-1: none needed, it is skipped for the reason given)."""

    scenario: Scenario
    driver: str
    lane: int = -1
    skipped: str = ""
    number: int = 1

    @property
    def id(self) -> str:
        """ "scenario[driver]", with "#2" and so on where the scenario is played again."""
        again = f"#{self.number}" if self.number > 1 else ""
        return f"{self.scenario.id}[{self.driver}]{again}"

    @property
    def members(self) -> int:
        """How many members its lane has."""
        return MEMBERS[self.scenario.lane]


def fits(scenario: Scenario, driver: str) -> bool:
    """Whether `driver` can send the scenario: SDKs cannot send a raw body, or read slowly."""
    if scenario.drivers:
        return driver in scenario.drivers
    raw = scenario.request.raw is not None
    return driver == "wire" or not (raw or scenario.behaviour.pause_ms or scenario.behaviour.hang_up)


def drivers_of(cases: Iterable[PlannedCase]) -> tuple[str, ...]:
    """The drivers that the cases are played through, each once."""
    return tuple(dict.fromkeys(case.driver for case in cases if not case.skipped))


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
    chosen = checked_drivers(drivers)
    cases: list[PlannedCase] = []
    lane = 0
    for scenario in scenarios:
        missing = sorted(scenario.needs - profile.capabilities)
        for driver in chosen:
            if not fits(scenario, driver):
                continue
            if missing:
                reason = f"the target does not declare {', '.join(missing)}"
                cases.append(PlannedCase(scenario=scenario, driver=driver, skipped=reason))
                continue
            # The raw driver alone repeats: what a random pick shows is the gateway's, whoever asks.
            for number in range(1, (scenario.repeat.alone if driver == "wire" else 1) + 1):
                cases.append(PlannedCase(scenario=scenario, driver=driver, lane=lane, number=number))
                lane += 1
    if not cases:
        raise UsageError("no selected scenario fits the selected drivers", where="--select, --driver")
    return tuple(cases)
