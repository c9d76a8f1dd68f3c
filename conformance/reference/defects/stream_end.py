"""Defects of a stream's end: finish reasons, errors, [DONE], the end of the body."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from conformance.reference.behaviour import Behaviour, Moment
from conformance.reference.call import Call, Operation
from conformance.reference.defects.entry import Defect, defect
from conformance.reference.defects.hooks import Doc, at
from conformance.reference.sse import DONE
from conformance.reference.steps import Step


def _mark_broken(frames: list[bytes], moment: Moment, call: Call) -> list[bytes]:
    call.memo["broken"] = moment is Moment.ERROR
    return frames


async def _left_open(parts: AsyncIterator[bytes], call: Call) -> AsyncIterator[bytes]:
    async for part in parts:
        yield part
    if call.memo.get("broken"):
        await asyncio.sleep(86_400.0)


def _ends(chunk: Doc) -> bool:
    return any(choice["finish_reason"] for choice in chunk.get("choices", ()))


def _without_end(chunks: list[Doc], call: Call) -> list[Doc]:
    return [chunk for chunk in chunks if not _ends(chunk)]


def _end_twice(chunks: list[Doc], call: Call) -> list[Doc]:
    if call.operation is not Operation.CHAT:
        return chunks
    told: list[Doc] = []
    for chunk in chunks:
        told.append(chunk)
        if _ends(chunk):
            told.append(chunk | {"choices": [choice | {"delta": {}} for choice in chunk["choices"]]})
    return told


def _late_text(chunks: list[Doc], call: Call) -> list[Doc]:
    """Each text waits for the next chunk; a chunk that only ends the choice overtakes it."""
    told: list[Doc] = []
    for chunk in chunks:
        held = call.memo.pop("held", [])
        deltas = [choice.get("delta", {}) for choice in chunk.get("choices", ())]
        text = any(delta.get("content") for delta in deltas)
        if text and not _ends(chunk) and not any("role" in delta for delta in deltas):
            call.memo["held"] = [chunk]
            told += held
        else:
            told += [chunk, *held] if _ends(chunk) and not text else [*held, chunk]
    return told


_OUTAGE = {"message": "The stream failed.", "type": "server_error", "param": None, "code": "upstream_error"}


def _outage(chunks: list[Doc], call: Call) -> list[Doc]:
    chat = call.operation is not Operation.RESPONSES
    return [{"error": dict(_OUTAGE)} if chat and "error" in chunk else chunk for chunk in chunks]


def _error_text(chunks: list[Doc], call: Call) -> list[Doc]:
    chat = call.operation is not Operation.RESPONSES
    return [{"error": chunk["error"]["message"]} if chat and "error" in chunk else chunk for chunk in chunks]


TABLE = (
    Defect(
        name="stream-without-done",
        title="A finished stream ends without [DONE]",
        violates=frozenset({"stream.done.present"}),
        behaviour=Behaviour(skip=frozenset({Step.DONE})),
    ),
    defect(
        "done-twice",
        "[DONE] comes twice",
        "stream.done.once",
        Behaviour(frames=at(Moment.LAST, lambda frames: [*frames, DONE] if DONE in frames else frames)),
    ),
    defect(
        "usage-after-done",
        "The usage chunk comes after [DONE]",
        "stream.done.last",
        Behaviour(frames=at(Moment.LAST, lambda frames: frames[::-1])),
    ),
    # Nayjest/lm-proxy#88
    defect(
        "done-after-error",
        "[DONE] follows an error event",
        "stream.done.after-error",
        Behaviour(frames=at(Moment.ERROR, lambda frames: [*frames, DONE])),
    ),
    # screenpipe/screenpipe#3616, QuantumNous/new-api#7489
    defect(
        "finish-chunk-dropped",
        "The chunk with the finish reason is not passed on",
        "stream.terminal.present",
        Behaviour(chunks=_without_end),
    ),
    defect(
        "finish-chunk-twice",
        "A second chunk repeats the finish reason",
        "stream.terminal.once",
        Behaviour(chunks=_end_twice),
    ),
    defect(
        "text-after-finish-reason",
        "The last piece of text comes after the finish reason",
        "stream.terminal.last",
        Behaviour(chunks=_late_text),
    ),
    defect(
        "stream-error-as-text",
        "The `error` of an error event is a text",
        "stream.error.shape",
        Behaviour(chunks=_error_text),
    ),
    # incident F: 401, 429, a full context and a filter are told apart from an outage, in a stream too
    defect(
        "stream-error-as-outage",
        "Whatever breaks a stream off is told as one outage",
        "relay.error.kind-kept",
        Behaviour(chunks=_outage),
        shown_by="finish.rate-limit-after-text",
    ),
    # incident F: after output an error is forwarded once
    defect(
        "stream-error-twice",
        "The error event of a broken stream comes twice",
        "stream.error.once",
        Behaviour(frames=at(Moment.ERROR, lambda frames: frames * 2)),
    ),
    defect(
        "stream-left-open-after-error",
        "The body stays open after an error event",
        "stream.end.arrives timeout.idle.told",
        Behaviour(frames=_mark_broken, flow=_left_open),
    ),
)
