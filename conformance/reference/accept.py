"""What of a member's response can be used: a document in our shape, or a stream that has come to its first output.

A stream is read up to its first output before it counts as accepted, so that all before that can still fail over.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

from conformance.reference.behaviour import Fields
from conformance.reference.call import Call, Operation
from conformance.reference.chunks import ChunkStream
from conformance.reference.classify import from_response, passed_headers
from conformance.reference.client import UpstreamFault, UpstreamReply
from conformance.reference.convert import chunks_of, reply_of
from conformance.reference.embeddings import embeddings_reply
from conformance.reference.failure import Failure, Kind, UpstreamFailed, from_fault, own_failure
from conformance.reference.health import Permit
from conformance.reference.media import Media, Source, now
from conformance.reference.replies import completion_reply
from conformance.reference.responses import ResponseStream, responses_reply
from conformance.reference.steps import Step

Doc = dict[str, Any]
#: Seconds that a stream whose every choice has ended is still waited for: usage and `[DONE]` may follow, or never come.
AFTER_FINISH = 5.0
MAX_ERROR_BODY = 256 * 1024
NOT_ASKED = "The upstream's answer is not what was asked for."

SHAPES: dict[Operation, Callable[[Any, Call], Doc]] = {
    Operation.CHAT: completion_reply,
    Operation.COMPLETIONS: completion_reply,
    Operation.EMBEDDINGS: embeddings_reply,
    Operation.RESPONSES: responses_reply,
}


@dataclass(slots=True, kw_only=True)
class Accepted:
    """A member's answer in our shape: a document, or the documents of a stream, part by part.

    A stream's `parts` end without an exception when it is whole (`last` then gives what comes before `[DONE]`), and
    raise UpstreamFailed when it broke. `permit` is the leave to have asked, settled by the end of the answer.
    """

    reply: UpstreamReply
    headers: Fields
    doc: Doc | None = None
    parts: AsyncIterator[list[Doc]] | None = None
    stream: ChunkStream | ResponseStream | None = None
    permit: Permit | None = None

    def whole(self) -> None:
        """The answer has come to its end."""
        if self.permit is not None:
            self.permit.succeeded()

    def broken(self, failure: Failure) -> None:
        """The answer broke."""
        if self.permit is not None:
            self.permit.failed(failure)

    def close(self) -> None:
        """Close the member's connection at once; an answer that has not come to its end says nothing of the member."""
        self.reply.close()
        if self.permit is not None:
            self.permit.release()


async def accept(call: Call, reply: UpstreamReply, deadline: float) -> Accepted:
    """The answer in `reply`, whose head has come. Raises UpstreamFault or UpstreamFailed."""
    call.answered = reply.head
    if not 200 <= reply.head.status < 300:
        call.answered_body = await _error_body(reply, deadline)
        raise UpstreamFailed(from_response(reply.head, call.answered_body, call.names))
    source = Source(reply, call, deadline)
    media = await source.media()
    if media is Media.NOTHING:
        raise UpstreamFailed(own_failure(Kind.EMPTY, "The upstream returned an empty response."))
    if media is Media.OTHER and call.does(Step.REFUSE_WRONG_MEDIA):
        raise UpstreamFailed(own_failure(Kind.BROKEN, NOT_ASKED))
    headers = passed_headers(reply.head.headers)
    events = media is not Media.JSON
    if call.stream:
        return await _stream(call, source, headers, events=events)
    doc = await (_aggregated(call, source) if events else source.json())
    shape = SHAPES[call.operation or Operation.CHAT]
    return Accepted(reply=reply, headers=headers, doc=shape(doc, call))


async def _error_body(reply: UpstreamReply, deadline: float) -> bytes:
    """The start of an error's body; what cannot be read is left out, since the status already tells."""
    body = b""
    try:
        while len(body) < MAX_ERROR_BODY and (data := await reply.read(min(deadline, now() + 2.0), MAX_ERROR_BODY)):
            body += data
    except UpstreamFault:
        pass
    return body


async def _aggregated(call: Call, source: Source) -> Doc:
    """One document from a stream that nobody asked for."""
    if call.operation not in (Operation.CHAT, Operation.COMPLETIONS):
        raise UpstreamFailed(own_failure(Kind.BROKEN, NOT_ASKED))
    stream = ChunkStream(call)
    chunks = [chunk async for part in _parts(call, source, stream) for chunk in part]
    stream.end()
    return reply_of(chunks, stream.usage, call)


async def _stream(call: Call, source: Source, headers: Fields, *, events: bool) -> Accepted:
    stream = ResponseStream(call) if call.operation is Operation.RESPONSES else ChunkStream(call)
    if not events:
        if not isinstance(stream, ChunkStream) or not call.does(Step.CONVERT_MEDIA):
            raise UpstreamFailed(own_failure(Kind.BROKEN, NOT_ASKED))
        reply = completion_reply(await source.json(), call)
        chunks = [chunk for doc in chunks_of(reply) for chunk in stream.feed_doc(doc)]
        return Accepted(reply=source.reply, headers=headers, parts=_given(chunks), stream=stream)
    parts = _parts(call, source, stream)
    held: list[Doc] = []
    if call.does(Step.PEEK):
        async for part in parts:
            held += part
            if stream.committed:
                break
        else:
            stream.end()
    return Accepted(reply=source.reply, headers=headers, parts=_given(held, parts), stream=stream)


async def _given(first: list[Doc], rest: AsyncIterator[list[Doc]] | None = None) -> AsyncIterator[list[Doc]]:
    if first:
        yield first
    if rest is not None:
        async for part in rest:
            yield part


async def _parts(call: Call, source: Source, stream: ChunkStream | ResponseStream) -> AsyncIterator[list[Doc]]:
    """The stream's documents in the batches in which they came, until its end. Raises UpstreamFailed."""
    try:
        async for events in source.events():
            part: list[Doc] = []
            try:
                for event in events:
                    part += stream.feed(event)
                    if stream.done:
                        break
            except UpstreamFailed:
                if part:
                    yield part
                raise
            if stream.committed:
                source.heard(AFTER_FINISH if stream.finished else 86_400.0)
            if part:
                yield part
            if stream.done:
                return
    except UpstreamFault as fault:
        # A stream whose every choice has ended is whole, however the connection then ends.
        if not stream.finished and call.does(Step.REFUSE_CUT_BODY):
            raise UpstreamFailed(from_fault(fault)) from fault
