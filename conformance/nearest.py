"""A word that names nothing -> a hint: which known ones it is near to. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def near(word: str, known: Iterable[str], *, otherwise: str = "") -> str:
    """The known words that are spelled most like `word`, else `otherwise`, without which all of them."""
    choices = sorted(known)
    close = get_close_matches(word, choices, n=3, cutoff=0.6)
    if close:
        return f"did you mean {' or '.join(close)}?"
    return otherwise or f"one of {', '.join(choices) or 'none'}"


def near_glob(glob: str, known: Iterable[str], *, otherwise: str) -> str:
    """The same for a glob over dotted ids: "pool" and "Pool.*" are near to "pool.*"."""
    choices = tuple(known)
    area = glob.lower().rstrip(".*") + "."
    if any(choice.startswith(area) for choice in choices):
        return f"did you mean '{area}*'?"
    return near(glob, choices, otherwise=otherwise)
