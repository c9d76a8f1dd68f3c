"""A word that names nothing gets a hint."""

from __future__ import annotations

import pytest

from conformance.nearest import near, near_glob


def test_a_hint_lists_what_is_near() -> None:
    """Near spellings are proposed; without any, all are listed."""
    assert near("aple", ["apple", "pear"]) == "did you mean apple?"
    assert near("zzz", ["pear", "apple"]) == "one of apple, pear"


@pytest.mark.parametrize(
    ("glob", "hint"),
    [
        ("pool", "did you mean 'pool.*'?"),
        ("Pool.*", "did you mean 'pool.*'?"),
        ("pool.spred", "did you mean pool.spread?"),
        ("*", "the list"),
        ("zzz", "the list"),
    ],
)
def test_a_glob_is_near_to_an_area(glob: str, hint: str) -> None:
    """A bare area, or one in another case, is told as the glob that was meant."""
    assert near_glob(glob, ["pool.spread", "stream.x"], otherwise="the list") == hint
