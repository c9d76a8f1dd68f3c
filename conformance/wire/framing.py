"""How a message's body ends (RFC 9112 section 6): a head becomes a plan of framing and length, before the body is read.

Where the fields contradict each other, the plan says so (`broken`): nothing after the head can be trusted then.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from conformance.wire.facts import FaultLog, Span
from conformance.wire.message import Framing, Head

_SKIMMED = re.compile(rb"\n(content-length|transfer-encoding|connection|expect)[ \t]*:[ \t]*([^\n]*)")
_LENGTH = re.compile(rb"[0-9]{1,18}\r")


@dataclass(frozen=True, slots=True)
class Plan:
    """`length` counts bytes for Framing.LENGTH. `broken`: the fields do not tell where the body ends."""

    framing: Framing
    length: int = 0
    broken: bool = False


def plan_response(version: str, status: int, method: str, head: Head, log: FaultLog) -> Plan:
    """The framing of the response with `status` to a `method` request (RFC 9112 section 6.3, rules 1 to 5 and 8)."""
    codings, length, broken = _transfer_codings(version, head, log), *_content_length(head, log)
    span = _span_of(head, "transfer-encoding" if codings else "content-length")
    # RFC 9112 section 6.1, RFC 9110 section 8.6: neither field in a 1xx or 204 response.
    if (100 <= status <= 199 or status == 204) and (codings or length is not None or broken):
        log.note("framing.not-allowed", span.start, span.end, f"a {status} response has no body to frame")
    if method == "HEAD" or 100 <= status <= 199 or status in (204, 304):
        return Plan(Framing.NONE)
    if method == "CONNECT" and 200 <= status <= 299:
        return Plan(Framing.NONE)
    if codings:
        _note_both(length is not None or broken, span, log)
        return Plan(Framing.CHUNKED if codings[-1] == "chunked" else Framing.CLOSE)
    if broken:
        return Plan(Framing.CLOSE, broken=True)
    return Plan(Framing.CLOSE) if length is None else Plan(Framing.LENGTH, length)


def plan_request(version: str, head: Head, log: FaultLog) -> Plan:
    """The framing of a request (RFC 9112 section 6.3, rules 3 to 7): without either field there is no body."""
    codings, length, broken = _transfer_codings(version, head, log), *_content_length(head, log)
    if codings:
        _note_both(length is not None or broken, _span_of(head, "transfer-encoding"), log)
        if codings[-1] == "chunked":
            return Plan(Framing.CHUNKED)
        return Plan(Framing.NONE, broken=True)
    if broken:
        return Plan(Framing.NONE, broken=True)
    return Plan(Framing.NONE) if length is None else Plan(Framing.LENGTH, length)


def keeps_alive(version: str, head: Head, plan: Plan) -> bool:
    """Whether the connection lasts past this message (RFC 9112 section 9.3) when the message comes whole."""
    if plan.broken or plan.framing is Framing.CLOSE or head.start_line.split()[1:2] == [b"101"]:
        return False
    if head.get("transfer-encoding") is not None and head.get("content-length") is not None:
        return False
    options = {word.strip().lower() for value in head.all("connection") for word in value.split(",")}
    return "close" not in options if version == "HTTP/1.1" else "keep-alive" in options and "close" not in options


def skim_framing(head: bytes) -> tuple[int, bool, bool, bool] | None:
    """Content length (-1 when absent), chunked, no `close` asked, continue expected, of an ordinary head's raw bytes.

    For live connections, where the full reading costs too much. None for whatever is not ordinary (repeated or odd
    fields, folding, both framings): then the head has to be read in full.
    """
    if b"\n " in head or b"\n\t" in head:
        return None
    length, chunked, lasting, expects = -1, False, True, False
    for name, value in _SKIMMED.findall(head.lower()):
        if name == b"content-length" and length < 0 and _LENGTH.fullmatch(value):
            length = int(value)
        elif name == b"connection" and value in (b"keep-alive\r", b"close\r"):
            lasting = lasting and value == b"keep-alive\r"
        elif name == b"transfer-encoding" and value == b"chunked\r" and not chunked:
            chunked = True
        elif name == b"expect" and value == b"100-continue\r":
            expects = True
        else:
            return None
    return None if chunked and length >= 0 else (length, chunked, lasting, expects)


def _note_both(both: bool, span: Span, log: FaultLog) -> None:
    # RFC 9112 section 6.1: a sender must not send both; the transfer coding wins.
    if both:
        log.note("length-and-chunked", span.start, span.end, "both Transfer-Encoding and Content-Length")


def _transfer_codings(version: str, head: Head, log: FaultLog) -> list[str]:
    """The transfer codings in order, in lower case; every one but a final, single `chunked` leaves a fault."""
    values = head.all("transfer-encoding")
    if not values:
        return []
    span = _span_of(head, "transfer-encoding")
    codings = [word.strip().lower() for value in values for word in value.split(",") if word.strip()]
    if not codings:
        log.note("transfer-encoding.unknown", span.start, span.end, "the field names no coding")
    for index, coding in enumerate(codings):
        if coding != "chunked" or index != len(codings) - 1:
            log.note("transfer-encoding.unknown", span.start, span.end, f"{coding[:40]!r} is not removed here")
    # RFC 9112 section 6.1: a message of HTTP/1.0 with this field is to be treated as faulty framing.
    if version != "HTTP/1.1":
        log.note("transfer-encoding.version", span.start, span.end, f"Transfer-Encoding in {version or 'no version'}")
    return codings


def _content_length(head: Head, log: FaultLog) -> tuple[int | None, bool]:
    """The length, or None where the field is absent or does not tell; and whether it does not tell (broken)."""
    values = head.all("content-length")
    if not values:
        return None, False
    span = _span_of(head, "content-length")
    words = [word.strip(" \t") for value in values for word in value.split(",")]
    # RFC 9110 section 8.6: decimal digits and nothing else; a list of equal values may be taken as one.
    if not all(word.isascii() and word.isdigit() and len(word) <= 18 for word in words):
        log.note("content-length.invalid", span.start, span.end, f"{', '.join(words)[:40]!r} is no length")
        return None, True
    lengths = {int(word) for word in words}
    if len(lengths) > 1:
        log.note("content-length.conflict", span.start, span.end, f"{', '.join(words)[:40]} contradict each other")
        return None, True
    if len(words) > 1:
        log.note("content-length.duplicate", span.start, span.end, f"{words[0]} is given {len(words)} times")
    return lengths.pop(), False


def _span_of(head: Head, name: str) -> Span:
    """From the first field line called `name` to the last one; the head's own span when there is none."""
    spans = [line.span for line in head.headers if line.name.lower() == name.encode()]
    return Span(spans[0].start, spans[-1].end) if spans else head.span
