"""Lanes are planned so that members can be told apart everywhere."""

from __future__ import annotations

import pytest

from conformance.target.lanes import plan_lanes


def test_aliases_count_and_members_are_named() -> None:
    """Sizes become lanes with that many members, m0 first."""
    lanes = plan_lanes([1, 4], ports=[1001, 1002, 1003, 1004, 1005])
    assert [lane.alias for lane in lanes] == ["lane-000", "lane-001"]
    assert [[member.name for member in lane.members] for lane in lanes] == [["m0"], ["m0", "m1", "m2", "m3"]]
    assert lanes[1].members[3].base_url == "http://127.0.0.1:1005"


def test_keys_and_models_are_distinct_and_recognisable() -> None:
    """Every member has its own key and upstream model, which name lane and member; none contains another."""
    members = [member for lane in plan_lanes([4] * 120, ports=range(2000, 2004)) for member in lane.members]
    keys = {member.api_key for member in members}
    models = {member.model for member in members}
    assert len(keys) == len(models) == 480
    assert members[13].api_key == "sk-up-lane-003-1"
    assert members[13].model == "up-model-l003-m1"
    assert all(len(name) == len(members[0].model) for name in models)


@pytest.mark.parametrize("ports", [range(3000, 3004), range(3000, 3007), range(3000, 3100)])
def test_ports_differ_within_a_lane(ports: range) -> None:
    """However few ports there are, no lane has one twice."""
    for lane in plan_lanes([1, 4, 2, 4, 3, 4], ports=ports):
        assert len({member.port for member in lane.members}) == len(lane.members)


def test_no_port_is_shared_when_there_are_enough() -> None:
    """With as many ports as members, each member has its own."""
    lanes = plan_lanes([1, 4, 4], ports=range(4000, 4009))
    assert [member.port for lane in lanes for member in lane.members] == list(range(4000, 4009))


@pytest.mark.parametrize(("sizes", "ports"), [([5], range(4)), ([1], []), ([0], range(4))])
def test_a_lane_that_cannot_be_served_is_refused(sizes: list[int], ports: list[int]) -> None:
    """A lane needs at least one member and as many ports as members."""
    with pytest.raises(ValueError, match="cannot be served"):
        plan_lanes(sizes, ports=ports)


def test_a_lane_may_have_the_ports_of_another() -> None:
    """A shared lane asks the same origins for other models with other keys, and takes no ports from those after it."""
    first, second, third = plan_lanes([2, 2, 1], ports=range(4000, 4003), shared={1: 0})
    assert [member.port for member in first.members] == [member.port for member in second.members] == [4000, 4001]
    assert third.members[0].port == 4002
    members = (*first.members, *second.members, *third.members)
    assert len({member.model for member in members}) == len({member.api_key for member in members}) == 5
