"""Scenarios that a gateway remembers between their steps have the same verdicts alone, in any order, and side by side.

A few of them here; all of them, three times each, by their marker: `pytest -m orders tests/run/test_order.py`.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from conformance.target.load import load_profile
from tests.run.orders import AREAS, FEW, Verdicts, disagreements, remembering, run, whole

PROFILE = load_profile("reference")


def test_order_makes_no_difference(tmp_path: Path) -> None:
    """A few scenarios of each kind: in order, reversed, and four at a time."""
    scenarios = remembering(FEW)
    straight = whole(run(PROFILE, scenarios, tmp_path / "straight"))
    assert straight
    assert disagreements(whole(run(PROFILE, scenarios[::-1], tmp_path / "reversed")), straight) == {}
    assert disagreements(whole(run(PROFILE, scenarios, tmp_path / "abreast", workers=4)), straight) == {}


@pytest.mark.orders
@pytest.mark.parametrize("time", range(3))
def test_any_order_of_all(tmp_path: Path, time: int) -> None:
    """All of them: in order, reversed, shuffled, each alone on a gateway of its own, and four at a time."""
    scenarios = remembering(AREAS)
    straight = whole(run(PROFILE, scenarios, tmp_path / "straight"))
    assert disagreements(whole(run(PROFILE, scenarios[::-1], tmp_path / "reversed")), straight) == {}
    shuffled = run(PROFILE, scenarios, tmp_path / "shuffled", order=random.Random(time))
    assert disagreements(whole(shuffled), straight) == {}
    assert disagreements(whole(run(PROFILE, scenarios, tmp_path / "abreast", workers=4)), straight) == {}
    alone: Verdicts = {}
    for scenario in scenarios:
        alone |= run(PROFILE, [scenario], tmp_path / f"alone-{scenario.id}")
    assert disagreements(whole(alone), straight) == {}
