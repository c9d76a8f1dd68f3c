"""Takes out of an interaction what the recorder knows to be secret, wherever it stands, and what looks secret. Pure.

A key, a piece of it and an id give way to what stands for them, byte for byte, so that a leak stays to be seen. What
tells how a message is to be read (status line, names of fields, framing) and what is coded is never overwritten: an
interaction with a secret there is not for a file. What looks like a secret is `redact`'s matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from conformance.cassette.model import Cassette, Envelope, Interaction, RecordedRequest
from conformance.cassette.redact import MARK, credential, find_secrets, is_id, is_masked, redact
from conformance.recorder.known import Known, fields_of, ids_in, keys_in
from conformance.wire.http1 import decode_content

#: Fields that tell how a message is to be read, or whose it is.
_FRAMING = re.compile(
    r"accept(?:-encoding)?|connection|content-(?:encoding|length|type)|date|expect|host|keep-alive|te|trailer"
    r"|transfer-encoding|upgrade|vary",
    re.IGNORECASE,
)

#: Secrets that give way to others may leave a piece of one that is found again; so often is looked.
_TIMES = 4

Notes = tuple[tuple[str, str], ...]
_Notes = dict[tuple[str, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """`interaction` without secrets, where they stood, or the `reason` why it still holds one; `told` is what stays."""

    interaction: Interaction
    notes: Notes
    reason: str
    told: str


def cleaned(interaction: Interaction, known: Known, *, member: bool = False) -> Cleaned:
    """The interaction of a member's leg, or a client's, once `known` has learnt what it tells."""
    known.learn(interaction, member=member)
    reason = _bare(interaction, known) or _coded(interaction, known)
    hiding = _Hiding(known, frozenset(_own(interaction)))
    without = replace(interaction, request=hiding.request(interaction.request))
    without = replace(without, envelope=hiding.envelope(interaction.envelope))
    redacted = redact(Cassette(name="", interactions=(without,), redactions=tuple(hiding.notes)))
    (clean,) = redacted.interactions
    return Cleaned(interaction=clean, notes=redacted.redactions, reason=reason, told=_left(clean, known))


def _own(interaction: Interaction) -> Iterable[str]:
    fields = [*interaction.request.headers, *fields_of(interaction.envelope)]
    return [*keys_in(interaction.request.headers), *ids_in(fields)]


def holds(interaction: Interaction, keys: Iterable[str]) -> bool:
    """Whether one of the keys may stand in it: what is coded may hold any."""
    request, envelope = interaction.request, interaction.envelope
    heads = "\n".join((request.uri, *(value for _, value in request.headers), *envelope.head)).lower()
    texts = (heads.encode("utf-8", "surrogatepass"), request.body.lower(), envelope.body.lower())
    coded = "content-encoding" in heads or any(name.lower() == "content-encoding" for name, _ in request.headers)
    return coded or any(key.lower().encode("utf-8", "replace") in text for key in keys for text in texts)


class _Hiding:
    """Overwrites what is known in one interaction; `notes` tell where."""

    def __init__(self, known: Known, own: frozenset[str]) -> None:
        self.notes: _Notes = {}
        self._known, self._own = known, own

    def request(self, request: RecordedRequest) -> RecordedRequest:
        """A request."""
        return replace(
            request,
            uri=self._text(request.uri, "request uri"),
            headers=tuple((name, self._value(name, value, "request")) for name, value in request.headers),
            body=self._bytes(request.body, "request body"),
        )

    def envelope(self, envelope: Envelope) -> Envelope:
        """A response."""
        head = envelope.head[:1] + tuple(self._line(line) for line in envelope.head[1:])
        return replace(envelope, head=head, body=self._bytes(envelope.body, "response body"))

    def _line(self, line: str) -> str:
        name, colon, rest = line.partition(":")
        value = rest.strip(" \t")
        start = rest.find(value)
        return name + colon + rest[:start] + self._value(name, value, "response") + rest[start + len(value) :]

    def _value(self, name: str, value: str, leg: str) -> str:
        where = f"{leg} header {name.strip().lower()}"
        if _FRAMING.fullmatch(name.strip()):
            return value
        key = credential(name, value)
        if key and not is_masked(key):
            self.notes[(where, "credential")] = None
            return value.removesuffix(key) + (self._known.keys.get(key) or MARK)
        if value and is_id(name) and not is_masked(value):
            self.notes[(where, "id")] = None
            return self._known.ids.get(value) or MARK.ljust(len(value), "*")[: len(value)]
        return self._text(value, where)

    def _text(self, value: str, where: str) -> str:
        return self._bytes(value.encode("utf-8", "surrogatepass"), where).decode("utf-8", "surrogatepass")

    def _bytes(self, data: bytes, where: str) -> bytes:
        """`data` with what stands for it over what is known."""
        for _ in range(_TIMES):
            places = sorted(self._known.places(data, self._own), key=lambda place: (place.start, -place.end))
            clean, end = bytearray(data), 0
            for place in places:
                if place.start >= end:
                    clean[place.start : place.end], end = place.instead, place.end
                    self.notes[(where, place.kind)] = None
            if clean == data:
                break
            data = bytes(clean)
        return data


def _bare(interaction: Interaction, known: Known) -> str:
    """Why what tells how to read it is not for a file, "" when it is."""
    request, envelope = interaction.request, interaction.envelope
    told = [("status line", envelope.head[0])] if envelope.head else []
    for name, value in (*request.headers, *fields_of(envelope)):
        told += [("names of fields", name)] + ([(f"{name} field", value)] if _FRAMING.fullmatch(name) else [])
    for where, text in told:
        data = text.encode("utf-8", "surrogatepass")
        if find_secrets(data) or any(True for _ in known.whole(data, phrases=False)):
            return f"a key stands in its {where[:40]}, which cannot be overwritten"
    return ""


def _coded(interaction: Interaction, known: Known) -> str:
    """Why a coded body is not for a file, "" when it is."""
    own = frozenset(_own(interaction))
    told = [_value(interaction.request.headers, interaction.request.body)]
    told.append(_value(fields_of(interaction.envelope), interaction.envelope.body))
    for codings, body in told:
        if not codings or not body:
            continue
        content, reason = decode_content(body, codings)
        if reason:
            return f"its {codings[:40]} content cannot be searched for secrets: have the client accept gzip or identity"
        if find_secrets(content) or any(True for _ in known.places(content, own)):
            return f"a secret stands in its {codings[:40]} content: have the client accept identity alone"
    return ""


def _left(interaction: Interaction, known: Known) -> str:
    """What stays of a key that is made of ordinary words, "" when nothing does."""
    texts = (interaction.request.body.lower(), interaction.envelope.body.lower())
    keys = [key.lower().encode() for key in known.near]
    if any(key in text for key in keys for text in texts):
        return "a key that is made of ordinary words stands in its body, and stays there"
    return ""


def _value(fields: Iterable[tuple[str, str]], body: bytes) -> tuple[str, bytes]:
    """The content codings that fields list, in order, with the body."""
    values = [value.strip() for name, value in fields if name.strip().lower() == "content-encoding"]
    return ", ".join(value for value in values if value.lower() not in ("", "identity")), body
