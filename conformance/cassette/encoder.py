"""A Cassette to the mapping that is written: what plain vcrpy plays, and the rest under `metadata.conformance`.

Pure. Bodies are text where that keeps every byte, else bytes; vcrpy's part is in the ASCII that its clients take.
"""

from __future__ import annotations

import re
from typing import Any

from conformance.cassette.foreign import clean_text
from conformance.cassette.model import Cassette, Envelope, Interaction, RecordedRequest

STATUS_LINE = re.compile(r"HTTP/\d(?:\.\d)? (\d{3})(?: (.*))?", re.DOTALL)


def encode(cassette: Cassette) -> dict[str, Any]:
    """The mapping to write: plain vcrpy plays it, and `decode` gives back an equal cassette."""
    facts: dict[str, Any] = {
        key: value
        for key in ("title", "provider", "origin", "source", "date")
        if (value := getattr(cassette, key)) != ""
    }
    if cassette.redactions:
        facts["redactions"] = [{"where": where, "kind": kind} for where, kind in cassette.redactions]
    facts["interactions"] = [_encoded_facts(interaction) for interaction in cassette.interactions]
    return {
        "version": 1,
        "interactions": [
            {"request": _encoded_request(i.request), "response": _encoded_response(i.envelope)}
            for i in cassette.interactions
        ],
        "metadata": {"conformance": facts},
    }


def _encoded_facts(interaction: Interaction) -> dict[str, Any]:
    envelope = interaction.envelope
    facts: dict[str, Any] = {"end": envelope.end.value, "head": list(envelope.head)}
    if interaction.timed:
        facts["frames"] = [[_number(frame.at), frame.size] for frame in envelope.frames]
    if interaction.member:
        facts["member"] = interaction.member
    if interaction.at is not None:
        facts["at"] = _number(interaction.at)
    if interaction.hangup is not None:
        facts["hangup"] = _number(interaction.hangup)
    headers = interaction.request.headers
    grouped = _grouped(headers)
    if tuple((name, value) for name, values in grouped.items() for value in values) != headers:
        facts["request_headers"] = [list(line) for line in headers]  # an order that a mapping cannot hold
    return facts


def _encoded_request(request: RecordedRequest) -> dict[str, Any]:
    return {
        "method": request.method,
        "uri": request.uri,
        "headers": _grouped(request.headers),
        "body": _text_or_bytes(request.body) if request.body else None,
    }


def _encoded_response(envelope: Envelope) -> dict[str, Any]:
    """What vcrpy plays. Its clients take ASCII only in the status message and in header values."""
    match = STATUS_LINE.match(envelope.head[0]) if envelope.head else None
    lines = [line.split(":", 1) for line in envelope.head[1:] if ":" in line]
    headers = tuple((name.strip().lower(), _ascii(value.strip())) for name, value in lines if name.strip())
    return {
        "status": {"code": int(match[1]) if match else 0, "message": _ascii((match and match[2]) or "")},
        "headers": _grouped(headers),
        "body": {"string": _text_or_bytes(envelope.body)},
    }


def _grouped(headers: tuple[tuple[str, str], ...]) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for name, value in headers:
        grouped.setdefault(name, []).append(value)
    return grouped


def _text_or_bytes(body: bytes) -> str | bytes:
    text = clean_text(body)
    return body if text is None else text


def _number(value: float) -> int | float:
    return int(value) if value == int(value) else value


def _ascii(text: str) -> str:
    return text.encode("ascii", "replace").decode("ascii")
