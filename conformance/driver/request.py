"""A call becomes the exact bytes of one HTTP/1.1 request, and the place to send them to.

Pure: knows no socket. Sets the least that an honest client sets; whatever the call's own headers name replaces it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

from conformance import __version__
from conformance.driver.model import Call
from conformance.errors import DriverError

#: What the wire driver calls itself.
USER_AGENT = f"gateway-conformance/{__version__}"

_DEFAULT_PORTS = {"http": 80, "https": 443}
_BODY_METHODS = frozenset({"POST", "PUT", "PATCH"})


class Place(NamedTuple):
    """Where requests for one base URL go: host, port, whether by TLS, the Host field's value, the path's beginning."""

    host: str
    port: int
    tls: bool
    authority: str
    prefix: str


@lru_cache(maxsize=256)
def locate(base_url: str) -> Place:
    """The place of an API root such as "http://127.0.0.1:4000/v1" or "https://[::1]/v1". Raises DriverError."""
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise DriverError(f"not a URL: {error}", where=base_url) from None
    if parts.scheme not in _DEFAULT_PORTS or not host or parts.query or parts.fragment or parts.username is not None:
        raise DriverError(
            "not an API root that a driver can speak to",
            where=base_url,
            hint="give http:// or https://, a host, an optional port and path; no user, query or fragment",
        )
    bracketed = f"[{host}]" if ":" in host else host
    default = _DEFAULT_PORTS[parts.scheme]
    number = default if port is None else port
    authority = bracketed if number == default else f"{bracketed}:{number}"
    return Place(host, number, parts.scheme == "https", authority, parts.path.rstrip("/"))


def request_bytes(call: Call, place: Place) -> bytes:
    """The request: head and exactly `call.body`. Raises DriverError where a text would break out of its line."""
    lines = [f"{call.method} {place.prefix}{call.path} HTTP/1.1", f"Host: {place.authority}"]
    if call.api_key:
        lines.append(f"Authorization: Bearer {call.api_key}")
    if call.body:
        lines.append("Content-Type: application/json")
    if call.body or call.method in _BODY_METHODS:
        lines.append(f"Content-Length: {len(call.body)}")
    lines.append("Accept: */*")
    lines.append(f"User-Agent: {USER_AGENT}")
    if call.headers:
        lines = _with_own(lines, call.headers)
    head = "\r\n".join(lines)
    breaks = len(lines) - 1
    if head.count("\n") != breaks or head.count("\r") != breaks or lines[0].count(" ") != 2:
        raise DriverError("a method, path or header holds a line break or a space", where=repr(lines[0]))
    return b"%b\r\n\r\n%b" % (head.encode("utf-8"), call.body)


def _with_own(lines: list[str], headers: tuple[tuple[str, str], ...]) -> list[str]:
    """The lines without those that `headers` replace, and `headers` after them."""
    own = {name.lower() for name, _ in headers}
    if "transfer-encoding" in own:  # RFC 9112 section 6.2: never both
        own.add("content-length")
    kept = [line for line in lines[1:] if line.partition(":")[0].lower() not in own]
    return [lines[0], *kept, *(f"{name}: {value}" for name, value in headers)]
