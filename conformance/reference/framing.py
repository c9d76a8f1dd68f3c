"""How a response is written as HTTP/1.1 bytes by the gateway's own server; a protocol defect overrides one of the
pieces.

Pure. The right one writes a chunked body, or one of the given length.
"""

from __future__ import annotations

from http import HTTPStatus

from conformance.reference.behaviour import Fields


class Framing:
    """The bytes of one response: `head`, then `data` for each piece of the body, then `end`; one object for each
    response.

    After `end` the connection is closed; when `resets` is set it is reset instead.
    """

    resets = False

    def __init__(self) -> None:
        self.chunked = False

    def head(self, status: int, fields: Fields) -> bytes:
        """The status line, the field lines and the blank line."""
        # RFC 9112 section 6.3: a 204 has no body, and so no framing of one.
        self.chunked = status != HTTPStatus.NO_CONTENT and not any(
            name.lower() == "content-length" for name, _ in fields
        )
        framing = (("transfer-encoding", "chunked"),) if self.chunked else ()
        lines = [self.status_line(status)]
        lines += [f"{name}: {value}" for name, value in (*fields, *framing, ("connection", "close"))]
        return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"

    def status_line(self, status: int) -> str:
        """The status line, without its line end."""
        return f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"

    def data(self, data: bytes) -> bytes:
        """One piece of the body; never empty."""
        return b"%x\r\n%b\r\n" % (len(data), data) if self.chunked else data

    def end(self) -> bytes:
        """What ends the body."""
        return b"0\r\n\r\n" if self.chunked else b""
