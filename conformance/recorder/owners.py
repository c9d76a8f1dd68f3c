"""Which request of the client a gateway's attempt belongs to, while both are recorded: by nonce or prompt, and by time.

What cannot be told spoils what it may belong to: a client's exchange is written only with all of its attempts. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass

from conformance.exchange.prompts import NONCE, key_of
from conformance.recorder.exchange import Exchange
from conformance.wire.http1 import read_request

#: So many requests that have ended may still be found by an attempt.
KEPT = 4096


@dataclass(slots=True)
class _Asked:
    """One request of the client: when it began and ended (CLOCK_MONOTONIC, s), and what tells it apart."""

    began: float
    exchange: Exchange | None
    key: bytes = b""
    ended: float | None = None


class Owners:
    """The requests of the client leg, numbered as they began."""

    def __init__(self) -> None:
        self._count = 0
        self._numbers: dict[Exchange, int] = {}
        self._asked: dict[int, _Asked] = {}
        self._spoilt: dict[int, str] = {}

    def began(self, exchange: Exchange) -> None:
        """The client asks."""
        self._numbers[exchange] = self._count
        self._asked[self._count] = _Asked(exchange.began, exchange)
        self._count += 1

    def ended(self, exchange: Exchange, at: float, request: bytes) -> int:
        """The client was answered, or left; the request's number."""
        number = self._numbers.pop(exchange)
        asked = self._asked[number]
        asked.key, asked.ended, asked.exchange = _key(request), at, None
        over = [other for other, one in self._asked.items() if one.ended is not None]
        for other in over[:-KEPT]:
            del self._asked[other]
        return number

    def of(self, began: float, request: bytes) -> list[int]:
        """The requests that an attempt may belong to: open when it began, and with the same words."""
        own = _key(request)
        found = []
        for number, asked in self._asked.items():
            key = asked.key if asked.exchange is None else _key(asked.exchange.request)
            if asked.began <= began and (asked.ended is None or began <= asked.ended):
                found += [number] if key == own or (NONCE.fullmatch(key) and key in request) else []
        return found

    def after(self, number: int, began: float) -> float:
        """Milliseconds from the client's request to an attempt that belongs to it."""
        return round((began - self._asked[number].began) * 1000.0, 3)

    def spoil(self, numbers: list[int], reason: str) -> None:
        """These may not be written, for the first reason given."""
        for number in numbers:
            self._spoilt.setdefault(number, reason)

    def spoilt(self, number: int) -> str:
        """Why a request may not be written, "" when it may."""
        return self._spoilt.get(number, "")


def _key(request: bytes) -> bytes:
    return key_of(read_request(request).body)
