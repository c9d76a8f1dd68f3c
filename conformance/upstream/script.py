"""An envelope and its transforms become timed steps on a socket: pure, so that what a member sends is known without one.

Envelope (head, body, frames, end) -> transforms on frames -> Script (steps with offsets). No clock, no socket.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from conformance.cassette.model import Envelope


class Action(StrEnum):
    """What a step does."""

    SEND = "send"
    CLOSE = "close"  # FIN both ways
    RESET = "reset"  # RST
    HALF_CLOSE = "half-close"  # FIN of our side only
    STALL = "stall"  # nothing more, until the peer goes
    KEEP = "keep"  # the response is whole; the connection may serve the next request


@dataclass(frozen=True, slots=True)
class Step:
    """At `at` ms after the request was read, do `action` (with `data` for SEND). Offsets never decrease."""

    at: float
    action: Action
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class Script:
    """All steps of one response; the last is not a SEND."""

    steps: tuple[Step, ...]


def script(envelope: Envelope, *, transforms: tuple[str, ...] = (), nonce: str = "") -> Script:
    """The steps that play `envelope` after `transforms`, with `{{nonce}}` filled in when `nonce` is given.

    Raises ScenarioError for an unknown transform or a bad argument.
    """
    raise NotImplementedError
