"""Joins both legs of one client request into one frozen Exchange: raw timed bytes and journal facts in, facts out.

Uses the wire readers; decides nothing about right or wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from conformance.exchange.answer import (
    DONE,
    Answer,
    answer_of_embeddings,
    answer_of_events,
    answer_of_json,
    error_place,
)
from conformance.exchange.dialects import answer_of_dialect, is_lines, vendor_error
from conformance.exchange.model import (
    Attempt,
    ClientView,
    Endpoint,
    Exchange,
    HangUp,
    Reply,
    Request,
    StreamEvent,
    Terms,
)
from conformance.exchange.responses import answer_of_response, answer_of_response_events
from conformance.wire import http1, jsondoc, sse
from conformance.wire.transcript import Arrivals, End, Segment, Transcript

_SUFFIXES = (
    ("/chat/completions", Endpoint.CHAT),
    ("/completions", Endpoint.COMPLETIONS),
    ("/embeddings", Endpoint.EMBEDDINGS),
    ("/responses", Endpoint.RESPONSES),
    ("/models", Endpoint.MODELS),
)

#: Gemini names the operation after the model: /v1beta/models/NAME:generateContent.
_METHOD = re.compile(r":[a-z]+[A-Z][A-Za-z]*$")

_STREAM_STARTS = (b"data:", b"event:", b"id:", b"retry:", b":")


def endpoint_of(target: str, method: str = "") -> Endpoint:
    """The operation that a request names, by its path's end and its method ("": the operation's own); OTHER for none.

    A path has several: GET /chat/completions lists what was stored, OPTIONS asks for the methods.
    """
    path = target.split("?", 1)[0].rstrip("/")
    for suffix, endpoint in _SUFFIXES:
        if path.endswith(suffix):
            return endpoint if method in ("", "GET" if endpoint is Endpoint.MODELS else "POST") else Endpoint.OTHER
    named = "/models/" in path and not _METHOD.search(path) and method in ("", "GET")
    return Endpoint.MODEL if named else Endpoint.OTHER


def read_request(raw: bytes) -> Request:
    """A request from its raw bytes; what cannot be read is left empty."""
    message = http1.read_request(raw)
    doc = jsondoc.parse(message.body) if message.body else None
    return Request(
        endpoint=endpoint_of(message.target, message.method),
        method=message.method,
        target=message.target,
        head=message.head,
        body=message.body,
        doc=doc,
        host=message.head.get("host") or "",
    )


def media_type_of(message: http1.Message) -> str:
    """The media type without parameters, lower case; "" when there is no content type."""
    value = message.head.get("content-type") or ""
    return value.split(";", 1)[0].strip().lower()


def _is_text(content: bytes) -> bool:
    """Whether what should be coded is text: its coding was taken off and its field left."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def read_reply(
    segments: tuple[Segment, ...], *, end: End, ended_at: float, endpoint: Endpoint, method: str = "POST"
) -> Reply | None:
    """A response from its timed raw bytes, or None when nothing at all came."""
    raw = b"".join(segment.data for segment in segments)
    if not raw:
        return None
    closed = end in (End.CLOSE, End.COMPLETE)
    message = http1.read_response(raw, method=method, closed=closed)
    coding = message.head.get("content-encoding")
    content, undecodable = http1.decode_content(message.body, coding, limit=64 << 20)
    sealed = bool(undecodable) and not http1.decodable(coding) and not _is_text(content)
    media = media_type_of(message)
    arrivals = Arrivals(segments)
    start = content[:64].lstrip(b"\xef\xbb\xbf \t\r\n")
    streamed = media == "text/event-stream" or start.startswith(_STREAM_STARTS)
    read = bool(content) and not sealed
    doc = jsondoc.parse(content) if read and (not streamed or start[:1] in (b"{", b"[")) else None
    lines = _lines(content) if endpoint is Endpoint.OTHER and doc is not None and not doc.ok else []
    doc = None if lines else doc
    stream = sse.read_events(content) if streamed and read else None
    plain = content is message.body or content == message.body
    events = _stream_events(stream, message, arrivals, plain) if stream is not None else ()
    return Reply(
        message=message,
        content=content,
        end=end,
        ended_at=ended_at,
        arrivals=arrivals,
        answer=_answer_of_lines(lines) if lines else _answer(endpoint, doc, events),
        media_type=media,
        doc=doc,
        stream=stream,
        events=events,
        undecodable=undecodable,
        sealed=sealed,
    )


def _stream_events(
    stream: sse.EventStream, message: http1.Message, arrivals: Arrivals, plain: bool
) -> tuple[StreamEvent, ...]:
    events = []
    for event in stream.events:
        if not event.dispatched:
            continue
        doc = None if event.data.strip() == b"[DONE]" else jsondoc.parse(event.data)
        at = arrivals.of(message.raw_span(event.span)) if plain else arrivals.at(1 << 62)
        events.append(StreamEvent(event=event, doc=doc, at=at))
    return tuple(events)


def _lines(content: bytes) -> list[Any]:
    """The values of an answer that is streamed a JSON value a line; [] for any other body, or a broken line."""
    docs = [jsondoc.parse(line) for line in content.splitlines() if line.strip()]
    values = [doc.value for doc in docs if doc.ok]
    return values if len(values) == len(docs) and is_lines(values) else []


def _answer_of_lines(values: list[Any]) -> Answer:
    errors = tuple(value["error"] for value in values if error_place(value) == ("error",))
    return answer_of_dialect(values, errors, streamed=True) or Answer(errors=errors, streamed=True)


def _value_of(event: StreamEvent) -> Any:
    if event.done:
        return DONE
    return event.doc.value if event.doc is not None and event.doc.ok else None


def _answer(endpoint: Endpoint, doc: jsondoc.Doc | None, events: tuple[StreamEvent, ...]) -> Answer:
    if events:
        done = sum(1 for event in events if event.done)
        values = [(event.event.type, _value_of(event)) for event in events]
        if endpoint is Endpoint.RESPONSES:
            return answer_of_response_events(values, done=done)
        return _of_dialect(endpoint, [value for _, value in values], answer_of_events(values, done=done))
    if doc is None or not doc.ok:
        return Answer()
    if endpoint is Endpoint.RESPONSES:
        return answer_of_response(doc.value)
    if endpoint is Endpoint.EMBEDDINGS:
        return answer_of_embeddings(doc.value)
    plain = answer_of_json(doc.value, chat=endpoint in (Endpoint.CHAT, Endpoint.COMPLETIONS))
    return _of_dialect(endpoint, doc.value if isinstance(doc.value, list) else [doc.value], plain)


def _of_dialect(endpoint: Endpoint, values: list[Any], plain: Answer) -> Answer:
    """The answer as another API's reply says it, where it is one of a known form; its errors are read as everywhere."""
    if endpoint is not Endpoint.OTHER:
        return plain
    told = answer_of_dialect(values, plain.errors, streamed=plain.streamed)
    return plain if told is None else replace(told, event_errors=plain.event_errors)


def read_attempt(
    *,
    member: str,
    at: float,
    request: bytes,
    segments: tuple[Segment, ...],
    end: End,
    ended_at: float,
    peer_closed: str = "",
    peer_closed_at: float | None = None,
    source: str = "",
) -> Attempt:
    """One attempt from its raw request and the timed bytes that the member really sent (on the client's clock)."""
    asked = read_request(request)
    reply = read_reply(segments, end=end, ended_at=ended_at, endpoint=asked.endpoint, method=asked.method or "POST")
    reply = _with_vendor_error(reply, asked.endpoint)
    return Attempt(
        member=member,
        at=at,
        request=asked,
        reply=reply,
        end=end,
        ended_at=ended_at,
        peer_closed=peer_closed,
        peer_closed_at=peer_closed_at,
        source=source,
        sent=segments,
        dispatched=request,
    )


def _with_vendor_error(reply: Reply | None, endpoint: Endpoint) -> Reply | None:
    """A member's stream whose last value is an error by its vendor's form, with that error."""
    if reply is None or endpoint not in (Endpoint.CHAT, Endpoint.COMPLETIONS) or not reply.ok or reply.answer.errors:
        return reply
    told = [(number, event) for number, event in enumerate(reply.events) if not event.done]
    if not told or any(choice.reasons for choice in reply.answer.choices):
        return reply
    number, last = told[-1]
    error = vendor_error(_value_of(last))
    if error is None:
        return reply
    return replace(reply, answer=replace(reply.answer, errors=(error,), event_errors=(number,), finished=False))


def assemble(
    *,
    name: str,
    transcript: Transcript,
    attempts: Iterable[Attempt] | None,
    terms: Terms,
    driver: str = "wire",
    nonce: str = "",
    hangup: HangUp | None = None,
    client: ClientView | None = None,
    lag_ms: float = 0.0,
    timed: bool = True,
) -> Exchange:
    """The exchange of one client leg and its attempts (None: the upstream leg is not held), in order of arrival."""
    request = read_request(transcript.request)
    return Exchange(
        name=name,
        request=request,
        reply=read_reply(
            transcript.received,
            end=transcript.end,
            ended_at=transcript.ended_at,
            endpoint=request.endpoint,
            method=request.method or "POST",
        ),
        transcript=transcript,
        attempts=None if attempts is None else tuple(sorted(attempts, key=lambda attempt: attempt.at)),
        terms=terms,
        driver=driver,
        nonce=nonce,
        hangup=hangup,
        client=client,
        lag_ms=lag_ms,
        timed=timed,
    )
