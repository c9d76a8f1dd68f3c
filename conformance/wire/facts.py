"""The two words that every reader shares: where something stood in the bytes, and what was wrong there.

Knows no format. Offsets count bytes from the start of the buffer that the reader was given.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of byte offsets, `start` to `end`."""

    start: int
    end: int

    def of(self, data: bytes) -> bytes:
        """The bytes that the span covers."""
        return data[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Fault:
    """Something a reader met that the format does not allow, or that went past a bound.

    `code` is from the closed set that the reader's module lists; `detail` is one line for a person.
    """

    code: str
    span: Span
    detail: str
