"""conformance.recorder.interaction: what passed becomes what a cassette holds, and plays the same again."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.cassette import dialect
from conformance.cassette.codec import decode
from conformance.cassette.model import Cassette, Envelope, EnvelopeEnd, Frame
from conformance.cassette.pieces import joined, piece
from conformance.cassette.store import Library
from conformance.errors import CassetteError
from conformance.recorder.interaction import Reading, interaction_of
from conformance.recorder.known import Known
from conformance.recorder.redact import cleaned
from conformance.upstream.script import Action, script
from conformance.wire.transcript import End, Segment, Transcript

LIBRARY = Library()
REQUEST = b"POST /v1/x?a=b HTTP/1.1\r\nHost: api.test\r\nB: 1\r\na: 2\r\nB: 3\r\nContent-Length: 2\r\n\r\n{}"
STREAM = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
ENDS = {
    Action.KEEP: End.COMPLETE,
    Action.CLOSE: End.CLOSE,
    Action.RESET: End.RESET,
    Action.STALL: End.STALL,
    Action.HALF_CLOSE: End.CLOSE,
}
quick = settings(max_examples=30, derandomize=True, deadline=None, database=None)


def passed(*received: tuple[float, bytes], end: End = End.COMPLETE, request: bytes = REQUEST) -> Transcript:
    """A transcript of these reads."""
    segments = tuple(Segment(at, data) for at, data in received)
    return Transcript(sent=(Segment(0.0, request),), received=segments, end=end, ended_at=99.0)


def read(*received: tuple[float, bytes], end: End = End.COMPLETE, request: bytes = REQUEST) -> Reading:
    """Its reading."""
    return interaction_of(passed(*received, end=end, request=request), "https://api.test")


def envelope(reading: Reading) -> Envelope:
    """The envelope that was read."""
    assert reading.interaction is not None, reading.reason
    return reading.interaction.envelope


def played(one: Envelope) -> list[tuple[float, Action, bytes]]:
    """What the replay upstream does with it."""
    return [(step.at, step.action, step.data) for step in script(one).steps]


@pytest.mark.parametrize("name", LIBRARY.names())
def test_what_is_played_is_read_as_what_it_was(name: str) -> None:
    """Every shipped cassette, played and read step by step: head, content, frames with their times, and end."""
    for interaction in LIBRARY.get(name).interactions:
        one = interaction.envelope
        steps = script(one).steps
        sends = [(step.at, step.data) for step in steps if step.action is Action.SEND]
        again = envelope(read(*sends, end=ENDS[steps[-1].action]))
        assert (again.head, again.body, again.end) == (one.head, one.body, one.end)
        assert again.frames == one.frames
        assert played(again) == played(one)


@given(data=st.data(), chunked=st.booleans(), end=st.sampled_from([End.COMPLETE, End.CLOSE, End.RESET, End.STALL]))
@quick
def test_what_is_read_plays_the_bytes_that_came(data: st.DataObject, chunked: bool, end: End) -> None:
    """Cut anywhere and ended anyhow: the script of what is written gives the same bytes, and frames never go back."""
    parts = data.draw(st.lists(st.binary(min_size=1, max_size=40), max_size=5))
    body = (
        b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n" if chunked else b"".join(parts)
    )
    head = STREAM if chunked else b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
    raw = head + body
    if end is not End.COMPLETE:
        raw = raw[: data.draw(st.integers(len(head), len(raw) - 1))] if len(raw) > len(head) else raw
    cuts = sorted(data.draw(st.sets(st.integers(0, len(raw)), max_size=8)) | {0, len(raw)})
    pieces = [(float(at), raw[a:b]) for at, (a, b) in enumerate(pairwise(cuts))]
    reading = read(*pieces, end=end if raw != head + body else End.COMPLETE)
    one = envelope(reading)
    times = [frame.at for frame in one.frames]
    assert times == sorted(times)
    assert sum(frame.size for frame in one.frames) == len(one.body)
    sent = b"".join(step.data for step in script(one).steps if step.action is Action.SEND)
    if reading.notes:
        assert chunked
        assert end is not End.COMPLETE
    else:
        assert sent == raw


def test_the_request_as_it_was_passed_on() -> None:
    """Method, absolute URI, header lines in order and case, body; a chunked one without its chunks."""
    interaction = read((1.0, b"HTTP/1.1 204 No Content\r\n\r\n")).interaction
    assert interaction is not None
    request = interaction.request
    assert (request.method, request.uri, request.body) == ("POST", "https://api.test/v1/x?a=b", b"{}")
    assert request.headers == (("Host", "api.test"), ("B", "1"), ("a", "2"), ("B", "3"), ("Content-Length", "2"))
    chunked = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
    interaction = read((1.0, b"HTTP/1.1 204 No Content\r\n\r\n"), request=chunked).interaction
    assert interaction is not None
    assert interaction.request.body == b"{}"


def test_chunks_are_frames() -> None:
    """One that comes in pieces is one frame when its last byte comes; several that come at once are as many frames."""
    one = envelope(read((5, STREAM), (7, b"4\r\nab"), (9.5, b"cd\r\n1\r\ne\r\n2\r"), (12, b"\nfg\r\n0\r\n\r\n")))
    assert one.frames == (Frame(4.5, 4), Frame(4.5, 1), Frame(7.0, 2))


def test_reads_are_frames_where_there_are_no_chunks() -> None:
    """What comes with the head is at 0, and nothing else is."""
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
    one = envelope(read((5, head[:9]), (8, head[9:] + b"ab"), (8.0001, b"c"), (20.5, b"de")))
    assert one.frames == (Frame(0.0, 2), Frame(0.001, 1), Frame(12.5, 2))


def test_a_body_that_runs_until_close_is_complete() -> None:
    """The FIN is its framing; a length that was not reached is a close."""
    assert envelope(read((1, b"HTTP/1.1 200 OK\r\n\r\nab"), end=End.CLOSE)).end is EnvelopeEnd.COMPLETE
    short = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"
    assert envelope(read((1, short), end=End.CLOSE)).end is EnvelopeEnd.CLOSE
    assert envelope(read((1, short), end=End.RESET)).end is EnvelopeEnd.RESET


@pytest.mark.parametrize("end", [End.CLOSE, End.RESET, End.STALL])
def test_nothing_came(end: End) -> None:
    """No head, and how it ended."""
    one = envelope(read(end=end))
    assert (one.head, one.body, one.frames, one.end.value) == ((), b"", (), end.value)


def test_bytes_past_the_length_are_kept() -> None:
    """What a head does not announce is still a part of what came, and is played."""
    one = envelope(read((1, b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nabc")))
    assert one.body == b"abc"
    one = envelope(read((1, b"HTTP/1.1 204 No Content\r\n\r\nabc")))
    assert one.body == b"abc"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"HTTP/1.1 200 OK\nContent-Length: 0\n\n", "line"),
        (b"HTTP/1.1 200 OK\r\nA: b\n\tc\r\nContent-Length: 0\r\n\r\n", "line"),
        (b"HTTP/1.1 200 OK\r\nA: b\r\n", "no whole head"),
        (STREAM + b"zz\r\nabc", "framed"),
        (STREAM + b"0\r\n\r\nmore", "framed"),
        (b"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", "framed"),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "switched"),
    ],
)
def test_what_a_cassette_cannot_hold_is_not_written(raw: bytes, reason: str) -> None:
    """Never a version of it that was put right."""
    reading = read((1, raw), end=End.CLOSE)
    assert reading.interaction is None
    assert reason in reading.reason


def test_what_is_left_out_is_noted() -> None:
    """Trailers, extensions and spellings of chunks, and interim responses other than 100."""
    reading = read((1, STREAM + b"0003;x=y\r\nabc\r\n0\r\nT: v\r\n\r\n"))
    assert envelope(reading).body == b"abc"
    assert any("trailers" in note for note in reading.notes)
    interim = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
    reading = read((1, interim + b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
    assert envelope(reading).head[0] == "HTTP/1.1 200 OK"
    assert [note for note in reading.notes if "103" in note]
    assert not [note for note in reading.notes if "100" in note]


def test_who_left_and_what_was_not_whole_is_not_written() -> None:
    """A client that went away; a request answered in its middle. One that was never asked for its body is written."""
    ok = (1.0, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    assert "client left" in read(ok, end=End.HANGUP).reason
    assert "before it was whole" in read(ok, request=REQUEST[:-1]).reason
    waiting = b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    assert envelope(read((1.0, b"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n"), request=waiting)).head


HEADS = [b"HTTP/1.1 200 OK\r\n", b"HTTP/1.0 204 \r\n", b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/2 200\r\n"]
FIELDS = [
    b"Content-Length: 3\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Content-Encoding: gzip\r\n",
    b"A: \xff\x00\r\n",
]
ODD = [b": x\r\n", b" fold\r\n", b"x-request-id: req_123456789\r\n", b"\r\n", b"\n", b"B: c\n"]
BODIES = [b"\r\n", b"abc", b"3\r\nabc\r\n", b"0\r\n\r\n", b"5;x\r\nab", b"{{nonce}}", b"\xf0\x9f", b"data: x...\n\n"]
RESPONSE = st.tuples(
    st.sampled_from(HEADS),
    st.lists(st.sampled_from(FIELDS + ODD), max_size=3).map(b"".join),
    st.just(b"\r\n"),
    st.lists(st.sampled_from(BODIES) | st.binary(max_size=6), max_size=4).map(b"".join),
)
ASKED = [
    REQUEST,
    b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /\xff HTTP/1.1\r\n\r\n",
    b"",
    REQUEST[:-1],
    b"\x00 \r\n\r\n",
]


@given(pieces=RESPONSE, asked=st.sampled_from(ASKED), end=st.sampled_from(list(End)))
@settings(max_examples=400, derandomize=True, deadline=None, database=None)
def test_whatever_comes_is_read_or_has_a_reason(pieces: tuple[bytes, ...], asked: bytes, end: End) -> None:
    """Never an exception; what is written is cleaned, plays, and is read again from a file as it was."""
    received = [(float(at), data) for at, data in enumerate(pieces)]
    reading = read(*received, end=end, request=asked)
    assert (reading.interaction is None) is bool(reading.reason)
    if reading.interaction is None:
        return
    known = Known()
    known.told("sk-a-key-1", member=False)
    clean = cleaned(reading.interaction, known).interaction
    assert len(clean.envelope.body) == len(reading.interaction.envelope.body)
    script(clean.envelope)
    with suppress(CassetteError):
        cassette = Cassette(name="x", interactions=(clean,), origin="recorded")
        again = decode(dialect.parse(joined(cassette, [piece(clean)]).encode("utf-8", "surrogatepass")), name="x")
        assert script(again.interactions[0].envelope) == script(clean.envelope)
