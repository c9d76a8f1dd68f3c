"""conformance.upstream.control: the control port, as raw requests see it."""

from __future__ import annotations

import http.client
import json
from typing import Any

import pytest

from conformance.upstream.items import encode_item
from conformance.upstream.process import UpstreamProcess
from tests.upstream.peer import Peer, document, fresh_nonce


def call(
    upstream: UpstreamProcess, method: str, path: str, body: str | None = None, *, token: str | None = None
) -> tuple[int, dict[str, Any]]:
    given = upstream.address.token if token is None else token
    connection = http.client.HTTPConnection("127.0.0.1", upstream.address.control_port, timeout=10)
    try:
        connection.request(method, path, body=body, headers={"Authorization": f"Bearer {given}"} if given else {})
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


@pytest.mark.parametrize("token", ["", "wrong", "\u00e9"])
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/arm"),
        ("POST", "/take"),
        ("GET", "/journal"),
        ("GET", "/stray"),
        ("GET", "/health"),
        ("POST", "/shutdown"),
    ],
)
def test_every_call_wants_the_token(upstream: UpstreamProcess, method: str, path: str, token: str) -> None:
    """Without the right bearer token there is nothing but a 401, and the upstream lives on."""
    status, told = call(upstream, method, path, "{}", token=token)
    assert status == 401
    assert "token" in told["error"]["what"]
    assert upstream.alive


def test_the_token_is_long_and_random(upstream: UpstreamProcess) -> None:
    """At least 256 bits, in a form that fits a header."""
    assert len(upstream.address.token) >= 43
    assert upstream.address.token.isascii()


@pytest.mark.parametrize(
    ("method", "path", "body", "what"),
    [
        ("GET", "/nowhere", None, "no /nowhere"),
        ("GET", "/arm", None, "takes POST"),
        ("POST", "/arm", "{", "no JSON"),
        ("POST", "/arm", "[1]", "no JSON object"),
        ("POST", "/arm", "{}", "no nonce"),
        ("POST", "/arm", '{"nonce":"cf-short"}', "no nonce"),
        ("POST", "/arm", '{"nonce":"cf-ABCDEF"}', "no nonce"),
        ("POST", "/arm", '{"nonce":"cf-abcdef","members":[]}', "object of lists"),
        ("POST", "/arm", '{"nonce":"cf-abcdef","members":{"u0":{}}}', "list of items"),
        ("POST", "/arm", '{"nonce":"cf-abcdef","default":[{}]}', "exactly one of"),
        ("POST", "/arm", '{"nonce":"cf-abcdef","default":[{"cassette":1}]}', "not text"),
        ("POST", "/arm", '{"nonce":"cf-abcdef","default":[{"envelope":{"head":[]}}]}', "cannot be read"),
        ("POST", "/arm", '{"nonce":"cf-abcdef","default":[{"envelope":{"head":[],"body":"","end":"x"}}]}', "cannot be"),
        ("POST", "/take", '{"nonce":"cf-abcdef","wait_ms":-1}', "wait_ms"),
        ("POST", "/take", '{"nonce":"cf-abcdef","wait_ms":true}', "wait_ms"),
        ("POST", "/take", '{"nonce":"cf-abcdef","settle_ms":"1"}', "settle_ms"),
    ],
)
def test_bad_input_is_a_400_that_says_what_and_where(
    upstream: UpstreamProcess, method: str, path: str, body: str | None, what: str
) -> None:
    """The answer has kind, what, where and hint."""
    status, told = call(upstream, method, path, body)
    assert status == 400
    assert what in told["error"]["what"]
    assert told["error"]["where"]
    assert set(told["error"]) == {"kind", "what", "where", "hint"}


def test_a_play_is_armed_and_taken_by_plain_http(upstream: UpstreamProcess) -> None:
    """What a person can do with curl: arm by JSON, take the (empty) attempts."""
    nonce = fresh_nonce()
    armed = json.dumps({"nonce": nonce, "members": {"u0": [encode_item(document()), {"special": "@reset"}]}})
    assert call(upstream, "POST", "/arm", armed) == (200, {})
    assert call(upstream, "POST", "/take", json.dumps({"nonce": nonce})) == (200, {"entries": [], "lost": 0})


def test_pipelined_calls_are_answered_in_order_also_when_one_waits(upstream: UpstreamProcess) -> None:
    """A take that waits does not let a later call overtake it on the same connection."""
    nonce = fresh_nonce()
    call(upstream, "POST", "/arm", json.dumps({"nonce": nonce}))
    token = f"Authorization: Bearer {upstream.address.token}\r\n"
    body = json.dumps({"nonce": nonce, "wait_ms": 60, "settle_ms": 30})
    with Peer(upstream.address.control_port) as peer:
        peer.send(f"POST /take HTTP/1.1\r\n{token}Content-Length: {len(body)}\r\n\r\n{body}".encode())
        peer.send(f"GET /health HTTP/1.1\r\n{token}\r\n".encode())
        data = peer.read_until(lambda data: data.count(b"HTTP/1.1 200 OK") == 2 and data.endswith(b"}"))
    assert data.index(b'"entries":[]') < data.index(b'"armed"')


def test_a_chunked_call_is_read(upstream: UpstreamProcess) -> None:
    """Whatever HTTP client arms the play."""
    nonce = fresh_nonce()
    body = json.dumps({"nonce": nonce}).encode()
    head = f"POST /arm HTTP/1.1\r\nauthorization:Bearer {upstream.address.token}\r\nTransfer-Encoding: chunked\r\n\r\n"
    with Peer(upstream.address.control_port) as peer:
        peer.send(head.encode() + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))
        assert peer.read_until(lambda data: data.endswith(b"}")).startswith(b"HTTP/1.1 200 ")
    assert call(upstream, "POST", "/take", json.dumps({"nonce": nonce}))[0] == 200


def test_a_caller_that_leaves_while_it_waits_does_no_harm(upstream: UpstreamProcess) -> None:
    """The nonce stays armed, and the next take gets it."""
    nonce = fresh_nonce()
    call(upstream, "POST", "/arm", json.dumps({"nonce": nonce}))
    body = json.dumps({"nonce": nonce, "wait_ms": 60_000, "settle_ms": 50_000})
    head = (
        f"POST /take HTTP/1.1\r\nAuthorization: Bearer {upstream.address.token}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with Peer(upstream.address.control_port) as peer:
        peer.send((head + body).encode())
        assert peer.is_silent(0.05)
    assert call(upstream, "POST", "/take", json.dumps({"nonce": nonce}))[0] == 200


def test_a_control_request_without_a_readable_end_closes_the_connection(upstream: UpstreamProcess) -> None:
    """Garbage gets an answer and an end."""
    with Peer(upstream.address.control_port) as peer:
        peer.send(b"POST /arm HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}")
        data, how = peer.read_to_end()
    assert data.startswith(b"HTTP/1.1 401 ")
    assert how == "fin"


def test_the_journal_does_not_take(upstream: UpstreamProcess) -> None:
    """GET /journal and GET /health only look."""
    assert call(upstream, "GET", "/journal")[1].keys() == {"entries", "lost"}
    assert call(upstream, "GET", "/health")[1]["members"].keys() == {"u0", "u1", "u2", "u3"}
