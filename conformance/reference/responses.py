"""The Responses API, passed through: the model is the alias, the events keep their order, and the stream ends
exactly once.

Pure. The same face as ChunkStream: `feed`, `end`, `failed`, `committed`, `finished`, `done`.
"""

from __future__ import annotations

from typing import Any

from conformance.reference.call import Call
from conformance.reference.failure import Failure, Kind, UpstreamFailed, own_failure
from conformance.reference.jsontext import parse_json
from conformance.reference.outputitems import OutputItems
from conformance.reference.shape import created_of, error_of
from conformance.reference.sse import SseEvent
from conformance.reference.steps import Step

Doc = dict[str, Any]
TERMINALS = frozenset({"response.completed", "response.failed", "response.incomplete"})
#: Events after which nothing that a client could use has come yet.
PREAMBLE = frozenset(
    {
        "response.created",
        "response.in_progress",
        "response.queued",
        "response.output_item.added",
        "response.content_part.added",
    }
)


def responses_reply(doc: Any, call: Call) -> Doc:
    """Our response object for a member's. Raises UpstreamFailed when it is none."""
    if not isinstance(doc, dict):
        raise UpstreamFailed(own_failure(Kind.BROKEN, "The upstream's answer is not a JSON object."))
    error = error_of(doc, call) if doc.get("status") != "failed" or not isinstance(doc.get("output"), list) else None
    if error and call.does(Step.REFUSE_ERROR_IN_SUCCESS):
        raise error
    if not isinstance(doc.get("output"), list) and call.does(Step.REFUSE_EMPTY_CHOICES):
        raise UpstreamFailed(own_failure(Kind.EMPTY, "The upstream returned an empty response."))
    return response_object(doc, call)


def response_object(doc: Doc, call: Call) -> Doc:
    """A response object under the client's name for the model."""
    reply = dict(doc)
    if call.does(Step.MODEL):
        reply["model"] = call.alias
    if call.does(Step.OWN_ID) and not (isinstance(doc.get("id"), str) and doc["id"]):
        reply["id"] = call.answer_id
    if call.does(Step.OBJECT):
        reply["object"] = "response"
    if call.does(Step.CREATED):
        reply["created_at"] = created_of(doc.get("created_at"))
    return reply


class ResponseStream:
    """The events of one Responses stream."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._response: Doc = {}
        self._items = OutputItems()
        self._sequence = -1
        self.usage: Doc | None = None
        self.committed = self.finished = self.done = False

    def feed(self, event: SseEvent) -> list[Doc]:
        """Our events for one of the member's. Raises UpstreamFailed."""
        if event.data.strip() == b"[DONE]":
            self.done = True
            return []
        try:
            doc = parse_json(event.data)
        except ValueError:
            if not self._call.does(Step.REFUSE_BROKEN_EVENT):
                return []
            raise UpstreamFailed(own_failure(Kind.BROKEN, "The upstream sent a malformed event.")) from None
        return self.feed_doc(doc, event.type)

    def feed_doc(self, doc: Any, kind: str = "") -> list[Doc]:
        """Our events for one of the member's documents, whose event had the type `kind`."""
        kind = doc.get("type") or kind if isinstance(doc, dict) else ""
        if not isinstance(doc, dict) or self.finished or not isinstance(kind, str):
            return []
        failed = doc if kind == "error" or doc.get("error") else None
        failed = doc.get("response") if kind == "response.failed" and not self.committed else failed
        if isinstance(failed, dict) and self._call.does(Step.REFUSE_ERROR_IN_SUCCESS):
            failure = error_of(failed if failed.get("error") else {"error": failed}, self._call)
            if failure:
                raise failure
        if not kind.startswith("response."):
            return []
        return [self._shaped(doc, kind)]

    def _shaped(self, doc: Doc, kind: str) -> Doc:
        self._sequence += 1
        if self._sequence == 0 and kind != "response.created" and self._call.does(Step.REFUSE_BROKEN_EVENT):
            raise UpstreamFailed(own_failure(Kind.BROKEN, "The upstream's stream has no beginning."))
        placed = self._items.place(kind, doc) if self._call.does(Step.CHOICE_INDEX) else doc
        shaped = {"type": kind, **placed, "sequence_number": self._sequence}
        if isinstance(doc.get("response"), dict):
            self._response = shaped["response"] = self._items.kept(response_object(doc["response"], self._call))
        self.finished = self.done = kind in TERMINALS
        self.committed = self.committed or kind not in PREAMBLE
        return shaped

    def end(self) -> list[Doc]:
        """Nothing: the terminal event is the member's. Raises UpstreamFailed when it has not come."""
        if not self.finished and self._call.does(Step.REFUSE_UNFINISHED):
            raise UpstreamFailed(own_failure(Kind.EMPTY, "The upstream's answer ended before it was finished."))
        return []

    def failed(self, failure: Failure) -> list[Doc]:
        """The terminal event of a stream that broke after output."""
        error = {"code": failure.code or "server_error", "message": failure.message}
        response = self._response | {"status": "failed", "error": error}
        return [{"type": "response.failed", "response": response, "sequence_number": self._sequence + 1}]
