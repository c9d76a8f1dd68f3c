"""JSON as the gateway reads and writes it: strict on the way in, compact UTF-8 on the way out.

Also replaces one member of an object's text and leaves every other byte as it was, so that no number is re-spelled
on its way to a member. Pure.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

_SPACE = re.compile(r"[ \t\r\n]*")


def _reject(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _reject(text)


_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False)
_ascii_encoder = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False)
_decoder = json.JSONDecoder(parse_constant=_reject, parse_float=_finite)


def parse_json(data: bytes) -> Any:
    """The value of one JSON text in UTF-8. Raises ValueError for anything else."""
    try:
        return _decoder.decode(data.decode("utf-8"))
    except RecursionError as error:
        raise ValueError("too deep") from error


def encode_json(doc: Any) -> bytes:
    """A document as compact JSON in UTF-8, on one line."""
    try:
        return _encoder.encode(doc).encode()
    except UnicodeEncodeError:  # half of a surrogate pair, escaped by the member: stays escaped
        return _ascii_encoder.encode(doc).encode()


def replace_member(text: str, name: str, value: str) -> str:
    """`text`, a JSON object, with the value of its own member `name` replaced by the string `value`."""
    spans = [span for key, span in _members(text) if key == name]
    for start, end in reversed(spans):
        text = text[:start] + json.dumps(value) + text[end:]
    return text


def _members(text: str) -> list[tuple[str, tuple[int, int]]]:
    """The object's member names and where their values stand. `text` is known to be a JSON object."""
    members: list[tuple[str, tuple[int, int]]] = []
    position = _skip(text, text.index("{") + 1)
    while text[position] != "}":
        key, position = _decoder.raw_decode(text, position)
        start = _skip(text, _skip(text, position) + 1)
        _, end = _decoder.raw_decode(text, start)
        members.append((key, (start, end)))
        position = _skip(text, end)
        if text[position] == ",":
            position = _skip(text, position + 1)
    return members


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position
