"""HTTP: what any client needs before it can read a body (RFC 9110, RFC 9112), and the media types the API answers with."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.contract.clause import Basis, Finding, Level, Undecided, clause
from conformance.contract.evidence import at_content, at_end, at_event, at_exchange, at_head, show
from conformance.contract.when import (
    api_failure,
    broken_upstream,
    further,
    further_json,
    ok,
    replied,
    serving,
    stayed,
    the_reply,
    whole,
)
from conformance.exchange.model import Endpoint, Exchange
from conformance.wire.facts import Span
from conformance.wire.http1 import Framing
from conformance.wire.jsondoc import Doc
from conformance.wire.transcript import End

_FRAMING_FAULTS = (
    "content-length.",
    "length-and-chunked",
    "transfer-encoding.",
    "chunk.",
)
_HEAD_FAULTS = ("head.", "status-line.", "header.", "line-end.", "version.", "status.")

#: RFC 9110 section 5.3: a field that is not a list occurs once. Retry-After, Content-Type and Content-Length are such.
#: access-control-allow-origin: Fetch allows one value; two break every browser and some HTTP clients.
_SINGLE_FIELDS = (
    "content-type",
    "content-length",
    "content-encoding",
    "retry-after",
    "access-control-allow-origin",
    "location",
    "date",
)


def _reply_owed(x: Exchange) -> bool:
    attempt = serving(x)
    upstream_hangs = attempt is not None and attempt.end is End.STALL and not attempt.reply
    promised = bool(x.declares & {"first-token-timeout", "idle-timeout", "failover"})
    return x.hangup is None and (promised or not (x.end is End.STALL and upstream_hangs))


@clause(
    id="http.response.arrives",
    level=Level.MUST,
    basis=Basis.PROTOCOL,
    title="Every request gets a response head",
    rationale="A connection that is cut or falls silent before the head leaves the client without a status to act on.",
    source="rfc9110/status",
    applies=_reply_owed,
)
def response_arrives(x: Exchange) -> Iterator[Finding]:
    if not replied(x):
        word = f"{x.end.value} after {x.transcript.ended_at:.0f} ms"
        deadline = f", the {x.transcript.deadline} deadline passed" if x.transcript.deadline else ""
        got = f", {len(x.transcript.raw)} bytes received" if x.transcript.raw else ""
        yield at_exchange(x, "a response with a status line", f"{word}{deadline}{got}")


def _faults(x: Exchange, prefixes: tuple[str, ...]) -> Iterator[Finding]:
    reply = the_reply(x)
    for fault in reply.message.faults:
        if fault.code.startswith(prefixes):
            span = Span(fault.span.start, fault.span.end)
            yield Finding(
                expected="a message as RFC 9112 defines it",
                actual=f"{fault.code}: {fault.detail}",
                span=span,
                at=reply.arrivals.of(span),
                excerpt=span.of(x.transcript.raw)[:240],
            )


def _bytes_came(x: Exchange) -> bool:
    return x.reply is not None and (x.hangup is None or x.reply.status > 0)


@clause(
    id="http.message.well-formed",
    level=Level.MUST,
    basis=Basis.PROTOCOL,
    title="The status line and the field lines are well formed",
    rationale="Lenient clients guess, strict ones refuse: one malformed line splits the client population.",
    source="rfc9112/fields",
    applies=_bytes_came,
)
def message_well_formed(x: Exchange) -> Iterator[Finding]:
    yield from _faults(x, _HEAD_FAULTS)


@clause(
    id="http.framing.consistent",
    level=Level.MUST,
    basis=Basis.PROTOCOL,
    title="The body has exactly one valid framing",
    rationale="Two framings that disagree are how responses get cut, glued together or smuggled.",
    source="rfc9112/body-length",
    applies=replied,
)
def framing_consistent(x: Exchange) -> Iterator[Finding]:
    yield from _faults(x, _FRAMING_FAULTS)


def _complete_owed(x: Exchange) -> bool:
    if not stayed(x) or x.end is End.STALL:
        return False
    # An abort is one of the two honest ways to tell a client that a stream broke upstream.
    return not (broken_upstream(x) if x.request.stream else _cut_upstream(x))


def _cut_upstream(x: Exchange) -> bool:
    """Whether a success is as incomplete as the member's own body was (rfc9112/incomplete): who passes a body on while it
    comes has sent the status before the cut, so that a short body is all that is left to tell of it.

    An error can be told whole, and a member that the gateway itself left is the gateway's own cut.
    """
    attempt = serving(x)
    if attempt is None or attempt.reply is None or attempt.end not in (End.CLOSE, End.RESET, End.STALL):
        return False
    return ok(x) and attempt.reply.ok and not attempt.reply.complete


@clause(
    id="http.body.complete",
    level=Level.MUST,
    basis=Basis.PROTOCOL,
    title="The body is as long as its framing says",
    rationale="A short body or a missing last chunk is an incomplete message: the client has to throw the answer away.",
    source="rfc9112/incomplete",
    applies=_complete_owed,
)
def body_complete(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    if not reply.complete:
        framing = reply.message.framing
        expected = "the zero-length chunk that ends the body" if framing is Framing.CHUNKED else "the whole body"
        yield at_end(reply, expected, f"{x.end.value} after {len(reply.message.body)} body bytes ({framing.value})")


@clause(
    id="http.body.nothing-after-end",
    level=Level.MUST,
    basis=Basis.PROTOCOL,
    title="Nothing follows the end of the message",
    rationale="Bytes after the end are read as the next response on a reused connection.",
    source="rfc9112/body-length",
    applies=whole,
)
def nothing_after_end(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    rest = reply.message.trailing
    if rest:
        size = len(x.transcript.raw)
        span = Span(size - len(rest), size)
        yield Finding(
            expected="no byte after the end of the message",
            actual=f"{len(rest)} bytes follow",
            span=span,
            at=reply.arrivals.of(span),
            excerpt=rest[:240],
        )


def _unchanged(x: Exchange) -> bool:
    """Whether a client that holds a copy is told that it is still good (RFC 9110 section 13)."""
    asked = any(x.request.head.get(name) for name in ("if-none-match", "if-modified-since"))
    return the_reply(x).status == 304 and x.request.method in ("GET", "HEAD") and asked


@clause(
    id="http.status.final",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The final status is a success or an error",
    rationale="API clients follow no redirects with a POST body and a key; a Location can even show an inner host.",
    source="openai-api/errors",
    applies=lambda x: replied(x) and not _unchanged(x),
)
def status_final(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    if not (reply.ok or 400 <= reply.status <= 599):
        yield at_head(reply, "a status of 2xx, 4xx or 5xx", f"status {reply.status}")


def _json_media(media: str) -> bool:
    return media == "application/json" or (media.startswith("application/") and media.endswith("+json"))


def _further_json_due(x: Exchange) -> bool:
    """Whether one of the API's further operations owes JSON, or sends the one thing that none of them does: a page."""
    reply = the_reply(x)
    page = reply.media_type == "text/html" and not x.request.target.split("?")[0].endswith("/content")
    return not reply.events and (further_json(x.request) or (further(x.request) and page))


def _json_success(x: Exchange) -> bool:
    if not ok(x) or x.request.stream or x.request.method == "OPTIONS" or not the_reply(x).content:
        return False
    if x.request.endpoint is Endpoint.OTHER:
        return _further_json_due(x)
    # A capture may lack the request's body: then nobody knows whether a stream was asked for.
    return bool(x.request.body) or x.request.method == "GET" or not the_reply(x).events


@clause(
    id="http.content-type.json",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A reply that is not a stream has the content type application/json",
    rationale="SDKs choose the parser by the media type: openai-python hands out the raw text of anything else.",
    source="rfc9110/content-type",
    applies=_json_success,
)
def content_type_json(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    if not _json_media(reply.media_type):
        actual = reply.header("content-type") or "none"
        yield at_head(reply, "Content-Type: application/json", f"Content-Type: {actual}", field="content-type")


def _event_success(x: Exchange) -> bool:
    # A JSON body in answer to a stream request is judged once, by reply.mode.stream.
    return ok(x) and x.request.stream and the_reply(x).stream is not None


@clause(
    id="http.content-type.event-stream",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A stream has the content type text/event-stream",
    rationale="Browsers, proxies and several SDKs read events only under this media type; others buffer the body.",
    source="openai-api/chat-streaming",
    applies=_event_success,
)
def content_type_event_stream(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    if reply.media_type != "text/event-stream":
        actual = reply.header("content-type") or "none"
        yield at_head(reply, "Content-Type: text/event-stream", f"Content-Type: {actual}", field="content-type")


def _accepted(x: Exchange) -> set[str] | None:
    values = x.request.head.all("accept-encoding")
    if not values:
        return None  # RFC 9110 section 12.5.3: without the field any coding is acceptable
    words = {item.split(";")[0].strip().lower() for value in values for item in value.split(",")}
    return None if "*" in words else words | {"identity"}


@clause(
    id="http.content-encoding.honest",
    level=Level.MUST,
    basis=Basis.PROTOCOL,
    title="The content coding is one that the client accepts, and the body really has it",
    rationale="A stale or unasked-for coding makes a client decode plain text or read gzip bytes as text.",
    source="rfc9110/content-encoding",
    applies=whole,
)
def content_encoding_honest(x: Exchange) -> Iterator[Finding | Undecided]:
    reply = the_reply(x)
    coding = (reply.header("content-encoding") or "").strip().lower()
    if reply.sealed:
        yield Undecided(reply.undecodable)
    elif coding and reply.undecodable and reply.content:
        yield at_head(reply, f"a body in {coding}", reply.undecodable, field="content-encoding")
    accepted = _accepted(x)
    if coding and accepted is not None and not {part.strip() for part in coding.split(",")} <= accepted:
        yield at_head(
            reply, f"one of {', '.join(sorted(accepted))}", f"Content-Encoding: {coding}", field="content-encoding"
        )
    if not coding and reply.content[:2] == b"\x1f\x8b":
        yield at_content(reply, Span(0, 2), "a plain body (no Content-Encoding)", "gzip bytes")


@clause(
    id="http.header.single",
    level=Level.MUST,
    basis=Basis.PROTOCOL,
    title="A field that holds one value occurs once",
    rationale="A second Content-Type or Access-Control-Allow-Origin is joined or rejected, differently by each client.",
    source="rfc9110/field-order",
    applies=replied,
)
def header_single(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    for name in _SINGLE_FIELDS:
        values = reply.message.head.all(name)
        if len(values) > 1:
            yield at_head(reply, f"one {name} line", f"{len(values)}: {show(list(values))}", field=name)
    # Fetch allows one origin or `*`: two values joined on one line fail as two lines do.
    origin = reply.header("access-control-allow-origin") or ""
    if "," in origin:
        yield at_head(reply, "one origin", show(origin), field="access-control-allow-origin")


def _mode_judged(x: Exchange) -> bool:
    known = x.request.endpoint not in (Endpoint.OTHER, Endpoint.MODELS, Endpoint.MODEL)
    return known and x.request.doc is not None and x.request.doc.ok and stayed(x) and ok(x) and not the_reply(x).sealed


@clause(
    id="reply.mode.json",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A request without stream gets one JSON object",
    rationale="`stream` is false unless it is asked for; a JSON parser dies on the first `data:`.",
    source="openai-api/chat-create",
    applies=lambda x: _mode_judged(x) and not x.request.stream,
)
def mode_json(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    body_events = reply.stream is not None and bool(reply.events) and (reply.doc is None or not reply.doc.ok)
    if body_events:
        yield at_content(reply, Span(0, min(240, len(reply.content))), "one JSON object", "server-sent events")
    elif not reply.content and reply.complete:
        yield at_head(reply, "one JSON object", "an empty body")


@clause(
    id="reply.mode.stream",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A request with stream true gets server-sent events",
    rationale="An SSE reader finds no event in a JSON body and ends with nothing, often without an error.",
    source="openai-api/chat-create",
    applies=lambda x: _mode_judged(x) and x.request.stream and x.request.endpoint is not Endpoint.EMBEDDINGS,
)
def mode_stream(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    if not reply.events and reply.complete:
        what = (
            "an empty body"
            if not reply.content
            else f"no event in {len(reply.content)} bytes of {reply.media_type or 'no media type'}"
        )
        yield at_content(reply, Span(0, min(240, len(reply.content))), "server-sent events", what)


def _judged_body(x: Exchange) -> bool:
    if x.request.endpoint is not Endpoint.OTHER:
        return True
    said = _json_media(the_reply(x).media_type)
    return said and (further_json(x.request) or (further(x.request) and "/audio/trans" in x.request.target))


def _json_body_due(x: Exchange) -> bool:
    reply = x.reply
    return (
        whole(x)
        and _judged_body(x)
        and reply is not None
        and reply.ok
        and not x.request.stream
        and bool(reply.content)
        and not reply.undecodable
        and not (reply.stream is not None and reply.events)
    )


@clause(
    id="json.body.valid",
    level=Level.MUST,
    basis=Basis.PROTOCOL,
    title="The body of a success is exactly one valid JSON object",
    rationale="Bad syntax, NaN, a second value or bytes that are not UTF-8 stop every conforming parser.",
    source="rfc8259/grammar",
    applies=_json_body_due,
)
def body_valid(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    doc = reply.doc
    if doc is None or not doc.ok:
        faults = doc.faults if doc is not None else ()
        what = f"{faults[0].code}: {faults[0].detail}" if faults else "no JSON"
        span = faults[0].span if faults else Span(0, min(240, len(reply.content)))
        around = Span(max(0, span.start - 60), min(len(reply.content), max(span.end, span.start + 1) + 60))
        yield at_content(reply, around, "one JSON text (RFC 8259)", what)
    elif not isinstance(doc.value, dict):
        yield at_content(reply, Span(0, min(240, len(reply.content))), "a JSON object", show(doc.value))


def _any_json(x: Exchange) -> bool:
    reply = x.reply
    return stayed(x) and reply is not None and ((reply.doc is not None and reply.doc.ok) or bool(reply.events))


@clause(
    id="json.keys.unique",
    level=Level.SHOULD,
    basis=Basis.PROTOCOL,
    title="No object has two members of one name",
    rationale="RFC 8259 leaves the reading of duplicates open: parsers keep the first, the last, or refuse.",
    source="rfc8259/objects",
    applies=_any_json,
)
def keys_unique(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    if reply.doc is not None and reply.doc.ok:
        for path in reply.doc.duplicates:
            where = ".".join(map(str, path))
            yield at_content(reply, reply.doc.span(*path), "each member name once", f"{where} occurs more than once")
    for event in reply.events:
        for path in event.doc.duplicates if event.doc is not None else ():
            where = ".".join(map(str, path))
            yield at_content(reply, event.event.span, "each member name once", f"{where} occurs more than once")


def _halves(doc: Doc | None) -> bool:
    return doc is not None and any(fault.code == "string.lone-surrogate" for fault in doc.faults)


@clause(
    id="json.text.unicode",
    level=Level.SHOULD,
    basis=Basis.PROTOCOL,
    title="No text holds one half of a surrogate pair",
    rationale="Half a character is none: readers refuse it, replace it, or fail when they write it. RFC 8259 leaves it open: a SHOULD.",
    source="rfc8259/strings",
    applies=_any_json,
)
def text_unicode(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    if reply.doc is not None and reply.doc.ok and _halves(reply.doc):
        yield at_content(reply, Span(0, min(240, len(reply.content))), "whole characters", "half a surrogate pair")
    for event in reply.events:
        if _halves(event.doc):
            yield at_event(reply, event, "whole characters", "half a surrogate pair")


@clause(
    id="error.content-type",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="An error has the content type application/json",
    rationale="SDKs take the error's fields from a JSON body; an HTML or text page becomes the exception's message.",
    source="openai-api/errors",
    applies=api_failure,
)
def error_content_type(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    if not _json_media(reply.media_type):
        actual = reply.header("content-type") or "none"
        yield at_head(reply, "Content-Type: application/json", f"Content-Type: {actual}", field="content-type")
