"""Turns a place in a reply into a Finding with the bytes that prove it. Knows replies, not norms."""

from __future__ import annotations

import json
from typing import Any

from conformance.contract.clause import Finding
from conformance.exchange.model import Exchange, Reply, StreamEvent
from conformance.wire.facts import Span

_EXCERPT = 240


def show(value: Any, limit: int = 120) -> str:
    """`value` as compact JSON on one line, cut after `limit` characters."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):  # an integer of thousands of digits has no text
        text = f"{type(value).__name__} that cannot be shown"
    text = text.replace("\n", "\\n")
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text)} characters)"


def _finding(reply: Reply, leg: str, span: Span, expected: str, actual: str) -> Finding:
    body = reply.message.body
    raw_span = reply.message.raw_span(span) if reply.content == body else None
    excerpt = span.of(reply.content)[:_EXCERPT]
    at = reply.arrivals.of(raw_span) if raw_span is not None else reply.ended_at
    return Finding(expected=expected, actual=actual, leg=leg, span=raw_span, at=at, excerpt=excerpt)


def at_event(reply: Reply, event: StreamEvent, expected: str, actual: str, *, leg: str = "client") -> Finding:
    """A finding on one event of a stream."""
    return _finding(reply, leg, event.event.span, expected, actual)


def at_content(reply: Reply, span: Span, expected: str, actual: str, *, leg: str = "client") -> Finding:
    """A finding on a span of the content."""
    return _finding(reply, leg, span, expected, actual)


def at_path(reply: Reply, path: tuple[str | int, ...], expected: str, actual: str, *, leg: str = "client") -> Finding:
    """A finding on the member at `path` of a JSON reply (or its nearest parent)."""
    span = reply.doc.span(*path) if reply.doc is not None else Span(0, len(reply.content))
    return _finding(reply, leg, span, expected, actual)


def at_head(reply: Reply, expected: str, actual: str, *, field: str = "", leg: str = "client") -> Finding:
    """A finding on the status line, or on the first field line named `field`."""
    head = reply.message.head
    span = Span(0, min(head.span.end, len(head.start_line)))
    if head.span.start:
        span = Span(head.span.start, head.span.start + len(head.start_line))
    excerpt = head.start_line
    for line in head.headers:
        if field and line.name.lower() == field.lower().encode():
            span, excerpt = line.span, line.name + b": " + line.value
            break
    return Finding(
        expected=expected, actual=actual, leg=leg, span=span, at=reply.arrivals.of(span), excerpt=excerpt[:_EXCERPT]
    )


def at_end(reply: Reply, expected: str, actual: str, *, leg: str = "client") -> Finding:
    """A finding on the end of a reply: its last bytes, from the start of a line on where one starts among them."""
    size = len(reply.content)
    start = max(0, size - _EXCERPT)
    line = reply.content.find(b"\n", start, len(reply.content.rstrip(b"\r\n")))
    if start and line >= 0:
        start = size - len(reply.content[line:].lstrip(b"\r\n"))
    finding = _finding(reply, leg, Span(start, size), expected, actual)
    return Finding(
        expected=expected, actual=actual, leg=leg, span=finding.span, at=reply.ended_at, excerpt=finding.excerpt
    )


def at_exchange(exchange: Exchange, expected: str, actual: str, *, leg: str = "client") -> Finding:
    """A finding on an exchange as a whole, or, for leg "upstream:K", on the request that attempt K's member got."""
    if leg.startswith("upstream:") and exchange.attempts:
        number = leg.partition(":")[2]
        attempt = exchange.attempts[int(number)]
        excerpt = attempt.request.body[:_EXCERPT]
        return Finding(expected=expected, actual=actual, leg=f"dispatch:{number}", at=attempt.at, excerpt=excerpt)
    return Finding(expected=expected, actual=actual, leg=leg, at=exchange.transcript.ended_at)
