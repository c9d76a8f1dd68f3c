"""Defects of chunks: what each event of a chat stream holds."""

from __future__ import annotations

from itertools import count
from typing import Any

from conformance.reference.behaviour import Behaviour
from conformance.reference.call import Call, Operation
from conformance.reference.defects.entry import defect
from conformance.reference.defects.hooks import Doc, each_chunk, each_stream_choice, put, without


def _numbered(chunks: list[Doc], call: Call) -> list[Doc]:
    """Each chunk gets an id of its own."""
    numbers = call.memo.setdefault("ids", count())
    return [chunk | {"id": f"{chunk['id']}-{next(numbers)}"} if "id" in chunk else chunk for chunk in chunks]


def _timed(chunks: list[Doc], call: Call) -> list[Doc]:
    """Each chunk gets the time at which it is written, here a second later each."""
    numbers = call.memo.setdefault("times", count())
    return [chunk | {"created": chunk["created"] + next(numbers)} if "created" in chunk else chunk for chunk in chunks]


def _dated(chunks: list[Doc], call: Call) -> list[Doc]:
    """All chunks but the first name a dated model."""
    told = []
    for chunk in chunks:
        later = call.memo.setdefault("first model", False) or "model" not in chunk
        told.append(chunk | {"model": f"{chunk['model']}-2026-08-01"} if later and "model" in chunk else chunk)
        call.memo["first model"] = later or "model" in chunk
    return told


def _greeted(chunks: list[Doc], call: Call) -> list[Doc]:
    """A chunk without choices goes first."""
    if call.operation is not Operation.CHAT or not chunks or "error" in chunks[0] or call.memo.get("greeted"):
        return chunks
    call.memo["greeted"] = True
    return [{key: value for key, value in chunks[0].items() if key != "choices"}, *chunks]


def _only_first(chunks: list[Doc], call: Call) -> list[Doc]:
    return [chunk for chunk in chunks if not any(choice["index"] for choice in chunk.get("choices", ()))]


def _ended_early(choice: Doc) -> None:
    choice["finish_reason"] = choice["finish_reason"] or ""


def _role(choice: Doc) -> None:
    choice["delta"].setdefault("role", "")


def _no_role(choice: Doc) -> None:
    choice["delta"].pop("role", None)


def _parts(choice: Doc) -> None:
    text = choice["delta"].get("content")
    if text:
        choice["delta"]["content"] = [{"type": "text", "text": text}]


def _null_calls(choice: Doc) -> None:
    choice["delta"].setdefault("tool_calls", None)


def _shifted(choice: Doc) -> None:
    choice["index"] += 1


def _number(name: str) -> Any:
    def edit(chunk: Doc) -> None:
        chunk[name] = chunk[name] + 0.25

    return edit


TABLE = (
    # pydantic/pydantic-ai#2499
    defect(
        "chunk-tier-of-the-provider",
        "A chunk has a service_tier that the API does not know",
        "chunk.service-tier",
        Behaviour(chunks=each_chunk(put("service_tier", "standard"))),
    ),
    defect(
        "chunk-fingerprint-number",
        "A chunk's system_fingerprint is a number",
        "chunk.shape",
        Behaviour(chunks=each_chunk(put("system_fingerprint", 17))),
    ),
    defect(
        "chunk-object-of-a-whole-reply",
        "A chunk's object is chat.completion",
        "chunk.object",
        Behaviour(chunks=each_chunk(put("object", "chat.completion"))),
    ),
    # maximhq/bifrost#5546
    defect(
        "chunk-id-empty",
        "A chunk's id is empty",
        "chunk.id",
        Behaviour(chunks=each_chunk(put("id", ""))),
    ),
    # open-webui/open-webui#23917
    defect(
        "chunk-ids-differ",
        "Each chunk has an id of its own",
        "chunk.id.stable",
        Behaviour(chunks=_numbered),
    ),
    # mlcommons/modelbench#1287
    defect(
        "chunk-created-float",
        "A chunk's created is a float",
        "chunk.created",
        Behaviour(chunks=each_chunk(_number("created"))),
    ),
    defect(
        "chunk-created-of-each-event",
        "Each chunk has the time at which it was written",
        "chunk.created.stable",
        Behaviour(chunks=_timed),
    ),
    defect(
        "chunk-model-missing",
        "A chunk names no model",
        "chunk.model",
        Behaviour(chunks=each_chunk(without("model"))),
    ),
    defect(
        "chunk-model-changes",
        "Later chunks name another model than the first",
        "chunk.model.stable blind.model.alias",
        Behaviour(chunks=_dated),
    ),
    defect(
        "chunk-without-choices-first",
        "A chunk without choices goes before the others",
        "chunk.choices",
        Behaviour(chunks=_greeted),
    ),
    # BerriAI/litellm#17425
    defect(
        "chunk-index-of-the-block",
        "A chunk's choice has the index of the member's content block",
        "chunk.choice.index chunk.choice.count relay.text.equal relay.tool-calls.equal relay.logprobs.kept",
        Behaviour(chunks=each_stream_choice(_shifted)),
        "baseline.logprobs-stream",
    ),
    defect(
        "second-choice-dropped",
        "Of n choices only the first is streamed",
        "chunk.choice.count",
        Behaviour(chunks=_only_first),
    ),
    # CangShui/workbuddy-gateway#3
    defect(
        "finish-reason-empty-between",
        "A chunk that ends nothing has an empty finish reason",
        "chunk.finish-reason.enum",
        Behaviour(chunks=each_stream_choice(_ended_early)),
    ),
    defect(
        "role-empty-in-later-deltas",
        "Later deltas have an empty role",
        "chunk.role.valid",
        Behaviour(chunks=each_stream_choice(_role)),
    ),
    # open-webui/open-webui#23917
    defect(
        "role-never-told",
        "No delta has a role",
        "chunk.role.first",
        Behaviour(chunks=each_stream_choice(_no_role)),
    ),
    # incident B, in a stream: content as a list
    defect(
        "delta-content-in-parts",
        "A delta's content is a list of parts",
        "chunk.delta.content-type",
        Behaviour(chunks=each_stream_choice(_parts)),
    ),
    defect(
        "delta-tool-calls-null",
        "A delta without tool calls has tool_calls null",
        "chunk.delta.not-null",
        Behaviour(chunks=each_stream_choice(_null_calls)),
    ),
)
