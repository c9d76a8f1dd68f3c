"""A sequence's timeline says who asked whom when, and findings point at its lines."""

from __future__ import annotations

from conformance.contract.timeline import LEG, at_dispatch, at_turn, lines, text
from tests.contract.sequences import sequence, turn

MADE = sequence(
    turn(0, "m0:500", "m1:ok", took=12), turn(100, "m1:ok", lane="other"), turn(200, "m0:ok:2:90", hangup=30)
)


def test_lines_are_in_order() -> None:
    """What the client did, what members were asked and how it ended, each with its time."""
    assert [line.text for line in lines(MADE)] == [
        "1.1 the client asks",
        "1.1 m0 is asked: 500, complete after 2.0 ms (failure)",
        "1.1 m1 is asked: 200, complete after 2.0 ms (success)",
        "1.1 the client has 200, complete",
        "2.1 the client asks in the other lane",
        "2.1 m1 is asked: 200, complete after 2.0 ms (success)",
        "2.1 the client has 200, complete",
        "3.1 the client asks",
        "3.1 m0 is asked: nothing, hangup after 30.0 ms (abandoned)",
        "3.1 the client has hung up",
    ]
    assert [line.at for line in lines(MADE)] == [0.0, 2.0, 6.0, 12.0, 100.0, 102.0, 110.0, 200.0, 202.0, 230.0]


def test_findings_point_at_a_line() -> None:
    """The span covers the line of the dispatch, or of what the client had."""
    whole = text(lines(MADE))
    dispatch = MADE.dispatches[1]
    finding = at_dispatch(MADE, dispatch, "a", "b")
    assert finding.span is not None
    assert finding.span.of(whole) == b"1.1 m1 is asked: 200, complete after 2.0 ms (success)" == finding.excerpt
    assert (finding.leg, finding.at) == (LEG, 6.0)
    seen = at_turn(MADE, MADE.turns[1], "a", "b")
    assert seen.span is not None
    assert seen.span.of(whole) == b"2.1 the client has 200, complete"
