"""The scanner on valid JSON texts, and what it promises about others."""

from __future__ import annotations

import re

import pytest

from conformance.wire.facts import Span
from conformance.wire.jsonscan import depth_of, find, lone_surrogates, members, repeated_names, tokens, value_end


@pytest.mark.parametrize(
    ("raw", "end"),
    [
        (b'"a\\"b" x', 6),
        (b'"a\\\\" x', 5),
        (b'"a\\\\\\"b" x', 8),
        (b"-1.5e+3,", 7),
        (b"true]", 4),
        (b'{"a": "}]", "b": [{}, []]} x', 26),
        (b'["\\"]", 1] x', 10),
        (b'"open', 5),
        (b"[[1, 2", 6),
        (b"", 0),
    ],
)
def test_value_end(raw: bytes, end: int) -> None:
    """A value ends behind its closing quote or bracket, whatever its strings hold; an open one at the text's end."""
    assert value_end(raw, 0) == end


def test_members() -> None:
    """Members come with name, the name's place and the value's place; items with their index."""
    raw = b'{ "a" : 1 , "\\u0062" : [ ] }'
    assert [(name, span.of(raw), raw[at : at + 1]) for name, span, at in members(raw, 0)] == [
        ("a", b'"a" : ', b"1"),
        ("b", b'"\\u0062" : ', b"["),
    ]
    assert [(index, at) for index, _, at in members(b"[ 1 , [2] ]", 0)] == [(0, 2), (1, 6)]
    assert list(members(b"{}", 0)) == list(members(b"[ ]", 0)) == list(members(b"1", 0)) == []


@pytest.mark.parametrize(
    ("path", "spelled", "present"),
    [
        ((), b'{"a": {"b": [1, 2.50, {"c": "d"}]}, "a": {"b": [3, -0]}, "e": null}', True),
        (("a", "b", 0), b"3", True),
        (("a", "b", -1), b"-0", True),
        (("a", "b", -2), b"3", True),
        (("a", "b", -3), b"[3, -0]", False),
        (("a", "b", 2), b"[3, -0]", False),
        (("a", "x", 2), b'{"b": [3, -0]}', False),
        (("a", 0), b'{"b": [3, -0]}', False),
        (("e", "x"), b"null", False),
        (("a", "b", "c"), b"[3, -0]", False),
    ],
)
def test_find(path: tuple[str | int, ...], spelled: bytes, present: bool) -> None:
    """A path leads to its value, of a repeated name the last; where it is absent, to the nearest enclosing value."""
    raw = b' {"a": {"b": [1, 2.50, {"c": "d"}]}, "a": {"b": [3, -0]}, "e": null} '
    span, found = find(raw, path)
    assert (span.of(raw), found) == (spelled, present)


def test_repeated_names() -> None:
    """Every repetition is found, at any depth, also where names are spelled differently."""
    raw = b'{"a": 1, "b": [{"c": 1, "\\u0063": 2, "c": 3}], "a": {"d": 1}}'
    found = repeated_names(raw, 100)
    assert [path for path, _ in found] == [("b", 0, "c"), ("b", 0, "c"), ("a",)]
    assert found[0][1].of(raw).startswith(b'"\\u0063"')
    assert len(repeated_names(b'[{"a":1,"a":2},{"a":1,"a":2}]', 1)) == 1


def test_depth() -> None:
    """Depth counts brackets outside of strings, and counting ends past the bound."""
    assert depth_of(b'[{"[[[": [1]}, []]', 100) == 3
    assert depth_of(b"[" * 1000, 10) == 11
    assert depth_of(b']]}"', 10) == 0


def test_tokens() -> None:
    """Tokens are found outside of strings only."""
    assert list(tokens(b'["NaN", NaN]', re.compile(rb'"|NaN'))) == [Span(8, 11)]


@pytest.mark.parametrize(
    ("raw", "spans"),
    [
        (b'"\\ud83d\\ude00"', []),
        (b'"\\ud83d"', [(1, 7)]),
        (b'"\\ude00"', [(1, 7)]),
        (b'"\\ud83d \\ude00"', [(1, 7), (8, 14)]),
        (b'"\\uD83D\\uD83D\\uDE00"', [(1, 7)]),
        (b'"\\\\ud83d"', []),
        (b'"\\ud83d\\n"', [(1, 7)]),
    ],
)
def test_lone_surrogates(raw: bytes, spans: list[tuple[int, int]]) -> None:
    """Half of a pair is found; a pair, and a backslash that is itself escaped, is not."""
    assert list(lone_surrogates(raw)) == [Span(*span) for span in spans]
