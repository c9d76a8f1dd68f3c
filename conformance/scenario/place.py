"""Typed reading of TOML tables: a key's value becomes the wanted type, or a ScenarioError that says where it is wrong.

Knows the types of TOML and nothing of scenarios. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from conformance.errors import ScenarioError


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands: `where` is the file and the scenario, `key` the dotted path of keys below it."""

    where: str
    key: str = ""

    def at(self, key: str) -> Place:
        """The place of the member `key`."""
        return Place(self.where, f"{self.key}.{key}" if self.key else key)

    def wrong(self, what: str, hint: str = "") -> ScenarioError:
        """The error that `what` is wrong here."""
        return ScenarioError(f"{self.key}: {what}" if self.key else what, where=self.where, hint=hint)

    def table(self, value: Any, example: str, allowed: tuple[str, ...] | None = None) -> Mapping[str, Any]:
        """`value` as a table, with no key beyond `allowed`."""
        if not isinstance(value, Mapping):
            raise self.wrong("is missing" if value is None else "a table is wanted", f"as {example}")
        for key in value if allowed is not None else ():
            if key not in (allowed or ()):
                raise self.wrong(f"unknown key {key!r}", suggestion(key, allowed or ()))
        return value

    def text(self, table: Mapping[str, Any], key: str, default: str | None = None) -> str:
        """The text under `key`; without a default it must be there and not be blank."""
        value = table.get(key, default)
        if not isinstance(value, str) or (default is None and not value.strip()):
            raise self.at(key).wrong("is missing" if value is None else "a text is wanted")
        return value

    def optional_text(self, table: Mapping[str, Any], key: str) -> str | None:
        """The text under `key` (it may be empty), or None when the key is absent."""
        return self.text(table, key, default="") if key in table else None

    def texts(self, table: Mapping[str, Any], key: str, *, unique: bool = True) -> tuple[str, ...]:
        """The list of texts under `key`, () when absent."""
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            raise self.at(key).wrong("a list of texts is wanted")
        if unique and len(set(value)) != len(value):
            raise self.at(key).wrong("an item stands twice")
        return tuple(value)

    def flag(self, table: Mapping[str, Any], key: str) -> bool:
        """The boolean under `key`, false when absent."""
        value = table.get(key, False)
        if not isinstance(value, bool):
            raise self.at(key).wrong("true or false is wanted")
        return value

    def count(self, table: Mapping[str, Any], key: str) -> int:
        """The whole number from 0 on under `key`, 0 when absent."""
        value = table.get(key, 0)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self.at(key).wrong("a whole number from 0 on is wanted")
        return value

    def milliseconds(self, table: Mapping[str, Any], key: str) -> float:
        """The number of milliseconds under `key`, 0 when absent; at most ten minutes."""
        value = table.get(key, 0)
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value <= 600_000:
            raise self.at(key).wrong("a number of milliseconds is wanted, 0 to 600000")
        return float(value)

    def one_of(self, value: str, allowed: Iterable[str]) -> str:
        """`value`, which must be one of `allowed`."""
        known = tuple(allowed)
        if value not in known:
            raise self.wrong(f"{value!r} is not known", suggestion(value, known))
        return value

    def json_value(self, value: Any) -> None:
        """Raise when `value` holds what JSON does not have (TOML has dates, and numbers that are not finite)."""
        if isinstance(value, Mapping):
            for key, item in value.items():
                self.at(key).json_value(item)
        elif isinstance(value, list):
            for position, item in enumerate(value):
                self.at(str(position)).json_value(item)
        elif not (value is None or isinstance(value, (str, int)) or _finite(value)):
            raise self.wrong(f"{value!r} has no form in JSON", "quote it")


def suggestion(word: str, allowed: Iterable[str]) -> str:
    """The hint that names the nearest of `allowed`, or all of them."""
    known = tuple(allowed)
    near = get_close_matches(str(word), known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"one of {', '.join(known)}"


def _finite(value: Any) -> bool:
    return isinstance(value, float) and abs(value) < float("inf")
