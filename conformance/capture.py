"""Captured exchanges: a cassette of the client leg and one of the upstream leg become exchanges that can be judged.

The envelopes are turned back into timed raw bytes by the upstream's own script, so that a capture is judged by exactly
the readers and clauses of a live run. Knows no files: `run` loads them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from conformance.cassette.model import Cassette, EnvelopeEnd, Interaction, RecordedRequest
from conformance.errors import CassetteError
from conformance.exchange.assemble import assemble, read_attempt
from conformance.exchange.model import Attempt, Exchange, Terms
from conformance.upstream.script import Action, script
from conformance.wire.transcript import End, Segment, Transcript

NONCE = re.compile(rb"cf-[a-z0-9]{6,}")

_ENDS = {
    EnvelopeEnd.COMPLETE: End.COMPLETE,
    EnvelopeEnd.CLOSE: End.CLOSE,
    EnvelopeEnd.RESET: End.RESET,
    EnvelopeEnd.STALL: End.STALL,
    EnvelopeEnd.HALF_CLOSE: End.CLOSE,
}


def raw_request(request: RecordedRequest) -> bytes:
    """The HTTP/1.1 bytes of a recorded request (a host line and a length are added where the recording has none)."""
    parts = urlsplit(request.uri)
    target = parts.path or "/"
    if parts.query:
        target += f"?{parts.query}"
    lines = [f"{request.method} {target} HTTP/1.1"]
    names = {name.lower() for name, _ in request.headers}
    if "host" not in names:
        lines.append(f"Host: {parts.netloc}")
    lines += [
        f"{name}: {value}"
        for name, value in request.headers
        if name.lower() not in ("content-length", "transfer-encoding")
    ]
    if request.body or request.method not in ("GET", "HEAD", "DELETE"):
        lines.append(f"Content-Length: {len(request.body)}")
    return "\r\n".join(lines).encode("utf-8", "surrogateescape") + b"\r\n\r\n" + request.body


def _segments(interaction: Interaction, at: float) -> tuple[tuple[Segment, ...], float]:
    """The timed raw bytes of an envelope, from `at` on, and when it ended."""
    steps = script(interaction.envelope).steps
    sent = tuple(Segment(at + step.at, step.data) for step in steps if step.action is Action.SEND and step.data)
    return sent, at + (steps[-1].at if steps else 0.0)


def nonce_of(body: bytes) -> str:
    """The last nonce in a request's body, or ""."""
    found = NONCE.findall(body)
    return found[-1].decode() if found else ""


def _attempt(interaction: Interaction, number: int) -> Attempt:
    at = interaction.at if interaction.at is not None else float(number)
    segments, ended_at = _segments(interaction, at)
    return read_attempt(
        member=interaction.member or f"m{number}",
        at=at,
        request=raw_request(interaction.request),
        segments=segments,
        end=_ENDS[interaction.envelope.end],
        ended_at=ended_at,
    )


def _mine(attempts: Iterable[Attempt], nonce: str, single: bool) -> tuple[Attempt, ...]:
    """The attempts of one client request: all when there is but one request, else those that carry its nonce."""
    found = tuple(attempts)
    return found if single else tuple(attempt for attempt in found if nonce and nonce.encode() in attempt.request.body)


def exchanges(client: Cassette, upstream: Cassette | None, capabilities: frozenset[str]) -> tuple[Exchange, ...]:
    """One exchange for each interaction of the client leg.

    With several client interactions, an upstream attempt belongs to the one whose nonce its body carries. Raises
    CassetteError when the client leg is empty.
    """
    if not client.interactions:
        raise CassetteError("there is no interaction to judge", where=client.name, hint="record at least one exchange")
    attempts = (
        [_attempt(interaction, number) for number, interaction in enumerate(upstream.interactions)] if upstream else []
    )
    single = len(client.interactions) == 1
    judged = []
    for number, interaction in enumerate(client.interactions):
        nonce = nonce_of(interaction.request.body)
        segments, ended_at = _segments(interaction, 0.0)
        transcript = Transcript(
            sent=(Segment(0.0, raw_request(interaction.request)),),
            received=segments,
            end=_ENDS[interaction.envelope.end],
            ended_at=ended_at,
        )
        judged.append(
            assemble(
                name=client.name if single else f"{client.name}#{number}",
                transcript=transcript,
                attempts=None if upstream is None else _mine(attempts, nonce, single),
                terms=Terms(capabilities=capabilities),
                driver="capture",
                nonce=nonce,
            )
        )
    return tuple(judged)
