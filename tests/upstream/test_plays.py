"""conformance.upstream.plays: the nonce in a request, and what is played next."""

from __future__ import annotations

import gzip
import json

import pytest

from conformance.scenario.model import PlayItem
from conformance.upstream.items import WORDS, Planned, Scripts
from conformance.upstream.journal import Played
from conformance.upstream.plays import ArmedPlay, find_nonce, plan_play
from tests.upstream.peer import post

NONCE = "cf-abc123"
ARMED = {NONCE}


def planned(word: str) -> Planned:
    return Planned(Played(cassette=word), WORDS[word])


def coded(body: bytes, headers: str) -> bytes:
    return post(body, headers=headers)


def chunked(body: bytes, size: int) -> bytes:
    pieces = [body[index : index + size] for index in range(0, len(body), size)]
    wire = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
    return b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + wire


BODY = json.dumps({"messages": [{"role": "user", "content": f"Say.\n{NONCE}\nNow."}]}).encode()

REQUESTS = {
    "plain": post(BODY),
    "in a JSON string in JSON": post(json.dumps({"body": BODY.decode()}).encode()),
    "escaped hyphen": post(BODY.replace(b"cf-", b"cf\\u002d")),
    "escaped letters": post(BODY.replace(b"cf-abc", b"\\u0063\\u0066\\u002D\\u0061bc")),
    "escaped twice": post(BODY.replace(b"cf-", b"cf\\\\u002d")),
    "split by chunks": chunked(BODY, 3),
    "gzip": coded(gzip.compress(BODY, mtime=0), "Content-Encoding: gzip\r\n"),
    "gzip and escaped": coded(gzip.compress(BODY.replace(b"-", b"\\u002d"), mtime=0), "content-encoding: gzip\r\n"),
    "in the target": f"GET /v1/search?q=x+{NONCE} HTTP/1.1\r\n\r\n".encode(),
    "in the target, percent-encoded": b"GET /v1/search?q=%63f%2Dabc123%20 HTTP/1.1\r\n\r\n",
    "after an unknown one": post(b'"cf-zzzzzz ' + BODY),
    "before an unknown one": post(BODY + b" cf-zzzzzz"),
}


@pytest.mark.parametrize("request_bytes", REQUESTS.values(), ids=list(REQUESTS))
def test_the_armed_nonce_is_found(request_bytes: bytes) -> None:
    """Wherever it stands and however it is coded; an armed one is preferred to an unknown one."""
    assert find_nonce(request_bytes, ARMED) == NONCE


def test_of_several_armed_the_last_wins() -> None:
    """The last user message is the last."""
    assert find_nonce(post(b"cf-abc123 cf-def456"), {"cf-abc123", "cf-def456"}) == "cf-def456"


def test_an_unknown_nonce_is_still_named() -> None:
    """So that the 599 can say which it was."""
    assert find_nonce(post(b"cf-unknown1 and cf-unknown2"), ARMED) == "cf-unknown2"


@pytest.mark.parametrize(
    "request_bytes",
    [
        post(b"no nonce here"),
        post(b"cf-abc cf-ABCDEF cf_abcdef"),
        post(b"{}", headers="cf-connecting-ip: 1.2.3.4\r\nX-Note: cf-abc123\r\n"),
        b"GET / HTTP/1.1\r\n\r\n",
        b"garbage",
        b"",
    ],
)
def test_headers_and_lookalikes_hold_no_nonce(request_bytes: bytes) -> None:
    """A proxy's own cf- headers are not ours; five letters are too few; any bytes are read."""
    assert find_nonce(request_bytes, ARMED) == ""


def test_a_coding_that_lies_is_no_error() -> None:
    """A body that is not what its coding says is read as it is."""
    assert find_nonce(coded(BODY, "Content-Encoding: br\r\n"), ARMED) == NONCE
    assert find_nonce(coded(b"\x1f\x8bjunk", "Content-Encoding: gzip\r\n"), ARMED) == ""


def test_the_last_item_repeats_and_members_count_for_themselves() -> None:
    """Number and item of each attempt; nothing planned is None."""
    play = ArmedPlay(NONCE, {"u0": [planned("@reset"), planned("@close")], "u1": []}, [planned("@hang")])

    def words(member: str, times: int) -> list[tuple[int, str]]:
        steps = [play.next(member) for _ in range(times)]
        return [(number, item.played.cassette if item else "") for number, item in steps]

    assert words("u0", 3) == [(0, "@reset"), (1, "@close"), (2, "@close")]
    assert words("u1", 1) == [(0, "")]
    assert words("u2", 2) == [(0, "@hang"), (1, "@hang")]


def test_the_members_that_refuse_are_those_whose_list_says_so() -> None:
    """By name."""
    play = ArmedPlay(NONCE, {"u0": [planned("@reset")], "u1": [planned("@refuse")]}, [planned("@hang")])
    assert play.refusing == ("u1",)


def test_a_play_is_planned_for_known_members() -> None:
    """Lists and default become scripts."""
    items = [PlayItem(cassette="@reset")]
    play = plan_play(Scripts(lambda name: pytest.fail(name)), NONCE, {"u0": items}, items, ("u0",))
    assert play.next("u0")[1] == play.next("u5")[1] == planned("@reset")
