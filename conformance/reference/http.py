"""The head of a member's HTTP/1.1 response (RFC 9112), and the framing that it gives its body.

Pure: knows no socket. Strict where a leniency could hide a cut: what is malformed raises Malformed.
"""

from __future__ import annotations

from dataclasses import dataclass

from conformance.reference.body import Body, Chunked, Malformed, Sized, UntilClose

MAX_HEAD = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseHead:
    """Status and field lines; names in lower case, values as latin-1 text."""

    status: int
    headers: tuple[tuple[str, str], ...]

    def get(self, name: str) -> str:
        """The first value of the field `name` (lower case), or ""."""
        return next((value for key, value in self.headers if key == name), "")


def split_head(data: bytes | bytearray) -> tuple[ResponseHead, bytes] | None:
    """The final head at the start of `data` and the bytes after it; None while it is incomplete. 1xx heads are
    skipped.
    """
    end = data.find(b"\r\n\r\n")
    if end < 0:
        if len(data) > MAX_HEAD:
            raise Malformed("the response head is too long")
        return None
    head, rest = parse_head(bytes(data[:end])), bytes(data[end + 4 :])
    if 100 <= head.status < 200:
        return split_head(rest)
    return head, rest


def parse_head(data: bytes) -> ResponseHead:
    """The head in `data`, which ends before its blank line."""
    status_line, *lines = data.decode("latin-1").split("\r\n")
    parts = status_line.split(" ", 2)
    if len(parts) < 2 or not parts[0].startswith("HTTP/1.") or not (len(parts[1]) == 3 and parts[1].isdigit()):
        raise Malformed("the status line is malformed")
    headers = []
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or name != name.strip():
            raise Malformed("a header line is malformed")
        headers.append((name.lower(), value.strip()))
    return ResponseHead(status=int(parts[1]), headers=tuple(headers))


def body_of(head: ResponseHead) -> Body:
    """The body's framing (RFC 9112 section 6.3)."""
    codings = head.get("transfer-encoding").lower()
    if codings:
        if codings != "chunked":
            raise Malformed("the transfer coding is not known")
        return Chunked()
    length = head.get("content-length")
    if head.status in (204, 304):
        return Sized(0)
    if not length:
        return UntilClose()
    if not length.isdigit():
        raise Malformed("the content length is not a number")
    return Sized(int(length))
