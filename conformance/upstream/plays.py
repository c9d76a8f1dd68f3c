"""The plays that are armed: for each nonce what each member answers, and which attempts were made.

Request bytes -> nonce -> what is played next. Knows no socket and no clock.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from urllib.parse import unquote_to_bytes

from conformance.errors import ScenarioError
from conformance.upstream.items import REFUSE, Item, Planned, Scripts
from conformance.wire.http1 import decode_content, read_request

NONCE = re.compile(rb"cf-[a-z0-9]{6,}")
_ESCAPE = re.compile(rb"\\+u00([0-9a-fA-F]{2})")

#: A coded request body is looked at up to this many bytes.
MAX_DECODED = 64 * 1024 * 1024

#: So many plays can be armed at once; a caller that never takes them is told, instead of filling memory.
MAX_ARMED = 100_000


class ArmedPlay:
    """One nonce's play: the items of each member, the default's, and how often each member was asked."""

    __slots__ = ("_asked", "_default", "_members", "nonce")

    def __init__(self, nonce: str, members: Mapping[str, Sequence[Planned]], default: Sequence[Planned]) -> None:
        self.nonce = nonce
        self._members = {name: tuple(items) for name, items in members.items()}
        self._default = tuple(default)
        self._asked: dict[str, int] = {}

    def next(self, member: str) -> tuple[int, Planned | None]:
        """The attempt's number at this member, from 0, and what it plays (None: nothing). The last item repeats."""
        number = self._asked.get(member, 0)
        self._asked[member] = number + 1
        items = self._members.get(member, self._default)
        return number, items[min(number, len(items) - 1)] if items else None

    @property
    def refusing(self) -> tuple[str, ...]:
        """The members that take no connections while this play is armed."""
        return tuple([name for name, items in self._members.items() if _refuses(items)])


def plan_play(
    scripts: Scripts, nonce: str, members: Mapping[str, Sequence[Item]], default: Sequence[Item], known: Container[str]
) -> ArmedPlay:
    """The play of these items.

    Raises ScenarioError for a bad nonce, an unknown member, and "@refuse" beside other items or as the default (which
    stands for every member of the upstream, other lanes' too).
    """
    if not NONCE.fullmatch(nonce.encode()):
        raise ScenarioError(f"{nonce!r} is no nonce", where="arm", hint="cf- and at least six of a-z and 0-9")
    for name in members:
        if name not in known:
            raise ScenarioError(f"there is no member {name!r}", where=f"play of {nonce}")
    lists = {name: [scripts.plan(item, nonce) for item in items] for name, items in members.items()}
    rest = [scripts.plan(item, nonce) for item in default]
    if any(len(items) > 1 and _refuses(items) for items in lists.values()):
        hint = "a refused connection is never seen, so nothing could follow it"
        raise ScenarioError("@refuse stands alone in a member's list", where=f"play of {nonce}", hint=hint)
    if _refuses(rest):
        raise ScenarioError("@refuse is no default", where=f"play of {nonce}", hint="name the members that refuse")
    return ArmedPlay(nonce, lists, rest)


def _refuses(items: Sequence[Planned]) -> bool:
    return any(item.played.cassette == REFUSE for item in items)


def find_nonce(request: bytes, armed: Container[str]) -> str:
    """The nonce in a raw request's body or target, "" when there is none; the last one that is armed wins.

    JSON escapes, percent escapes, HTTP chunks and content codings are seen through when plain reading finds none armed.
    """
    head_end = request.find(b"\r\n\r\n") + 4
    last = NONCE.match(request, max(request.rfind(b"cf-"), head_end))
    if last is not None and (nonce := last[0].decode()) in armed:
        return nonce
    unknown = ""
    for nonce in _nonces(request, head_end):
        if nonce in armed:
            return nonce
        unknown = unknown or nonce
    for text in _other_readings(request, head_end):
        for nonce in _nonces(text, 0):
            if nonce in armed:
                return nonce
            unknown = unknown or nonce
    return unknown


def _nonces(text: bytes, start: int) -> Iterator[str]:
    """What looks like a nonce in the text from `start` on, the last one first."""
    end = len(text)
    while (end := text.rfind(b"cf-", start, end)) >= 0:
        found = NONCE.match(text, end)
        if found:
            yield found[0].decode()


def _other_readings(request: bytes, head_end: int) -> list[bytes]:
    """The target, and the body without its codings and escapes; only what differs from the plain bytes."""
    readings = [unquote_to_bytes(request[: request.find(b"\r\n")])]
    head = request[:head_end].lower()
    body = request[head_end:]
    if b"transfer-encoding:" in head or b"content-encoding:" in head:
        message = read_request(request)
        body, _ = decode_content(message.body, message.head.get("content-encoding"), limit=MAX_DECODED)
        readings.append(body)
    if b"\\u00" in body:
        readings.append(_ESCAPE.sub(lambda match: bytes((int(match[1], 16),)), body))
    return readings
