"""Where exchanges that have ended are entered: read, cleaned of secrets, put into the file of their leg, and told.

Works through what waits in one go, away from the event loop, and replaces the files after each go: a killed process
loses what was on its way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic

from conformance.cassette.model import Interaction
from conformance.cassette.redact import redacted
from conformance.errors import CassetteError
from conformance.recorder.exchange import Exchange
from conformance.recorder.file import Entry, RecordFile
from conformance.recorder.interaction import interaction_of
from conformance.recorder.known import Known
from conformance.recorder.owners import Owners
from conformance.recorder.redact import cleaned, holds
from conformance.wire.head import MAX_HEAD
from conformance.wire.http1 import read_request
from conformance.wire.message import HeaderLine
from conformance.wire.transcript import Transcript


@dataclass(frozen=True, slots=True, kw_only=True)
class Leg:
    """One side that is recorded: where its requests go, and the member's name on an upstream leg."""

    origin: str
    member: str = ""


@dataclass(frozen=True, slots=True)
class _Item:
    """An exchange that began, or (with its transcript) has ended."""

    leg: Leg
    exchange: Exchange
    at: float
    passed: Transcript | None = None


class Desk:
    """`client` is the file of exchanges; `upstream` that of attempts, where a gateway is recorded from both sides.

    `kept` counts the exchanges in the file; once they are `most` (0: any number) `full` is set and no more is entered.
    `left` counts what could not be entered; `failure` is why the file could not be written the last time.
    """

    def __init__(
        self, client: RecordFile, upstream: RecordFile | None, *, key: str, most: int, say: Callable[[str], None]
    ) -> None:
        self.full = asyncio.Event()
        self.kept = self.left = 0
        self.failure: CassetteError | None = None
        self._client, self._upstream = client, upstream
        self._most, self._say = most, say
        self._known = Known()
        self._known.count_on(client.before)
        self._known.told(key, member=upstream is not None)
        self._unread: dict[Exchange, Leg] = {}
        self._owners = Owners()
        self._entered: dict[int, Entry] = {}
        self._attempts: list[Entry] = []
        self._waiting: asyncio.Queue[_Item | None] = asyncio.Queue()

    def began(self, leg: Leg, exchange: Exchange) -> None:
        """An exchange began."""
        self._waiting.put_nowait(_Item(leg, exchange, exchange.began))

    def ended(self, leg: Leg, exchange: Exchange, passed: Transcript) -> None:
        """An exchange has ended."""
        self._waiting.put_nowait(_Item(leg, exchange, monotonic(), passed))

    def close(self) -> None:
        """Nothing more will be told: `run` ends when all is entered."""
        self._waiting.put_nowait(None)

    async def run(self) -> None:
        """Enter what ends, until `close`."""
        closing = False
        while not closing:
            items = [await self._waiting.get()]
            while not self._waiting.empty():
                items.append(self._waiting.get_nowait())
            closing = None in items
            await asyncio.to_thread(self._work, [item for item in items if item is not None])
            if self._most and self.kept >= self._most:
                self.full.set()

    def _work(self, items: list[_Item]) -> None:
        lines = []
        for item in items:
            if item.passed is None:
                self._unread[item.exchange] = item.leg
                if not item.leg.member:
                    self._owners.began(item.exchange)
        self._learn()
        for item in items:
            if item.passed is not None:
                lines.append(self._enter(item, item.passed))
        if lines:
            self._write()
        for line in lines:
            self._say(line)

    def _learn(self) -> None:
        """Read the keys of requests that have begun: an exchange may show one before the attempt with it ends."""
        fresh: list[str] = []
        for exchange, leg in list(self._unread.items()):
            asked = exchange.request
            if b"\r\n\r\n" in asked or b"\n\n" in asked:
                fields = [(line.name.decode("latin-1"), line.value.decode("latin-1")) for line in _fields(asked)]
                fresh += self._known.learn_request(fields, member=bool(leg.member))
                del self._unread[exchange]
        self._again(fresh)

    def _again(self, keys: list[str]) -> None:
        """Members' keys are known only now: they go from what is entered, too."""
        if not keys:
            return
        for number, entry in list(self._entered.items()):
            if holds(entry.interaction, keys):
                self._entered[number] = self._hidden(entry, [number], member=False)
        for place, entry in enumerate(self._attempts):
            if holds(entry.interaction, keys):
                self._attempts[place] = self._hidden(entry, [entry.owner or 0], member=True)

    def _hidden(self, entry: Entry, owners: list[int], *, member: bool) -> Entry:
        clean = cleaned(entry.interaction, self._known, member=member)
        if clean.reason:
            self._owners.spoil(owners, clean.reason)
        (self._upstream if member and self._upstream is not None else self._client).note(clean.notes)
        return entry if clean.interaction == entry.interaction else replace(entry, interaction=clean.interaction)

    def _enter(self, item: _Item, passed: Transcript) -> str:
        """Enter one exchange, or leave it; the line that tells so."""
        reading = interaction_of(passed, item.leg.origin)
        interaction, reason, told = reading.interaction, reading.reason, "; ".join(reading.notes)
        file = self._client if self._upstream is None or not item.leg.member else self._upstream
        if interaction is not None:
            self._again(self._known.learn_request(interaction.request.headers, member=bool(item.leg.member)))
            clean = cleaned(interaction, self._known, member=bool(item.leg.member))
            interaction, reason = clean.interaction, clean.reason
            told = "; ".join(note for note in (told, clean.told) if note)
            reason = reason or file.unfit(interaction)
            if not reason:
                file.note(clean.notes)
        self._unread.pop(item.exchange, None)
        place = self._attempt if item.leg.member else self._exchange
        reason = place(item, passed, interaction, reason)
        self.left += bool(reason)
        what = _told(passed, interaction)
        return f"not recorded {what}: {reason}" if reason else f"recorded {what}" + (f"; {told}" if told else "")

    def _exchange(self, item: _Item, passed: Transcript, interaction: Interaction | None, reason: str) -> str:
        """Enter an exchange of the client; why not."""
        number = self._owners.ended(item.exchange, item.at, passed.request)
        if not reason and self._most and len(self._whole) >= self._most:
            reason = f"{self._most} are recorded"
        reason = reason or self._owners.spoilt(number)
        if interaction is not None and not reason:
            self._entered[number] = Entry(place=(item.exchange.began,), interaction=interaction)
        return reason

    def _attempt(self, item: _Item, passed: Transcript, interaction: Interaction | None, reason: str) -> str:
        """Enter an attempt of the gateway; why not."""
        began = item.exchange.began
        owners = self._owners.of(began, passed.request)
        if not owners:
            return reason or "it belongs to no request of the client"
        if len(owners) > 1:
            reason = reason or "it may belong to several requests of the client"
        if interaction is None or reason:
            self._owners.spoil(owners, f"an attempt for it is not recorded: {reason}")
            return reason
        placed = replace(interaction, member=item.leg.member, at=self._owners.after(owners[0], began))
        self._attempts.append(Entry(place=(owners[0], began), interaction=placed, owner=owners[0]))
        return ""

    @property
    def _whole(self) -> dict[int, Entry]:
        """The client's exchanges of which every attempt is held."""
        return {number: entry for number, entry in self._entered.items() if not self._owners.spoilt(number)}

    def _write(self) -> None:
        """Replace the files by what is entered and whole."""
        whole = self._whole
        self.kept = len(whole)
        if not whole:
            return
        try:
            if self._upstream is not None:
                self._upstream.write([entry for entry in self._attempts if entry.owner in whole])
            self._client.write(list(whole.values()))
        except CassetteError as error:
            if self.failure is None:
                self._say(f"not written: {error}")
            self.failure = error
        else:
            self.failure = None


def _fields(request: bytes) -> tuple[HeaderLine, ...]:
    """The fields of a request's head."""
    return read_request(request[:MAX_HEAD]).head.headers


def _told(passed: Transcript, interaction: Interaction | None) -> str:
    """An exchange in a few words, without secrets."""
    line = passed.request.partition(b"\r\n")[0].split(b" ")
    words = redacted(b" ".join(line[:2]).partition(b"?")[0].decode("latin-1"))[:200]
    asked = "".join(character if character.isprintable() else "?" for character in words) or "a request"
    if interaction is None:
        return asked
    status = interaction.envelope.head[0].split(" ")[1:2] if interaction.envelope.head else ["nothing"]
    end, size = interaction.envelope.end, len(interaction.envelope.body)
    return f"{asked} {' '.join(status)} {end}, {size} bytes in {len(interaction.envelope.frames)} frames"
