"""A member's share is judged only where chance cannot explain it."""

from __future__ import annotations

import pytest

from conformance.contract.spread import enough, share_of, takes_turns
from tests.contract.sequences import many, request, sequence, turn


@pytest.mark.parametrize(("members", "count"), [(1, 1), (2, 10), (4, 25)])
def test_how_many_requests_are_enough(members: int, count: int) -> None:
    """Being passed over by all of them has a chance of less than one in a thousand."""
    assert enough(members) == count
    assert members == 1 or (1 - 1 / members) ** count <= 0.001


def test_too_few_decide_nothing() -> None:
    """Nine requests to the other of two members are no proof, ten are."""
    few, plenty = sequence(many(9, 0, "m1:ok")), sequence(many(10, 0, "m1:ok"))
    assert not share_of(few, "m0", few.turns).decided
    assert share_of(plenty, "m0", plenty.turns).passed_over


def test_an_order_of_its_own_is_not_judged() -> None:
    """A gateway that asks one member first is not said to pass the other over, unless it did ask it first before."""
    ordered = sequence(many(10, 0, "m1:ok"), caps={"failover"})
    assert not takes_turns(ordered, "m0")
    assert not share_of(ordered, "m0", ordered.turns).decided
    before = sequence(turn(0, "m0:ok"), many(10, 20, "m1:ok"), caps={"failover"})
    assert share_of(before, "m0", before.turns[1:]).passed_over


def test_what_could_not_go_there_does_not_count() -> None:
    """Not a member that is bad by its play, a refusal of the gateway's own, an answer from memory, an unknown model."""
    alone = {"members": "m0", "healthy": "m0"}
    others = [
        turn(0, "m1:ok", healthy="m1"),
        turn(20, got="400", **alone),
        turn(40, got="ok", **alone),
        turn(60, sent=request(model="nobody"), known_models=frozenset({"alias-1"}), **alone),
    ]
    made = sequence(*others)
    assert share_of(made, "m0", made.turns).turns == ()
    refused = sequence(turn(0, **alone))
    assert share_of(refused, "m0", refused.turns).passed_over
