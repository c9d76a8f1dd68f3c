"""On a real gateway no verdict of the scenarios that it remembers depends on their order; asked for by its marker.

`CONFORMANCE_LITELLM=... pytest -m orders tests/real/test_orders.py`, half an hour, most of it booting: each scenario
has a gateway of its own, three times, beside the runs of all of them on one. A gateway
that picks members at random comes to different verdicts in equal runs too: what varies within an order is chance, what
is constant in each order and differs between them is the order's doing.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from conformance.run.plan import ruled_out
from conformance.scenario.model import Scenario
from conformance.target.load import load_profile
from conformance.target.profile import Profile
from tests.real.gateways import PRESENT
from tests.run.orders import AREAS, Verdicts, remembering, run, whole

TIMES = 3
WAYS = 5
#: Gateways that boot side by side where each scenario has one of its own, which takes LiteLLM seconds of a core.
BOOTS = 2
#: (case, clause) -> order -> what it came to, each time ("" where the clause was not violated nor owed).
Outcomes = dict[tuple[str, str], dict[str, list[str]]]


def ways(scenarios: Sequence[Scenario], profile: Profile, folder: Path, time: int) -> dict[str, Callable[[], Verdicts]]:
    """How to come to their verdicts in each order, a gateway an order."""
    return {
        "straight": lambda: run(profile, scenarios, folder / "straight"),
        "reversed": lambda: run(profile, scenarios[::-1], folder / "reversed"),
        "shuffled": lambda: run(profile, scenarios, folder / "shuffled", order=random.Random(time)),
        "abreast": lambda: run(profile, scenarios, folder / "abreast", workers=4),
        "alone": lambda: _alone(scenarios, profile, folder),
    }


def orders(scenarios: Sequence[Scenario], profile: Profile, folder: Path, time: int) -> dict[str, Verdicts]:
    """What they came to in each order: side by side, since they mostly wait; and then alone."""
    of = ways(scenarios, profile, folder, time)
    alone = of.pop("alone")
    with ThreadPoolExecutor(len(of)) as pool:
        futures = {name: pool.submit(way) for name, way in of.items()}
        found = {name: future.result() for name, future in futures.items()}
    return found | {"alone": alone()}


def _alone(scenarios: Sequence[Scenario], profile: Profile, folder: Path) -> Verdicts:
    """What each came to on a gateway of its own."""
    with ThreadPoolExecutor(BOOTS) as pool:
        runs = pool.map(lambda one: run(profile, [one], folder / f"alone-{one.id}"), scenarios)
        return {name: found for verdicts in runs for name, found in verdicts.items()}


def summed(verdicts: Verdicts) -> Verdicts:
    """A sequence and its requests as one: what was violated in any of them, and else what the whole came to.

    Which request of a sequence meets the bad member is chance; that one does is the scenario's.
    """
    found: Verdicts = defaultdict(dict)
    for case, clauses in verdicts.items():
        name = case.partition("/")[0]
        found[name]["any clause"] = "violated" if "violated" in {*found[name].values(), *clauses.values()} else "held"
        for clause, outcome in clauses.items():
            if found[name].get(clause) != "violated":
                found[name][clause] = outcome
    return found


def collect(runs: list[dict[str, Verdicts]]) -> Outcomes:
    """What each clause came to in each case, by order."""
    clauses: dict[str, set[str]] = defaultdict(set)
    for verdicts in (found for one in runs for found in one.values()):
        for case, found in verdicts.items():
            clauses[case] |= found.keys()
    outcomes: Outcomes = defaultdict(lambda: defaultdict(list))
    for one in runs:
        for order, verdicts in one.items():
            for case, found in verdicts.items():
                for clause in clauses[case]:
                    outcomes[case, clause][order].append(found.get(clause, ""))
    return outcomes


def depends(by_order: dict[str, list[str]]) -> bool:
    """Whether the outcome is constant in each order, and not the same in all of those that were run each time."""
    full = [outcomes for outcomes in by_order.values() if len(outcomes) >= TIMES]
    return all(len(set(outcomes)) == 1 for outcomes in full) and len({outcomes[0] for outcomes in full}) > 1


def apart(by_order: dict[str, list[str]]) -> set[str]:
    """The orders that came to another outcome than most did."""
    usual = Counter(outcomes[0] for outcomes in by_order.values()).most_common(1)[0][0]
    return {order for order, outcomes in by_order.items() if outcomes[0] != usual}


def test_constant_and_different_is_the_orders_doing() -> None:
    """Chance varies within an order; an order that was not run each time proves nothing."""
    assert depends({"straight": ["held"] * 3, "reversed": ["violated"] * 3})
    assert not depends({"straight": ["held", "violated", "held"], "reversed": ["violated"] * 3})
    assert not depends({"straight": ["held"] * 3, "reversed": ["violated"] * 2})
    assert not depends({"straight": ["held"] * 3, "reversed": ["violated"] * 3 + ["held"]})
    assert apart({"straight": ["held"] * 3, "reversed": ["violated"] * 3, "alone": ["held"] * 3}) == {"reversed"}


def test_a_sequence_counts_as_one() -> None:
    """A violation in any of its requests is its violation; without one, what the whole came to stands."""
    told = {"a[wire]": {"cooldown.silent": "held"}, "a[wire]/1.1": {}, "a[wire]/1.2": {"chat.id": "violated"}, "b": {}}
    assert summed(told) == {
        "a[wire]": {"any clause": "violated", "cooldown.silent": "held", "chat.id": "violated"},
        "b": {"any clause": "held"},
    }


@pytest.mark.orders
@pytest.mark.skipif(not PRESENT["litellm"][0], reason=f"litellm is not here: {PRESENT['litellm'][1]}")
def test_order_makes_no_difference_on_litellm(tmp_path: Path) -> None:
    """In order, reversed, shuffled, four at a time, and each alone: three times each, a gateway an order."""
    profile = load_profile("litellm")
    scenarios = [scenario for scenario in remembering(AREAS) if not ruled_out(scenario, profile)]
    runs: list[dict[str, Verdicts]] = []
    for time in range(TIMES):
        found = orders(scenarios, profile, tmp_path / str(time), time)
        runs.append({name: summed(whole(verdicts)) for name, verdicts in found.items()})
    outcomes = collect(runs)
    chance = sum(any(len(set(found)) > 1 for found in by_order.values()) for by_order in outcomes.values())
    print(
        f"{len(outcomes)} outcomes of {len({case for case, _ in outcomes})} cases compared; {chance} vary in an order"
    )
    assert len(outcomes) > 100
    compared = [by_order for by_order in outcomes.values() if sum(map(len, by_order.values())) == TIMES * WAYS]
    assert len(compared) > 0.9 * len(outcomes), "a busy machine made too many sequences too late for their windows"
    suspected = {key: by_order for key, by_order in outcomes.items() if depends(by_order)}
    again = {order for by_order in suspected.values() for order in apart(by_order)}
    for time in range(TIMES, 2 * TIMES):  # three equal ones may be chance, too: with nothing beside them, once more
        for order in again:
            told = summed(whole(ways(scenarios, profile, tmp_path / str(time), time)[order]()))
            for (case, clause), by_order in suspected.items():
                by_order[order].append(told.get(case, {}).get(clause, ""))
    assert {key: dict(by_order) for key, by_order in suspected.items() if depends(by_order)} == {}
