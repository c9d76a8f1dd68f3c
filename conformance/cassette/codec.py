"""A cassette file's content (vcrpy's mapping, ours under `metadata.conformance`) to a Cassette; `encode` leads back.

`decode` validates and says what is wrong where; plain vcrpy cassettes load too. Pure: knows no file and no YAML. Head
lines hold one character for each byte (latin-1).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from conformance.cassette.encoder import STATUS_LINE, encode
from conformance.cassette.fields import Field
from conformance.cassette.foreign import LINE_END, body_bytes, body_field, derived_head, header_lines
from conformance.cassette.model import Cassette, Envelope, EnvelopeEnd, Frame, Interaction, RecordedRequest
from conformance.errors import CassetteError

__all__ = ["NONCE", "ORIGINS", "decode", "encode"]

#: The one placeholder; only an authored cassette may carry it.
NONCE = b"{{nonce}}"

ORIGINS = ("recorded", "authored")

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")

_FACTS = ("title", "provider", "origin", "source", "date", "redactions", "interactions")
_INTERACTION_FACTS = ("end", "head", "frames", "member", "at", "hangup", "request_headers")


def decode(data: Mapping[str, Any], *, name: str) -> Cassette:
    """The cassette that `data` (a parsed file) holds; `name` is how it is called in messages and by scenarios.

    Raises CassetteError with the place and a hint when the content is not a valid cassette.
    """
    root = Field(data, name)
    _recognise(root)
    facts = root.child("metadata").child("conformance")
    facts.only(_FACTS)
    recorded = root.child("interactions").items()
    told = facts.child("interactions")
    if not told.absent and len(told.items()) != len(recorded):
        raise told.wrong(f"one entry for each of the {len(recorded)} interactions, in the same order")
    entries = told.items() if not told.absent else tuple(Field(None, told.where) for _ in recorded)
    cassette = Cassette(
        name=name,
        interactions=tuple(_interaction(r, f) for r, f in zip(recorded, entries, strict=True)),
        title=facts.child("title").text(),
        provider=facts.child("provider").text(),
        origin=_origin(facts.child("origin")),
        source=facts.child("source").text(),
        date=facts.child("date").text(),
        redactions=tuple((r.child("where").text(), r.child("kind").text()) for r in facts.child("redactions").items()),
    )
    _check_placeholder(cassette)
    return cassette


def _recognise(root: Field) -> None:
    if not isinstance(root.value, Mapping) or "interactions" not in root.value:
        hint = "a vcrpy cassette has the top-level keys version and interactions"
        if isinstance(root.value, Mapping) and "http_interactions" in root.value:
            hint = "this is a cassette of Ruby's VCR; only vcrpy's are read"
        raise CassetteError("this is not a cassette", where=root.where, hint=hint)
    version = root.value.get("version", 1)
    if version != 1:
        raise root.child("version").wrong("format version 1")


def _origin(field: Field) -> str:
    origin = field.text()
    if origin and origin not in ORIGINS:
        raise field.wrong("recorded or authored")
    return origin


def _interaction(recorded: Field, facts: Field) -> Interaction:
    facts.only(_INTERACTION_FACTS)
    request = _request(recorded.child("request"), facts.child("request_headers"))
    at, hangup = facts.child("at"), facts.child("hangup")
    return Interaction(
        request=request,
        envelope=_envelope(recorded.child("response"), facts, request.method),
        member=facts.child("member").text(),
        at=None if at.absent else at.milliseconds(),
        timed=not facts.child("frames").absent,
        hangup=None if hangup.absent else hangup.milliseconds(),
    )


def _request(field: Field, ordered: Field) -> RecordedRequest:
    if field.absent:
        raise field.wrong("a request")
    uri, method = field.child("uri"), field.child("method")
    if not _is_uri(uri.text()):
        raise uri.wrong("an absolute URI")
    if not _TOKEN.fullmatch(method.text() or "GET"):
        raise method.wrong("a method, one word")
    return RecordedRequest(
        method=method.text() or "GET",
        uri=uri.text(),
        headers=header_lines(field.child("headers") if ordered.absent else ordered),
        body=body_bytes(body_field(field)),
    )


def _is_uri(text: str) -> bool:
    try:
        urlsplit(text)
    except ValueError:
        return False
    return bool(text) and not _CONTROL.search(text)


def _envelope(response: Field, facts: Field, method: str) -> Envelope:
    if response.absent:
        raise response.wrong("a response")
    body = body_bytes(body_field(response))
    told = facts.child("head")
    code, reason = _status(response)
    headers, end = header_lines(response.child("headers")), _end(facts.child("end"))
    derived = told.absent
    head = derived_head(code, reason, headers, body, method.upper(), end) if derived else _head(told, code)
    if not head and body:
        raise told.wrong("a status line", hint="a body cannot come without a head")
    frames = facts.child("frames")
    return Envelope(
        head=head,
        body=body,
        frames=(((Frame(0.0, len(body)),) if body else ()) if frames.absent else _frames(frames, len(body))),
        end=end,
    )


def _status(response: Field) -> tuple[int, str]:
    if "status_code" in response.mapping():  # vcrpy 4 with httpx
        return response.child("status_code").integer(), ""
    status = response.child("status")
    if status.absent:
        raise status.wrong("a status with code and message")
    message = status.child("message")
    if LINE_END.search(message.text()):
        raise message.wrong("a reason phrase of one line")
    return status.child("code").integer(), message.text()


def _head(field: Field, code: int) -> tuple[str, ...]:
    lines = tuple(item.text(None) for item in field.items())
    for item, line in zip(field.items(), lines, strict=True):
        if "\n" in line or any(character > "\xff" for character in line):
            raise item.wrong("one head line without line end, one character for each byte")
    match = STATUS_LINE.fullmatch(lines[0]) if lines else None
    if match and int(match[1]) != code:
        raise field.items()[0].wrong(f"the response's status, {code}")
    return lines


def _frames(field: Field, size: int) -> tuple[Frame, ...]:
    frames: list[Frame] = []
    for item in field.items():
        pair = item.items()
        if len(pair) != 2:
            raise item.wrong("a pair [milliseconds, bytes]")
        frame = Frame(pair[0].milliseconds(), pair[1].integer())
        if frame.size == 0:
            continue
        if frames and frame.at < frames[-1].at:
            raise item.wrong("a time no earlier than the frame before")
        frames.append(frame)
    total = sum(frame.size for frame in frames)
    if total != size:
        raise CassetteError(f"the frames sum to {total} bytes, the body has {size}", where=field.where)
    return tuple(frames)


def _end(field: Field) -> EnvelopeEnd:
    try:
        return EnvelopeEnd(field.text(EnvelopeEnd.COMPLETE))
    except ValueError:
        raise field.wrong(f"one of {', '.join(EnvelopeEnd)}") from None


def _check_placeholder(cassette: Cassette) -> None:
    if cassette.origin == "authored":
        return
    for i, interaction in enumerate(cassette.interactions):
        if NONCE in interaction.envelope.body or any(NONCE.decode() in line for line in interaction.envelope.head):
            raise CassetteError(
                "the placeholder {{nonce}} stands in a cassette that is not authored",
                where=f"{cassette.name}: interactions[{i}].response",
                hint="set metadata.conformance.origin to authored",
            )
