"""Calls become exactly the bytes of an honest request, or are refused before anything is sent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.driver.model import Behaviour
from conformance.driver.request import USER_AGENT, locate, request_bytes
from conformance.errors import DriverError
from conformance.wire.http1 import read_request
from tests.driver.calls import chat


def test_head_and_body() -> None:
    """The head says what an honest client says, asks for no content coding, and the body is untouched."""
    call = replace(chat("http://127.0.0.1:4000/v1/"), body=b'{"a":  1}')
    assert request_bytes(call, locate(call.base_url)) == (
        b"POST /v1/chat/completions HTTP/1.1\r\n"
        b"Host: 127.0.0.1:4000\r\n"
        b"Authorization: Bearer sk-test-1\r\n"
        b"Content-Type: application/json\r\n"
        b"Content-Length: 9\r\n"
        b"Accept: */*\r\n"
        b"User-Agent: " + USER_AGENT.encode() + b"\r\n"
        b"\r\n"
        b'{"a":  1}'
    )


def test_get_has_no_body_fields() -> None:
    """A GET without body carries neither a length nor a content type; an empty key sends no authorization."""
    call = replace(chat("http://gateway.test"), method="GET", path="/models", body=b"", api_key="")
    message = read_request(request_bytes(call, locate(call.base_url)))
    assert (message.method, message.target) == ("GET", "/models")
    assert [line.name for line in message.head.headers] == [b"Host", b"Accept", b"User-Agent"]


def test_empty_post_has_a_length() -> None:
    """A POST without a body says that its length is 0."""
    call = replace(chat("http://gateway.test/v1"), body=b"")
    assert read_request(request_bytes(call, locate(call.base_url))).head.get("content-length") == "0"


def test_own_headers_replace_and_follow() -> None:
    """The call's headers keep order, case and repetition, and replace the driver's own of the same name."""
    headers = (("X-A", "1"), ("x-a", "2"), ("content-TYPE", "text/plain"), ("authorization", "Basic eA=="))
    call = replace(chat("http://gateway.test/v1"), headers=headers)
    message = read_request(request_bytes(call, locate(call.base_url)))
    assert message.head.all("x-a") == ("1", "2")
    assert message.head.all("content-type") == ("text/plain",)
    assert message.head.all("authorization") == ("Basic eA==",)


def test_transfer_encoding_drops_the_length() -> None:
    """A call that brings its own transfer coding gets no Content-Length besides."""
    call = replace(chat("http://gateway.test/v1"), headers=(("Transfer-Encoding", "chunked"),), body=b"0\r\n\r\n")
    assert read_request(request_bytes(call, locate(call.base_url))).head.get("content-length") is None


@pytest.mark.parametrize(
    "change",
    [
        {"path": "/a b"},
        {"path": "/a\r\nX: 1"},
        {"method": "PO ST"},
        {"headers": (("X", "1\r\nY: 2"),)},
        {"headers": (("X\n", "1"),)},
        {"api_key": "sk\ntest"},
    ],
)
def test_injection_is_refused(change: dict[str, object]) -> None:
    """A text that would break out of its line is our own fault, not sent."""
    call = replace(chat("http://gateway.test/v1"), **change)  # type: ignore[arg-type]
    with pytest.raises(DriverError):
        request_bytes(call, locate(call.base_url))


@pytest.mark.parametrize(
    ("base_url", "place"),
    [
        ("http://127.0.0.1:4000/v1", ("127.0.0.1", 4000, False, "127.0.0.1:4000", "/v1")),
        ("https://gateway.test/a/b/", ("gateway.test", 443, True, "gateway.test", "/a/b")),
        ("http://[::1]:80", ("::1", 80, False, "[::1]", "")),
        ("https://[::1]:8443/v1", ("::1", 8443, True, "[::1]:8443", "/v1")),
    ],
)
def test_places(base_url: str, place: tuple[object, ...]) -> None:
    """http and https, ports, path prefixes and IPv6 are understood; a default port stays out of Host."""
    assert tuple(locate(base_url)) == place


@pytest.mark.parametrize(
    "base_url",
    [
        "",
        "gateway.test/v1",
        "ftp://gateway.test",
        "http://",
        "http://u@gateway.test",
        "http://g.test:x",
        "http://g/?a=1",
    ],
)
def test_not_an_api_root(base_url: str) -> None:
    """What is no API root is refused with the place named."""
    with pytest.raises(DriverError):
        locate(base_url)


@pytest.mark.parametrize(("word", "events"), [("", 0), ("send", 0), ("head", 0), ("event:1", 1), ("event:12", 12)])
def test_hang_up_words(word: str, events: int) -> None:
    """The words for a hang-up are a closed set."""
    assert Behaviour(hang_up=word).after_events == events


@pytest.mark.parametrize("word", ["sent", "event", "event:", "event:0", "event:-1", "event:x", "Head", "event:²"])
def test_unknown_hang_up_words(word: str) -> None:
    """Any other word is refused."""
    with pytest.raises(DriverError):
        _ = Behaviour(hang_up=word).after_events
