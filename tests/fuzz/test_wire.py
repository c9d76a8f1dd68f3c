"""The wire readers on any bytes: never an exception, every span inside, and one truth whole or piece by piece."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from conformance.wire.facts import Span
from conformance.wire.http1 import Message, decode_content, read_request, read_response
from conformance.wire.jsondoc import Doc, parse
from conformance.wire.sse import Event, EventCounter, read_events
from tests.fuzz.profile import BOUNDED
from tests.wire.feeding import check_reader, check_spans, cut

HTTP_TOKENS = [
    b"HTTP/1.1 200 OK", b"HTTP/1.0 200 OK", b"HTTP/1.1 100 Continue", b"HTTP/1.1 204 No Content", b"HTTP/1.1 101 X",
    b"POST / HTTP/1.1", b"Content-Length: ", b"content-length:", b"Transfer-Encoding: chunked",
    b"transfer-encoding: gzip", b"Connection: close", b"Connection: keep-alive", b"Expect: 100-continue", b"A: b",
    b"A : b", b" folded", b"\r\n", b"\r\n", b"\r\n\r\n", b"\n", b"\r", b"\n\n", b":", b";x=y", b" ", b"\t", b"0", b"1",
    b"3", b"a", b"05", b"abc", b"\x00", b"\xff",
]  # fmt: skip
SSE_TOKENS = [
    b"data: ", b"data:", b"data", b"event: x", b"id: 1", b"id: \0", b"retry: 5", b"retry: x", b": c", b"[DONE]", b"{}",
    b"\n", b"\n", b"\n\n", b"\r", b"\r\n", b"\xef\xbb\xbf", b"\xef", b"\xff", b"\xc3\xa9", b"a", b" ", b":",
]  # fmt: skip
JSON_TOKENS = [
    b"{", b"}", b"[", b"]", b",", b":", b'"', b'"a"', b'"a":', b'"\\u0061":', b'"\\ud800"', b"\\", b"1", b"-0", b"1.50",
    b"1e999", b"NaN", b"-Infinity", b"true", b"null", b" ", b"\n", b"\xef\xbb\xbf", b"\xff", b"\xc3\xa9", b"\x00",
    b"[DONE]",
]  # fmt: skip


def soup(tokens: list[bytes]) -> st.SearchStrategy[bytes]:
    """Bytes made of tokens of a format, with any bytes among them."""
    return st.lists(st.sampled_from(tokens) | st.binary(max_size=3), max_size=40).map(b"".join)


def pieces_of(raw: bytes, seed: int) -> list[bytes]:
    """`raw` cut at places that `seed` chooses, empty pieces included."""
    chance = random.Random(seed)
    places = sorted(chance.randrange(len(raw) + 1) for _ in range(chance.randrange(8)))
    return [raw[a:b] for a, b in zip([0, *places], [*places, len(raw)], strict=True)]


@BOUNDED
@given(raw=soup(HTTP_TOKENS), method=st.sampled_from(["POST", "HEAD", "CONNECT"]), seed=st.integers(0, 1 << 32))
def test_any_response(raw: bytes, method: str, seed: int) -> None:
    """Any bytes are a response with facts or faults, the same whole or in pieces."""
    message = read_response(raw, method=method)
    check_spans(message, raw)
    check_reader(message, pieces_of(raw, seed), method)
    assert not read_response(raw, method=method, max_body=2).body[2:]
    assert all(fault.code and fault.detail and "\n" not in fault.detail for fault in message.faults)


@BOUNDED
@given(
    fields=st.lists(st.sampled_from(HTTP_TOKENS[6:16]), max_size=4),
    numbers=st.lists(st.sampled_from([b"", b"3", b"5", b" 3 ", b"3\r"]), min_size=4, max_size=4),
    ends=st.lists(st.sampled_from([b"\r\n", b"\r\n", b"\n"]), min_size=5, max_size=5),
    body=soup([b"3\r\nabc\r\n", b"0\r\n\r\n", b"0\r\nA: b\r\n\r\n", b"abc", b"\r\n", b"5;x\r\nhello\r\n"]),
    seed=st.integers(0, 1 << 32),
)
def test_almost_right_messages(
    fields: list[bytes], numbers: list[bytes], ends: list[bytes], body: bytes, seed: int
) -> None:
    """Heads that are nearly in order frame their bodies the same way whole or in pieces, skimmed or read in full."""
    lines = [
        field + number if field.endswith((b" ", b":")) else field
        for field, number in zip(fields, numbers, strict=False)
    ]
    rest = b"".join(line + end for line, end in zip([*lines, b""], ends, strict=False)) + body
    response, request = b"HTTP/1.1 200 OK\r\n" + rest, b"POST / HTTP/1.1\r\n" + rest
    message = read_response(response)
    check_spans(message, response)
    check_reader(message, pieces_of(response, seed), "POST")
    check_taken(request, seed)


def check_taken(raw: bytes, seed: int) -> None:
    """What the live reader takes from pieces is what whole reading finds, request after request."""
    taken, reader = cut(pieces_of(raw, seed))
    assert raw.startswith(b"".join(taken))
    rest = raw
    for request in taken[: -1 if reader.broken else None]:
        message: Message = read_request(rest)
        assert message.complete
        assert rest == request + message.trailing
        rest = message.trailing
    left = read_request(rest)
    check_spans(left, rest)
    assert not left.complete


@BOUNDED
@given(raw=soup(HTTP_TOKENS), seed=st.integers(0, 1 << 32))
def test_any_requests(raw: bytes, seed: int) -> None:
    """Any bytes are requests with facts or faults, the same whole or in pieces."""
    check_taken(raw, seed)


@BOUNDED
@given(body=st.binary(max_size=200), codings=st.sampled_from(["gzip", "deflate", "gzip, deflate", "br", ""]))
def test_any_coding(body: bytes, codings: str) -> None:
    """Any bytes under any coding give content, or themselves and a reason."""
    content, reason = decode_content(body, codings, limit=100)
    assert content == body or not reason


def general(body: bytes) -> tuple[Event, ...]:
    """The events as the general algorithm alone reads them."""
    events = read_events(b": never plain\n" + body).events
    return tuple(replace(event, span=Span(event.span.start - 14, event.span.end - 14)) for event in events)


@BOUNDED
@given(body=soup(SSE_TOKENS), seed=st.integers(0, 1 << 32))
def test_any_stream(body: bytes, seed: int) -> None:
    """Any bytes are an event stream, and the counter counts what it dispatches, however they are cut."""
    stream = read_events(body)
    size = len(body)
    for span in [event.span for event in stream.events] + [fault.span for fault in stream.faults]:
        assert 0 <= span.start <= span.end <= size
    for event in stream.events:
        assert all(line in event.span.of(body) for line in event.data.split(b"\n"))
    counter = EventCounter()
    for piece in pieces_of(body, seed):
        counter.feed(piece)
    assert counter.count == sum(event.dispatched for event in stream.events)


PLAIN_BLOCKS = [b"data: a", b"data: ", b"data:  b", b"data: {}", b"data: \xff"]
ODD_BLOCKS = [b"data:c", b": d", b"", b"data: e\ndata: f", b"data: g\r", b"event: h"]


@BOUNDED
@given(
    blocks=st.lists(st.sampled_from(PLAIN_BLOCKS)) | st.lists(st.sampled_from(PLAIN_BLOCKS * 3 + ODD_BLOCKS)),
    end=st.sampled_from([b"\n\n", b"\n\n", b"\n", b""]),
)
def test_plain_is_general(blocks: list[bytes], end: bytes) -> None:
    """Whether or not a stream is read the quick way for plain ones, the events are those of the general algorithm."""
    body = b"\n\n".join(blocks) + end
    assert read_events(body).events == general(body)


@BOUNDED
@given(raw=soup(JSON_TOKENS) | st.binary(max_size=30))
def test_any_json(raw: bytes) -> None:
    """Any bytes are a document or have a fault; what is ok is what a strict decoder reads."""
    doc = parse(raw)
    assert doc.ok or doc.faults
    assert all(0 <= fault.span.start <= fault.span.end <= len(raw) for fault in doc.faults)
    try:
        value = json.loads(raw.decode(), parse_constant=lambda spelled: {}[spelled])
    except (ValueError, KeyError):
        assert not doc.ok
    else:
        assert (doc.ok, doc.value) == (True, value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@BOUNDED
@given(value=json_values, indent=st.sampled_from([None, 1]), escaped=st.booleans())
def test_every_spelling_is_found(value: Any, indent: int | None, escaped: bool) -> None:
    """At every path of a valid document the span shows the text of the value there."""
    doc = parse(json.dumps(value, indent=indent, ensure_ascii=escaped).encode("utf-8", "surrogatepass"))
    if doc.ok:
        check_paths(doc, value, ())


def check_paths(doc: Doc, value: Any, path: tuple[str | int, ...]) -> None:
    """Compare spelling and value at `path` and everywhere below."""
    assert doc.has(*path)
    assert json.loads(doc.spelling(*path)) == value == doc.get(*path)
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in members:
        check_paths(doc, inner, (*path, step))
