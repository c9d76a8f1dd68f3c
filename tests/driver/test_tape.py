"""The tape decides without IO: which deadline comes next, what ended a call, what an operating system's error means."""

from __future__ import annotations

import pytest

from conformance.driver import tape as tape_module
from conformance.driver.model import Behaviour, Deadlines
from conformance.driver.tape import MOMENT, Tape
from conformance.errors import DriverError
from conformance.wire.transcript import End
from tests.driver.rawserver import STREAM_HEAD, json_reply

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"


class Clock:
    """A clock that the test moves."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The tape's only contact with the outside, replaced."""
    moved = Clock()
    monkeypatch.setattr(tape_module, "monotonic", moved)
    return moved


def _tape(behaviour: Behaviour | None = None, **seconds: float) -> Tape:
    tape = Tape(method="POST", behaviour=behaviour or Behaviour(), deadlines=Deadlines(**seconds))
    tape.wrote(tape.writing(), b"POST / HTTP/1.1\r\n\r\n")
    return tape


def test_deadlines_in_turn(clock: Clock) -> None:
    """Before the head the head's deadline counts from the first write, then idle from each read, exchange over all."""
    tape = _tape(head=5, idle=3, exchange=10)
    clock.now += 2
    assert tape.wait() == (3, "head")
    tape.read(HEAD)
    clock.now += 1
    assert tape.wait() == (3, "idle")
    clock.now += 5
    assert tape.wait() == (2, "exchange")
    clock.now += 5
    assert tape.wait() == (MOMENT, "exchange")


def test_hang_up_is_a_wait(clock: Clock) -> None:
    """From the point on the client stays `wait_ms`; what comes until then is still read."""
    tape = _tape(Behaviour(hang_up="head", wait_ms=500))
    assert tape.wait().reason == "head"
    tape.read(HEAD)
    assert tape.wait() == (0.5, "hang-up")
    clock.now += 0.2
    reason = tape.wait().reason
    clock.now += 0.4
    assert (reason, tape.wait()) == ("hang-up", (MOMENT, "hang-up"))
    tape.expire("hang-up")
    assert tape.gone
    assert tape.hangup is not None
    assert tape.hangup.at == pytest.approx(600)


def test_times_are_since_the_first_write(clock: Clock) -> None:
    """Segments and the end are in ms since the first write, and the origin is that moment."""
    tape = _tape()
    clock.now += 0.25
    tape.read(STREAM_HEAD)
    clock.now += 0.25
    tape.read(b"")
    transcript = tape.transcript()
    assert transcript.origin == 100.0
    assert [segment.at for segment in transcript.sent + transcript.received] == [0.0, 250.0]
    assert (transcript.end, transcript.ended_at) == (End.CLOSE, 500.0)


def test_first_ending_decides() -> None:
    """What comes after the end does not change it, but bytes past the end are kept."""
    tape = _tape()
    tape.read(json_reply())
    tape.read(b"more")
    tape.expire("idle")
    tape.fail(ConnectionResetError("reset"))
    tape.read(b"")
    transcript = tape.transcript()
    assert (transcript.end, transcript.raw, transcript.error) == (End.COMPLETE, json_reply() + b"more", "")


def _wrapped(cause: Exception) -> Exception:
    try:
        try:
            raise cause
        except Exception as inner:
            raise RuntimeError("wrapper") from inner
    except RuntimeError as outer:
        return outer


def test_reset_is_named() -> None:
    """The operating system's word is found beneath the libraries' wrappers."""
    tape = _tape()
    tape.fail(_wrapped(ConnectionResetError(104, "Connection reset by peer")))
    transcript = tape.transcript()
    assert transcript.end is End.RESET
    assert transcript.error == "ConnectionResetError: Connection reset by peer"


def test_refused_and_timed_out() -> None:
    """A refused connection names no deadline; one that timed out names connect."""
    for timed_out, deadline in ((False, ""), (True, "connect")):
        tape = Tape(method="POST", behaviour=Behaviour(), deadlines=Deadlines())
        tape.refuse(_wrapped(ConnectionRefusedError(111, "Connection refused")), timed_out=timed_out)
        transcript = tape.transcript()
        assert (transcript.end, transcript.deadline, transcript.sent) == (End.REFUSED, deadline, ())
        assert transcript.origin > 0


def test_slow_reader() -> None:
    """A slow reader pauses from its second read on, takes little at once, and pauses no more when all is over."""
    tape = _tape(Behaviour(pause_ms=20))
    assert (tape.pause(), tape.limit(65536)) == (0.0, 4096)
    tape.read(HEAD)
    assert tape.pause() == pytest.approx(0.02)
    tape.read(b"x" * 10)
    assert tape.pause() == 0.0


def test_received_bytes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A response without end is left when it passes the bound."""
    monkeypatch.setattr(tape_module, "MAX_RECEIVED", 1000)
    tape = _tape()
    tape.read(STREAM_HEAD)
    tape.read(b"3e8\r\n" + b"x" * 1000)
    assert tape.transcript().end is End.HANGUP
    assert "1000 bytes" in tape.transcript().error


def test_unknown_hang_up() -> None:
    """An unknown word is refused when the tape is made."""
    with pytest.raises(DriverError):
        Tape(method="POST", behaviour=Behaviour(hang_up="soon"), deadlines=Deadlines())
