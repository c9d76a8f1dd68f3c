"""What a driver is asked to do and what it brings back: data only, shared by every driver.

A driver sends each call exactly once. Deadlines that pass are facts of the transcript, not errors.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from conformance.errors import DriverError
from conformance.exchange.model import ClientView, HangUp
from conformance.wire.transcript import Transcript

#: The most bytes that a driver takes of one response: more than any reader of bodies goes into. A client leaves then.
MAX_RECEIVED = 80 * 1024 * 1024

#: Seconds of silence after which a client leaves a response whose framing does not tell its end: all that is there has
#: come by then, and waiting for a deadline would only be called a stall.
UNFRAMED = 0.5
UNFRAMED_ERROR = "the response's framing does not tell its end"

#: The next thing to do where this machine cannot open one more connection.
FEWER = "raise the limit on open files, or ask for less at a time"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadlines:
    """Seconds to wait: for the connection, for the whole response head, between two reads, for the whole exchange."""

    connect: float = 5.0
    head: float = 15.0
    idle: float = 15.0
    exchange: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """What the client does with the response.

    `hang_up` is "" (read all), "send" (as soon as the request is written: before the response head), "head" (after the
    head, before the first event) or "event:N" (after N events). `wait_ms` delays the hang-up from that point on.
    `pause_ms` waits that long before each further read (a slow reader). With `half_close` the client ends its sending
    side `wait_ms` after the request is written, and reads on; the raw client alone can do that, and not over TLS.
    """

    hang_up: str = ""
    wait_ms: float = 0.0
    pause_ms: float = 0.0
    half_close: bool = False

    @property
    def after_events(self) -> int:
        """The N of "event:N", 0 for the other words. Raises DriverError for a word that is not one of them."""
        if self.hang_up in ("", "send", "head"):
            return 0
        word, _, number = self.hang_up.partition(":")
        if word != "event" or not (number.isascii() and number.isdigit()) or int(number) < 1:
            raise DriverError(
                "not a way to hang up", where=repr(self.hang_up), hint="send, head or event:N with N from 1"
            )
        return int(number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request to send.

    `base_url` is the API root as an SDK takes it ("http://127.0.0.1:4000/v1"); `path` is appended to it
    ("/chat/completions"). `headers` come besides what the driver itself sets (host, content type, length, authorization
    from `api_key`), and replace it where they have the same name. `endpoint` is the operation's name
    (exchange.Endpoint) and `params` the JSON object to send, for SDK drivers; `body` are the exact bytes, for the raw
    ones.
    """

    base_url: str
    path: str
    method: str
    endpoint: str
    api_key: str = field(repr=False)
    body: bytes = b""
    params: dict[str, Any] = field(default_factory=dict)
    headers: tuple[tuple[str, str], ...] = ()
    behaviour: Behaviour = Behaviour()
    deadlines: Deadlines = Deadlines()


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """What came of a call: the raw timed bytes, and what the client made of them (None for raw drivers)."""

    transcript: Transcript
    hangup: HangUp | None = None
    client: ClientView | None = None


class Driver(Protocol):
    """Speaks to a gateway. One instance serves many concurrent calls; `aclose` frees its connections."""

    name: str
    version: str

    async def send(self, call: Call) -> Capture:
        """Send the call once and return what happened. Raises only DriverError, for our own faults."""

    async def aclose(self) -> None:
        """Close every connection."""
