"""The head of an HTTP/1.1 message (RFC 9112 sections 2 to 5): raw bytes become a start line and field lines.

Lenient, and says so: each thing that the grammar does not allow is read as well as it can be and leaves a fault. Knows
nothing of framing or bodies.
"""

from __future__ import annotations

import re

from conformance.wire.facts import FaultLog, Span, clip
from conformance.wire.message import Head, HeaderLine

MAX_HEAD = 256 * 1024

_END = re.compile(rb"\n\r?\n")
_EMPTY_LINES = re.compile(rb"(?:\r?\n)*")
_TOKEN = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_FIELD = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)\r\n")
_CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_STATUS_LINE = re.compile(rb"(HTTP/[0-9]\.[0-9]) ([0-9]{3}) ([\t\x20-\x7e\x80-\xff]*)")
_STATUS_LINE_ALIKE = re.compile(rb"\s*(\S+)\s+([0-9]{1,9})(?:\s+(.*))?\s*", re.DOTALL)
_REQUEST_LINE = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+) ([\x21-\x7e]+) (HTTP/[0-9]\.[0-9])")


def skip_empty_lines(data: bytes | bytearray, start: int) -> int:
    """The offset behind any empty lines at `start`."""
    match = _EMPTY_LINES.match(data, start)
    return match.end() if match else start


def find_head_end(data: bytes | bytearray, start: int, limit: int = MAX_HEAD) -> tuple[int, int]:
    """Where the field lines end and where the blank line after them ends, for a head at `start`; else (-1, -1)."""
    match = _END.search(data, start, start + limit)
    return (match.start() + 1, match.end()) if match else (-1, -1)


def read_head(raw: bytes, start: int, log: FaultLog) -> tuple[Head, bool]:
    """The head at `start` and whether it is whole (its blank line came). What is there of an unfinished one is kept."""
    begin = skip_empty_lines(raw, start)
    if begin > start:
        log.note("head.leading-empty-line", start, begin, "empty lines before the start line")
    fields_end, end = find_head_end(raw, begin)
    whole = end >= 0
    if not whole:
        end = min(len(raw), begin + MAX_HEAD)
        fields_end = max(raw.rfind(b"\n", begin, end) + 1, begin)
        if len(raw) - begin >= MAX_HEAD:
            log.note("head.too-long", begin, end, f"no blank line in the first {MAX_HEAD} bytes")
        else:
            log.note("head.incomplete", begin, end, f"the bytes end after {end - begin} bytes of the head")
    elif raw[fields_end:end] == b"\n":
        log.note("line-end.bare-lf", fields_end, end, "the blank line after the head ends in LF alone")
    line_end = raw.find(b"\n", begin, fields_end) + 1
    if not line_end:
        return Head(start_line=raw[begin:end], headers=(), span=Span(begin, end)), False
    line = _without_line_end(raw, begin, line_end, log)
    return Head(start_line=line, headers=read_fields(raw, line_end, fields_end, log), span=Span(begin, end)), whole


def read_fields(raw: bytes, start: int, end: int, log: FaultLog) -> tuple[HeaderLine, ...]:
    """The field lines between `start` and `end` (offsets of line starts), of a head or a trailer section."""
    fields: list[HeaderLine] = []
    while start < end:
        match = _FIELD.match(raw, start, end)
        if match:
            stop = match.end()
            fields.append(HeaderLine(match[1], match[2].rstrip(b" \t"), Span(start, stop - 2)))
        else:
            stop = raw.find(b"\n", start, end) + 1 or end
            _read_odd_field(_without_line_end(raw, start, stop, log), start, fields, log)
        start = stop
    return tuple(fields)


def _read_odd_field(line: bytes, start: int, fields: list[HeaderLine], log: FaultLog) -> None:
    """Read a line that the grammar of field lines does not know, appending to (or amending the end of) `fields`."""
    end = start + len(line)
    control = _CONTROL.search(line)
    if control:
        log.note("header.control-byte", start + control.start(), start + control.end(), f"in {clip(line)}")
    # RFC 9112 section 5.2: a recipient replaces each obs-fold by a space.
    if line[:1] in (b" ", b"\t"):
        log.note("header.folded", start, end, f"{clip(line)} continues the line before it")
        if fields:
            name, value, span = fields[-1].name, fields[-1].value, fields[-1].span
            fields[-1] = HeaderLine(name, (value + b" " + line.strip(b" \t")).strip(b" \t"), Span(span.start, end))
        return
    name, colon, value = line.partition(b":")
    if not colon:
        log.note("header.no-colon", start, end, f"{clip(line)} has no colon")
        return
    # RFC 9112 section 5.1: no white space is allowed between name and colon.
    if name.endswith((b" ", b"\t")):
        log.note("header.space-before-colon", start, start + len(name), f"{clip(name)} before the colon")
        name = name.rstrip(b" \t")
    if not _TOKEN.fullmatch(name):
        log.note("header.malformed", start, start + len(name), f"{clip(name)} is no field name")
    fields.append(HeaderLine(name, value.strip(b" \t"), Span(start, end)))


def _without_line_end(raw: bytes, start: int, end: int, log: FaultLog) -> bytes:
    """The line from `start` to `end` without its line end; a bare LF is noted."""
    line = raw[start:end]
    if line.endswith(b"\r\n"):
        return line[:-2]
    log.note("line-end.bare-lf", end - 1, end, f"{clip(line)} ends in LF alone")
    return line.removesuffix(b"\n")


def read_status_line(head: Head, log: FaultLog) -> tuple[str, int, str]:
    """Version, status code (0 when there is none to be seen) and reason phrase of a response's start line."""
    start, line = head.span.start, head.start_line
    end = start + len(line)
    match = _STATUS_LINE.fullmatch(line)
    if not match:
        log.note("status-line.malformed", start, end, f"{clip(line)} is no status line")
        match = _STATUS_LINE_ALIKE.fullmatch(line)
        if not match:
            return "", 0, ""
    version, status = match[1].decode("latin-1"), int(match[2])
    _check_version(version, start, end, log)
    # RFC 9110 section 15: a status code outside of 100 to 599 is invalid.
    if not 100 <= status <= 599:
        log.note("status.invalid", start + match.start(2), start + match.end(2), f"{status} is outside of 100 to 599")
    return version, status, (match[3] or b"").decode("latin-1")


def read_request_line(head: Head, log: FaultLog) -> tuple[str, str, str]:
    """Method, target and version of a request's start line ("" for what is not there)."""
    start, line = head.span.start, head.start_line
    end = start + len(line)
    if not _REQUEST_LINE.fullmatch(line):
        log.note("request-line.malformed", start, end, f"{clip(line)} is no request line")
    words = [word.decode("latin-1") for word in line.split()]
    version = words.pop() if len(words) > 1 and words[-1].startswith("HTTP/") else ""
    _check_version(version, start, end, log)
    method, target = words[0] if words else "", " ".join(words[1:])
    return method, target, version


def _check_version(version: str, start: int, end: int, log: FaultLog) -> None:
    if version not in ("HTTP/1.1", "HTTP/1.0"):
        log.note("version.unknown", start, end, f"{version or 'no version'} is neither HTTP/1.1 nor HTTP/1.0")
