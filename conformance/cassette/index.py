"""The derived index of a large cassette file: a Cassette to compact bytes and back, bound to its source by a digest.

Pure. Holds nothing that the source lacks; bytes that do not fit (another source, another form, damage) unpack to None.
"""

from __future__ import annotations

import json
import zlib
from typing import Any

from conformance.cassette.model import Cassette, Envelope, EnvelopeEnd, Frame, Interaction, RecordedRequest

_FORM = "conformance-cassette-index 3"
_ENDS = {end.value: end for end in EnvelopeEnd}


def pack(cassette: Cassette, *, key: str) -> bytes:
    """The index of `cassette`, whose source file has the digest `key` (lower-case hex)."""
    bodies: list[bytes] = []
    rows = []
    for interaction in cassette.interactions:
        request, envelope = interaction.request, interaction.envelope
        bodies += (request.body, envelope.body)
        frames = [number for frame in envelope.frames for number in (frame.at, frame.size)]
        rows.append(
            (
                *(request.method, request.uri, request.headers, len(request.body)),
                *(envelope.head, len(envelope.body), frames, envelope.end.value),
                *(interaction.member, interaction.at, interaction.timed, interaction.hangup),
            )
        )
    about = [cassette.title, cassette.provider, cassette.origin, cassette.source, cassette.date, cassette.redactions]
    blob = b"".join(bodies)
    table = json.dumps([about, rows], separators=(",", ":")).encode()
    sums = zlib.crc32(blob, zlib.crc32(table))
    return f"{_FORM} {key} {sums} {len(table)}\n".encode() + table + blob


def unpack(data: bytes, *, key: str, name: str) -> Cassette | None:
    """The cassette that `data` indexes, called `name`; None when it is not an intact index of the source `key`."""
    line, _, rest = data.partition(b"\n")
    try:
        form, found, sums, length = line.decode().rsplit(" ", 3)
        size, checked = int(length), int(sums)
    except ValueError:
        return None
    if (form, found) != (_FORM, key) or zlib.crc32(rest) != checked:
        return None
    about, rows = json.loads(rest[:size])
    blob = memoryview(rest)[size:]
    interactions = []
    start = 0
    for row in rows:
        middle = start + row[3]
        end = middle + row[5]
        interactions.append(_interaction(row, bytes(blob[start:middle]), bytes(blob[middle:end])))
        start = end
    title, provider, origin, source, date, redactions = about
    return Cassette(
        name=name,
        interactions=tuple(interactions),
        title=title,
        provider=provider,
        origin=origin,
        source=source,
        date=date,
        redactions=tuple((where, kind) for where, kind in redactions),
    )


def _interaction(row: list[Any], sent: bytes, body: bytes) -> Interaction:
    method, uri, headers, _, head, _, frames, end, member, at, timed, hangup = row
    return Interaction(
        request=RecordedRequest(
            method=method, uri=uri, headers=tuple((line[0], line[1]) for line in headers), body=sent
        ),
        envelope=Envelope(
            head=tuple(head),
            body=body,
            frames=tuple(map(Frame, frames[::2], frames[1::2])),
            end=_ENDS[end],
        ),
        member=member,
        at=at,
        timed=timed,
        hangup=hangup,
    )
