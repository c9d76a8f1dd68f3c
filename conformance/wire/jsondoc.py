"""JSON (RFC 8259) from bytes to a value that still knows its spelling: duplicate keys, number texts, member spans.

Total and bounded: bad syntax, bad UTF-8, a depth past the bound are faults. Fast where nobody asks: the value comes from
the C decoder; spans and spellings are scanned only when asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conformance.wire.facts import Fault, Span

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Doc:
    """One JSON text. `ok` is whether it is exactly one valid JSON value; then `value` is that value (plain Python).

    `duplicates` are the paths of member names that occur more than once in one object (the value keeps the last).
    """

    raw: bytes
    value: Any
    ok: bool
    faults: tuple[Fault, ...] = ()
    duplicates: tuple[Path, ...] = ()

    def get(self, *path: str | int) -> Any:
        """The value at `path`, or None where any step is absent or of another type."""
        value = self.value
        for step in path:
            if isinstance(step, str):
                if not isinstance(value, dict):
                    return None
                value = value.get(step)
            else:
                if not isinstance(value, list) or not -len(value) <= step < len(value):
                    return None
                value = value[step]
        return value

    def has(self, *path: str | int) -> bool:
        """Whether something, null included, stands at `path`."""
        value = self.value
        for step in path:
            if isinstance(step, str):
                if not isinstance(value, dict) or step not in value:
                    return False
                value = value[step]
            else:
                if not isinstance(value, list) or not -len(value) <= step < len(value):
                    return False
                value = value[step]
        return True

    def span(self, *path: str | int) -> Span:
        """Where the value at `path` stands in `raw`; the nearest enclosing value's span when `path` is absent."""
        raise NotImplementedError

    def spelling(self, *path: str | int) -> bytes:
        """The bytes of the value at `path` as they were spelled (b"" when absent)."""
        raise NotImplementedError
