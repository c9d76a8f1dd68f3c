"""The scanner on valid JSON texts, and what it promises about others."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.wire import jsonscan
from conformance.wire.facts import Span
from conformance.wire.jsonscan import (
    Path,
    depth_of,
    find,
    lone_surrogates,
    members,
    repeated_names,
    skip_space,
    string_end,
    tokens,
    value_end,
)

SPACE = st.sampled_from([b"", b" ", b"\n\t"])
NAMES = st.sampled_from([b'"a"', b'"\\u0061"', b'"b"', b'""', b'"[{,"', b'"\\""'])
SCALARS = st.one_of(NAMES, st.sampled_from([b"1", b"-2.50e+3", b"true", b"null"]))
STEPS = st.one_of(st.sampled_from(["a", "b", "", "[{,"]), st.integers(-3, 3))


@st.composite
def containers(draw: st.DrawFn, values: st.SearchStrategy[bytes]) -> bytes:
    """An array or an object, with white space where it may stand, and names that repeat."""
    named = draw(st.booleans())
    items = [draw(SPACE) + item + draw(SPACE) for item in draw(st.lists(values, max_size=5))]
    if named:
        items = [draw(SPACE) + draw(NAMES) + draw(SPACE) + b":" + item for item in items]
    inner = b",".join(items) or draw(SPACE)
    return b"{" + inner + b"}" if named else b"[" + inner + b"]"


TEXTS = st.builds(lambda *parts: b"".join(parts), SPACE, st.recursive(SCALARS, containers, max_leaves=30), SPACE)


def plainly_found(raw: bytes, path: Path) -> tuple[Span, bool]:
    """What `find` gives, told from the members of one container after the other."""
    pos = skip_space(raw, 0)
    for step in path:
        at: list[int] = []
        if raw[pos : pos + 1] == (b"{" if isinstance(step, str) else b"["):
            at = [at for name, _, at in members(raw, pos) if name == step or (isinstance(step, int) and step < 0)]
        if isinstance(step, int) and step < 0:
            at = at[step:][:1] if -step <= len(at) else []
        if not at:
            return Span(pos, value_end(raw, pos)), False
        pos = at[-1]
    return Span(pos, value_end(raw, pos)), True


def plainly_repeated(raw: bytes) -> list[tuple[Path, Span]]:
    """What `repeated_names` gives, told from the members of each container."""
    found: list[tuple[Path, Span]] = []
    waiting: list[tuple[Path, int]] = [((), skip_space(raw, 0))]
    while waiting:
        path, pos = waiting.pop()
        seen: set[str | int] = set()
        for name, span, at in members(raw, pos):
            found += [((*path, name), span)] if name in seen else []
            seen.add(name)
            waiting.append(((*path, name), at))
    return sorted(found, key=lambda item: item[1].start)


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
    assert len(repeated_names(b'{"a":1,"a":2,"a":3}', 1)) == 1


@given(raw=TEXTS, limit=st.integers(0, 4))
def test_repeated_names_are_those_of_each_container(raw: bytes, limit: int) -> None:
    """One pass over the text finds what a look at each container finds, in the text's order."""
    plain = plainly_repeated(raw)
    assert repeated_names(raw, 10_000) == plain
    assert repeated_names(raw, limit) == plain[:limit]


@given(raw=TEXTS, path=st.lists(STEPS, max_size=5).map(tuple))
def test_a_path_is_followed_as_level_by_level(raw: bytes, path: Path) -> None:
    """One pass leads where a look at one container after the other leads."""
    assert find(raw, path) == plainly_found(raw, path)


@pytest.mark.parametrize(("opening", "shut", "step"), [(b'{"a":', b"}", "a"), (b"[", b"]", 0)])
def test_a_text_is_read_once_however_deep_it_nests(
    monkeypatch: pytest.MonkeyPatch, opening: bytes, shut: bytes, step: str | int
) -> None:
    """No string is read for each container that it stands in."""
    raw = opening * 200 + b'"x"' + shut * 200
    read: list[int] = []

    def counted(raw: bytes, pos: int) -> int:
        read.append(pos)
        return string_end(raw, pos)

    monkeypatch.setattr(jsonscan, "string_end", counted)
    assert repeated_names(raw, 10) == []
    assert max(Counter(read).values()) == 1
    read.clear()
    assert find(raw, (step,) * 200)[1]
    assert max(Counter(read).values()) <= 2


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
