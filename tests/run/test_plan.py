"""Scenarios and drivers become cases: who sends what, in which lane, and why something is left out."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.errors import UsageError
from conformance.run.plan import DEFAULT_DRIVERS, apart, checked_drivers, drivers_of, fits, plan_cases
from conformance.scenario.load import load_scenarios
from tests.run.scenes import HELLO, REFERENCE, lane, scenario, url_profile

RAW = 'request = { endpoint = "chat.completions", raw = "{\\"model\\":" }'
POOL = 'lane = "pool4"'
CHAT = 'endpoint = "chat.completions", messages = [{ role = "user", content = "Hi." }]'


def test_a_lane_for_each_case() -> None:
    """No two cases share a lane, whatever their drivers, and the lanes are numbered without a gap."""
    cases = plan_cases([scenario("a"), scenario("b", POOL)], ["wire", "httpx"], REFERENCE)
    assert [case.id for case in cases] == ["test.a[wire]", "test.a[httpx]", "test.b[wire]", "test.b[httpx]"]
    assert [case.lane for case in cases] == [0, 1, 2, 3]
    assert [case.members for case in cases] == [1, 1, 4, 4]


def test_the_raw_driver_repeats() -> None:
    """What a scenario repeats is repeated by the wire driver alone, each time as a case and in a lane of its own."""
    cases = plan_cases([scenario("again", "repeat = { alone = 3 }")], ["wire", "httpx"], REFERENCE)
    assert [case.id for case in cases] == [
        "test.again[wire]",
        "test.again[wire]#2",
        "test.again[wire]#3",
        "test.again[httpx]",
    ]
    assert [case.lane for case in cases] == [0, 1, 2, 3]


def test_nothing_but_skipped_cases_is_no_run() -> None:
    """Where the target's declaration rules out all that was selected, that is told before anything is started."""
    needy = [scenario(name, f'needs = ["{name}"]') for name in ("retries", "failover")]
    with pytest.raises(UsageError) as caught:
        plan_cases(needy[:1], ["wire", "httpx"], REFERENCE)
    assert caught.value.what == "every selected scenario is left out: the target does not declare retries"
    assert len(plan_cases(needy, ["wire"], REFERENCE)) == 2


def test_what_is_not_promised_is_skipped() -> None:
    """A scenario that needs an undeclared capability is a skipped case that says so, and takes no lane."""
    needy = scenario("needy", 'needs = ["cache", "retries"]')
    skipped, played = plan_cases([needy, scenario("plain")], ["wire"], REFERENCE)
    assert skipped.skipped == "the target does not declare cache, retries"
    assert (skipped.lane, skipped.lanes, played.lane) == (-1, (), 0)


@pytest.mark.parametrize(("after", "reason"), [(1, "a single failure opens the target's cooldown"), (2, "")])
def test_a_count_of_failures_needs_one_to_count_to(after: int, reason: str) -> None:
    """What fewer failures than declared open is nothing where one is enough."""
    counted = scenario("counted", 'exercises = ["cooldown.threshold"]')
    cases = plan_cases([counted, scenario("plain")], ["wire"], dataclasses.replace(REFERENCE, cooldown_after=after))
    assert cases[0].skipped == reason


@pytest.mark.parametrize(
    ("most", "reason"), [(1, "as many members fail as the target asks for one request: 1"), (2, ""), (None, "")]
)
def test_a_failover_needs_a_dispatch_that_is_left(most: int | None, reason: str) -> None:
    """Where as many members fail as the target asks, nothing is promised of the healthy one."""
    asks = scenario("asks", f'{POOL}\nexercises = ["pool.failover.answers"]', m0="@reset", default=HELLO)
    cases = plan_cases([asks, scenario("plain")], ["wire"], dataclasses.replace(REFERENCE, max_attempts=most))
    assert cases[0].skipped == reason


@pytest.mark.parametrize(("window", "played"), [(600.0, True), (2_900_000.0, True), (1e300, False)])
def test_a_run_ends_before_its_patience_does(window: float, played: bool) -> None:
    """A sequence that would wait for more than a quarter of an hour, or send millions, is left out, with the reason."""
    waits = [one for one in load_scenarios() if one.id == "cooldown.silent-after-reset"]
    declared = dataclasses.replace(REFERENCE, capabilities=frozenset({"failover", "cooldown"}), cooldown_ms=window)
    cases = plan_cases([*waits, scenario("plain")], ["wire"], declared)
    assert (not cases[0].skipped) is played
    assert played or "more than 15 min" in cases[0].skipped
    gaps = scenario("gaps", "steps = [{ times = 100, gap_ms = 60000 }]")
    assert "more than 15 min" in plan_cases([gaps, scenario("plain")], ["wire"], declared)[0].skipped
    many = plan_cases([*waits, scenario("plain")], ["wire"], dataclasses.replace(declared, cooldown_after=1_000_000))
    assert "more than 1000 requests" in many[0].skipped


def test_raw_bytes_need_the_raw_driver() -> None:
    """A raw body is sent by the wire driver alone, unless the scenario names its drivers."""
    raw = scenario("raw", RAW)
    assert [driver for driver in ("wire", "httpx", "openai-python") if fits(raw, driver)] == ["wire"]
    named = dataclasses.replace(raw, drivers=("wire", "httpx"))
    assert [driver for driver in ("wire", "httpx", "openai-python") if fits(named, driver)] == ["wire", "httpx"]


def test_drivers_of_a_plan() -> None:
    """Each driver that something is played through, once; a driver whose cases are all skipped is not among them."""
    lonely = scenario("lonely", 'drivers = ["httpx"]\nneeds = ["cache"]')
    cases = plan_cases([scenario("a"), scenario("b"), lonely], ["wire", "httpx", "openai-python"], REFERENCE)
    assert drivers_of(cases) == ("wire", "httpx", "openai-python")
    assert drivers_of([case for case in cases if case.scenario is lonely]) == ()


def test_unknown_driver() -> None:
    """An unknown driver is the caller's mistake, and the nearest known one is named."""
    assert checked_drivers(()) == DEFAULT_DRIVERS
    with pytest.raises(UsageError, match="openai-pyton") as caught:
        checked_drivers(["openai-pyton"])
    assert "openai-python" in caught.value.hint


def test_nothing_left() -> None:
    """A selection that no chosen driver can send is refused: it would prove nothing."""
    with pytest.raises(UsageError, match="no selected scenario fits") as caught:
        plan_cases([scenario("raw", RAW)], ["httpx"], REFERENCE)
    assert caught.value.hint == "wire can send some of them"


def test_sequence_lanes() -> None:
    """A sequence has the lanes that its steps name, spare ones behind them, and the next case's come after those."""
    steps = 'lane = "pool2"\nsteps = [{ times = 2 }, { lane = "other" }, { lane = "sibling" }]'
    one, two = plan_cases([scenario("steps", steps), scenario("next")], ["wire"], REFERENCE)
    assert (one.lane, one.other, one.sibling) == (0, 1, 2)
    assert one.lanes == tuple(range(3 * (1 + one.spares)))
    assert two.lanes == (len(one.lanes),)
    assert (one.parts, two.parts) == (5, 1)


def test_sequences_where_lanes_cannot_isolate() -> None:
    """At a URL a sequence is skipped, with the reason, unless the target's lanes keep its memory apart."""
    steps = scenario("steps", 'lane = "pool2"\nsteps = [{}, {}]')
    case, _ = plan_cases([steps, scenario("plain")], ["wire"], url_profile())
    assert case.skipped


def test_keys_that_nobody_told() -> None:
    """Where the members' keys and models are not known, a scenario is not held to the clauses about them."""
    asked = dataclasses.replace(scenario("asked"), exercises=("chat.id", "relay.request.key", "relay.request.model"))
    known = lane("alias-1", 1)
    silent = dataclasses.replace(
        known, members=tuple(dataclasses.replace(member, api_key="") for member in known.members)
    )
    told = [
        plan_cases([asked], ["wire"], profile)[0].scenario.exercises
        for profile in (REFERENCE, url_profile(known), url_profile(known, silent))
    ]
    assert told == [asked.exercises, asked.exercises, ("chat.id",)]


@pytest.mark.parametrize("of", ['endpoint = "models"', f'{CHAT}, model = "none"', f'{CHAT}, api_key = "sk-test-wrong"'])
def test_what_a_header_does_not_tell(of: str) -> None:
    """A target whose lanes a header picks is not asked about models and client keys: it was told of none."""
    named = dataclasses.replace(REFERENCE, lane_headers=(("x-lane", "{alias}"),))
    asked, plain = scenario("asked", f"request = {{ {of} }}"), scenario("plain")
    assert [bool(case.skipped) for case in plan_cases([asked, plain], ["wire"], named)] == [True, False]
    assert not any(case.skipped for case in plan_cases([asked], ["wire"], REFERENCE))


def test_bundled_scenarios_can_be_planned() -> None:
    """Every bundled scenario gives at least one case with the default drivers, and every id is unique."""
    cases = plan_cases(load_scenarios(), (), REFERENCE)
    assert {case.scenario.id for case in cases} == {one.id for one in load_scenarios()}
    assert len({case.id for case in cases}) == len(cases)


def test_no_port_is_closed_under_other_workers() -> None:
    """On a lane that is found, several processes meet: a scenario in which a member refuses connections is left out."""
    refusing, plain = scenario("refusing", m0="@refuse"), scenario("plain")
    found = url_profile(lane("a", 1))
    for profile, left_out in ((found, [True, False]), (REFERENCE, [False, False])):
        cases = apart(plan_cases([refusing, plain], ["wire"], profile), profile)
        assert [bool(case.skipped) for case in cases] == left_out
