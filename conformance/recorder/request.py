"""A client's request on its way through the recorder: what is passed on, byte for byte but for what must change. Pure.

Host becomes the provider's; with a key of its own the recorder puts it where the client put one. Nothing else changes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from conformance.driver.request import Place
from conformance.wire.chunk_scanner import ChunkScanner
from conformance.wire.facts import FaultLog
from conformance.wire.framing import plan_request
from conformance.wire.head import MAX_HEAD, find_head_end, read_head, read_request_line, skip_empty_lines
from conformance.wire.message import Framing

_LINE = re.compile(rb"[^\n]*\n")
_FIELD = re.compile(rb"(?P<name>[^:\n]*?)(?P<colon>[ \t]*:[ \t]*)(?P<value>[^\n]*?)(?P<end>[ \t]*\r?\n)")
_SCHEME = re.compile(rb"[A-Za-z]+ +")
_KEY_FIELDS = (b"api-key", b"x-api-key", b"x-goog-api-key")


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Where requests go, and the key that replaces the client's ("": the client's own is passed on)."""

    place: Place
    key: str = field(default="", repr=False)

    @property
    def origin(self) -> str:
        """Scheme and authority of the provider."""
        return f"{'https' if self.place.tls else 'http'}://{self.place.authority}"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the recorder itself answers a request, and how."""

    status: str
    code: str
    why: str


class RequestFollower:
    """Follows one request through pieces of any size.

    `feed` gives what is to be passed on. `whole` once its end was passed; `rest` is what came behind it, `method` its
    method once the head is there, `expects` whether its body waits for a 100 (Continue). A `refusal` says that it
    cannot be passed on: then nothing more is.
    """

    def __init__(self, route: Route) -> None:
        self.whole = False
        self.method = ""
        self.expects = False
        self.rest = b""
        self.refusal: Refusal | None = None
        self._route = route
        self._head = bytearray()
        self._left = 0
        self._scanner: ChunkScanner | None = None

    def feed(self, data: bytes) -> bytes:
        """Read on; the bytes to pass on for it."""
        if self.whole or self.refusal:
            self.rest += data
            return b""
        if self.method:
            return self._body(data)
        self._head += data
        start = skip_empty_lines(self._head, 0)
        end = find_head_end(self._head, start)[1]
        if end >= 0:
            raw, rest = bytes(self._head[start:end]), bytes(self._head[end:])
            self._head.clear()
            self._plan(raw)
            return b"" if self.refusal else rewritten(raw, self._route) + self._body(rest)
        if len(self._head) - start >= MAX_HEAD:
            self.refusal = Refusal("431 Request Header Fields Too Large", "head_too_long", "the head does not end")
        return b""

    def _plan(self, raw: bytes) -> None:
        log = FaultLog(0)
        head, _ = read_head(raw, 0, log)
        method, target, version = read_request_line(head, log)
        plan = plan_request(version, head, log)
        if version not in ("HTTP/1.1", "HTTP/1.0"):
            why = f"it takes HTTP/1.1, not {version[:20] or 'this'}"
            self.refusal = Refusal("505 HTTP Version Not Supported", "version", why)
        elif method == "CONNECT" or not target.startswith("/"):
            why = "it is no proxy: give its base URL to the client as the API's"
            self.refusal = Refusal("400 Bad Request", "not_a_proxy", why)
        elif self._route.key and head.get("origin") is not None:
            why = "with a key of its own it serves no page in a browser"
            self.refusal = Refusal("403 Forbidden", "origin", why)
        elif plan.broken:
            self.refusal = Refusal("400 Bad Request", "framing", "the request does not tell where its body ends")
        self.method = method
        self.expects = (head.get("expect") or "").lower() == "100-continue"
        self._left = plan.length
        self._scanner = ChunkScanner() if plan.framing is Framing.CHUNKED else None

    def _body(self, data: bytes) -> bytes:
        size = min(self._left, len(data))
        if self._scanner is not None:
            size = self._scanner.feed(data)
            self.whole = self._scanner.done
            if self._scanner.broken:
                self.refusal = Refusal("400 Bad Request", "framing", "the request's chunks cannot be read")
        else:
            self._left -= size
            self.whole = not self._left
        self.rest = data[size:]
        return data[:size]


def rewritten(raw: bytes, route: Route) -> bytes:
    """A request's raw head with the provider's host, and with the route's key where the client put one."""
    made: list[bytes] = []
    folds_away = False
    for number, line in enumerate(_LINE.findall(raw)):
        if number and line[:1] in (b" ", b"\t"):  # a folded line shares its field's fate
            made += [] if folds_away else [line]
            continue
        match = _FIELD.fullmatch(line) if number else None
        value = None if match is None else _replaced(match["name"].strip().lower(), match["value"], route)
        folds_away = value is not None
        made.append(line if match is None or value is None else match["name"] + match["colon"] + value + match["end"])
    return b"".join(made)


def _replaced(name: bytes, value: bytes, route: Route) -> bytes | None:
    """The value that a field gets instead, None for its own."""
    if name == b"host":
        return route.place.authority.encode()
    if not route.key:
        return None
    if name == b"authorization":
        scheme = _SCHEME.match(value)
        bearer = scheme is not None and scheme[0].strip().lower() == b"bearer"
        return (scheme[0] if scheme is not None and bearer else b"Bearer ") + route.key.encode()
    return route.key.encode() if name in _KEY_FIELDS else None
