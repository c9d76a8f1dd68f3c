"""Plain vcrpy interactions: bodies in every form, and a head that plays what was recorded."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from conformance.cassette.codec import decode
from conformance.cassette.fields import Field
from conformance.cassette.foreign import body_bytes, clean_text, derived_head, header_lines
from conformance.cassette.model import Envelope, EnvelopeEnd, Frame
from conformance.errors import CassetteError


def played(headers: Any, body: Any, *, code: int = 200, method: str = "POST", message: str = "OK") -> Envelope:
    """The envelope of a plain vcrpy interaction."""
    request = {"method": method, "uri": "http://x.test/v1/models", "body": None, "headers": {}}
    response = {"status": {"code": code, "message": message}, "headers": headers, "body": {"string": body}}
    made = decode({"version": 1, "interactions": [{"request": request, "response": response}]}, name="x")
    return made.interactions[0].envelope


BODIES = [
    (None, b""),
    ("text é", "text é".encode()),
    (b"\x00\xff", b"\x00\xff"),
    ({"string": "x"}, b"x"),
    ({"encoding": "utf-8", "string": "x"}, b"x"),
    ({"base64_string": "AP8="}, b"\x00\xff"),
    ({"base64_string": b"AP8="}, b"\x00\xff"),
    ({"model": "m"}, b'{"model": "m"}'),
    ([{"a": 1}], b'[{"a": 1}]'),
    ([b"ab", "c"], b"abc"),
]


@pytest.mark.parametrize(("value", "expected"), BODIES)
def test_bodies(value: Any, expected: bytes) -> None:
    """A body is read from text, bytes, a mapping around either, parts, or a JSON structure."""
    assert body_bytes(Field(value, "x")) == expected


@pytest.mark.parametrize("value", [5, True, {"base64_string": "A"}, {"base64_string": 5}, "\ud800", [{"x": object()}]])
def test_bodies_that_are_none(value: Any) -> None:
    """Anything else is a CassetteError."""
    with pytest.raises(CassetteError):
        body_bytes(Field(value, "x"))


def test_a_nest_of_aliases_does_not_grow() -> None:
    """A structured body that would expand past the bound, or contains itself, is refused."""
    nest: Any = ["x" * 10, "y"]
    for _ in range(40):
        nest = [{"a": nest}, {"b": nest}]
    with pytest.raises(CassetteError, match="at most"):
        body_bytes(Field(nest, "x"))
    loop: dict[str, Any] = {}
    loop["a"] = loop
    with pytest.raises(CassetteError, match="at most"):
        body_bytes(Field(loop, "x"))


def test_clean_text() -> None:
    """Text is UTF-8 without control characters other than tab and line ends."""
    assert clean_text("a\r\n\tü".encode()) == "a\r\n\tü"
    assert clean_text(b"\xff") is None
    assert clean_text(b"a\x00") is None


def test_headers() -> None:
    """Header values come as lists, strings, numbers, bytes or pairs; order and case are kept."""
    mapping = {"X-B": ["1", "2"], "a": "3", "Content-Length": 4, "c": [b"\xff"], "d": None}
    lines = (("X-B", "1"), ("X-B", "2"), ("a", "3"), ("Content-Length", "4"), ("c", "\xff"), ("d", ""))
    assert header_lines(Field(mapping, "x")) == lines
    assert header_lines(Field([["a", "1"], ("b", "2")], "x")) == (("a", "1"), ("b", "2"))
    with pytest.raises(CassetteError):
        header_lines(Field({5: "x"}, "x"))


def test_plain_json_response() -> None:
    """One frame, complete, the recorded header lines after a status line."""
    envelope = played({"Content-Type": ["application/json"], "Content-Length": ["2"]}, "{}")
    assert envelope.head == ("HTTP/1.1 200 OK", "Content-Type: application/json", "Content-Length: 2")
    assert envelope.frames == (Frame(0.0, 2),)
    assert envelope.end is EnvelopeEnd.COMPLETE


def test_a_decoded_body_loses_its_content_coding() -> None:
    """vcrpy may store the decoded body under the original headers: coding goes, length is corrected."""
    envelope = played({"content-encoding": "gzip", "content-length": "40"}, '{"a":1}')
    assert envelope.head[1:] == ("content-length: 7",)


def test_a_coded_body_keeps_its_content_coding() -> None:
    """A body that is still compressed keeps its header."""
    body = gzip.compress(b"{}")
    assert played({"content-encoding": "gzip"}, body).head[1:] == (
        "content-encoding: gzip",
        f"Content-Length: {len(body)}",
    )


FRAMINGS = [
    ({"transfer-encoding": "chunked"}, ("transfer-encoding: chunked",)),
    ({"Transfer-Encoding": "gzip, chunked", "Content-Length": "9"}, ("Transfer-Encoding: chunked",)),
    ({"transfer-encoding": ["chunked", "chunked"]}, ("transfer-encoding: chunked",)),
    ({"transfer-encoding": "gzip"}, ("Content-Length: 2",)),
    ({"content-length": ["2", "2"]}, ("content-length: 2",)),
    ({"content-type": "text/event-stream"}, ("content-type: text/event-stream", "Transfer-Encoding: chunked")),
    ({}, ("Content-Type: application/json", "Content-Length: 2")),
]


@pytest.mark.parametrize(("headers", "expected"), FRAMINGS)
def test_framing(headers: Any, expected: tuple[str, ...]) -> None:
    """Exactly one framing is played, and it fits the body."""
    assert played(headers, "{}").head[1:] == expected


def test_responses_without_body() -> None:
    """HEAD, 204 and 304 get no framing of their own; HEAD keeps the length it told."""
    assert played({"content-length": "9"}, "", method="HEAD").head[1:] == ("content-length: 9",)
    assert played({"transfer-encoding": "chunked"}, None, code=204).head[1:] == ()


def test_a_cut_body_keeps_the_length_that_was_told() -> None:
    """Where the end says that the body did not come whole, the longer length stays: it is the proof."""
    headers = (("content-length", "9"),)
    assert derived_head(200, "", headers, b"{}", "POST", EnvelopeEnd.CLOSE)[1:] == ("content-length: 9",)
    assert derived_head(200, "", headers, b"{}", "POST")[1:] == ("content-length: 2",)
    assert derived_head(200, "", (("content-length", "1"),), b"{}", "POST", EnvelopeEnd.RESET)[1:] == (
        "content-length: 2",
    )


@pytest.mark.parametrize(
    ("body", "media"),
    [
        ("{}", "application/json"),
        ("\n[]", "application/json"),
        ("data: {}\n\n", "text/event-stream"),
        ("id: 1\ndata: {}\n\n", "text/event-stream"),
        (gzip.compress(b"{}", mtime=0), "application/json"),
    ],
)
def test_a_response_without_any_header(body: str | bytes, media: str) -> None:
    """Recorders may leave every header out: then the body shows the media type; one header that is left is believed."""
    head = played({}, body, code=200).head
    assert head[1] == f"Content-Type: {media}"
    assert ("Content-Encoding: gzip" in head) is isinstance(body, bytes)
    assert "Content-Type" not in "".join(played({"date": "x"}, body).head)
    assert "Content-Type" not in "".join(played({}, "<html></html>").head)


def test_characters_outside_latin_1_are_utf_8() -> None:
    """A header value that was UTF-8 on the wire is so again."""
    assert played({"x": "é"}, "").head[1] == "x: é"
    assert played({"x": "\u20ac"}, "").head[1].encode("latin-1") == "x: \u20ac".encode()


def test_a_missing_reason_is_the_standard_one() -> None:
    """An empty reason phrase is filled in; an unknown code keeps none."""
    assert played({}, "", code=404, message="").head[0] == "HTTP/1.1 404 Not Found"
    assert played({}, "", code=599, message="").head[0] == "HTTP/1.1 599 "


def test_a_parsed_body() -> None:
    """A serializer of JSON keeps the parsed body beside, or in place of, the body."""
    request = {"method": "POST", "uri": "http://x.test/", "headers": {}, "parsed_body": {"stream": True}}
    response = {"status": {"code": 200, "message": "OK"}, "headers": {}, "parsed_body": [1, "é"], "body": {}}
    (made,) = decode({"interactions": [{"request": request, "response": response}]}, name="x").interactions
    assert (made.request.body, made.envelope.body) == (b'{"stream": true}', '[1, "é"]'.encode())
    kept = request | {"body": "{}"}
    (made,) = decode({"interactions": [{"request": kept, "response": response}]}, name="x").interactions
    assert made.request.body == b"{}"


def test_the_old_httpx_form() -> None:
    """vcrpy 4 recorded httpx with status_code and content at the top of the response."""
    request = {"method": "GET", "uri": "http://x.test/", "body": "", "headers": {}}
    response = {"status_code": 200, "http_version": "HTTP/1.1", "headers": {"a": "b"}, "content": "{}"}
    made = decode({"interactions": [{"request": request, "response": response}], "version": 1}, name="x")
    assert made.interactions[0].envelope.head == ("HTTP/1.1 200 OK", "a: b", "Content-Length: 2")
    assert made.interactions[0].envelope.body == b"{}"
