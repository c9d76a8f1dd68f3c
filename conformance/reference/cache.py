"""Whole answers kept for equal requests: the bytes of a JSON body or of a stream, each under the whole request that it
answers.

What cannot be put into a key is not kept. The clock is handed in; sends nothing.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.reference.rules import CacheRule, Clock

if TYPE_CHECKING:
    from conformance.reference.call import Call

#: The request fields that say who asks: what is answered to one is not another's.
IDENTITY = ("authorization", "openai-organization", "openai-project", "x-api-key", "cookie")
#: The paths below the API root whose answers depend on the request alone; a response of /responses can be referred to.
PATHS = frozenset({"/chat/completions", "/completions", "/embeddings"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A kept answer: the body's bytes, whether it is a stream, and until when it may be given."""

    body: bytes
    stream: bool
    until: float


class ResponseCache:
    """The answers of all lanes, the last used ones. A defect overrides one of its methods."""

    def __init__(self, rule: CacheRule, clock: Clock) -> None:
        self.rule = rule
        self._clock = clock
        self._kept: OrderedDict[bytes, Stored] = OrderedDict()

    def key(self, call: Call) -> bytes | None:
        """The digest of all that can change an answer: path, the body's very text, who asks. None bypasses."""
        if call.operation is None or call.operation.value not in PATHS:
            return None
        return digest([call.operation.value, self.text(call), *self.identity(call)])

    def text(self, call: Call) -> str:
        """The part of the body that makes the key: all of it."""
        return call.text

    def identity(self, call: Call) -> list[str]:
        """What says who asks."""
        return [call.headers.get(name, "") for name in IDENTITY]

    def find(self, key: bytes) -> Stored | None:
        """The answer kept under `key`, unless it is too old."""
        found = self._kept.get(key)
        if found is None:
            return None
        if self._clock() >= found.until:
            del self._kept[key]
            return None
        self._kept.move_to_end(key)
        return found

    def keep(self, key: bytes, body: bytes, *, stream: bool) -> None:
        """Keep a whole answer. The longest unused one makes room."""
        self._kept[key] = Stored(body=body, stream=stream, until=self._clock() + self.rule.seconds)
        self._kept.move_to_end(key)
        while len(self._kept) > self.rule.entries:
            self._kept.popitem(last=False)

    def broken(self, recording: Recording) -> None:
        """An answer broke on its way: nothing is kept."""
        recording.pieces.clear()


@dataclass(slots=True, kw_only=True)
class Recording:
    """An answer on its way to the client, kept when it is whole; one that the client leaves is never whole."""

    cache: ResponseCache
    key: bytes
    stream: bool
    pieces: list[bytes] = field(default_factory=list)
    size: int = 0

    def add(self, data: bytes) -> bytes:
        """Notes a piece that is sent, and gives it back. Of a long answer nothing is held."""
        self.size += len(data)
        if self.size <= self.cache.rule.bytes:
            self.pieces.append(data)
        else:
            self.pieces.clear()
        return data

    def whole(self) -> None:
        """The last piece has been added."""
        if self.pieces and self.size <= self.cache.rule.bytes:
            self.cache.keep(self.key, b"".join(self.pieces), stream=self.stream)


def digest(parts: list[str]) -> bytes | None:
    """One digest of several texts, each told apart from the next; None when one of them is no Unicode text."""
    made = hashlib.sha256()
    try:
        for part in parts:
            data = part.encode()
            made.update(b"%d:" % len(data))
            made.update(data)
    except UnicodeEncodeError:
        return None
    return made.digest()
