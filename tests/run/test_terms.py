"""The terms of an exchange: only what the target was told and declared, and which members could have answered."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.cassette.store import Library
from conformance.contract.failover import cause_of
from conformance.run.plan import plan_cases
from conformance.run.stage import Seat, lanes_for
from conformance.run.terms import answers, played, terms_of
from conformance.scenario.codec import play_item
from conformance.scenario.load import load_scenarios
from conformance.scenario.model import Scenario
from conformance.scenario.place import Place
from conformance.upstream.client import Address
from conformance.upstream.items import Scripts
from tests.run.scenes import HELLO, HELLO_STREAM, REFERENCE, scenario

SCRIPTS = Scripts(Library().get)
RETIRED = "authored/errors/openrouter-no-endpoints"
STREAM = 'request = { endpoint = "chat.completions", stream = true, messages = [{ role = "user", content = "Hi" }] }'


def seat(*scenarios: Scenario) -> Seat:
    """A seat with the lanes of these scenarios; nothing runs."""
    cases = plan_cases(scenarios, ["wire"], REFERENCE)
    lanes = lanes_for(cases, REFERENCE, range(9000, 9040))
    address = Address(control_port=1, token="test-token", ports=tuple(range(9000, 9040)))
    return Seat(upstream=address, base_url="http://127.0.0.1:1/v1", version="", lanes=lanes, profile=REFERENCE)


def test_members_and_their_secrets() -> None:
    """The lane's members are known, with the keys that must not leak and the names that tell who served."""
    pool = scenario("pool", 'lane = "pool4"', m0=RETIRED, default=HELLO)
    place = seat(pool, scenario("other"))
    terms = terms_of(pool, place.lanes[0], place, SCRIPTS)
    assert terms.members == ("m0", "m1", "m2", "m3")
    assert terms.healthy == {"m1", "m2", "m3"}
    assert terms.closed == frozenset()
    assert set(terms.secrets) == {member.api_key.encode() for member in place.lanes[0].members}
    assert b"127.0.0.1:9000" in terms.identities
    assert place.lanes[0].members[0].model.encode() in terms.identities
    assert terms.known_models == {one.alias for one in place.lanes}
    assert terms.capabilities == REFERENCE.capabilities
    assert terms.idle_timeout_ms == REFERENCE.idle_timeout_ms


def test_a_closed_port_is_known() -> None:
    """Nobody sees a member asked whose port is closed."""
    pool = scenario("pool", 'lane = "pool4"', m0="@refuse", default=HELLO)
    place = seat(pool)
    assert terms_of(pool, place.lanes[0], place, SCRIPTS).closed == {"m0"}


def test_the_request_itself() -> None:
    """A key of the scenario's own is one that the target does not know; a bad request is told by what it exercises."""
    place = seat(scenario())
    plain = terms_of(scenario(), place.lanes[0], place, SCRIPTS)
    assert (plain.key_valid, plain.request_valid) == (True, None)
    other = scenario("key")
    other = dataclasses.replace(other, request=dataclasses.replace(other.request, api_key="sk-test-other"))
    assert terms_of(other, place.lanes[0], place, SCRIPTS).key_valid is False
    bad = dataclasses.replace(scenario(), exercises=("error.request.status",))
    assert terms_of(bad, place.lanes[0], place, SCRIPTS).request_valid is False
    good = dataclasses.replace(scenario(), exercises=("relay.request.accepted",))
    assert terms_of(good, place.lanes[0], place, SCRIPTS).request_valid is True


@pytest.mark.parametrize(
    ("lines", "item", "good"),
    [
        ("", HELLO, True),
        ("", RETIRED, False),
        ("", "@reset", False),
        ("", "@hang", False),
        ("", "@refuse", False),
        ("", f"{HELLO} | truncate-bytes:40", False),
        (STREAM, HELLO_STREAM, True),
        (STREAM, f"{HELLO_STREAM} | stall-after-event:2", False),
        (STREAM, f"{HELLO_STREAM} | pace:20", True),
    ],
)
def test_healthy_members(lines: str, item: str, good: bool) -> None:
    """A member is healthy when what it plays answers the request: whole, finished, without an error."""
    assert answers(scenario("s", lines), play_item(item, Place("play")), SCRIPTS) is good


def test_a_scenario_about_failover_needs_what_its_members_do() -> None:
    """A target that promises failover for some failures alone is asked only about those."""
    for one in load_scenarios():
        if "pool.failover.answers" not in one.exercises:
            continue
        plays = [one.play, *(step.play for step in one.steps if step.play is not None)]
        items = [item for play in plays for items in (*play.members.values(), play.default) for item in items]
        causes = {cause_of(played(one, item, SCRIPTS)) for item in items} - {None}
        named = {need for need in one.needs if need.startswith("failover:")}
        assert named == {cause.capability for cause in causes if cause is not None}, one.id
