"""JSON texts as facts: what is valid, what is valid and odd, what is not valid."""

from __future__ import annotations

import json
import math
import sys

import pytest

from conformance.wire.facts import Span
from conformance.wire.jsondoc import MAX_DEPTH, MAX_DIGITS, Doc, parse


def codes(doc: Doc) -> list[str]:
    """The document's fault codes in order."""
    return [fault.code for fault in doc.faults]


@pytest.mark.parametrize(
    "raw",
    [
        b"{}",
        b"[]",
        b"null",
        b"false",
        b"0",
        b"-0",
        b'""',
        b' {"a": [1, 2.5, "\xc3\xa9", null]} \r\n\t',
        b'"\\ud83d\\ude00"',
    ],
)
def test_valid(raw: bytes) -> None:
    """Exactly one valid value is ok, white space around it included."""
    doc = parse(raw)
    assert (doc.ok, doc.value, doc.faults, doc.duplicates) == (True, json.loads(raw), (), ())
    assert doc.span().of(raw) == raw.strip()


@pytest.mark.parametrize(
    ("raw", "code", "span"),
    [
        (b"", "json.empty", (0, 0)),
        (b" \n", "json.empty", (0, 2)),
        (b"[DONE]", "json.syntax", (1, 2)),
        (b"{'a': 1}", "json.syntax", (1, 2)),
        (b'{"a": 1', "json.syntax", (7, 7)),
        (b'"\xc3\xa9" x', "json.trailing", (5, 6)),
        (b'{"a": 1}{"b": 2}', "json.trailing", (8, 16)),
        (b' {"a": 1} {"b": 2}', "json.trailing", (10, 18)),
        (b"01", "json.trailing", (1, 2)),
        (b'"a\nb"', "json.syntax", (2, 3)),
        (b'"\xc3\xa9" [', "json.trailing", (5, 6)),
        (b'["\xc3\xa9", nope]', "json.syntax", (7, 8)),
        (b'["NaN", NaN]', "json.constant", (8, 11)),
        (b"-Infinity", "json.constant", (0, 9)),
        (b"\xef\xbb\xbf{}", "json.bom", (0, 3)),
        (b'{"a": "\xff"}', "utf8.invalid", (7, 8)),
        (b'"\xed\xa0\x80"', "utf8.invalid", (1, 2)),
    ],
)
def test_not_valid(raw: bytes, code: str, span: tuple[int, int]) -> None:
    """What is not one valid value has a fault where it stands, and no value."""
    doc = parse(raw)
    assert (doc.ok, doc.value, doc.faults[0].code, doc.faults[0].span) == (False, None, code, Span(*span))
    assert (doc.get("a"), doc.has("a"), doc.span("a"), doc.spelling("a")) == (None, False, Span(0, len(raw)), b"")


def test_several_faults() -> None:
    """Faults of different kinds are all there."""
    assert codes(parse(b"\xef\xbb\xbf[NaN] x")) == ["json.bom", "json.constant", "json.trailing"]
    assert codes(parse(b"\xef\xbb\xbf")) == ["json.empty"]
    assert codes(parse(b"\xef\xbb\xbf\xef\xbb\xbf{}")) == ["json.syntax"]


def test_too_long() -> None:
    """A text past the byte bound is not read."""
    assert codes(parse(b"[1]", max_bytes=2)) == ["json.too-long"]
    assert parse(b"[1]", max_bytes=3).ok


def test_too_deep() -> None:
    """Nesting past the bound is not read, however deep; at the bound it is; brackets in strings do not count."""
    deep = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    assert parse(deep).ok
    assert codes(parse(b"[" + deep + b"]")) == ["json.too-deep"]
    assert codes(parse(b"[" * 1_000_000)) == ["json.too-deep"]
    assert codes(parse(b'{"a":' * 100_000)) == ["json.too-deep"]
    assert parse(json.dumps("[" * 1000).encode()).ok


def test_stack_used_up() -> None:
    """Where the caller has used up the decoder's stack, the text is too deep, and nothing is raised."""

    def descend(left: int) -> list[str]:
        return descend(left - 1) if left else codes(parse(b"[" * 250 + b"]" * 250))

    frames = 0
    frame = sys._getframe()
    while frame.f_back:
        frames, frame = frames + 1, frame.f_back
    found = descend(sys.getrecursionlimit() - frames - 150)
    assert found in ([], ["json.too-deep"])


def test_duplicates() -> None:
    """A name that occurs again is a path and a fault; the value keeps the last."""
    raw = b'{"a": 1, "b": {"c": 1, "c": 2, "c": 3}, "a": 2}'
    doc = parse(raw)
    assert (doc.ok, doc.value) == (True, {"a": 2, "b": {"c": 3}})
    assert doc.duplicates == (("b", "c"), ("a",))
    assert codes(doc) == ["name.duplicate"] * 3
    assert doc.spelling("b", "c") == b"3"


def test_numbers() -> None:
    """Numbers keep their spelling; what a double cannot hold is a fault, and the text still ok."""
    doc = parse(b"[-0, 1e5, 1.0, 1E400, -1e999, 0.1e1]")
    assert [doc.spelling(index) for index in range(3)] == [b"-0", b"1e5", b"1.0"]
    assert (doc.ok, codes(doc)) == (True, ["number.out-of-range"] * 2)
    assert doc.value[3:5] == [math.inf, -math.inf]
    assert doc.faults[0].span.of(doc.raw) == b"1E400"


def test_long_integers() -> None:
    """Integers of any length are read; past the bound as a float, with a fault."""
    longest = b"-" + b"9" * MAX_DIGITS
    doc = parse(b"[" + longest + b"]")
    assert (doc.ok, doc.value, doc.faults) == (True, [int(longest)], ())
    longer = longest + b"9"
    doc = parse(b"[" + longer + b", 1]")
    assert (doc.ok, doc.value, codes(doc)) == (True, [-math.inf, 1], ["number.too-long"])
    assert doc.spelling(0) == longer


def test_lone_surrogates() -> None:
    """Half of a surrogate pair stays in the value, with a fault; a pair is ordinary."""
    doc = parse(b'{"a": "\\uD800", "b": "\\ud83d\\ude00"}')
    assert (doc.ok, doc.value, codes(doc)) == (True, {"a": "\ud800", "b": "😀"}, ["string.lone-surrogate"])
    doc = parse(b'{"\\ud800": 1, "\\ud800": 2}')
    assert (doc.ok, doc.duplicates) == (True, (("\ud800",),))
    assert sorted(codes(doc)) == ["name.duplicate", "string.lone-surrogate", "string.lone-surrogate"]


def test_get_and_has() -> None:
    """Paths lead through names and indexes; any step that does not fit gives None and False."""
    doc = parse(b'{"a": [{"b": null}, 2]}')
    assert (doc.get("a", 1), doc.get("a", -1), doc.get("a", 0, "b")) == (2, 2, None)
    assert doc.has("a", 0, "b")
    assert not any((doc.has("a", 0, "c"), doc.has("a", 2), doc.has("a", "b"), doc.has("a", -3)))
    assert (doc.get("x"), doc.get("a", 2), doc.get("a", "b"), doc.get(0), doc.has(0)) == (None, None, None, None, False)


def test_span() -> None:
    """Spans and spellings are those of the bytes, escapes and white space included."""
    doc = parse(b' { "a\\u0062" : [ 1 , { "c" : "\\n" } ] } ')
    assert doc.spelling("ab", 1, "c") == b'"\\n"'
    assert doc.span("ab", 1, "x").of(doc.raw) == b'{ "c" : "\\n" }'
    assert (doc.spelling("ab", 9), doc.spelling("x")) == (b"", b"")
