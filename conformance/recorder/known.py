"""What the recorder has learnt to be secret, and what stands for it: the same in both legs and in all places. Pure.

A key is known from a field that carries one, or by its form; an id from its field, or by its form. Remembers; what is
written is `redact`'s matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from conformance.cassette.model import Envelope, Interaction
from conformance.cassette.redact import begins_key, credential, find_secrets, is_id, is_masked
from conformance.cassette.standin import CLIENT, LEAST_KEY, MEMBER, for_id, for_key, highest, is_plain
from conformance.recorder.places import Place, apart, is_said, marked, pieces, whole

#: A shorter id is looked for only in its field.
LEAST_ID = 8
#: So much of a key is its head where a mask follows.
HEAD = 6
#: Pieces are looked for of so many keys, the last ones, and of no longer ones: a token may be made for each request.
MOST, LONGEST = 32, 256

_MASKED = re.compile(rb"(?<![A-Za-z0-9])[A-Za-z0-9_-]{%d,60}(?=\*{2}|\.{3}|\xe2\x80\xa6)" % HEAD)
_TOKEN = re.compile(rb"[A-Za-z0-9_-]{%d,}" % LEAST_ID)
_FORMS = {"api-key": True, "bearer": True, "organisation": False, "account": False}


@dataclass(slots=True)
class Known:
    """`keys` and `ids` with what stands for each, "" where there is no room; `near`: those told, and members'."""

    keys: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    near: dict[str, None] = field(default_factory=dict)
    _sought: dict[str, bytes] = field(default_factory=dict)
    _numbers: dict[str, int] = field(default_factory=dict)

    def told(self, key: str, *, member: bool) -> None:
        """A key that somebody vouches for, be it short or look as it likes."""
        if key:
            self.near[key] = None
            self._key(key, MEMBER if member else CLIENT, sure=True)

    def count_on(self, held: Iterable[Interaction]) -> None:
        """What is new is numbered behind the stand-ins that a file holds: nobody knows whose they are."""
        for interaction in held:
            fields = (*interaction.request.headers, *fields_of(interaction.envelope))
            text = "\n".join(value for _, value in fields)
            for kind in ("key", "id"):
                self._numbers[kind] = max(self._numbers.get(kind, 0), highest(kind, text))

    def learn_request(self, fields: Iterable[tuple[str, str]], *, member: bool) -> list[str]:
        """The keys and ids in a request's fields; a member's keys that are new."""
        fresh = [key for key in keys_in(fields) if key not in self.near] if member else []
        self._fields(fields, MEMBER if member else CLIENT)
        self.near.update(dict.fromkeys(fresh))
        return fresh

    def _fields(self, fields: Iterable[tuple[str, str]], prefix: str) -> None:
        for key in keys_in(fields):
            self._key(key, prefix)
        for value in ids_in(fields):
            self._id(value)

    def learn(self, interaction: Interaction, *, member: bool) -> None:
        """All that an interaction tells. What a response alone tells is a member's."""
        request, envelope = interaction.request, interaction.envelope
        self.learn_request(request.headers, member=member)
        asks = MEMBER if member else CLIENT
        for text in (request.uri, *(value for _, value in request.headers)):
            self._forms(text.encode("utf-8", "replace"), asks)
        self._forms(request.body, asks)
        came = fields_of(envelope)
        self._fields(came, MEMBER)
        for _, value in came:
            self._forms(value.encode("utf-8", "replace"), MEMBER)
        self._forms(envelope.body, MEMBER)

    def _forms(self, data: bytes, prefix: str) -> None:
        for secret in find_secrets(data):
            value = data[secret.start : secret.end].decode("utf-8", "replace")
            if _FORMS.get(secret.kind):
                self._key(value, prefix)
            elif secret.kind in _FORMS:
                self._id(value)

    def _key(self, key: str, prefix: str, *, sure: bool = False) -> None:
        if key not in self.keys and key.isascii():
            self.keys[key] = for_key(prefix, self._next("key"), len(key))
            if not is_said(key) and (len(key) >= LEAST_KEY or sure or begins_key(key)):
                self._sought[key] = key.lower().encode()

    def _id(self, value: str) -> None:
        if value and value not in self.ids:
            self.ids[value] = for_id(value, self._next("id"))

    def _next(self, kind: str) -> int:
        self._numbers[kind] = self._numbers.get(kind, 0) + 1
        return self._numbers[kind]

    def whole(self, data: bytes, *, phrases: bool = True) -> Iterator[Place]:
        """Where a whole key stands in a text, be it a phrase or not."""
        plain = data.lower()
        for key, folded in self._sought.items():
            if folded in plain and (phrases or not is_plain(key)):
                yield from whole(data, key, self.keys[key])

    def places(self, data: bytes, own: frozenset[str] = frozenset()) -> Iterator[Place]:
        """Where something known stands in a text; of keys that are `own`, or near, also pieces."""
        yield from self.whole(data)
        plain = data.lower()
        for key in {*list(self.near)[-MOST:], *own} & self.keys.keys():
            if LEAST_KEY <= len(key) <= LONGEST and not is_plain(key):
                yield from pieces(data, plain, key, self.keys[key])
        for match in _MASKED.finditer(data):
            yield from self._head(match)
        for match in _TOKEN.finditer(data) if self.ids else ():
            yield from self._token(match)
        for value in own & self.ids.keys():  # not each is one token
            if len(value) >= LEAST_ID and value.isascii() and not is_plain(value):
                yield from apart(data, value, self.ids[value])

    def _head(self, match: re.Match[bytes]) -> Iterator[Place]:
        text = match[0].decode("ascii")
        if is_plain(text) and not begins_key(text):
            return
        for key in list(self.near)[-MOST:]:
            if self.keys.get(key) and key.startswith(text):
                yield Place("key", match.start(), match.end(), self.keys[key][: len(text)].encode())
                return

    def _token(self, match: re.Match[bytes]) -> Iterator[Place]:
        text = match[0].decode("ascii")
        if text in self.ids and not is_plain(text):
            yield Place("id", match.start(), match.end(), marked(self.ids[text], len(text)))


def fields_of(envelope: Envelope) -> list[tuple[str, str]]:
    """The fields of a response's head."""
    split = (line.partition(":") for line in envelope.head[1:])
    return [(name.strip(), value.strip()) for name, _, value in split]


def keys_in(fields: Iterable[tuple[str, str]]) -> list[str]:
    """The keys that fields carry, but for those made for tests."""
    told = (credential(name, value) for name, value in fields)
    return [key for key in told if key and not is_masked(key)]


def ids_in(fields: Iterable[tuple[str, str]]) -> list[str]:
    """The ids that fields tell."""
    return [value.strip() for name, value in fields if is_id(name) and value.strip() and not is_masked(value.strip())]
