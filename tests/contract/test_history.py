"""What became of a member: fates as the incidents tell them apart, and the windows that they open."""

from __future__ import annotations

import pytest

from conformance.contract.history import Fate, cooldowns, fate_of, histories, quarantines, wait_told
from conformance.exchange.assemble import read_reply
from conformance.exchange.model import Endpoint
from conformance.exchange.sequence import Windows
from conformance.wire.transcript import End, Segment
from tests.contract.sequences import sequence, turn


@pytest.mark.parametrize(
    ("answer", "fate"),
    [
        ("ok", Fate.SUCCESS),
        ("stream", Fate.SUCCESS),
        ("500", Fate.FAILURE),
        ("529", Fate.FAILURE),
        ("reset", Fate.FAILURE),
        ("silent", Fate.FAILURE),
        ("empty", Fate.FAILURE),
        ("cut", Fate.FAILURE),
        ("named", Fate.MODEL_REJECTED),
        ("gone", Fate.MODEL_REJECTED),
        ("400", Fate.REJECTED),
        ("401", Fate.REJECTED),
        ("403", Fate.REJECTED),
        ("404", Fate.REJECTED),
        ("429", Fate.LIMITED),
        ("402", Fate.LIMITED),
    ],
)
def test_fates(answer: str, fate: Fate) -> None:
    """Only server errors, transport and broken successes are failures; only words that name the model reject it."""
    seen = turn(0, f"m0:{answer}").exchange
    assert fate_of(seen, (seen.attempts or ())[0]) is fate


def test_what_the_client_gave_up_is_no_failure() -> None:
    """An attempt that was open when the client hung up is abandoned."""
    seen = turn(0, "m0:ok:2:900", hangup=30).exchange
    assert fate_of(seen, (seen.attempts or ())[0]) is Fate.ABANDONED


def test_failures_in_a_row_open_a_window_and_a_success_closes_it() -> None:
    """The window lasts from the last byte of the failure that opened it to the next failure, or to a success."""
    made = sequence(turn(0, "m0:500"), turn(100, "m0:500"), turn(400, "m0:ok"), turn(900, "m0:500"))
    first, second, third = cooldowns(made)
    assert (first.opened, first.until, first.closed, first.series) == (2.0, 602.0, 104.0, 0)
    assert (second.opened, second.closed, second.series) == (102.0, 404.0, 1)
    assert (third.opened, third.closed, third.series) == (902.0, float("inf"), 0)
    assert first.covers(50)
    assert not first.covers(300)


def test_a_window_may_take_several_failures() -> None:
    """With `cooldown_after` 2 the second failure in a row opens it; what is harmless in between breaks the row."""
    windows = Windows(cooldown_ms=600.0, cooldown_after=2)
    assert cooldowns(sequence(turn(0, "m0:500"), turn(20, "m0:429"), turn(40, "m0:500"), windows=windows)) == ()
    (window,) = cooldowns(sequence(turn(0, "m0:500"), turn(20, "m0:500"), windows=windows))
    assert window.opened == 22.0


@pytest.mark.parametrize(("answer", "opened"), [("500", 1), ("529", 0), ("empty", 0), ("cut", 0), ("silent", 0)])
def test_who_names_what_it_passes_over_cools_down_after_that(answer: str, opened: int) -> None:
    """What is no failure to pass over is none that counts."""
    windows = Windows(cooldown_ms=600.0, cooldown_after=1)
    caps = ("cooldown", "failover", "failover:5xx")
    made = sequence(turn(0, f"m0:{answer}"), caps=caps, windows=windows)
    assert len(cooldowns(made)) == opened
    assert len(cooldowns(sequence(turn(0, f"m0:{answer}"), windows=windows))) == 1


def test_two_rejections_in_a_row_quarantine() -> None:
    """The second one opens it; a success between, another failure between, or the window's length makes them lone."""
    (window,) = quarantines(sequence(turn(0, "m0:named"), turn(50, "m0:gone")))
    assert (window.opened, window.until) == (52.0, 1252.0)
    assert quarantines(sequence(turn(0, "m0:named"), turn(20, "m0:ok"), turn(40, "m0:named"))) == ()
    assert quarantines(sequence(turn(0, "m0:named"), turn(20, "m0:500"), turn(40, "m0:named"))) == ()
    assert quarantines(sequence(turn(0, "m0:named"), turn(1500, "m0:named"))) == ()


def test_members_of_lanes_are_told_apart() -> None:
    """A member's history is that of its lane, in the order of the ends."""
    made = sequence(turn(0, "m0:500:2:90", "m1:ok"), turn(10, "m0:ok"), turn(20, "m0:ok", lane="other"))
    assert {key: [r.fate.value for r in records] for key, records in histories(made).items()} == {
        ("own", "m0"): ["success", "failure"],
        ("own", "m1"): ["success"],
        ("other", "m0"): ["success"],
    }


def test_without_a_declared_length_there_is_no_window() -> None:
    """What the target does not declare is not guessed."""
    made = sequence(turn(0, "m0:500"), turn(20, "m0:named"), turn(40, "m0:named"), windows=Windows())
    assert (cooldowns(made), quarantines(made)) == ((), ())


NOW = "Mon, 30 Nov 2026 23:59:58 GMT"


@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        ("3", (3.0, 3.0)),
        ("0", (0.0, 0.0)),
        ("86400", (86_400.0, 86_400.0)),
        ("86401", None),
        ("9" * 5000, None),
        ("soon", None),
        ("", None),
        ("-3", None),
        ("Tue, 01 Dec 2026 00:00:01 GMT", (2.0, 3.0)),
        ("Mon, 30 Nov 2026 23:59:58 GMT", (0.0, 0.0)),
        ("Sun, 29 Nov 2026 23:59:58 GMT", (0.0, 0.0)),
        ("Tue, 30 Nov 2027 00:00:01 GMT", None),
        ("Tue, 31 Feb 2026 00:00:01 GMT", None),
    ],
)
def test_a_wait_is_told_in_seconds_or_by_a_date(told: str, seconds: tuple[float, float] | None) -> None:
    """A date counts from the reply's own, and may be read as a second less; what nobody reads alike tells nothing."""
    head = f"HTTP/1.1 429 X\r\nDate: {NOW}\r\nRetry-After: {told}\r\nContent-Length: 2\r\n\r\n{{}}"
    reply = read_reply(
        (Segment(0.0, head.encode()),), end=End.COMPLETE, ended_at=1.0, endpoint=Endpoint.CHAT, method="POST"
    )
    assert reply is not None
    assert wait_told(reply) == seconds
