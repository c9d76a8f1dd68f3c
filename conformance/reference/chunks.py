"""A member's chunks become the client's chunks, one choice at a time: the state of one stream.

Pure: fed with events, gives chunk documents. Knows whether anything a client could use has come (`committed`) and
whether every choice has ended (`finished`). What breaks the stream raises UpstreamFailed.
"""

from __future__ import annotations

from typing import Any

from conformance.reference.call import Call, Operation
from conformance.reference.choices import ChoiceStream
from conformance.reference.errors import failure_doc
from conformance.reference.failure import Failure, Kind, UpstreamFailed, own_failure
from conformance.reference.jsontext import parse_json
from conformance.reference.shape import common_members, created_of, error_of, usage_of
from conformance.reference.sse import SseEvent
from conformance.reference.steps import Step

Doc = dict[str, Any]
OBJECTS = {Operation.CHAT: "chat.completion.chunk", Operation.COMPLETIONS: "text_completion"}


class ChunkStream:
    """The chunks of one chat or completion stream. `done` is whether the member said `[DONE]`."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._choices: dict[int, ChoiceStream] = {}
        self._common: Doc | None = None
        self.usage: Doc | None = None
        self.done = False

    @property
    def committed(self) -> bool:
        """Whether something usable, or an honest end, has come: from here on no other member may be asked."""
        return self.finished or any(choice.output for choice in self._choices.values())

    @property
    def finished(self) -> bool:
        """Whether every choice that was asked for has its finish reason."""
        ended = sum(choice.reason is not None for choice in self._choices.values())
        return ended == len(self._choices) and ended >= (
            self._call.choices if self._call.does(Step.COUNT_CHOICES) else 1
        )

    def feed(self, event: SseEvent) -> list[Doc]:
        """Our chunks for one of the member's events. Raises UpstreamFailed."""
        if event.data.strip() == b"[DONE]":
            self.done = True
            return []
        try:
            doc = parse_json(event.data)
        except ValueError:
            if event.type == "ping" or not self._call.does(Step.REFUSE_BROKEN_EVENT):
                return []
            raise UpstreamFailed(own_failure(Kind.BROKEN, "The upstream sent a malformed event.")) from None
        return self.feed_doc(doc, event.type)

    def feed_doc(self, doc: Any, kind: str = "") -> list[Doc]:
        """Our chunks for one of the member's documents, whose event had the type `kind`."""
        if not isinstance(doc, dict):
            return []
        if kind == "error" and "error" not in doc:
            doc = {"error": doc}
        if self._call.does(Step.REFUSE_ERROR_IN_SUCCESS) and (error := error_of(doc, self._call)):
            raise error
        usage = usage_of(doc.get("usage")) if self._call.does(Step.USAGE) else doc.get("usage")
        self.usage = usage or self.usage
        choices = doc.get("choices")
        self.done = bool(usage) and not choices and not self._call.does(Step.GO_ON_AFTER_USAGE)
        chunks = (
            [self._choice(item, doc) for item in choices if isinstance(item, dict)] if isinstance(choices, list) else []
        )
        return [chunk for chunk in chunks if chunk is not None]

    def end(self) -> list[Doc]:
        """The last chunks of a stream that ended whole: the usage. Raises UpstreamFailed when it is not whole."""
        if not self.finished and self._call.does(Step.REFUSE_UNFINISHED):
            what = "ended before it was finished" if self._choices or not self.done else "is empty"
            raise UpstreamFailed(own_failure(Kind.EMPTY, f"The upstream's answer {what}."))
        if self.usage is None or not (self._call.include_usage and self._call.does(Step.USAGE_CHUNK)):
            return []
        return [self._chunk({}, []) | {"usage": self.usage}]

    def failed(self, failure: Failure) -> list[Doc]:
        """The last event of a stream that broke after output."""
        return [failure_doc(failure)]

    def _choice(self, item: Doc, doc: Doc) -> Doc | None:
        index = self._index(item.get("index"))
        if (choice := self._choices.get(index)) is None:
            choice = self._choices[index] = ChoiceStream(self._call)
        shaped = choice.feed(item)
        return None if shaped is None else self._chunk(doc, [{"index": index, **shaped}])

    def _index(self, value: Any) -> int:
        if not self._call.does(Step.CHOICE_INDEX):
            return value if isinstance(value, int) else 0
        fits = isinstance(value, int) and 0 <= value < self._call.choices
        return int(value) if fits else 0

    def _chunk(self, doc: Doc, choices: list[Doc]) -> Doc:
        if self._common is None:
            call = self._call
            self._common = {
                "id": call.answer_id if call.does(Step.OWN_ID) else doc.get("id"),
                "object": OBJECTS[call.operation or Operation.CHAT],
                "created": created_of(doc.get("created")),
                "model": call.alias if call.does(Step.MODEL) else doc.get("model"),
                **common_members(doc),
            }
        usage: Doc = {"usage": None} if self._call.include_usage else {}
        if not self._call.does(Step.USAGE_STRIPPED) and isinstance(doc.get("usage"), dict):
            usage = {"usage": doc["usage"]}
        return {**self._common, "choices": choices, **usage}
