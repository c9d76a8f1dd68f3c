"""The journal of a replay upstream: every attempt at every member, as data with a JSON form.

Facts of one attempt -> Entry <-> JSON; with the script that was played an entry gives back the bytes that were really
sent. Knows no socket and no clock: times are CLOCK_MONOTONIC seconds, handed in.
"""

from __future__ import annotations

import json
from binascii import a2b_base64, b2a_base64
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Protocol

from conformance.errors import UpstreamError
from conformance.upstream.script import Action, Script
from conformance.wire.http1 import read_response
from conformance.wire.sse import read_events
from conformance.wire.transcript import End

BEFORE_HEAD, BEFORE_EVENT, MID_BODY, AFTER_END = "before-head", "before-event", "mid-body", "after-end"

#: A first event is looked for in this many sent bytes; one that is longer counts as begun.
LOOK_AHEAD = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What a member answered with.

    `cassette` is a library's name, or a word: "@close", "@reset", "@hang", "@refuse" (as in a play), "@default" (the
    healthy default), "@unknown" (599, the nonce is not armed), "@unplanned" (599, the play has nothing for this
    member). It is "" for an inline envelope; then `digest` is set (see items.digest_of).
    """

    cassette: str = ""
    interaction: int = 0
    transforms: tuple[str, ...] = ()
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One attempt at one member.

    `number` counts the attempts of this nonce at this member from 0. `at` is when the request's head was there,
    `read_at` when all of it was: the origin of the script's offsets. `writes` are (time, bytes handed to the kernel);
    writes less than 0.1 ms apart count as one, at the time of the first. `end` is COMPLETE, CLOSE (also a half-close,
    and a body that runs until close), RESET, STALL, or HANGUP when the peer went away first. `peer_closed` is "",
    "before-head", "before-event", "mid-body" or "after-end". `open` is whether it was still going on when it was taken.
    `connection` numbers the connections of the upstream, `on_connection` the requests on it, from 0.
    """

    nonce: str
    member: str
    port: int
    number: int
    played: Played
    at: float
    read_at: float
    request: bytes
    writes: tuple[tuple[float, int], ...]
    end: End
    ended_at: float
    peer_closed: str = ""
    peer_closed_at: float | None = None
    open: bool = False
    connection: int = 0
    on_connection: int = 0

    @property
    def size(self) -> int:
        """How many bytes were sent."""
        return sum(size for _, size in self.writes)


class Record(Protocol):
    """What has an entry's facts: an Entry, or an attempt that is still going on."""

    @property
    def nonce(self) -> str: ...
    @property
    def member(self) -> str: ...
    @property
    def port(self) -> int: ...
    @property
    def number(self) -> int: ...
    @property
    def played(self) -> Played: ...
    @property
    def at(self) -> float: ...
    @property
    def read_at(self) -> float: ...
    @property
    def request(self) -> bytes: ...
    @property
    def writes(self) -> Sequence[tuple[float, int]]: ...
    @property
    def end(self) -> End: ...
    @property
    def ended_at(self) -> float: ...
    @property
    def peer_closed(self) -> str: ...
    @property
    def peer_closed_at(self) -> float | None: ...
    @property
    def open(self) -> bool: ...
    @property
    def connection(self) -> int: ...
    @property
    def on_connection(self) -> int: ...


def encode_entry(record: Record) -> str:
    """The JSON text of an entry; the request is base64. Written out here, as this is done for every attempt."""
    writes = ",".join([f"[{at!r},{size}]" for at, size in record.writes])
    closed_at = "null" if record.peer_closed_at is None else repr(record.peer_closed_at)
    return (
        f'{{"nonce":"{record.nonce}","member":"{record.member}","port":{record.port},"number":{record.number},'
        f'"played":{_encode_played(record.played)},"at":{record.at!r},"read_at":{record.read_at!r},'
        f'"request":"{b2a_base64(record.request, newline=False).decode("ascii")}","writes":[{writes}],'
        f'"end":"{record.end.value}","ended_at":{record.ended_at!r},"peer_closed":"{record.peer_closed}",'
        f'"peer_closed_at":{closed_at},"open":{"true" if record.open else "false"},'
        f'"connection":{record.connection},"on_connection":{record.on_connection}}}'
    )


@lru_cache(maxsize=4096)
def _encode_played(played: Played) -> str:
    return json.dumps(asdict(played))


def decode_entry(data: Mapping[str, Any]) -> Entry:
    """The entry of a parsed JSON text. Raises UpstreamError when it is not one."""
    try:
        fields = dict(data)
        played = fields["played"]
        fields["played"] = _played(
            played["cassette"], played["interaction"], tuple(played["transforms"]), played["digest"]
        )
        fields["request"] = a2b_base64(fields["request"], strict_mode=True)
        fields["writes"] = tuple([(float(at), int(size)) for at, size in fields["writes"]])
        fields["end"] = End(fields["end"])
        return Entry(**fields)
    except (KeyError, TypeError, ValueError) as error:
        raise UpstreamError(f"a journal entry cannot be read: {error}", where="upstream journal") from error


@lru_cache(maxsize=4096)
def _played(cassette: str, interaction: int, transforms: tuple[str, ...], digest: str) -> Played:
    return Played(cassette=cassette, interaction=interaction, transforms=transforms, digest=digest)


def sent_segments(entry: Entry, script: Script) -> tuple[tuple[float, bytes], ...]:
    """What the member really sent, as (CLOCK_MONOTONIC seconds, bytes): the script's bytes as far as they were written.

    `script` is that of `entry.played` with `entry.nonce`. Raises UpstreamError when the entry has more than it.
    """
    planned = b"".join(step.data for step in script.steps if step.action is Action.SEND)
    if entry.size > len(planned):
        raise UpstreamError(
            f"{entry.size} bytes were sent, the script has {len(planned)}",
            where=f"attempt {entry.number} of {entry.nonce} at {entry.member}",
            hint="the script is not the one that was played",
        )
    segments, position = [], 0
    for at, size in entry.writes:
        segments.append((at, planned[position : position + size]))
        position += size
    return tuple(segments)


def close_point(sent: bytes) -> str:
    """At which point of an unfinished response the peer went away, by what had been sent until then."""
    message = read_response(sent[:LOOK_AHEAD], closed=False)
    if not message.status:
        return BEFORE_HEAD
    if "event-stream" not in (message.head.get("content-type") or "").lower():
        return MID_BODY if message.body else BEFORE_EVENT
    begun = len(sent) > LOOK_AHEAD or any(event.dispatched for event in read_events(message.body).events)
    return MID_BODY if begun else BEFORE_EVENT
