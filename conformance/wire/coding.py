"""Content codings (RFC 9110 section 8.4.1): coded bytes become content, with a bound, or a reason why not.

Knows gzip and deflate. Nothing is guessed: data that is not what its coding says stays as it is.
"""

from __future__ import annotations

import zlib

MAX_CODINGS = 8

_WINDOW = {"gzip": 31, "x-gzip": 31, "deflate": 15}  # zlib's wbits: 31 expects the gzip wrapper, 15 the zlib one


def decodable(codings: str | None) -> bool:
    """Whether every coding that a Content-Encoding value lists has a decoder here."""
    names = (name.strip().lower() for name in (codings or "").split(","))
    return all(name in _WINDOW or name in ("", "identity") for name in names)


def decode_content(body: bytes, codings: str | None, *, limit: int = 64 * 1024 * 1024) -> tuple[bytes, str]:
    """Remove the codings that a Content-Encoding value lists, last one first.

    Returns the content and "", or `body` as it is and the reason in one line. `limit` bounds the content, and what lies
    between two codings, in bytes. An empty body is empty content under any coding.
    """
    names = [name.strip().lower() for name in (codings or "").split(",")]
    names = [name for name in names if name not in ("", "identity")]
    if len(names) > MAX_CODINGS:
        return body, f"{len(names)} codings are more than {MAX_CODINGS}"
    content = body
    for name in reversed(names if body else []):
        if name not in _WINDOW:
            return body, f"no decoder for {name[:40]!r} is here"
        content, reason = _inflate(content, name, limit)
        if reason:
            return body, reason
    return content, ""


def _inflate(data: bytes, name: str, limit: int) -> tuple[bytes, str]:
    """Remove one coding; a gzip stream may have several members."""
    parts: list[bytes] = []
    room = limit
    while True:
        decoder = zlib.decompressobj(_WINDOW[name])
        try:
            part = decoder.decompress(data, room + 1)
        except zlib.error as error:
            return b"", f"not {name} data: {error}"
        room -= len(part)
        if room < 0:
            return b"", f"the content is longer than {limit} bytes"
        if not decoder.eof:
            return b"", f"the {name} data ends early"
        parts.append(part)
        data = decoder.unused_data
        if not data:
            return b"".join(parts), ""
        if name == "deflate":
            return b"", f"{len(data)} bytes after the end of the deflate data"
