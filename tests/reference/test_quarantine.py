"""Facts about quarantines, on a clock that stands: ten minutes pass in no time."""

from __future__ import annotations

from conformance.reference.quarantine import Quarantine
from conformance.reference.rules import QuarantineRule
from tests.reference.clock import HandClock

PAIR = ("api.test", "ghost-9")


def made() -> tuple[Quarantine, HandClock]:
    clock = HandClock()
    return Quarantine(QuarantineRule(window=600.0), clock), clock


def test_the_second_rejection_in_a_row_begins_it() -> None:
    """One changes nothing; two skip the pair for ten minutes, and no other."""
    kept, clock = made()
    kept.rejected(PAIR)
    assert kept.seconds_left(PAIR) == 0.0
    clock.pass_by(599.0)
    kept.rejected(PAIR)
    assert kept.seconds_left(PAIR) == 600.0
    assert kept.seconds_left(("api.test", "other-model")) == 0.0


def test_anything_between_clears_the_count() -> None:
    """Rejected, answered, rejected: each is the first."""
    kept, _ = made()
    kept.rejected(PAIR)
    kept.cleared(PAIR)
    kept.rejected(PAIR)
    assert kept.seconds_left(PAIR) == 0.0


def test_a_lone_rejection_ages_out() -> None:
    """After the window it is forgotten, and the next one is the first."""
    kept, clock = made()
    kept.rejected(PAIR)
    clock.pass_by(600.0)
    kept.rejected(PAIR)
    assert kept.seconds_left(PAIR) == 0.0
    kept.rejected(PAIR)
    assert kept.seconds_left(PAIR) == 600.0


def test_it_ends_with_the_full_budget() -> None:
    """After ten minutes the pair is asked again, and one rejection is a lone one."""
    kept, clock = made()
    kept.rejected(PAIR)
    kept.rejected(PAIR)
    clock.pass_by(600.0)
    assert kept.seconds_left(PAIR) == 0.0
    kept.rejected(PAIR)
    assert kept.seconds_left(PAIR) == 0.0
