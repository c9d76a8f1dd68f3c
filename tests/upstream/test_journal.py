"""conformance.upstream.journal: entries as data and JSON, and the bytes behind them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from conformance.errors import UpstreamError
from conformance.upstream.journal import Entry, Played, close_point, decode_entry, encode_entry, sent_segments
from conformance.upstream.script import script
from conformance.wire.transcript import End
from tests.upstream.peer import document, events

ENTRY = Entry(
    nonce="cf-abcdef",
    member="u1",
    port=4001,
    number=2,
    played=Played(cassette="a/b", interaction=1, transforms=("drop-done", "rechunk:3")),
    at=12.5,
    read_at=12.625,
    request=b"POST / HTTP/1.1\r\n\r\n\xff\x00",
    writes=((12.75, 10), (13.0, 5)),
    end=End.HANGUP,
    ended_at=13.5,
    peer_closed="mid-body",
    peer_closed_at=13.5,
    open=True,
    connection=7,
    on_connection=3,
)


@pytest.mark.parametrize("entry", [ENTRY, replace(ENTRY, peer_closed_at=None, writes=(), played=Played(digest="ab"))])
def test_an_entry_survives_its_json(entry: Entry) -> None:
    """Bytes, times and enums come back as they were."""
    assert decode_entry(json.loads(encode_entry(entry))) == entry


@pytest.mark.parametrize("change", [{"end": "never"}, {"request": "!"}, {"played": None}, {"more": 1}, {"writes": [1]}])
def test_what_is_no_entry_is_an_upstream_error(change: dict[str, object]) -> None:
    """A harness fault, not the target's."""
    with pytest.raises(UpstreamError, match="cannot be read"):
        decode_entry({**json.loads(encode_entry(ENTRY)), **change})


def test_the_sent_bytes_are_the_scripts_as_far_as_they_were_written() -> None:
    """Cut at each write, with its time; nothing past the last one."""
    wire = b"".join(step.data for step in script(events()).steps)
    assert ENTRY.size == 15
    assert sent_segments(ENTRY, script(events())) == ((12.75, wire[:10]), (13.0, wire[10:15]))


def test_more_bytes_than_the_script_has_are_refused() -> None:
    """Then it is not the script that was played."""
    with pytest.raises(UpstreamError, match="not the one that was played"):
        sent_segments(replace(ENTRY, writes=((1.0, 10_000),)), script(document()))


@pytest.mark.parametrize(
    ("sent", "point"),
    [
        (b"", "before-head"),
        (b"HTTP/1.1 200 OK\r\nA: b\r\n", "before-head"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "before-event"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{", "mid-body"),
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hi\n\ndata: a\n", "before-event"),
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: a\n\n", "mid-body"),
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: " + b"a" * 1_100_000, "mid-body"),
    ],
)
def test_the_point_of_a_close_is_read_from_what_was_sent(sent: bytes, point: str) -> None:
    """The head, then the first event (for JSON the first byte), then the rest."""
    assert close_point(sent) == point


def test_chunks_do_not_hide_the_first_event() -> None:
    """An event in two chunks has come when its second half has."""
    wire = b"".join(step.data for step in script(events(1), transforms=("rechunk:8",)).steps)
    first = wire.index(b"data: {")
    assert close_point(wire[: first + 4]) == "before-event"
    assert close_point(wire[: wire.index(b"[DO")]) == "mid-body"
