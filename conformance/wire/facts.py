"""The two words that every reader shares: where something stood in the bytes, and what was wrong there.

Knows no format. Offsets count bytes from the start of the buffer that the reader was given. `FaultLog` is where readers
note their faults: bounded, so that hostile bytes cannot grow it (`faults.too-many` ends a log that ran full).
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


MAX_FAULTS = 1000


class FaultLog:
    """Faults as they are met, at most `limit` of them; `freeze` gives them in order of position."""

    __slots__ = ("_faults", "_left")

    def __init__(self, limit: int = MAX_FAULTS) -> None:
        self._faults: list[Fault] = []
        self._left = limit

    def note(self, code: str, start: int, end: int, detail: str) -> None:
        """Add one fault, or, when the log is full, the one fault that says so."""
        if self._left > 0:
            self._faults.append(Fault(code, Span(start, end), detail))
        elif self._left == 0:
            self._faults.append(Fault("faults.too-many", Span(start, end), "more faults follow; they are not listed"))
        self._left -= 1

    @property
    def full(self) -> bool:
        """Whether nothing more will be listed."""
        return self._left < 0

    def freeze(self) -> tuple[Fault, ...]:
        """All faults, sorted by where they stand."""
        return tuple(sorted(self._faults, key=lambda fault: (fault.span.start, fault.span.end)))


def clip(data: bytes, limit: int = 60) -> str:
    """The bytes as one printable line for a fault's detail, cut after `limit` bytes."""
    text = repr(bytes(data[:limit]))[1:]
    return text if len(data) <= limit else f"{text}..."
