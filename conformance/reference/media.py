"""What a member's 200 really is: the first bytes decide between server-sent events, one JSON text, and what is neither.

The label may be wrong or absent, so the bytes are believed; a label of markup with markup inside is refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from enum import StrEnum
from typing import Any

from conformance.reference.call import Call
from conformance.reference.client import FaultKind, UpstreamFault, UpstreamReply
from conformance.reference.failure import Kind, UpstreamFailed, own_failure
from conformance.reference.jsontext import parse_json
from conformance.reference.sse import BOM, EventTooLong, SseDecoder, SseEvent
from conformance.reference.steps import Step

DONE_TAIL = b"data: [DONE]"
FIELDS = (b"data", b"event", b":", b"id:", b"retry:")


class Media(StrEnum):
    """The forms of a body."""

    EVENTS = "events"
    JSON = "json"
    OTHER = "other"
    NOTHING = "nothing"


class Source:
    """A member's 200 as it is read: a peeked start, then the rest; `deadline` (loop time) moves as output comes."""

    def __init__(self, reply: UpstreamReply, call: Call, deadline: float) -> None:
        self.reply = reply
        self.deadline = deadline
        self._call = call
        self._limits = call.config.limits
        self._start = b""

    async def _read(self) -> bytes:
        return await self.reply.read(self.deadline, self._limits.reply)

    def heard(self, at_most: float = 86_400.0) -> None:
        """Something that counts has come: the member has the idle time, or `at_most` seconds, for the next."""
        idle = self._call.config.timeouts.idle if self._call.does(Step.IDLE_TIMEOUT) else 86_400.0
        self.deadline = now() + min(idle, at_most)

    async def media(self) -> Media:
        """Look at the first bytes. Raises UpstreamFault."""
        while not (start := self._start.removeprefix(BOM).lstrip()):
            if not (data := await self._read()):
                return Media.NOTHING
            self._start += data
        if start[:1] in (b"{", b"["):
            return Media.JSON
        labelled = "event-stream" in self.reply.head.get("content-type").lower()
        looks = any(start.startswith(field[: len(start)]) for field in FIELDS)
        return Media.EVENTS if looks or (labelled and start[:1] != b"<") else Media.OTHER

    def _characters(self, data: bytes) -> bytes:
        """The bytes as they came: a character may be cut between two reads, and is whole only when they are joined."""
        return data if self._call.does(Step.WHOLE_CHARACTERS) else data.decode("utf-8", "replace").encode()

    async def json(self) -> Any:
        """The body as one JSON value. Raises UpstreamFault or UpstreamFailed."""
        self.heard()
        parts = [self._start]
        size = len(self._start)
        try:
            while data := await self._read():
                parts.append(self._characters(data))
                self.heard()
                if (size := size + len(data)) > self._limits.reply:
                    raise UpstreamFault(FaultKind.BROKEN, "the reply is too long")
        except UpstreamFault:
            if self._call.does(Step.REFUSE_CUT_BODY):
                raise
        text = b"".join(parts).removeprefix(BOM).strip().removesuffix(DONE_TAIL)
        try:
            return parse_json(text)
        except ValueError:
            raise UpstreamFailed(own_failure(Kind.BROKEN, "The upstream's answer is not valid JSON.")) from None

    async def events(self) -> AsyncIterator[list[SseEvent]]:
        """The events, in the batches in which they came; a comment alone is no event. Raises UpstreamFault,
        UpstreamFailed.
        """
        bound = self._limits.event if self._call.does(Step.BOUND_EVENT) else 2**40
        decoder = SseDecoder(bound)
        data = self._start
        try:
            while data or (data := await self._read()):
                if events := decoder.feed(self._characters(data)):
                    yield events
                elif not self._call.does(Step.IGNORE_COMMENTS):
                    self.heard()
                data = b""
            yield decoder.end()
        except EventTooLong:
            raise UpstreamFailed(own_failure(Kind.BROKEN, "The upstream sent an event that is too long.")) from None


def now() -> float:
    """The running loop's time."""
    return asyncio.get_running_loop().time()
