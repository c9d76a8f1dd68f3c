"""Typed reading of untyped documents: a value at a place becomes the wanted type, or a CassetteError naming the place.

Knows the types of YAML and nothing of cassettes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from conformance.errors import CassetteError


@dataclass(frozen=True, slots=True)
class Field:
    """A value and the place where it stands ("authored/x: interactions[0].response.status")."""

    value: Any
    where: str

    def wrong(self, expected: str, hint: str = "") -> CassetteError:
        """The error that says what was expected here and what was there instead."""
        return CassetteError(f"expected {expected}, found {_shown(self.value)}", where=self.where, hint=hint)

    def child(self, key: str) -> Field:
        """The member `key` of a mapping; its value is None where it is absent."""
        return Field(self.mapping().get(key), f"{self.where}.{key}" if ": " in self.where else f"{self.where}: {key}")

    def items(self) -> tuple[Field, ...]:
        """Each item of a sequence."""
        return tuple(Field(value, f"{self.where}[{i}]") for i, value in enumerate(self.sequence()))

    @property
    def absent(self) -> bool:
        """Whether nothing, or null, stands here."""
        return self.value is None

    def mapping(self) -> Mapping[Any, Any]:
        """A mapping; null counts as an empty one."""
        if self.value is None:
            return {}
        if not isinstance(self.value, Mapping):
            raise self.wrong("a mapping")
        return self.value

    def sequence(self) -> Sequence[Any]:
        """A list or tuple; null counts as an empty one."""
        if self.value is None:
            return ()
        if not isinstance(self.value, (list, tuple)):
            raise self.wrong("a list")
        return self.value

    def text(self, default: str | None = "") -> str:
        """A string; where nothing stands the default, unless that is None. A date is given back as it was written."""
        if self.value is None and default is not None:
            return default
        if isinstance(self.value, str):
            return self.value
        if hasattr(self.value, "isoformat"):
            return str(self.value.isoformat())
        raise self.wrong("a string", hint="quote it")

    def integer(self) -> int:
        """A whole number that is not negative."""
        if not isinstance(self.value, int) or isinstance(self.value, bool) or self.value < 0:
            raise self.wrong("a whole number, not negative")
        return self.value

    def milliseconds(self) -> float:
        """A finite number that is not negative."""
        value = self.value
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value <= 1e12:
            raise self.wrong("a number of milliseconds, not negative")
        return float(value) if math.isfinite(value) else 0.0

    def only(self, allowed: tuple[str, ...]) -> None:
        """Raise when the mapping has a key that is not in `allowed`."""
        for key in self.mapping():
            if key not in allowed:
                near = get_close_matches(str(key), allowed, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(allowed)}"
                raise CassetteError(f"unknown key {_shown(key)}", where=self.where, hint=hint)


def _shown(value: Any) -> str:
    """A short form of `value` for a message; never walks into a container."""
    if value is None:
        return "nothing"
    if isinstance(value, (str, bytes)):
        return repr(value if len(value) <= 60 else value[:60]) + ("" if len(value) <= 60 else " and more")
    if isinstance(value, Mapping):
        return f"a mapping of {len(value)}"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    if isinstance(value, int) and abs(value) > 10**30:
        return "a very long number"
    return repr(value)[:80]
