"""conformance.recorder.request: what is passed on for a client's request."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.driver.request import locate
from conformance.recorder.request import RequestFollower, Route, rewritten

ROUTE = Route(place=locate("https://api.test/v1"))
KEYED = Route(place=locate("https://api.test:8443/v1"), key="sk-real-1")
HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nHOST:  127.0.0.1:5 \r\nX-A: b\r\n"
LENGTH = HEAD + b"Content-Length: 4\r\n\r\nbody"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n3;a=b\r\nbod\r\n1\r\ny\r\n0\r\nT: x\r\n\r\n"


def fed(pieces: list[bytes], route: Route = ROUTE) -> tuple[bytes, RequestFollower]:
    """All that is passed on."""
    follower = RequestFollower(route)
    return b"".join(follower.feed(piece) for piece in pieces), follower


@pytest.mark.parametrize("raw", [LENGTH, CHUNKED, b"GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n"])
@given(data=st.data())
@settings(max_examples=40, derandomize=True, deadline=None, database=None)
def test_nothing_but_the_host_changes_however_it_comes(raw: bytes, data: st.DataObject) -> None:
    """Cut anywhere, with another request behind it: the same bytes with another host, and the rest is the rest."""
    both = raw + b"GET /next"
    cuts = sorted(data.draw(st.sets(st.integers(0, len(both)), max_size=6)) | {0, len(both)})
    passed, follower = fed([both[a:b] for a, b in pairwise(cuts)])
    assert passed == raw.replace(b"127.0.0.1:5", b"api.test").replace(b"Host: x", b"Host: api.test")
    assert (follower.whole, follower.rest, follower.refusal) == (True, b"GET /next", None)


def test_the_key_stands_where_the_client_put_one() -> None:
    """In its order and case, with its scheme's spelling; other lines, and a request without a key, stay."""
    head = b"GET / HTTP/1.1\r\nhost: x\r\nAUTHORIZATION: bearer sk-test\r\nX-Api-Key:sk-test\r\nA: sk-test\r\n\r\n"
    assert rewritten(head, KEYED) == (
        b"GET / HTTP/1.1\r\nhost: api.test:8443\r\nAUTHORIZATION: bearer sk-real-1\r\n"
        b"X-Api-Key:sk-real-1\r\nA: sk-test\r\n\r\n"
    )
    bare = b"GET / HTTP/1.1\nHost: x\nAuthorization: Basic\n abc\nB: c\n d\n\n"
    assert rewritten(bare, KEYED) == (
        b"GET / HTTP/1.1\nHost: api.test:8443\nAuthorization: Bearer sk-real-1\nB: c\n d\n\n"
    )
    assert b"sk-real" not in rewritten(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", KEYED)
    assert "sk-real" not in repr(KEYED)


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"GET http://api.test/v1/models HTTP/1.1\r\nHost: x\r\n\r\n", "400"),
        (b"CONNECT api.test:443 HTTP/1.1\r\nHost: x\r\n\r\n", "400"),
        (b"PRI * HTTP/2.0\r\n\r\n", "505"),
        (b"nonsense\r\n\r\n", "505"),
        (b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "400"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "400"),
        (b"GET / HTTP/1.1\r\nA: " + b"a" * 300_000, "431"),
    ],
)
def test_what_is_not_passed_on(raw: bytes, status: str) -> None:
    """Proxy requests, other versions, and what has no end that can be told are refused with a reason."""
    _, follower = fed([raw])
    assert follower.refusal is not None
    assert follower.refusal.status.startswith(status)
    assert follower.refusal.why
    assert follower.feed(b"more") == b""


def test_a_page_in_a_browser_does_not_get_the_key() -> None:
    """What has an Origin is refused where the recorder holds a key, and passed on where it holds none."""
    raw = b"GET /v1/models HTTP/1.1\r\nHost: x\r\nOrigin: https://evil.test\r\n\r\n"
    passed, follower = fed([raw], KEYED)
    assert passed == b""
    assert follower.refusal is not None
    assert follower.refusal.status.startswith("403")
    assert fed([raw])[1].whole


def test_a_body_that_waits_to_be_asked_for() -> None:
    """Expect: 100-continue is known from the head alone."""
    passed, follower = fed([HEAD + b"Expect: 100-Continue\r\nContent-Length: 4\r\n\r\n"])
    assert passed.endswith(b"\r\n\r\n")
    assert (follower.expects, follower.whole, follower.method) == (True, False, "POST")
