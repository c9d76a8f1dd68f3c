"""conformance.upstream.connection: scripts on real sockets, byte for byte, and what is told of them."""

from __future__ import annotations

import contextlib
import itertools
import socket
import statistics
import struct
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.cassette.model import Envelope, EnvelopeEnd, Frame
from conformance.scenario.model import PlayItem
from conformance.upstream.client import SyncControlClient
from conformance.upstream.connection import head_of_one
from conformance.upstream.items import Inline
from conformance.upstream.journal import LOOK_AHEAD, Entry, sent_segments
from conformance.upstream.process import UpstreamProcess
from conformance.upstream.script import script
from conformance.wire.http1 import RequestReader
from conformance.wire.transcript import Arrivals, End, Segment
from tests.upstream.peer import Peer, chat, document, events, fresh_nonce, post

WAIT = 5000.0


def planned(envelope: Envelope, *transforms: str) -> bytes:
    return b"".join(step.data for step in script(envelope, transforms=transforms).steps)


def held(control: SyncControlClient, nonce: str) -> Entry:
    (entry,) = (entry for entry in control.journal() if entry.nonce == nonce)
    return entry


def take_one(control: SyncControlClient, nonce: str) -> Entry:
    (entry,) = control.take(nonce, wait_ms=WAIT)
    return entry


@pytest.mark.parametrize("envelope", [document(), events()], ids=["json", "sse"])
def test_a_complete_envelope_is_played_to_the_byte(
    upstream: UpstreamProcess, control: SyncControlClient, envelope: Envelope
) -> None:
    """Head, chunks and terminator are exactly the script's, and the connection serves the next request."""
    nonce, wire = fresh_nonce(), planned(envelope)
    control.arm(nonce, {"u0": [envelope]})
    with Peer(upstream.ports[0]) as peer:
        for _ in range(2):
            peer.send(chat(nonce))
            assert peer.read_size(len(wire)) == wire
        assert peer.is_silent(0.02)
    first, second = control.take(nonce, wait_ms=WAIT)
    assert (first.end, first.number, first.on_connection, first.request) == (End.COMPLETE, 0, 0, chat(nonce))
    assert (second.number, second.on_connection, second.connection) == (1, 1, first.connection)
    assert b"".join(data for _, data in sent_segments(first, script(envelope))) == wire


@pytest.mark.parametrize(
    ("end", "seen", "told"),
    [
        (EnvelopeEnd.CLOSE, "fin", End.CLOSE),
        (EnvelopeEnd.RESET, "rst", End.RESET),
        (EnvelopeEnd.HALF_CLOSE, "fin", End.CLOSE),
    ],
)
@pytest.mark.parametrize("shape", ["whole", "head only", "nothing"])
def test_an_end_is_seen_as_it_is_written(
    upstream: UpstreamProcess, control: SyncControlClient, end: EnvelopeEnd, seen: str, told: End, shape: str
) -> None:
    """FIN or RST comes after exactly the bytes before it: mid-body, after the head, before any head."""
    head = () if shape == "nothing" else events().head
    envelope = events(end=end) if shape == "whole" else Envelope(head=head, body=b"", frames=(), end=end)
    nonce = fresh_nonce()
    control.arm(nonce, {"u0": [envelope]})
    with Peer(upstream.ports[0]) as peer:
        peer.send(chat(nonce))
        assert peer.read_to_end() == (planned(envelope), seen)
    entry = take_one(control, nonce)
    assert (entry.end, entry.size, entry.open) == (told, len(planned(envelope)), False)


@pytest.mark.parametrize(
    ("word", "seen", "end"), [("@close", "fin", End.CLOSE), ("@reset", "rst", End.RESET)], ids=["close", "reset"]
)
def test_words_end_before_any_head(
    upstream: UpstreamProcess, control: SyncControlClient, word: str, seen: str, end: End
) -> None:
    """@close and @reset end the connection after the request was read, with nothing sent."""
    nonce = fresh_nonce()
    control.arm(nonce, {"u0": [PlayItem(cassette=word)]})
    with Peer(upstream.ports[0]) as peer:
        peer.send(chat(nonce))
        assert peer.read_to_end() == (b"", seen)
    entry = take_one(control, nonce)
    assert (entry.end, entry.played.cassette, entry.writes) == (end, word, ())


def test_a_half_closed_member_still_reads(upstream: UpstreamProcess, control: SyncControlClient) -> None:
    """After its FIN the member keeps its receiving side open until the gateway closes."""
    nonce = fresh_nonce()
    control.arm(nonce, {"u0": [Inline(envelope=events(), transforms=("half-close-after-event:1",))]})
    with Peer(upstream.ports[0]) as peer:
        peer.send(chat(nonce))
        assert peer.read_to_end()[1] == "fin"
        for _ in range(3):
            peer.send(b"x" * 1000)  # a full close would answer with a reset
        assert peer.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
        assert held(control, nonce).open
    entry = take_one(control, nonce)
    assert (entry.end, entry.peer_closed, entry.open) == (End.CLOSE, "mid-body", False)


def test_a_stall_keeps_the_socket_open_until_the_peer_goes(
    upstream: UpstreamProcess, control: SyncControlClient
) -> None:
    """Nothing more comes, no end either; the peer's close is told with its time."""
    envelope = events(end=EnvelopeEnd.STALL)
    nonce = fresh_nonce()
    control.arm(nonce, {"u0": [envelope]})
    with Peer(upstream.ports[0]) as peer:
        peer.send(chat(nonce))
        peer.read_size(len(planned(envelope)))
        assert peer.is_silent(0.05)
        closed_at = time.monotonic()
    entry = take_one(control, nonce)
    assert (entry.end, entry.peer_closed) == (End.STALL, "mid-body")
    assert entry.peer_closed_at is not None
    assert entry.ended_at < closed_at <= entry.peer_closed_at


def test_an_attempt_that_goes_on_is_taken_as_open(upstream: UpstreamProcess, control: SyncControlClient) -> None:
    """When the wait passes, an unfinished attempt is told as open, with what was sent so far."""
    nonce = fresh_nonce()
    control.arm(nonce, {"u0": [events(3, ms=60_000)]})
    with Peer(upstream.ports[0]) as peer:
        peer.send(chat(nonce))
        peer.read_until(lambda data: b'{"n":0}' in data)
        (entry,) = control.take(nonce, wait_ms=30)
    assert (entry.open, entry.end) == (True, End.STALL)
    assert entry.size == len(script(events(3, ms=60_000)).steps[0].data)


CLOSES = {
    "before-head": ("delay-head:60000", b""),
    "before-event": ("delay-event:1:60000", b"\r\n\r\n"),
    "mid-body": ("delay-event:2:60000", b'{"n":0}\n\n'),
}


@pytest.mark.parametrize("point", CLOSES)
@pytest.mark.parametrize("how", ["fin", "rst"])
def test_the_point_at_which_a_peer_went_is_told(
    upstream: UpstreamProcess, control: SyncControlClient, point: str, how: str
) -> None:
    """A close or reset of the gateway is seen at once, wherever the response stands, and ends the play."""
    transform, seen = CLOSES[point]
    nonce = fresh_nonce()
    control.arm(nonce, {"u0": [Inline(envelope=events(), transforms=(transform,))]})
    peer = Peer(upstream.ports[0])
    peer.send(chat(nonce))
    peer.read_until(lambda data: seen in data)
    if how == "rst":
        peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    closed_at = time.monotonic()
    peer.socket.close()
    entry = take_one(control, nonce)
    assert (entry.end, entry.peer_closed) == (End.HANGUP, point)
    assert entry.peer_closed_at is not None
    assert 0 <= entry.peer_closed_at - closed_at < 1.0


def test_a_json_reply_cut_by_the_peer_counts_from_its_first_body_byte(
    upstream: UpstreamProcess, control: SyncControlClient
) -> None:
    """Without events, the first body byte is what comes before mid-body."""
    body = b'{"ok":true}'
    head = document(body).head
    slow = Envelope(head=head, body=body, frames=(Frame(0.0, 1), Frame(60_000.0, len(body) - 1)))
    nonce = fresh_nonce()
    control.arm(nonce, {"u0": [slow]})
    with Peer(upstream.ports[0]) as peer:
        peer.send(chat(nonce))
        peer.read_until(lambda data: data.endswith(b"{"))
    assert take_one(control, nonce).peer_closed == "mid-body"


def test_a_close_after_the_end_is_told_apart(upstream: UpstreamProcess, control: SyncControlClient) -> None:
    """The gateway that closes a kept connection after the whole response did nothing wrong."""
    nonce = fresh_nonce()
    control.arm(nonce, {"u0": [document()]})
    with Peer(upstream.ports[0]) as peer:
        peer.send(chat(nonce))
        peer.read_size(len(planned(document())))
    (entry,) = control.take(nonce, wait_ms=WAIT, settle_ms=50)
    assert (entry.end, entry.peer_closed) == (End.COMPLETE, "after-end")


def test_pipelined_and_split_requests_are_answered_in_order(
    upstream: UpstreamProcess, control: SyncControlClient
) -> None:
    """Two requests in one write, and one byte by byte: each gets its own answer, in order."""
    nonces = [fresh_nonce() for _ in range(3)]
    replies = [document(f'{{"id":"{nonce}"}}'.encode()) for nonce in nonces]
    for nonce, reply in zip(nonces, replies, strict=True):
        control.arm(nonce, {"u0": [reply]})
    wire = b"".join(planned(reply) for reply in replies)
    with Peer(upstream.ports[0]) as peer:
        peer.send(chat(nonces[0]) + chat(nonces[1]))
        for index in range(len(chat(nonces[2]))):
            peer.send(chat(nonces[2])[index : index + 1])
        assert peer.read_size(len(wire)) == wire
    for number, nonce in enumerate(nonces):
        entry = take_one(control, nonce)
        assert entry.on_connection == number
        assert entry.at <= entry.read_at


def test_a_client_that_expects_a_100_gets_it_once(upstream: UpstreamProcess, control: SyncControlClient) -> None:
    """The body is invited before it is sent, and the answer follows."""
    nonce = fresh_nonce()
    control.arm(nonce, {"u0": [document()]})
    request = post(f'{{"prompt":"{nonce}"}}'.encode(), headers="Expect: 100-continue\r\n")
    head, _, body = request.partition(b"\r\n\r\n")
    with Peer(upstream.ports[0]) as peer:
        peer.send(head + b"\r\n\r\n")
        assert peer.read_size(25) == b"HTTP/1.1 100 Continue\r\n\r\n"
        peer.send(body[:4])
        assert peer.is_silent(0.02)
        peer.send(body[4:])
        assert peer.read_size(len(planned(document()))) == planned(document())
    assert take_one(control, nonce).request == request


def test_a_request_without_a_readable_end_is_answered_and_the_connection_closed(upstream: UpstreamProcess) -> None:
    """Contradicting lengths: nothing after the request can be trusted."""
    with Peer(upstream.ports[0]) as peer:
        peer.send(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}")
        data, how = peer.read_to_end()
    assert data.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert how == "fin"


def test_frames_keep_their_times(
    upstream: UpstreamProcess, control: SyncControlClient, record_property: pytest.FixtureRequest
) -> None:
    """Deadlines count from the request: the error of the last frame is no larger than that of the first."""
    envelope = events(30, ms=5.0)
    nonce = fresh_nonce()
    control.arm(nonce, {"u0": [envelope]})
    with Peer(upstream.ports[0]) as peer:
        peer.send(chat(nonce))
        peer.read_size(len(planned(envelope)))
    entry = take_one(control, nonce)
    written = Arrivals(tuple(Segment(at, data) for at, data in sent_segments(entry, script(envelope))))
    steps = script(envelope).steps[:-1]
    ends = itertools.accumulate(len(step.data) for step in steps)
    errors = [(written.at(end - 1) - entry.read_at) * 1000 - step.at for step, end in zip(steps, ends, strict=True)]
    assert min(errors) > -0.2, "no frame is early, but for the grain of the journal"
    assert statistics.median(errors) < 50.0, "a machine under load is late, but does not drift"
    record_property("timing_error_ms_p50", round(statistics.median(errors), 3))  # type: ignore[operator]
    record_property("timing_error_ms_max", round(max(errors), 3))  # type: ignore[operator]


def test_a_slow_reader_holds_the_script_back(upstream: UpstreamProcess, control: SyncControlClient) -> None:
    """Bytes count as sent when the kernel takes them; later steps wait, and nothing is lost."""
    size = 12 * 1024 * 1024
    envelope = Inline(envelope=events(3), transforms=(f"big-event:{size}",))
    wire = planned(envelope.envelope, *envelope.transforms)
    nonce = fresh_nonce()
    control.arm(nonce, {"u0": [envelope]})
    with Peer(upstream.ports[0]) as peer:
        peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        peer.send(chat(nonce))
        peer.read_until(lambda data: len(data) > 1000)
        before = held(control, nonce)
        assert before.open
        assert before.size < len(wire)
        paused = time.monotonic()
        assert peer.read_size(len(wire)) == wire
    entry = take_one(control, nonce)
    assert (entry.end, entry.size) == (End.COMPLETE, len(wire))
    assert entry.writes[-1][0] > paused
    assert b"".join(data for _, data in sent_segments(entry, script(events(3), transforms=envelope.transforms))) == wire


def test_a_peer_that_goes_while_the_script_is_held_back_is_seen(
    upstream: UpstreamProcess, control: SyncControlClient
) -> None:
    """A full kernel buffer does not hide the close; what was sent is less than the script.

    An event of more than a MiB counts as begun.
    """
    nonce = fresh_nonce()
    control.arm(nonce, {"u0": [Inline(envelope=events(), transforms=("big-event:12000000",))]})
    with Peer(upstream.ports[0]) as peer:
        peer.send(chat(nonce))
        peer.read_until(lambda data: len(data) > 1000)
    entry = take_one(control, nonce)
    assert entry.end is End.HANGUP
    assert entry.peer_closed == ("mid-body" if entry.size > LOOK_AHEAD else "before-event")
    assert entry.size < 12_000_000


def test_bytes_before_a_reset_arrive(upstream: UpstreamProcess, control: SyncControlClient) -> None:
    """The reset waits until the kernel has sent what came before it, also to a slow reader."""
    envelope = events(20, end=EnvelopeEnd.RESET)
    nonce = fresh_nonce()
    control.arm(nonce, {"u0": [Inline(envelope=envelope, transforms=("split-every-byte",))]})
    wire = planned(envelope, "split-every-byte")
    with Peer(upstream.ports[0]) as peer:
        peer.send(chat(nonce))
        assert peer.read_to_end() == (wire, "rst")


def test_a_close_over_unread_bytes_is_still_a_fin(upstream: UpstreamProcess, control: SyncControlClient) -> None:
    """Bytes that the gateway had sent on do not turn the member's close into a reset."""
    nonce = fresh_nonce()
    control.arm(nonce, {"u0": [events(2, ms=20, end=EnvelopeEnd.CLOSE)]})
    with Peer(upstream.ports[0]) as peer:
        peer.send(chat(nonce))
        with contextlib.suppress(OSError):
            peer.send(b"POST / HTTP/1.1\r\nContent-Length: 100000\r\n\r\n" + b"x" * 1000)
        assert peer.read_to_end()[1] == "fin"


ORDINARY = [
    chat("cf-abcdef"),
    post(b""),
    b"GET /health HTTP/1.1\r\nHost: m\r\n\r\n",
    b"POST / HTTP/1.1\r\ncontent-length:5\r\nConnection: keep-alive\r\n\r\nhello",
]


@pytest.mark.parametrize("request_bytes", ORDINARY)
def test_an_ordinary_request_is_known_at_a_glance(request_bytes: bytes) -> None:
    """Whole and alone; one byte less or more is the reader's matter."""
    assert head_of_one(request_bytes) == request_bytes.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
    assert not head_of_one(request_bytes[:-1])
    assert not head_of_one(request_bytes + b"G")
    assert not head_of_one(b"\r\n" + request_bytes)


@settings(max_examples=500, deadline=None, derandomize=True)
@given(
    st.lists(
        st.sampled_from(
            [
                *(b"GET / HTTP/1.1", b"POST /x", b"\r\n", b"\n", b"\r", b" ", b":", b"ab"),
                *(b"Content-Length: 2", b"Content-Length:2, 2", b"content-length: +2", b"Expect: 100-continue"),
                *(b"Transfer-Encoding: chunked", b"2\r\nab\r\n0\r\n\r\n"),
            ]
        ),
        max_size=12,
    ).map(b"".join)
)
def test_the_glance_never_differs_from_the_reader(data: bytes) -> None:
    """Where it says one request, the reader gives exactly that one and keeps nothing."""
    if head_of_one(data):
        reader = RequestReader()
        reader.feed(data)
        assert (reader.take(), reader.broken, reader.expect_continue) == (data, False, False)
        assert (reader.take(), reader.head_seen) == (None, False)
