"""What stands for a secret: keys made for tests, and stand-ins that tell one hidden thing from another. Pure.

A stand-in is as long as what it stands for and holds nothing of it: only which one it is, by a number.
"""

from __future__ import annotations

import re

#: What keys made for tests start with: those of clients, and those of members.
CLIENT, MEMBER = "sk-test-", "sk-up-"
#: A shorter key leaves no room for its number.
LEAST_KEY = 13

_TEST_KEY = re.compile(rb"sk-(?:test|up-|canary)")
_ID = re.compile(rb"(?:(?:org|proj|acct|team|account|user|req)[-_])?standin[0-9]+z*")
_ID_KIND = re.compile(r"(?:(?:org|proj|acct|team|account|user|req)[-_])?")
_NUMBERS = {"key": re.compile(r"sk-(?:test|up)-([0-9]{5,9})(?![0-9])"), "id": re.compile(r"standin([0-9]{1,9})")}
_PARTS = re.compile(r"[^A-Za-z0-9]+")
_WORD = re.compile(r"(?:[A-Z]?[a-z]{3,})+|[A-Z]?[a-z]+|[A-Z]+")
_LONGEST_WORD = 20


def is_stand_in(value: bytes) -> bool:
    """Whether this is a key made for tests, or what stands for an id."""
    return _TEST_KEY.match(value) is not None or _ID.fullmatch(value) is not None


def holds_test_key(value: bytes) -> bool:
    """Whether a key made for tests stands somewhere in it."""
    return _TEST_KEY.search(value) is not None


def for_key(prefix: str, number: int, size: int) -> str:
    """A key made for tests of this size; "" where there is no room."""
    name = f"{prefix}{number:05d}"
    fill = "-stand-in" * (size // 9 + 1)
    return name + fill[: size - len(name)] if size >= max(LEAST_KEY, len(name)) else ""


def for_id(value: str, number: int) -> str:
    """What stands for an id: of its size and, where it tells, its kind; "" where there is no room."""
    kind = _ID_KIND.match(value)
    for prefix in (kind[0] if kind else "", ""):
        name = f"{prefix}standin{number}"
        if len(name) <= len(value):
            return name.ljust(len(value), "z")
    return ""


def highest(kind: str, text: str) -> int:
    """The highest number of a stand-in for a "key" or an "id" in a text, 0 where there is none."""
    return max(map(int, _NUMBERS[kind].findall(text)), default=0)


def is_plain(text: str) -> bool:
    """Whether nothing but words, or nothing but figures, stands in it: what may be said by chance is no secret."""
    return not matter_in(text) or all(part.isdigit() for part in _parts(text))


def matter_in(text: str) -> int:
    """How many characters are in parts that are no words."""
    return sum(len(part) for part in _parts(text) if not _WORD.fullmatch(part) or len(part) > _LONGEST_WORD)


def words_in(text: str) -> int:
    """Of how many parts it is made."""
    return len(_parts(text))


def _parts(text: str) -> list[str]:
    return [part for part in _PARTS.split(text) if part]
