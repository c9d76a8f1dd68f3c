"""An accepted answer on its way to the client: encoded events in the order of the stream's life, or one JSON body.

Yields bytes and names headers; sends nothing itself. A stream ends exactly once: usage and `[DONE]`, or one error
event and no `[DONE]`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from conformance.reference.accept import Accepted
from conformance.reference.behaviour import ErrorReply, Fields, Moment
from conformance.reference.browser import readable
from conformance.reference.cache import Recording, Stored
from conformance.reference.call import Call, Operation
from conformance.reference.failure import UpstreamFailed
from conformance.reference.jsontext import encode_json
from conformance.reference.sse import DONE, encode_event
from conformance.reference.steps import Step

JSON_FIELDS: Fields = (("content-type", "application/json"),)
STREAM_FIELDS: Fields = (
    ("content-type", "text/event-stream; charset=utf-8"),
    ("cache-control", "no-cache"),
    ("x-accel-buffering", "no"),
)
#: Marks an answer from memory.
KEPT_FIELDS: Fields = (("x-cache", "hit"),)


def json_answer(call: Call, accepted: Accepted) -> tuple[Fields, bytes]:
    """The field lines and the body of a JSON answer."""
    doc = call.behaviour.doc(accepted.doc, call)
    body = doc if isinstance(doc, bytes) else encode_json(doc)
    if call.recording is not None:
        call.recording.add(body)
        call.recording.whole()
    return _json(call, 200, body, accepted.headers)


def kept_answer(call: Call, stored: Stored) -> tuple[Fields, bytes]:
    """The field lines and the body of an answer from memory, in the form in which it was kept."""
    if not stored.stream:
        return _json(call, 200, stored.body, KEPT_FIELDS)
    fields = (*STREAM_FIELDS, ("x-request-id", call.request_id), *readable(call), *KEPT_FIELDS)
    return call.behaviour.headers(fields, 200, call), stored.body


def own_answer(call: Call, doc: Any) -> tuple[Fields, bytes]:
    """The field lines and the body of a JSON answer that the gateway gives by itself."""
    return _json(call, 200, call.behaviour.doc(doc, call), ())


def error_answer(call: Call, error: ErrorReply) -> tuple[int, Fields, bytes]:
    """The status, the field lines and the body of an error reply."""
    told = call.behaviour.error(error, call)
    return told.status, *_json(call, told.status, told.doc, told.headers)


def _json(call: Call, status: int, doc: Any, extra: Fields) -> tuple[Fields, bytes]:
    body = call.behaviour.body(doc if isinstance(doc, bytes) else encode_json(doc), status, call)
    fields = (
        *JSON_FIELDS,
        ("content-length", str(len(body))),
        ("x-request-id", call.request_id),
        *readable(call),
        *extra,
    )
    return call.behaviour.headers(fields, status, call), body


def stream_fields(call: Call, accepted: Accepted) -> Fields:
    """The field lines of a stream."""
    fields = (*STREAM_FIELDS, ("x-request-id", call.request_id), *readable(call), *accepted.headers)
    return call.behaviour.headers(fields, 200, call)


def stream_bytes(call: Call, accepted: Accepted) -> AsyncIterator[bytes]:
    """The stream's bytes, one piece for each part of the answer."""
    return call.behaviour.flow(_pieces(call, accepted), call)


async def _pieces(call: Call, accepted: Accepted) -> AsyncIterator[bytes]:
    if accepted.parts is None or accepted.stream is None:
        return
    try:
        async for part in accepted.parts:
            yield _frames(call, part, Moment.CHUNKS)
        last = accepted.stream.end()
        accepted.whole()
        yield _frames(call, last, Moment.LAST)
    except UpstreamFailed as error:
        accepted.broken(error.failure)
        failure = call.behaviour.failure(error.failure, call)
        last = accepted.stream.failed(failure) if call.does(Step.ERROR_EVENT) else []
        yield _frames(call, last, Moment.ERROR)


def _frames(call: Call, docs: list[dict[str, Any]], moment: Moment) -> bytes:
    named = call.operation is Operation.RESPONSES
    frames = [encode_event(doc, str(doc.get("type", "")) if named else "") for doc in call.behaviour.chunks(docs, call)]
    if moment is Moment.LAST and not named and call.does(Step.DONE):
        frames.append(DONE)
    data = b"".join(call.behaviour.frames(frames, moment, call))
    if call.recording is not None:
        _record(call.recording, data, moment)
    return data


def _record(recording: Recording, data: bytes, moment: Moment) -> None:
    """An answer is kept before its last piece goes out, so that the client's next request finds it."""
    recording.add(data)
    if moment is Moment.LAST:
        recording.whole()
    elif moment is Moment.ERROR:
        recording.cache.broken(recording)
