"""Where the parts of a JSON text stand: an iterative scanner over the bytes of a text that the decoder has accepted.

Finds value bounds, members by path, repeated names and odd tokens, without recursion and without building values. Only
`marks`, `tokens` and `depth_of` may be asked about a text that is not known to be valid.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from conformance.wire.facts import Span

Path = tuple[str | int, ...]

_SPACE = re.compile(rb"[ \t\n\r]*")
_SCALAR = re.compile(rb"[^\s,:\[\]{}\"]*")
_MARK = re.compile(rb"[\"\[\]{}]")
_ESCAPE = re.compile(rb"\\(?:u([0-9A-Fa-f]{4})|.)", re.DOTALL)


def skip_space(raw: bytes, pos: int) -> int:
    """The offset behind JSON white space."""
    match = _SPACE.match(raw, pos)
    return match.end() if match else pos


def string_end(raw: bytes, pos: int) -> int:
    """The offset behind the closing quote of the string whose opening quote is at `pos` (len(raw) without one)."""
    end = raw.find(b'"', pos + 1)
    while end >= 0:
        back = end
        while back > pos + 1 and raw[back - 1] == 0x5C:
            back -= 1
        if (end - back) % 2 == 0:
            return end + 1
        end = raw.find(b'"', end + 1)
    return len(raw)


def value_end(raw: bytes, pos: int) -> int:
    """The offset behind the value that starts at `pos`."""
    first = raw[pos : pos + 1]
    if first == b'"':
        return string_end(raw, pos)
    if first not in (b"{", b"["):
        match = _SCALAR.match(raw, pos)
        return match.end() if match else pos
    depth = 0
    for at, mark in marks(raw, pos):
        depth += 1 if mark in b"[{" else -1
        if depth == 0:
            return at + 1
    return len(raw)


def marks(raw: bytes, pos: int = 0) -> Iterator[tuple[int, bytes]]:
    """Every bracket and brace from `pos` on that does not stand in a string."""
    match = _MARK.search(raw, pos)
    while match:
        pos = match.end()
        if match[0] == b'"':
            pos = string_end(raw, pos - 1)
        else:
            yield pos - 1, match[0]
        match = _MARK.search(raw, pos)


def depth_of(raw: bytes, bound: int) -> int:
    """How deep brackets and braces nest; counting ends once it is past `bound`."""
    depth = deepest = 0
    for _, mark in marks(raw):
        depth += 1 if mark in b"[{" else -1
        deepest = max(deepest, depth)
        if deepest > bound:
            break
    return deepest


def members(raw: bytes, pos: int) -> Iterator[tuple[str | int, Span, int]]:
    """The members of the container at `pos`: name or index, the name's span (an item's: empty), the value's offset.

    Nothing for a scalar.
    """
    opening = raw[pos : pos + 1]
    if opening not in (b"{", b"["):
        return
    pos, index = skip_space(raw, pos + 1), 0
    while pos < len(raw) and raw[pos] not in b"}]":
        start, step = pos, index
        name: str | int = step
        if opening == b"{":
            pos = string_end(raw, pos)
            name = _text(raw[start:pos])
            pos = skip_space(raw, skip_space(raw, pos) + 1)
        yield name, Span(start, pos if opening == b"{" else start), pos
        pos = skip_space(raw, value_end(raw, pos))
        pos = skip_space(raw, pos + 1) if raw[pos : pos + 1] == b"," else pos
        index += 1


def _text(spelled: bytes) -> str:
    """A string's text."""
    if b"\\" not in spelled:
        return spelled[1:-1].decode("utf-8", "replace")
    text: str = json.loads(spelled)
    return text


def find(raw: bytes, path: Path) -> tuple[Span, bool]:
    """Where the value at `path` stands and True; the nearest enclosing value's span and False when it is absent.

    A name that occurs more than once leads to its last value, a negative index counts from the end.
    """
    pos = skip_space(raw, 0)
    for step in path:
        wanted: int | None = None
        expected = b"{" if isinstance(step, str) else b"["
        if raw[pos : pos + 1] == expected:
            found = [at for name, _, at in members(raw, pos) if name == step or (isinstance(step, int) and step < 0)]
            if isinstance(step, int) and step < 0:
                found = found[step:][:1] if -step <= len(found) else []
            wanted = found[-1] if found else None
        if wanted is None:
            return Span(pos, value_end(raw, pos)), False
        pos = wanted
    return Span(pos, value_end(raw, pos)), True


def repeated_names(raw: bytes, limit: int) -> list[tuple[Path, Span]]:
    """Path and name span of the members whose name their object had before, in order; about `limit` at most."""
    found: list[tuple[Path, Span]] = []
    waiting: list[tuple[Path, int]] = [((), skip_space(raw, 0))]
    while waiting and len(found) < limit:
        path, pos = waiting.pop()
        seen: set[str | int] = set()
        for name, span, at in members(raw, pos):
            if name in seen:
                found.append(((*path, name), span))
            seen.add(name)
            if raw[at : at + 1] in (b"{", b"["):
                waiting.append(((*path, name), at))
    return sorted(found, key=lambda item: item[1].start)


def tokens(raw: bytes, pattern: re.Pattern[bytes]) -> Iterator[Span]:
    """Every match of `pattern` outside of strings; the pattern must match a quote too, to skip its string."""
    match = pattern.search(raw)
    while match:
        end = match.end()
        if match[0] == b'"':
            end = string_end(raw, match.start())
        else:
            yield Span(match.start(), end)
        match = pattern.search(raw, end)


def lone_surrogates(raw: bytes) -> Iterator[Span]:
    """Every escape that spells half of a surrogate pair (RFC 8259 section 8.2)."""
    high: re.Match[bytes] | None = None
    for match in _ESCAPE.finditer(raw):
        unit = int(match[1], 16) if match[1] else 0
        low = 0xDC00 <= unit <= 0xDFFF
        paired = low and high is not None and high.end() == match.start()
        if high is not None and not paired:
            yield Span(high.start(), high.end())
        if low and not paired:
            yield Span(match.start(), match.end())
        high = match if 0xD800 <= unit <= 0xDBFF else None
    if high is not None:
        yield Span(high.start(), high.end())
