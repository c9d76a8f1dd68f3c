"""HTTP/1.1 messages (RFC 9112) from raw bytes to facts: head, framing, chunk bounds, body, faults.

Total and bounded: any bytes give a message with faults. Nothing is repaired silently: every leniency leaves a fault.
The door to the HTTP half of this package; all names for use outside of `wire` are here. The closed set of fault codes:

    head.incomplete  head.too-long  head.leading-empty-line  interim.too-many
    status-line.malformed  status.invalid  request-line.malformed  version.unknown
    header.malformed  header.no-colon  header.folded  header.space-before-colon  header.control-byte  line-end.bare-lf
    content-length.duplicate (equal values)  content-length.conflict  content-length.invalid
    length-and-chunked  framing.not-allowed  transfer-encoding.unknown  transfer-encoding.version
    chunk.size-invalid  chunk.terminator-missing  trailers.too-long
    body.short (the bytes end before the framing does)  body.too-long (cut at the bound)
    trailing-bytes (any bytes after the end)  body.past-end (besides, when they go on where the framing allows no more
    body: past Content-Length, or after a message without a body, and do not look like another message)
    faults.too-many

Every span lies in the raw bytes that the reader was given.
"""

from __future__ import annotations

from dataclasses import dataclass

from conformance.wire.chunked import read_chunked
from conformance.wire.coding import decodable, decode_content
from conformance.wire.facts import FaultLog
from conformance.wire.framing import Plan, plan_request, plan_response
from conformance.wire.head import read_head, read_request_line, read_status_line
from conformance.wire.message import Chunk, Framing, Head, HeaderLine, Message
from conformance.wire.request_reader import MAX_BODY, RequestReader
from conformance.wire.response_reader import MAX_INTERIM, ResponseReader

__all__ = [
    "Chunk",
    "Framing",
    "Head",
    "HeaderLine",
    "Message",
    "RequestReader",
    "ResponseReader",
    "decodable",
    "decode_content",
    "read_request",
    "read_response",
]


def read_response(raw: bytes, *, method: str = "POST", closed: bool = True, max_body: int = MAX_BODY) -> Message:
    """The response in `raw`, read as the answer to a `method` request.

    `closed` is whether the peer closed cleanly (FIN) after these bytes: only then is a body that runs until close
    complete. `max_body` bounds the body in bytes. Status 0 with fault head.incomplete or head.too-long: no whole head.
    """
    log = FaultLog()
    interim: list[Head] = []
    head, whole = read_head(raw, 0, log)
    version, status, reason = read_status_line(head, log) if whole else ("", 0, "")
    while whole and 100 <= status <= 199 and status != 101:
        if len(interim) == MAX_INTERIM:
            log.note("interim.too-many", head.span.start, head.span.end, f"more than {MAX_INTERIM} interim responses")
            break
        interim.append(head)
        plan_response(version, status, method, head, log)
        head, whole = read_head(raw, head.span.end, log)
        version, status, reason = read_status_line(head, log) if whole else ("", 0, "")
    plan = plan_response(version, status, method, head, log) if whole else Plan(Framing.NONE, broken=True)
    body = _read_body(raw, head.span.end, plan, closed, max_body, log)
    return Message(
        version=version, status=status, reason=reason, head=head, framing=plan.framing, body=body.data,
        complete=body.complete, chunks=body.chunks, trailers=body.trailers, interim=tuple(interim),
        trailing=body.trailing, faults=log.freeze(),
    )  # fmt: skip


def read_request(raw: bytes, *, max_body: int = MAX_BODY) -> Message:
    """The request in `raw`. `max_body` bounds the body in bytes. Without a whole head, method and target are empty."""
    log = FaultLog()
    head, whole = read_head(raw, 0, log)
    method, target, version = read_request_line(head, log) if whole else ("", "", "")
    plan = plan_request(version, head, log) if whole else Plan(Framing.NONE, broken=True)
    body = _read_body(raw, head.span.end, plan, False, max_body, log)
    return Message(
        version=version, method=method, target=target, head=head, framing=plan.framing, body=body.data,
        complete=body.complete, chunks=body.chunks, trailers=body.trailers, trailing=body.trailing, faults=log.freeze(),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Body:
    data: bytes
    complete: bool
    chunks: tuple[Chunk, ...] = ()
    trailers: tuple[HeaderLine, ...] = ()
    trailing: bytes = b""


def _read_body(raw: bytes, start: int, plan: Plan, closed: bool, max_body: int, log: FaultLog) -> _Body:
    """The body at `start` by its framing, and what follows it."""
    if plan.framing is Framing.CHUNKED:
        chunked = read_chunked(raw, start, max_body, log)
        trailing = _read_trailing(raw, chunked.end, False, log)
        return _Body(chunked.body, chunked.complete, chunked.chunks, chunked.trailers, trailing)
    if plan.framing is Framing.CLOSE:
        if not closed and not plan.broken:
            log.note("body.short", len(raw), len(raw), "the body runs until close, and no clean close came")
        data = _cut(raw, start, len(raw), max_body, log)
        return _Body(data, closed and not plan.broken and len(data) == len(raw) - start)
    if plan.broken:
        return _Body(b"", False)
    end = start + plan.length
    data = _cut(raw, start, min(end, len(raw)), max_body, log)
    if end > len(raw):
        log.note("body.short", len(raw), len(raw), f"{len(raw) - start} of {plan.length} bytes came")
    return _Body(data, len(data) == plan.length, trailing=_read_trailing(raw, end, True, log))


def _cut(raw: bytes, start: int, end: int, max_body: int, log: FaultLog) -> bytes:
    if end - start > max_body:
        log.note("body.too-long", start + max_body, end, f"{end - start} bytes are more than {max_body}")
    return raw[start : min(end, start + max_body)]


def _read_trailing(raw: bytes, end: int, strict: bool, log: FaultLog) -> bytes:
    trailing = raw[end:]
    if trailing:
        log.note("trailing-bytes", end, len(raw), f"{len(trailing)} bytes after the message's end")
        if strict and not trailing.lstrip(b"\r\n").startswith(b"HTTP/"):
            log.note("body.past-end", end, len(raw), f"{len(trailing)} bytes where the framing allows no more body")
    return trailing
