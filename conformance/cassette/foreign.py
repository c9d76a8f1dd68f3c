"""What a plain vcrpy interaction lacks: a head that plays, from status and header mapping; bodies in every form met.

vcrpy drops the chunked coding, may drop the content coding, and keeps neither header case nor order for every client.
Knows nothing of our own metadata.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from contextlib import suppress
from http import HTTPStatus
from typing import Any

from conformance.cassette.fields import Field
from conformance.cassette.model import EnvelopeEnd

#: More is not made of a body that was given as a structure: a nest of aliases would grow without end.
MAX_STRUCTURED_BODY = 64 * 1024 * 1024
MAX_NODES = 250_000

LINE_END = re.compile("\n")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def clean_text(data: bytes) -> str | None:
    """`data` as a string when it is UTF-8 without C0 controls other than TAB, LF and CR; else None."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if _CONTROLS.search(text) else text


def body_field(message: Field) -> Field:
    """Where a message has its body: body, content (vcrpy 4 with httpx), or parsed_body (serializers of JSON)."""
    names = message.mapping()
    given = "content" if "content" in names else "body"
    return message.child("parsed_body" if "parsed_body" in names and not names.get(given) else given)


def body_bytes(field: Field) -> bytes:
    """A body from what stands in the file: text, bytes, null, {string}, {base64_string}, or a JSON structure."""
    value = field.value
    if value is None:
        return b""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return _encoded(field, value)
    if isinstance(value, dict) and "string" in value:
        return body_bytes(field.child("string"))
    if isinstance(value, dict) and "base64_string" in value:
        return _from_base64(field.child("base64_string"))
    if isinstance(value, list) and value and all(isinstance(part, (str, bytes)) for part in value):
        return b"".join(body_bytes(part) for part in field.items())  # the parts of an iterator
    if isinstance(value, (dict, list)):
        return _as_json(field)
    raise field.wrong("a body (text, bytes, or a JSON structure)")


def _encoded(field: Field, value: str) -> bytes:
    try:
        return value.encode("utf-8")
    except UnicodeEncodeError:
        raise field.wrong("text that UTF-8 can carry", hint="give it as !!binary") from None


def _from_base64(field: Field) -> bytes:
    value = field.value
    try:
        return base64.b64decode(value if isinstance(value, bytes) else field.text(), validate=False)
    except (binascii.Error, ValueError):
        raise field.wrong("base64") from None


def _as_json(field: Field) -> bytes:
    _measure(field)
    try:
        return json.dumps(field.value, ensure_ascii=False).encode("utf-8")
    except (TypeError, ValueError, RecursionError):
        raise field.wrong("a JSON structure") from None


def _measure(field: Field) -> None:
    """Raise when the structure is larger than the bounds once its aliases are written out (or is endless)."""
    nodes = size = 0
    waiting: list[Any] = [field.value]
    while waiting:
        value = waiting.pop()
        nodes += 1
        if isinstance(value, str):
            size += len(value)
        elif isinstance(value, dict):
            waiting += value.values()
            size += sum(len(key) for key in value if isinstance(key, str))
        elif isinstance(value, (list, tuple)):
            waiting += value
        if nodes > MAX_NODES or size > MAX_STRUCTURED_BODY or len(waiting) > MAX_NODES:
            raise field.wrong(f"a body of at most {MAX_STRUCTURED_BODY} bytes and {MAX_NODES} values")


def header_lines(field: Field) -> tuple[tuple[str, str], ...]:
    """Field lines from a mapping of name to value or values, or from a list of pairs; in order, case kept."""
    if isinstance(field.value, list):
        return tuple(_pair(item) for item in field.items())
    lines: list[tuple[str, str]] = []
    for name in field.mapping():
        if not isinstance(name, str) or LINE_END.search(name):
            raise Field(name, field.where).wrong("a header name")
        value = field.child(name)
        values = value.items() if isinstance(value.value, (list, tuple)) else (value,)
        lines.extend((name, _header_text(item)) for item in values)
    return tuple(lines)


def _pair(field: Field) -> tuple[str, str]:
    items = field.items()
    if len(items) != 2:
        raise field.wrong("a pair of name and value")
    if LINE_END.search(items[0].text(None)):
        raise items[0].wrong("a header name")
    return items[0].text(None), _header_text(items[1])


def _header_text(field: Field) -> str:
    value = field.value
    if isinstance(value, bytes):
        text = value.decode("latin-1")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):  # an unquoted length
        text = str(value)
    else:
        text = field.text()
    if LINE_END.search(text):
        raise field.wrong("a header value of one line")
    return text


def derived_head(
    code: int,
    reason: str,
    headers: tuple[tuple[str, str], ...],
    body: bytes,
    method: str,
    end: EnvelopeEnd = EnvelopeEnd.COMPLETE,
) -> tuple[str, ...]:
    """A head that plays `body`: status line, then the headers with coding and framing set right.

    A longer Content-Length stays where the body did not come whole: it is what tells that it was cut. Where a filter
    took every header away, the media type is the one that the body shows.
    """
    if not reason and code in HTTPStatus._value2member_map_:
        reason = HTTPStatus(code).phrase
    lines = [f"HTTP/1.1 {code} {reason}"]
    headers = headers or _shown_media(body)
    bodiless = method == "HEAD" or code < 200 or code in (204, 304)
    decoded = bool(body) and clean_text(body) is not None
    chunked = any(_is(name, "transfer-encoding") and "chunked" in value.lower() for name, value in headers)
    framed = bodiless
    for name, value in headers:
        if _is(name, "content-encoding") and decoded:
            continue  # the recorder stored the decoded content
        if _is(name, "transfer-encoding"):
            if not chunked or framed:
                continue
            value, framed = "chunked", True
        elif _is(name, "content-length") and not bodiless:
            if chunked or framed:
                continue
            value, framed = value if _cut(value, body, end) else str(len(body)), True
        lines.append(f"{name}: {value}")
    if not framed:
        media = next((value.lower() for name, value in headers if _is(name, "content-type")), "")
        streamed = media.startswith("text/event-stream")
        lines.append("Transfer-Encoding: chunked" if streamed else f"Content-Length: {len(body)}")
    return tuple(map(_on_the_wire, lines))


def _shown_media(body: bytes) -> tuple[tuple[str, str], ...]:
    """The media type, and the coding, that a body's first bytes show."""
    start = body[:64]
    coding: tuple[tuple[str, str], ...] = ()
    if start.startswith(b"\x1f\x8b"):
        coding = (("Content-Encoding", "gzip"),)
        with suppress(zlib.error):
            start = zlib.decompressobj(31).decompress(body, 64)
    start = start.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith((b"{", b"[")):
        return (("Content-Type", "application/json"), *coding)
    streamed = start.startswith((b"data:", b"event:", b"id:", b"retry:", b":"))
    return (("Content-Type", "text/event-stream"), *coding) if streamed else coding


def _cut(length: str, body: bytes, end: EnvelopeEnd) -> bool:
    return end is not EnvelopeEnd.COMPLETE and length.isdecimal() and int(length[:20]) > len(body)


def _on_the_wire(line: str) -> str:
    """One character for each byte; what latin-1 does not have was UTF-8."""
    return line if all(character <= "\xff" for character in line) else line.encode("utf-8", "replace").decode("latin-1")


def _is(name: str, wanted: str) -> bool:
    return name.strip().lower() == wanted
