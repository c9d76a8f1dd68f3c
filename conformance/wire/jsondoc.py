"""JSON (RFC 8259) from bytes to a value that still knows its spelling: duplicate keys, number texts, member spans.

Total and bounded: bad syntax, bad UTF-8, a depth past the bound are faults. Fast where nobody asks: the value comes
from the C decoder; spans and spellings are scanned only when asked for. The closed set of fault codes:

    not ok:    json.empty  json.syntax  json.trailing  json.constant (NaN, Infinity)  json.bom  json.too-deep
               json.too-long  utf8.invalid
    still ok:  name.duplicate  string.lone-surrogate  number.too-long  number.out-of-range (the value is a float, maybe
               infinite)  faults.too-many
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from math import isinf
from typing import Any

from conformance.wire.facts import MAX_FAULTS, Fault, FaultLog, Span, clip
from conformance.wire.jsonscan import Path, depth_of, find, lone_surrogates, repeated_names, tokens
from conformance.wire.utf8 import note_invalid_utf8

__all__ = ["Doc", "Path", "parse"]

MAX_DEPTH = 256
MAX_DIGITS = 4300
MAX_BYTES = 64 * 1024 * 1024

_SPACE = " \t\n\r"
_CONSTANT = re.compile(rb'"|NaN|-?Infinity')
_NUMBER = re.compile(rb'"|-?[0-9][0-9.eE+-]*')


@dataclass(frozen=True, slots=True, kw_only=True)
class Doc:
    """One JSON text. `ok` is whether it is exactly one valid JSON value; then `value` is that value (plain Python),
    else None.

    `duplicates` are the paths of member names that occur more than once in one object (the value keeps the last); a
    list that runs full ends there, as that of the faults does.
    """

    raw: bytes
    value: Any
    ok: bool
    faults: tuple[Fault, ...] = ()
    duplicates: tuple[Path, ...] = ()

    def get(self, *path: str | int) -> Any:
        """The value at `path`, or None where any step is absent or of another type."""
        value = self.value
        for step in path:
            if isinstance(step, str):
                if not isinstance(value, dict):
                    return None
                value = value.get(step)
            else:
                if not isinstance(value, list) or not -len(value) <= step < len(value):
                    return None
                value = value[step]
        return value

    def has(self, *path: str | int) -> bool:
        """Whether something, null included, stands at `path`."""
        value = self.value
        for step in path:
            if isinstance(step, str):
                if not isinstance(value, dict) or step not in value:
                    return False
                value = value[step]
            else:
                if not isinstance(value, list) or not -len(value) <= step < len(value):
                    return False
                value = value[step]
        return True

    def span(self, *path: str | int) -> Span:
        """Where the value at `path` stands in `raw`; the nearest enclosing value's span when `path` is absent.

        All of `raw` when the text is not `ok`.
        """
        return find(self.raw, path)[0] if self.ok else Span(0, len(self.raw))

    def spelling(self, *path: str | int) -> bytes:
        """The bytes of the value at `path` as they were spelled (b"" when absent)."""
        span, present = find(self.raw, path) if self.ok else (Span(0, 0), False)
        return span.of(self.raw) if present else b""


def parse(raw: bytes, *, max_bytes: int = MAX_BYTES) -> Doc:
    """Read `raw` as one JSON text of at most `max_bytes` bytes. Never raises."""
    if len(raw) > max_bytes:
        return _refused(raw, "json.too-long", max_bytes, len(raw), f"{len(raw)} bytes are more than {max_bytes}")
    if len(raw) > 2 * MAX_DEPTH and _too_deep(raw):
        return _refused(raw, "json.too-deep", 0, len(raw), f"nested deeper than {MAX_DEPTH}")
    try:
        text = raw.decode()
        value, end = _ORDINARY.raw_decode(text)
    except UnicodeDecodeError:
        log = FaultLog()
        note_invalid_utf8(raw, log)
        return Doc(raw=raw, value=None, ok=False, faults=log.freeze())
    except (ValueError, RecursionError):
        return _parse_odd(raw, text)
    if end != len(text) and text[end:].strip(_SPACE):
        return _parse_odd(raw, text)
    if b"\\" in raw and (b"\\ud" in raw or b"\\uD" in raw):
        return Doc(raw=raw, value=value, ok=True, faults=_surrogate_faults(raw, FaultLog()))
    return Doc(raw=raw, value=value, ok=True)


class _Odd(ValueError):
    """What the ordinary decoder meets and leaves to `_parse_odd`: no error yet."""


def _ordinary_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _Odd
    return value


def _ordinary_float(spelled: str) -> float:
    value = float(spelled)
    if isinf(value):
        raise _Odd
    return value


def _no_constant(spelled: str) -> Any:
    raise _Odd


_ORDINARY = json.JSONDecoder(
    object_pairs_hook=_ordinary_object, parse_float=_ordinary_float, parse_constant=_no_constant
)


def _lenient_int(spelled: str) -> int | float:
    return int(spelled) if len(spelled.lstrip("-")) <= MAX_DIGITS else float(spelled)


_LENIENT = json.JSONDecoder(parse_int=_lenient_int)


def _too_deep(raw: bytes) -> bool:
    return raw.count(b"[") + raw.count(b"{") > MAX_DEPTH and depth_of(raw, MAX_DEPTH) > MAX_DEPTH


def _refused(raw: bytes, code: str, start: int, end: int, detail: str) -> Doc:
    return Doc(raw=raw, value=None, ok=False, faults=(Fault(code, Span(start, end), detail),))


def _parse_odd(raw: bytes, text: str) -> Doc:
    """Read a text that is not ordinary: find out what is odd about it, and whether it is still one valid value."""
    bom = text.startswith("\ufeff")
    stripped = text[bom:].lstrip(_SPACE)
    start = len(text) - len(stripped)
    if not stripped:
        return _refused(raw, "json.empty", 0, len(raw), "no value")
    try:
        value, end = _LENIENT.raw_decode(text, start)
    except json.JSONDecodeError as error:
        at = _byte_offset(text, error.pos)
        return _refused(raw, "json.syntax", at, min(at + 1, len(raw)), f"{error.msg} at {clip(raw[at:], 20)}")
    except RecursionError:
        return _refused(raw, "json.too-deep", 0, len(raw), "nested deeper than the decoder's stack allows")
    log = FaultLog()
    if bom:
        log.note("json.bom", 0, 3, "a byte order mark leads the text")
    rest = text[end:].lstrip(_SPACE)
    if rest:
        at = _byte_offset(text, len(text) - len(rest))
        log.note("json.trailing", at, len(raw), f"{clip(raw[at:])} after the value")
    for span in tokens(raw[: _byte_offset(text, end)], _CONSTANT):
        log.note("json.constant", span.start, span.end, f"{clip(span.of(raw))} is no JSON")
    faults = log.freeze()
    if faults:
        return Doc(raw=raw, value=None, ok=False, faults=faults)
    return _with_oddities(raw, value)


def _with_oddities(raw: bytes, value: Any) -> Doc:
    """A valid text with what RFC 8259 calls unpredictable: repeated names, huge numbers, halves of surrogate pairs."""
    log = FaultLog()
    repeated = repeated_names(raw, MAX_FAULTS + 1)
    for path, span in repeated:
        log.note("name.duplicate", span.start, span.end, f"{path[-1]!r} occurs again in its object"[:200])
    for span in tokens(raw, _NUMBER):
        spelled = span.of(raw)
        if spelled.lstrip(b"-").isdigit():
            if span.end - span.start > MAX_DIGITS and len(spelled.lstrip(b"-")) > MAX_DIGITS:
                log.note("number.too-long", span.start, span.end, f"{len(spelled)} digits")
        elif isinf(float(spelled)):
            log.note("number.out-of-range", span.start, span.end, f"{clip(spelled)} is past a double's range")
    duplicates = tuple(dict.fromkeys(path for path, _ in repeated))
    return Doc(raw=raw, value=value, ok=True, faults=_surrogate_faults(raw, log), duplicates=duplicates)


def _surrogate_faults(raw: bytes, log: FaultLog) -> tuple[Fault, ...]:
    for span in lone_surrogates(raw):
        log.note("string.lone-surrogate", span.start, span.end, f"{clip(span.of(raw))} is half of a pair")
    return log.freeze()


def _byte_offset(text: str, index: int) -> int:
    return len(text[:index].encode())
