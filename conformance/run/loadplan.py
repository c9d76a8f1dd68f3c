"""What a load run plays: two lanes for each scenario, others to send beside it, and the control's way past the gateway.

From scenarios and drivers to cases; nothing is started here. Pure.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from conformance.run.plan import PlannedCase, checked_drivers, fits, ruled_out
from conformance.run.stage import Seat
from conformance.scenario.model import Scenario
from conformance.target.profile import Profile

#: What is sent beside the measured scenario in mixed cells: a lane whose member fails, clients that go away.
MIX = ("load.failing", "load.hangup-stream")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pair:
    """A scenario's two lanes: one in which it is played alone, one in which it is played under load."""

    quiet: PlannedCase
    loud: PlannedCase

    @property
    def scenario(self) -> str:
        """The scenario's id."""
        return self.loud.scenario.id


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPlan:
    """What is measured, and what is sent beside it in mixed cells."""

    pairs: tuple[Pair, ...]
    mix: tuple[Pair, ...] = ()

    @property
    def cases(self) -> tuple[PlannedCase, ...]:
        """All cases, in the order of their lanes."""
        return tuple(case for pair in dict.fromkeys((*self.pairs, *self.mix)) for case in (pair.quiet, pair.loud))


def plan_load(
    scenarios: Sequence[Scenario], drivers: Iterable[str], profile: Profile, *, beside: Sequence[Scenario] = ()
) -> LoadPlan:
    """The pairs of lanes for `scenarios`, and for those sent `beside` them. Raises UsageError for an unknown driver.

    Scenarios of several steps are sequences, not loads; they and what the target rules out are left out.
    """
    chosen = checked_drivers(tuple(drivers) or ("wire",))
    made: dict[tuple[str, str], Pair] = {}
    for scenario, names in [*((s, chosen) for s in scenarios), *((s, ("wire",)) for s in beside)]:
        for driver in names:
            if not scenario.steps and not ruled_out(scenario, profile) and fits(scenario, driver):
                lane = 2 * len(made)
                quiet = PlannedCase(scenario=scenario, driver=driver, lane=lane)
                loud = PlannedCase(scenario=scenario, driver=driver, lane=lane + 1, number=2)
                made.setdefault((scenario.id, driver), Pair(quiet=quiet, loud=loud))
    wanted, others = {scenario.id for scenario in scenarios}, {scenario.id for scenario in beside}
    return LoadPlan(
        pairs=tuple(pair for (name, driver), pair in made.items() if name in wanted and driver in chosen),
        mix=tuple(pair for (name, driver), pair in made.items() if name in others and driver == "wire"),
    )


def control_seat(seat: Seat, case: PlannedCase) -> Seat:
    """The seat of the control: the same load straight at a member of the case's lane, nothing declared."""
    member = seat.lanes[case.lane].members[-1]
    profile = dataclasses.replace(
        seat.profile, capabilities=frozenset(), api_key=member.api_key, lane_headers=(), model_prefix="", settle_ms=0.0
    )
    return dataclasses.replace(seat, base_url=f"{member.base_url}/v1", profile=profile)
