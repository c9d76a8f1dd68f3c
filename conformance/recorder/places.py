"""Where a key or an id stands in bytes, whole or as a piece, and what is to be written there instead. Pure.

What the protocol or anybody may say by chance is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from conformance.cassette.redact import MARK
from conformance.cassette.standin import LEAST_KEY, is_plain, matter_in, words_in

#: A shorter key is looked for nowhere.
LEAST = 6
#: So many bytes of a key in a row are a piece of it, or half of it, but no fewer than the second.
PIECE, HALF = 12, 8
#: So much of a piece is no word: a model's name is no secret for its figures.
MATTER = 6
#: A passphrase: so long, and of so many words.
PHRASE, WORDS = 16, 3


@dataclass(frozen=True, slots=True)
class Place:
    """Where something known stands, and the bytes, as many, to be written there."""

    kind: str
    start: int
    end: int
    instead: bytes


def is_said(key: str) -> bool:
    """Whether a key may stand in a text by chance: it is of a word or two, or too short to be looked for."""
    return len(key) < LEAST or (is_plain(key) and (len(key) < PHRASE or words_in(key) < WORDS))


def marked(stand_in: str, size: int) -> bytes:
    """So many bytes of a stand-in, or of the mark where there is none."""
    return stand_in.encode() or MARK.encode().ljust(size, b"*")[:size]


def whole(data: bytes, key: str, stand_in: str) -> Iterator[Place]:
    """Where a whole key stands, in any case; a phrase not where the protocol may mean it."""
    raw, phrase = key.encode(), is_plain(key)
    instead = marked(stand_in, len(raw))
    for at in _found(data.lower(), raw.lower()):
        end, before = at + len(raw), data[max(0, at - 7) : at]
        quoted = before.endswith((b'"', b"'", b"`", b"event: ", b"event:"))
        if (phrase and quoted) or ((len(key) < LEAST_KEY or phrase) and not _apart(data, at, end)):
            continue
        yield Place("key", at, end, instead if data[at:end] == raw else instead.upper())


def pieces(data: bytes, folded_data: bytes, key: str, stand_in: str) -> Iterator[Place]:
    """The longest pieces of a key that are no words; the data also in lower case."""
    raw = key.encode()
    folded, least = raw.lower(), min(PIECE, max(HALF, (len(raw) + 1) // 2))
    for start in range(len(raw) - least + 1):
        for at in _found(folded_data, folded[start : start + least]):
            if start and at and folded[start - 1] == folded_data[at - 1]:
                continue  # a part of a longer one
            size = least + _alike(folded_data[at + least : at + len(raw)], folded[start + least :])
            if size < len(raw) and _is_telling(key[start : start + size]):
                instead = marked(stand_in, len(raw))[start : start + size]
                exact = data[at : at + size] == raw[start : start + size]
                yield Place("key", at, at + size, instead if exact else instead.upper())


def apart(data: bytes, value: str, stand_in: str) -> Iterator[Place]:
    """Where an id stands by itself."""
    raw = value.encode()
    for at in _found(data, raw):
        if _apart(data, at, at + len(raw)):
            yield Place("id", at, at + len(raw), marked(stand_in, len(raw)))


def _apart(data: bytes, start: int, end: int) -> bool:
    return not data[max(0, start - 1) : start].isalnum() and not data[end : end + 1].isalnum()


def _is_telling(piece: str) -> bool:
    return matter_in(piece) >= MATTER and not is_plain(piece)


def _alike(one: bytes, other: bytes) -> int:
    """How many bytes both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _found(data: bytes, piece: bytes) -> Iterator[int]:
    at = data.find(piece)
    while at >= 0:
        yield at
        at = data.find(piece, at + 1)
