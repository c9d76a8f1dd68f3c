"""Facts about what the gateway keeps of its members: which outcome changes what, and that every permit comes back."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.reference.classify import from_response
from conformance.reference.config import Config, Lane, Member
from conformance.reference.cooldown import Standing
from conformance.reference.failure import Failure, Kind, Names, own_failure
from conformance.reference.health import Health, Permit
from conformance.reference.http import ResponseHead
from conformance.reference.rules import CooldownRule, QuarantineRule, WaitRule
from tests.reference.clock import HandClock

NAMES = Names(alias="lane-one")


def member(lane: int, number: int, port: int) -> Member:
    return Member(
        name=f"m{number}", base_url=f"http://127.0.0.1:{port}/v1", api_key="sk-up-0", model=f"up-l{lane}-m{number}"
    )


LANES = [Lane(alias=f"lane-{n}", members=(member(n, 0, 9), member(n, 1, 10))) for n in range(2)]
LANE, OTHER = LANES
M0, M1 = LANE.members
COOLDOWN = CooldownRule(window=5.0, auth=600.0, limited=30.0)


def made(**rules: Any) -> tuple[Health, HandClock]:
    clock = HandClock()
    given: dict[str, Any] = {"cooldown": CooldownRule(window=5.0), "quarantine": QuarantineRule(window=600.0)}
    given |= {"retry_after": WaitRule()} | rules
    config = Config(api_key="sk-test-client", lanes={lane.alias: lane for lane in LANES}, **given)
    return Health(config, clock), clock


def answered(status: int, text: str = "", **fields: str) -> Failure:
    """The failure that a response with this status and message is."""
    head = ResponseHead(status=status, headers=tuple((name.replace("_", "-"), text) for name, text in fields.items()))
    return from_response(head, f'{{"error":{{"message":"{text}"}}}}'.encode(), NAMES)


def fail(health: Health, failure: Failure, *, times: int = 1) -> None:
    for _ in range(times):
        health.permit(LANE, M0).failed(failure)


OUTAGES = [
    answered(500),
    answered(503),
    answered(529, "Overloaded"),
    *(own_failure(kind, "x") for kind in (Kind.CONNECT, Kind.TIMEOUT, Kind.BROKEN, Kind.EMPTY)),
]
HARMLESS = [
    answered(302),
    answered(400, "temperature out of range"),
    answered(401),
    answered(402, "Insufficient credits"),
    answered(403),
    answered(404, "404 page not found"),
    answered(409),
    answered(422),
    answered(429),
    answered(500, "prompt is too long: 5 tokens > 4 maximum"),
]


@pytest.mark.parametrize("failure", OUTAGES, ids=str)
def test_server_errors_and_broken_connections_count(failure: Failure) -> None:
    """One closes the member of that lane, and no other."""
    health, _ = made()
    fail(health, failure)
    assert health.standing(LANE, M0) is Standing.AWAY
    assert health.standing(LANE, M1) is Standing.READY
    assert health.standing(OTHER, OTHER.members[0]) is Standing.READY


@pytest.mark.parametrize("failure", HARMLESS, ids=str)
def test_nothing_else_counts(failure: Failure) -> None:
    """Limits, rejections, refused keys: the member stays in turn, however often."""
    health, _ = made()
    fail(health, failure, times=5)
    assert health.standing(LANE, M0) is Standing.READY


def test_refused_keys_and_limits_can_have_windows_of_their_own() -> None:
    """Ten minutes and thirty seconds, when the configuration says so."""
    health, clock = made(cooldown=COOLDOWN)
    fail(health, answered(401))
    assert health.seconds_left(LANE, M0) == 300.0
    clock.pass_by(600.0)
    fail(health, answered(429))
    assert health.seconds_left(LANE, M0) == 15.0


@pytest.mark.parametrize("outcome", ["succeeded", "failed", "release"])
def test_a_probe_comes_back_on_every_exit(outcome: str) -> None:
    """After a success, a failure that counts or not, or a client that went, the next probe may go in its time."""
    health, clock = made()
    fail(health, answered(500))
    clock.pass_by(3.0)
    assert health.standing(LANE, M0) is Standing.PROBE
    permit = health.permit(LANE, M0)
    assert health.standing(LANE, M0) is Standing.AWAY
    if outcome == "failed":
        permit.failed(answered(429))
    else:
        getattr(permit, outcome)()
    assert health.standing(LANE, M0) is (Standing.READY if outcome == "succeeded" else Standing.PROBE)


def test_the_first_outcome_settles_a_permit() -> None:
    """A release after a success, as every exit makes one, changes nothing; nor does a success after a failure."""
    health, _ = made()
    permit: Permit = health.permit(LANE, M0)
    permit.failed(answered(500))
    permit.succeeded()
    permit.release()
    assert health.standing(LANE, M0) is Standing.AWAY


def test_two_rejections_that_name_the_model_skip_it() -> None:
    """400 and 404 alike; the same model elsewhere, and another model there, stay."""
    health, clock = made()
    fail(health, answered(400, "ghost/ghost-9 is not a valid model ID"))
    fail(health, answered(404, "model 'ghost' not found"))
    assert health.standing(LANE, M0) is Standing.AWAY
    assert health.seconds_left(LANE, M0) == 600.0
    assert not health.limited(LANE, M0)
    assert health.standing(OTHER, OTHER.members[0]) is Standing.READY
    clock.pass_by(600.0)
    assert health.standing(LANE, M0) is Standing.READY


@pytest.mark.parametrize("failure", [*HARMLESS, own_failure(Kind.BROKEN, "model not found")], ids=str)
def test_what_does_not_name_the_model_clears_the_count(failure: Failure) -> None:
    """It is no rejection, and what it stands between are lone ones."""
    health, clock = made()
    for one in (answered(404, "no such model"), failure, answered(404, "no such model"), failure):
        fail(health, one)
    clock.pass_by(30.0)
    assert health.standing(LANE, M0) is Standing.READY


def test_a_wait_is_kept_and_bounded() -> None:
    """Seconds or a date, of a 429 or a 503, and no longer than the configuration allows."""
    health, clock = made(retry_after=WaitRule(longest=60.0))
    fail(health, answered(429, retry_after="20"))
    assert (health.standing(LANE, M0), health.limited(LANE, M0)) == (Standing.AWAY, True)
    health.permit(LANE, M0).succeeded()
    assert health.seconds_left(LANE, M0) == 20.0
    clock.pass_by(20.0)
    assert health.standing(LANE, M0) is Standing.READY
    date = {"retry_after": "Sun, 06 Nov 1994 08:49:37 GMT", "date": "Sun, 06 Nov 1994 08:49:07 GMT"}
    fail(health, answered(429, **date))
    assert health.seconds_left(LANE, M0) == 30.0
    fail(health, answered(429, retry_after="3600"))
    assert health.seconds_left(LANE, M0) == 60.0


@pytest.mark.parametrize("told", ["", "soon", "-1", "1.5", "٣", "Sun, 06 Nov 1994 08:49:37 GMT"])
def test_an_unreadable_wait_is_none(told: str) -> None:
    """Neither is one that a date tells without the response's own, or that comes with another status."""
    assert answered(429, retry_after=told).wait is None
    assert answered(500, retry_after="20").wait is None


def test_an_outage_with_a_wait_is_both() -> None:
    """A 503 with Retry-After is away for the longer of the two, and is no mere limit."""
    health, clock = made()
    fail(health, answered(503, retry_after="1"))
    assert health.seconds_left(LANE, M0) == 2.5
    assert not health.limited(LANE, M0)
    clock.pass_by(2.5)
    assert health.standing(LANE, M0) is Standing.PROBE


def test_what_is_not_configured_is_not_remembered() -> None:
    """Without rules every member is ready, whatever it does."""
    health, _ = made(cooldown=None, quarantine=None, retry_after=None)
    for failure in (answered(500), answered(404, "no such model"), answered(429, retry_after="20")):
        fail(health, failure, times=3)
    assert health.standing(LANE, M0) is Standing.READY
