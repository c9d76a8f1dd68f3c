"""Takes out of an interaction what the recorder knows to be secret, whatever it looks like, wherever it stands. Pure.

The key (a piece of it, too) and the ids of request, account and organisation, each overwritten with as many bytes. What
is coded cannot be overwritten: such an interaction is not for a file. What looks like a secret is `redact`'s matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from conformance.cassette.model import Cassette, Interaction
from conformance.cassette.redact import MARK, find_secrets, redact
from conformance.wire.http1 import decode_content

#: What is shorter is found in ordinary words; so many bytes of a key in a row are one.
LEAST, PIECE = 6, 8

_IDS = re.compile(
    r"(?:.*[-_])?(?:request|trace|correlation|invocation|organization|project|account|user|tenant|workspace|session|conversation)[-_]?id"
    r"|openai-(?:organization|project)|(?:.*-)?requestid|cf-ray|traceparent|x-cloud-trace-context|x-vercel-id",
    re.IGNORECASE,
)
_OWN = re.compile(r"(?:.*[-_])?(?:authorization|api-?key)", re.IGNORECASE)
#: What nobody says by chance. A local server's client has to give some key, and gives "ollama".
_GUESSED = re.compile(r"(?=.*[0-9]).{16,}")
_TEST = ("sk-test", "sk-up-", "sk-canary")

Notes = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Known:
    """Keys, of which pieces count, and ids, of which the whole counts; in lower case."""

    keys: frozenset[bytes]
    ids: frozenset[bytes]

    def places(self, data: bytes) -> Iterator[tuple[str, int, int]]:
        """Where something known stands: kind, start, end."""
        plain = data.lower()
        for key in self.keys:
            size = min(PIECE, len(key))
            for piece in {key[at : at + size] for at in range(len(key) - size + 1)}:
                yield from (("key", at, at + size) for at in _found(plain, piece))
        for one in self.ids:
            yield from (("id", at, at + len(one)) for at in _found(plain, one))


def without_known(interaction: Interaction, keys: Iterable[str]) -> tuple[Interaction, Notes, str]:
    """The interaction without `keys`, the client's own key, its ids, and what looks secret; what was taken out of it.

    Besides a reason, "" in general, why it still holds what cannot be taken out.
    """
    known = _known(interaction, keys)
    sealed = _sealed(interaction, known)
    redacted = redact(Cassette(name="", interactions=(interaction,)))
    (clean,) = redacted.interactions
    notes = dict.fromkeys(redacted.redactions)
    request, envelope = clean.request, clean.envelope

    def text(value: str, where: str, name: str = "") -> str:
        value = _without_id(name, value, where, notes)
        return _wiped(value.encode("utf-8"), where, known, notes).decode("utf-8", "replace")

    def line(value: str) -> str:
        name, colon, rest = value.partition(":")
        where = f"response header {name.strip().lower()}"
        value = name + colon + _without_id(name, rest, where, notes)
        return _wiped(value.encode("latin-1"), where, known, notes).decode("latin-1")

    request = replace(
        request,
        uri=text(request.uri, "request uri"),
        headers=tuple((name, text(value, f"request header {name.lower()}", name)) for name, value in request.headers),
        body=_wiped(request.body, "request body", known, notes),
    )
    body = _wiped(envelope.body, "response body", known, notes)
    envelope = replace(envelope, head=tuple(map(line, envelope.head)), body=body)
    return replace(clean, request=request, envelope=envelope), tuple(notes), sealed


def own_keys(interaction: Interaction) -> frozenset[str]:
    """The keys that the request itself carries, but for those made for tests, and words that stand in for a key."""
    told = (value.rpartition(" ")[2] for name, value in interaction.request.headers if _OWN.fullmatch(name))
    return frozenset(key for key in told if _GUESSED.match(key) and not key.startswith((*_TEST, MARK)))


def _known(interaction: Interaction, keys: Iterable[str]) -> _Known:
    sent = interaction.request.headers
    came = tuple(
        (name.strip(), value.strip())
        for name, _, value in (line.partition(":") for line in interaction.envelope.head[1:])
    )
    told = {*keys, *own_keys(interaction)}
    ids = [value for name, value in sent + came if _is_id(name, value)]
    return _Known(
        frozenset(key.lower().encode() for key in told if len(key) >= LEAST),
        frozenset(one.lower().encode("utf-8", "replace") for one in ids if len(one) >= PIECE),
    )


def _is_id(name: str, value: str) -> bool:
    return _IDS.fullmatch(name) is not None and not value.startswith((*_TEST, MARK))


def _without_id(name: str, value: str, where: str, notes: dict[tuple[str, str], None]) -> str:
    """A field's value, overwritten where it is an id, however short."""
    told = value.strip()
    if not told or not _is_id(name.strip(), told):
        return value
    notes[(where, "id")] = None
    return value.replace(told, MARK.ljust(len(told), "*")[: len(told)])


def _wiped(data: bytes, where: str, known: _Known, notes: dict[tuple[str, str], None]) -> bytes:
    """`data` with the mark, and asterisks, over what is known."""
    hidden = bytearray(len(data))
    for kind, start, end in known.places(data):
        hidden[start:end] = b"\x01" * (end - start)
        notes[(where, kind)] = None
    if not any(hidden):
        return data
    clean = bytearray(data)
    for match in re.finditer(rb"\x01+", hidden):
        size = match.end() - match.start()
        clean[match.start() : match.end()] = MARK.encode().ljust(size, b"*")[:size]
    return bytes(clean)


def _sealed(interaction: Interaction, known: _Known) -> str:
    """Why a coded body is not for a file, "" when it is."""
    heads = ((name, value) for name, value in interaction.request.headers)
    told = [_value(heads, interaction.request.body)]
    came = ((line.partition(":")[0], line.partition(":")[2]) for line in interaction.envelope.head[1:])
    told.append(_value(came, interaction.envelope.body))
    for codings, body in told:
        if not codings or not body:
            continue
        content, reason = decode_content(body, codings)
        if reason:
            return f"its {codings[:40]} content cannot be searched for secrets: have the client accept gzip or identity"
        if find_secrets(content) or any(True for _ in known.places(content)):
            return f"a secret stands in its {codings[:40]} content: have the client accept identity alone"
    return ""


def _value(fields: Iterable[tuple[str, str]], body: bytes) -> tuple[str, bytes]:
    """The content codings that fields list, in order, with the body."""
    values = [value.strip() for name, value in fields if name.strip().lower() == "content-encoding"]
    return ", ".join(value for value in values if value.lower() not in ("", "identity")), body


def _found(data: bytes, piece: bytes) -> Iterator[int]:
    at = data.find(piece)
    while at >= 0:
        yield at
        at = data.find(piece, at + 1)
