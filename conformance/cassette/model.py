"""A cassette in memory: recorded interactions, each a request and the envelope that answered it.

An envelope is one upstream response as it was on the wire; it is data for the upstream's script and for `judge`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class EnvelopeEnd(StrEnum):
    """How an envelope ends on the wire. The design's four, and what a member does without a whole response."""

    COMPLETE = "complete"  # framing finished
    CLOSE = "close"  # FIN without the terminator, or with a short body
    RESET = "reset"  # RST
    STALL = "stall"  # silence, the socket stays open
    HALF_CLOSE = "half-close"  # our sending side shut (FIN), the socket kept open for reading


@dataclass(frozen=True, slots=True)
class Frame:
    """`size` body bytes, written `at` ms after the head (the first frame's 0 means together with the head)."""

    at: float
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """One response, byte for byte.

    `head` is the status line and the header lines in order and case, without line ends; empty when nothing at all is
    sent before `end`. `body` is the content after transfer coding is removed (what vcrpy calls body.string); `frames`
    cut it (sizes sum to its length). A chunked head means that each frame is sent as one HTTP chunk.
    """

    head: tuple[str, ...]
    body: bytes
    frames: tuple[Frame, ...]
    end: EnvelopeEnd = EnvelopeEnd.COMPLETE


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRequest:
    """A recorded request: method, absolute URI, header lines (name, value) in order, body."""

    method: str
    uri: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interaction:
    """One request and its envelope; `member` and `at` (ms since the client's request) only on an upstream leg.

    `timed` is whether the frames were told; else the whole body stands in one, and when it came is not known.
    `hangup` is when whoever asked went away, in ms since the client's request: the client, or on an upstream leg the
    gateway.
    """

    request: RecordedRequest
    envelope: Envelope
    member: str = ""
    at: float | None = None
    timed: bool = True
    hangup: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cassette:
    """A file's worth of interactions and where they came from. `origin` is "recorded", "authored" or "" (foreign)."""

    name: str
    interactions: tuple[Interaction, ...]
    title: str = ""
    provider: str = ""
    origin: str = ""
    source: str = ""
    date: str = ""
    redactions: tuple[tuple[str, str], ...] = ()
