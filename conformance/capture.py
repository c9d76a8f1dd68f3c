"""Captured exchanges: a cassette of the client leg and one of the upstream leg become exchanges that can be judged.

The envelopes are turned back into timed raw bytes by the upstream's own script, so that a capture is judged by exactly
the readers and clauses of a live run. Knows no files: `run` loads them.
"""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import urlsplit

from conformance.cassette.model import Cassette, Envelope, EnvelopeEnd, Interaction, RecordedRequest
from conformance.errors import CassetteError
from conformance.exchange.assemble import assemble, read_attempt
from conformance.exchange.model import Attempt, Exchange, HangUp, Terms
from conformance.exchange.prompts import nonce_of
from conformance.shares import shared_out
from conformance.upstream.script import Action, script
from conformance.wire.jsondoc import parse
from conformance.wire.transcript import End, Segment, Transcript

#: HTTP/2 and HTTP/3 have no status line: what a recorder writes in its place names version and status alone.
_LATER = re.compile(r"HTTP/[23](?:\.0)? (\d{3})(?: (.*))?")

_REDACTED = re.compile(r"redact|filtered|dummy|\*{3}|x{4}", re.I)

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
    steps = script(_as_http1(interaction.envelope)).steps
    sent = tuple(Segment(at + step.at, step.data) for step in steps if step.action is Action.SEND and step.data)
    return sent, at + (steps[-1].at if steps else 0.0)


def _as_http1(envelope: Envelope) -> Envelope:
    """A response of a later version as HTTP/1.1 would carry it; any other as it is."""
    later = _LATER.fullmatch(envelope.head[0].rstrip()) if envelope.head else None
    if later is None:
        return envelope
    fields = [line for line in envelope.head[1:] if not line.startswith(":")]
    framed = any(line.lower().startswith(("content-length:", "transfer-encoding:")) for line in fields)
    added = () if framed or later[1] in ("204", "304") else ("Transfer-Encoding: chunked",)
    return replace(envelope, head=(f"HTTP/1.1 {later[1]} {later[2] or ''}", *fields, *added))


def _is_upstream(leg: Cassette) -> bool:
    return any(interaction.member or interaction.at is not None for interaction in leg.interactions)


def _members(upstream: Cassette) -> list[str]:
    """Who was asked by each interaction: as it says, else one name for each host, key and model, in order of use.

    Where a recorder left the key out, nothing says that two dispatches went to one member.
    """
    asked = [_asked(interaction.request) or (str(n),) for n, interaction in enumerate(upstream.interactions)]
    asked = [one if _steady(one, asked, upstream) else (str(n),) for n, one in enumerate(asked)]
    order = list(dict.fromkeys(asked))
    told = [interaction.member for interaction in upstream.interactions]
    return [name or f"m{order.index(one)}" for name, one in zip(told, asked, strict=True)]


def _steady(one: tuple[str, ...], asked: list[tuple[str, ...]], upstream: Cassette) -> bool:
    """Whether no answer of this member follows a rejection by it: else several stand behind one name."""
    told = [
        i.envelope.head[0].split()[1:2]
        for i, other in zip(upstream.interactions, asked, strict=True)
        if other == one and i.envelope.head
    ]
    rejected = next((n for n, status in enumerate(told) if status in (["400"], ["404"], ["413"], ["422"])), len(told))
    return ["200"] not in told[rejected:]


def _asked(request: RecordedRequest) -> tuple[str, ...]:
    doc = parse(request.body) if request.body else None
    model = doc.get("model") if doc is not None and doc.ok else None
    keys = [value for name, value in request.headers if name.lower() in ("authorization", "api-key", "x-api-key")]
    known = bool(keys) and not any(_REDACTED.search(key) for key in keys)
    return (urlsplit(request.uri).netloc, str(model), *keys) if known else ()


def _attempt(interaction: Interaction, number: int, member: str) -> Attempt:
    at = interaction.at if interaction.at is not None else float(number)
    segments, ended_at = _segments(interaction, at)
    left = interaction.hangup
    return read_attempt(
        member=member,
        at=at,
        request=raw_request(interaction.request),
        segments=segments,
        end=_ENDS[interaction.envelope.end] if left is None else End.HANGUP,
        ended_at=ended_at if left is None else left,
        peer_closed="" if left is None else "mid-body",
        peer_closed_at=left,
    )


def exchanges(client: Cassette, upstream: Cassette | None, capabilities: frozenset[str]) -> tuple[Exchange, ...]:
    """One exchange for each interaction of the client leg; `shared_out` says which attempts are whose.

    Raises CassetteError when the client leg is empty, or the two legs are each other's.
    """
    if not client.interactions:
        raise CassetteError("there is no interaction to judge", where=client.name, hint="record at least one exchange")
    if upstream is not None and _is_upstream(client) and not _is_upstream(upstream):
        hint = "the client leg comes first: judge CLIENT.yaml --upstream UPSTREAM.yaml"
        raise CassetteError("this is an upstream leg: its interactions name members", where=client.name, hint=hint)
    legs = zip(upstream.interactions, _members(upstream), strict=True) if upstream else ()
    attempts = [_attempt(interaction, number, member) for number, (interaction, member) in enumerate(legs)]
    seen = [_exchange(client, number, capabilities) for number in range(len(client.interactions))]
    if upstream is None:
        return tuple(seen)
    pairs = zip(seen, shared_out(seen, attempts), strict=True)
    return tuple(replace(exchange, attempts=None if share is None else _in_time(share)) for exchange, share in pairs)


def _exchange(client: Cassette, number: int, capabilities: frozenset[str]) -> Exchange:
    """What the client leg tells of one of its interactions: who was asked is not known yet."""
    interaction = client.interactions[number]
    segments, ended_at = _segments(interaction, 0.0)
    left = interaction.hangup
    transcript = Transcript(
        sent=(Segment(0.0, raw_request(interaction.request)),),
        received=segments,
        end=_ENDS[interaction.envelope.end] if left is None else End.HANGUP,
        ended_at=ended_at if left is None else left,
    )
    return assemble(
        name=client.name if len(client.interactions) == 1 else f"{client.name}#{number}",
        transcript=transcript,
        attempts=None,
        terms=Terms(capabilities=capabilities),
        driver="capture",
        nonce=nonce_of(interaction.request.body),
        hangup=None if left is None else HangUp(after="head" if segments else "send", at=left),
        timed=interaction.timed,
    )


def _in_time(attempts: tuple[Attempt, ...]) -> tuple[Attempt, ...]:
    return tuple(sorted(attempts, key=lambda attempt: attempt.at))
