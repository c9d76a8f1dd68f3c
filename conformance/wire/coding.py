"""Content codings (RFC 9110 section 8.4.1): coded bytes become content, with a bound, or a reason why not.

Knows gzip and deflate. Nothing is guessed: data that is not what its coding says stays as it is.
"""

from __future__ import annotations

import zlib

MAX_CODINGS = 8
#: A gzip stream of more members is taken for an attack; each costs a decoder.
MAX_MEMBERS = 10_000
#: Bytes that a decoder is handed at once: what it leaves over at a member's end is copied.
_PIECE = 4096

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
    room, at = limit, 0
    for _ in range(MAX_MEMBERS):
        decoder = zlib.decompressobj(_WINDOW[name])
        while at < len(data) and not decoder.eof:
            try:
                part = decoder.decompress(data[at : at + _PIECE], room + 1)
            except zlib.error as error:
                return b"", f"not {name} data: {error}"
            at = min(at + _PIECE, len(data)) - len(decoder.unused_data)
            room -= len(part)
            if room < 0:
                return b"", f"the content is longer than {limit} bytes"
            parts.append(part)
        if not decoder.eof:
            return b"", f"the {name} data ends early"
        if at == len(data):
            return b"".join(parts), ""
        if name == "deflate":
            return b"", f"{len(data) - at} bytes after the end of the deflate data"
    return b"", f"more than {MAX_MEMBERS} members"
