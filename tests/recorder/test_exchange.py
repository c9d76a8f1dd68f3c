"""conformance.recorder.exchange: what is remembered of one exchange."""

from __future__ import annotations

from conformance.recorder.exchange import Exchange
from conformance.wire.transcript import End, Segment


def test_times_are_of_the_first_byte_on() -> None:
    """In milliseconds; the request joined is what was passed on so far."""
    exchange = Exchange(method="POST", began=10.0, reused=False)
    exchange.sent(b"PO", 10.0)
    exchange.sent(b"ST", 10.5)
    assert exchange.request == b"POST"
    assert not exchange.answered
    exchange.received(b"HTTP/1.1 ", 11.0)
    assert (exchange.answered, exchange.last) == (True, 11.0)
    passed = exchange.transcript(End.CLOSE, 12.0)
    assert passed.sent == (Segment(0.0, b"PO"), Segment(500.0, b"ST"))
    assert passed.received == (Segment(1000.0, b"HTTP/1.1 "),)
    assert (passed.end, passed.ended_at, passed.error) == (End.CLOSE, 2000.0, "")


def test_a_large_exchange_is_followed_and_not_kept() -> None:
    """Past the bound nothing is held, its end is seen, and the transcript says why there is nothing."""
    exchange = Exchange(method="POST", began=0.0, reused=False, most=100)
    exchange.received(b"HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\n", 1.0)
    for _ in range(4):
        exchange.received(b"x" * 50, 2.0)
    assert exchange.reader.complete
    passed = exchange.transcript(End.COMPLETE, 3.0)
    assert (passed.end, passed.error, passed.received) == (End.HANGUP, "it is larger than 100 bytes", ())


def test_a_connection_that_was_closed_meanwhile_says_nothing() -> None:
    """No byte of a response on a connection that had served before; on a fresh one it is what the provider did."""
    for end in (End.CLOSE, End.RESET):
        assert Exchange(method="POST", began=0.0, reused=True).transcript(end, 1.0).end is End.HANGUP
        assert Exchange(method="POST", began=0.0, reused=False).transcript(end, 1.0).end is end
    assert Exchange(method="POST", began=0.0, reused=True).transcript(End.STALL, 1.0).end is End.STALL
