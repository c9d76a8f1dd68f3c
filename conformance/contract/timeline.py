"""A sequence as lines of text, one for each thing that happened, and findings that point at a line.

The evidence of clauses over sequences, as raw bytes are that of the others. Pure; decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from conformance.contract.clause import Finding
from conformance.contract.history import fate_of
from conformance.exchange.sequence import Dispatch, Sequence, Turn
from conformance.wire.facts import Span

#: The leg of a finding on a sequence.
LEG = "timeline"


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that happened, at `at` ms: a dispatch (its attempt's index), or one end of a turn."""

    at: float
    text: str
    turn: Turn
    index: int | None = None


def lines(sequence: Sequence) -> tuple[Line, ...]:
    """What happened, in order."""
    return tuple(sorted(_lines(sequence), key=lambda line: line.at))


def _lines(sequence: Sequence) -> Iterator[Line]:
    for turn in sequence.turns:
        place = "" if turn.lane == "own" else f" in the {turn.lane} lane"
        yield Line(turn.began, f"{turn.label} the client asks{place}", turn)
        yield Line(turn.ended, f"{turn.label} the client has {_seen(turn)}", turn)
    for dispatch in sequence.dispatches:
        yield Line(dispatch.at, f"{dispatch.turn.label} {_told(dispatch)}", dispatch.turn, dispatch.index)


def text(shown: tuple[Line, ...]) -> bytes:
    """The lines as bytes, each with a line feed."""
    return b"".join(_bytes(line) for line in shown)


def at_dispatch(sequence: Sequence, dispatch: Dispatch, expected: str, actual: str) -> Finding:
    """A finding on one dispatch."""
    return _finding(sequence, dispatch.turn, dispatch.index, dispatch.at, expected, actual)


def at_turn(sequence: Sequence, turn: Turn, expected: str, actual: str) -> Finding:
    """A finding on what the client had of one turn."""
    return _finding(sequence, turn, None, turn.ended, expected, actual)


def _finding(sequence: Sequence, turn: Turn, index: int | None, at: float, expected: str, actual: str) -> Finding:
    offset = 0
    for line in lines(sequence):
        data = _bytes(line)
        if line.turn is turn and line.index == index and line.at == at:
            span = Span(offset, offset + len(data) - 1)
            return Finding(expected=expected, actual=actual, leg=LEG, span=span, at=at, excerpt=data[:-1])
        offset += len(data)
    return Finding(expected=expected, actual=actual, leg=LEG, at=at)


def _bytes(line: Line) -> bytes:
    return line.text.encode() + b"\n"


def _told(dispatch: Dispatch) -> str:
    attempt = dispatch.attempt
    status = str(attempt.reply.status) if attempt.reply is not None and attempt.reply.status else "nothing"
    fate = fate_of(dispatch.turn.exchange, attempt).value
    took = attempt.ended_at - attempt.at
    return f"{dispatch.member} is asked: {status}, {attempt.end.value} after {took:.1f} ms ({fate})"


def _seen(turn: Turn) -> str:
    exchange = turn.exchange
    if exchange.hangup is not None:
        return "hung up"
    status = str(exchange.reply.status) if exchange.reply is not None and exchange.reply.status else "nothing"
    return f"{status}, {exchange.end.value}"
