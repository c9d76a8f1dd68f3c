"""Facts about cooldown windows, on a clock that stands."""

from __future__ import annotations

import pytest

from conformance.reference.cooldown import Cooldowns, Standing
from conformance.reference.rules import CooldownRule
from tests.reference.clock import HandClock

RULE = CooldownRule(window=5.0)


def made(rule: CooldownRule = RULE) -> tuple[Cooldowns, HandClock]:
    clock = HandClock()
    return Cooldowns(rule, clock), clock


def test_a_failure_opens_a_window_that_is_silent_then_probed_then_over() -> None:
    """Away in the first half, one probe from the middle on, ready at the end."""
    windows, clock = made()
    windows.failed("m0", clock())
    assert (windows.standing("m0"), windows.seconds_left("m0")) == (Standing.AWAY, 2.5)
    clock.pass_by(2.4)
    assert windows.standing("m0") is Standing.AWAY
    clock.pass_by(0.1)
    assert (windows.standing("m0"), windows.seconds_left("m0")) == (Standing.PROBE, 0.0)
    clock.pass_by(2.5)
    assert windows.standing("m0") is Standing.READY
    assert windows.standing("m1") is Standing.READY


def test_one_probe_goes_at_a_time() -> None:
    """While one is on its way the member is away; given back, the next may go; another's token gives nothing back."""
    windows, clock = made()
    windows.failed("m0", clock())
    clock.pass_by(3.0)
    token = windows.take("m0")
    assert (windows.standing("m0"), windows.seconds_left("m0")) == (Standing.AWAY, 2.0)
    windows.give_back("m0", object())
    assert windows.standing("m0") is Standing.AWAY
    windows.give_back("m0", token)
    assert windows.standing("m0") is Standing.PROBE


def test_a_success_ends_the_window_and_the_series() -> None:
    """After it the next failure opens a first window again."""
    windows, clock = made()
    windows.failed("m0", clock())
    clock.pass_by(3.0)
    windows.failed("m0", clock())
    windows.succeeded("m0")
    assert windows.standing("m0") is Standing.READY
    windows.failed("m0", clock())
    assert windows.seconds_left("m0") == 2.5


def test_windows_double_up_to_the_longest() -> None:
    """Five seconds, then twice as long for each further failure, five minutes at most."""
    windows, clock = made()
    lengths = []
    for _ in range(9):
        windows.failed("m0", clock())
        lengths.append(2 * windows.seconds_left("m0"))
        clock.pass_by(lengths[-1])
    assert lengths == [5, 10, 20, 40, 80, 160, 300, 300, 300]
    for _ in range(2000):
        windows.failed("m0", clock())
        clock.pass_by(300.0)
    assert windows.standing("m0") is Standing.READY


def test_failures_of_requests_that_were_under_way_are_no_further_step() -> None:
    """Twenty requests that fail together open one first window."""
    windows, clock = made()
    asked = clock()
    for _ in range(20):
        clock.pass_by(0.01)
        windows.failed("m0", asked)
    assert windows.seconds_left("m0") == 2.5


def test_several_outages_in_a_row_may_be_asked_for() -> None:
    """Below the number nothing happens; a success or anything else between starts the count anew."""
    windows, clock = made(CooldownRule(window=5.0, after=3))
    for clear in (windows.succeeded, windows.unharmed):
        windows.failed("m0", clock())
        windows.failed("m0", clock())
        clear("m0")
    windows.failed("m0", clock())
    windows.failed("m0", clock())
    assert windows.standing("m0") is Standing.READY
    windows.failed("m0", clock())
    assert windows.standing("m0") is Standing.AWAY


def test_what_is_no_outage_leaves_an_open_series_as_it_is() -> None:
    """A rejected probe neither ends the window nor shortens the next one."""
    windows, clock = made()
    windows.failed("m0", clock())
    clock.pass_by(3.0)
    windows.unharmed("m0")
    assert windows.standing("m0") is Standing.PROBE
    windows.failed("m0", clock())
    assert windows.seconds_left("m0") == 5.0


@pytest.mark.parametrize(("seconds", "left"), [(600.0, 300.0), (30.0, 15.0), (1.0, 2.5)])
def test_a_fixed_window_is_no_step_and_shortens_none(seconds: float, left: float) -> None:
    """A refused key's ten minutes and a limit's thirty seconds come instead of a shorter window alone."""
    windows, clock = made()
    windows.failed("m0", clock())
    windows.shut("m0", seconds)
    assert windows.seconds_left("m0") == left
    clock.pass_by(2 * left)
    windows.failed("m0", clock())
    assert windows.seconds_left("m0") == 5.0


def test_a_fixed_window_needs_no_outage_before() -> None:
    """It closes a member that was well, and its end leaves no trace."""
    windows, clock = made()
    windows.shut("m0", 30.0)
    assert windows.standing("m0") is Standing.AWAY
    clock.pass_by(30.0)
    windows.failed("m0", clock())
    assert windows.seconds_left("m0") == 2.5
