"""An envelope and its transforms become timed steps on a socket: pure, so what a member sends is known without one.

Envelope (head, body, frames, end) -> transforms on frames -> Script (steps with offsets). No clock, no socket.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from conformance.cassette.model import Envelope, EnvelopeEnd
from conformance.errors import ScenarioError
from conformance.upstream.draft import Draft, draft_of, edited, header, is_chunked
from conformance.upstream.transforms import TRANSFORMS, Transform, transformed

__all__ = ["TRANSFORMS", "Action", "Script", "Step", "Transform", "has_placeholder", "script"]


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
    """All steps of one response; the last is not a SEND.

    `whole` is whether the response is complete by its own framing once all is sent.
    """

    steps: tuple[Step, ...]
    whole: bool = False


#: The one placeholder, filled with the client request's nonce so that cross-talk can be seen.
PLACEHOLDER = "{{nonce}}"
_PLACEHOLDER_BYTES = re.escape(PLACEHOLDER.encode())

LAST_CHUNK = b"0\r\n\r\n"

_END_ACTIONS = {
    EnvelopeEnd.CLOSE: Action.CLOSE,
    EnvelopeEnd.RESET: Action.RESET,
    EnvelopeEnd.HALF_CLOSE: Action.HALF_CLOSE,
    EnvelopeEnd.STALL: Action.STALL,
}


def script(envelope: Envelope, *, transforms: tuple[str, ...] = (), nonce: str = "") -> Script:
    """The steps that play `envelope` after `transforms`, with `{{nonce}}` filled in when `nonce` is given.

    A chunked head makes each frame one HTTP chunk, and a complete end adds the last chunk to the last write. The first
    frame goes out with the head when its time is 0. Raises ScenarioError for an unknown transform or a bad argument.
    """
    draft = draft_of(envelope)
    if nonce:
        draft = _filled(draft, nonce)
    for transform in transforms:
        draft = transformed(draft, transform)
    sends, ended_at = _sends(draft)
    steps = (Step(at, Action.SEND, data) for at, data in sends)
    whole = draft.end is EnvelopeEnd.COMPLETE and _is_framed(draft)
    return Script(steps=(*steps, Step(ended_at, _last_action(draft))), whole=whole)


def has_placeholder(envelope: Envelope) -> bool:
    """Whether the envelope plays differently for each nonce."""
    return PLACEHOLDER.encode() in envelope.body or any(PLACEHOLDER in line for line in envelope.head)


def _filled(draft: Draft, nonce: str) -> Draft:
    places = [(match.start(), match.end(), nonce.encode()) for match in re.finditer(_PLACEHOLDER_BYTES, draft.body)]
    head = tuple(line.replace(PLACEHOLDER, nonce) for line in draft.head)
    filled = replace(draft, head=head)
    return edited(filled, places) if places else filled


def _sends(draft: Draft) -> tuple[list[tuple[float, bytes]], float]:
    """The writes in order, as (ms, bytes), and the ms of the end."""
    chunked = is_chunked(draft)
    sends = [(draft.head_at, _head_bytes(draft.head))] if draft.head else []
    at, position, first = draft.head_at, 0, True
    for frame in draft.frames:
        at = max(at, draft.head_at + frame.at)
        data = draft.body[position : position + frame.size]
        position += frame.size
        if not data:
            continue
        wire = b"%x\r\n%b\r\n" % (len(data), data) if chunked else data
        if first and sends and at == sends[0][0]:
            sends[0] = (at, sends[0][1] + wire)
        else:
            sends.append((at, wire))
        first = False
    if chunked and draft.end is EnvelopeEnd.COMPLETE:
        if sends[-1][0] == at:
            sends[-1] = (at, sends[-1][1] + LAST_CHUNK)
        else:
            sends.append((at, LAST_CHUNK))
    return sends, at


def _head_bytes(head: tuple[str, ...]) -> bytes:
    text = "\r\n".join(head) + "\r\n\r\n"
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        raise ScenarioError("the head holds a character outside latin-1", where=repr(head[0])) from None


def _is_framed(draft: Draft) -> bool:
    """Whether the head says where the body ends."""
    bodiless = bool(draft.head) and draft.head[0].partition(" ")[2][:3] in {"204", "304"}
    return bodiless or is_chunked(draft) or header(draft, "content-length") is not None


def _last_action(draft: Draft) -> Action:
    """What follows the last byte: a response that frames itself leaves the connection open (RFC 9112 section 9.3)."""
    if draft.end is not EnvelopeEnd.COMPLETE:
        return _END_ACTIONS[draft.end]
    if not draft.head:
        return Action.CLOSE
    options = (header(draft, "connection") or "").lower()
    persistent = "close" not in options and (not draft.head[0].startswith("HTTP/1.0") or "keep-alive" in options)
    return Action.KEEP if persistent and _is_framed(draft) else Action.CLOSE
