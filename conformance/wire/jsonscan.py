"""Where the parts of a JSON text stand: an iterative scanner over the bytes of a text that the decoder has accepted.

Finds value bounds, members by path, repeated names and odd tokens, without recursion and without building values. Only
`marks`, `tokens` and `depth_of` may be asked about a text that is not known to be valid.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator

from conformance.wire.facts import Span

Path = tuple[str | int, ...]
#: The members of a container, one by one; see `members`.
Walk = Generator[tuple[str | int, Span, int], int | None, int]

_SPACE = re.compile(rb"[ \t\n\r]*")
_SCALAR = re.compile(rb"[^\s,:\[\]{}\"]*")
_MARK = re.compile(rb"[\"\[\]{}]")
_STEP = re.compile(rb"[\"\[\]{},]")
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


def members(raw: bytes, pos: int) -> Walk:
    """The members of the container at `pos`: name or index, the name's span (an item's: empty), the value's offset.

    Nothing for a scalar. Who has read a value to its end sends the offset behind it, and it is not read again; returned
    is the offset behind the container.
    """
    opening = raw[pos : pos + 1]
    if opening not in (b"{", b"["):
        return pos
    pos, index = skip_space(raw, pos + 1), 0
    while pos < len(raw) and raw[pos] not in b"}]":
        start, step = pos, index
        name: str | int = step
        if opening == b"{":
            pos = string_end(raw, pos)
            name = _text(raw[start:pos])
            pos = skip_space(raw, skip_space(raw, pos) + 1)
        end = yield name, Span(start, pos if opening == b"{" else start), pos
        pos = skip_space(raw, value_end(raw, pos) if end is None else end)
        pos = skip_space(raw, pos + 1) if raw[pos : pos + 1] == b"," else pos
        index += 1
    return pos + 1


def _text(spelled: bytes) -> str:
    """A string's text."""
    if b"\\" not in spelled:
        return spelled[1:-1].decode("utf-8", "replace")
    text: str = json.loads(spelled)
    return text


def find(raw: bytes, path: Path) -> tuple[Span, bool]:
    """Where the value at `path` stands and True; the nearest enclosing value's span and False when it is absent.

    A name that occurs more than once leads to its last value, a negative index counts from the end. However long the
    path is, no value is read twice, but for the items of an array that is counted from its end.
    """
    at: int | None = skip_space(raw, 0)
    led_to: list[int] = []
    inside: list[tuple[str | int, Walk]] = []
    while at is not None:
        del led_to[len(inside) :]  # an earlier value of the same name, and what was found in it
        led_to.append(at)
        step = path[len(inside)] if len(inside) < len(path) else None
        end: int | None = None
        if step is not None and raw[at : at + 1] == (b"{" if isinstance(step, str) else b"["):
            inside.append((_from_the_start(raw, at, step), members(raw, at)))
        else:
            end = value_end(raw, at)
        at = _next_on_path(inside, end)
    last = led_to[-1]
    return Span(last, value_end(raw, last)), len(led_to) > len(path)


def _from_the_start(raw: bytes, pos: int, step: str | int) -> str | int:
    """A step into the container at `pos`, an index counted from its start (still negative where there is no such)."""
    return step if isinstance(step, str) or step >= 0 else step + sum(1 for _ in members(raw, pos))


def _next_on_path(inside: list[tuple[str | int, Walk]], end: int | None) -> int | None:
    """The offset of the next value that its container's step leads to, once the last one was read up to `end`.

    Containers that are read to their end leave `inside`; None when none is left.
    """
    while inside:
        step, walk = inside[-1]
        try:
            name, _, at = walk.send(end)
        except StopIteration as over:
            end = over.value
            inside.pop()
            continue
        if name == step:
            return at
        end = None
    return None


def repeated_names(raw: bytes, limit: int) -> list[tuple[Path, Span]]:
    """Path and name span of the members whose name their object had before, in order: the first `limit` of them."""
    found: list[tuple[Path, Span]] = []
    path: list[str | int] = []  # in each open container the name or index that is being read
    seen: list[set[str]] = []  # the names that it had so far
    naming = False
    match = _STEP.search(raw)
    while match and len(found) < limit:
        start, pos, mark = match.start(), match.end(), match[0]
        if mark == b'"':
            pos = string_end(raw, start)
            if naming:
                naming, name = False, _text(raw[start:pos])
                path[-1] = name
                if name in seen[-1]:
                    found.append((tuple(path), Span(start, skip_space(raw, skip_space(raw, pos) + 1))))
                seen[-1].add(name)
        elif mark == b",":
            last = path[-1]
            naming = isinstance(last, str)
            path[-1] = last if isinstance(last, str) else last + 1
        elif mark in b"[{":
            naming = mark == b"{"
            path.append("" if naming else 0)
            seen.append(set())
        else:
            naming = False
            path.pop()
            seen.pop()
        match = _STEP.search(raw, pos)
    return found


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
