"""Exchanges on one clock: dispatches of all of them, in order."""

from __future__ import annotations

from dataclasses import replace

from tests.contract.sequences import sequence, turn


def test_dispatches_are_on_the_sequence_s_clock() -> None:
    """Times are those of the sequence, order is that of arrival, across exchanges."""
    made = sequence(turn(100, "m0:500:50:60", "m1:ok:70:80", took=90), turn(110, "m1:ok", took=5))
    assert [(d.turn.label, d.member, d.at, d.ended) for d in made.dispatches] == [
        ("2.1", "m1", 112.0, 114.0),
        ("1.1", "m0", 150.0, 160.0),
        ("1.1", "m1", 170.0, 180.0),
    ]
    assert made.dispatches is made.dispatches


def test_a_gateway_knows_when_it_moves_on() -> None:
    """What it certainly knows of a dispatch dates from its next one, else from the later end of both legs."""
    made = sequence(turn(100, "m0:500:50:60", "m1:ok:70:80", took=90), turn(200, "m0:ok", took=1))
    assert [d.known for d in made.dispatches] == [170.0, 190.0, 204.0]


def test_a_silent_member_is_over_when_it_is_given_up() -> None:
    """Its script had ended long before; the gateway closed the connection later."""
    made = turn(100, "m0:silent", took=900)
    (attempt,) = made.exchange.attempts or ()
    given_up = replace(made.exchange, attempts=(replace(attempt, peer_closed_at=800.0),))
    (dispatch,) = sequence(replace(made, exchange=given_up)).dispatches
    assert dispatch.ended == 900.0


def test_lanes() -> None:
    """The lanes in order of use, and the turns in one."""
    made = sequence(turn(0, "m0:ok"), turn(20, "m0:ok", lane="sibling"), turn(40, "m0:ok"))
    assert made.lanes == ("own", "sibling")
    assert [one.label for one in made.lane("own")] == ["1.1", "3.1"]
    assert made.held
