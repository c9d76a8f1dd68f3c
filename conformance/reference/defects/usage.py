"""Defects of usage: the counters, and the place of the usage chunk."""

from __future__ import annotations

from conformance.reference.behaviour import Behaviour, Moment
from conformance.reference.call import Call, Operation
from conformance.reference.defects.entry import defect
from conformance.reference.defects.hooks import Doc, each_chunk, each_reply
from conformance.reference.steps import Step


def _with_choice(chunk: Doc) -> None:
    if chunk.get("usage") and not chunk["choices"]:
        chunk["choices"] = [{"index": 0, "delta": {}, "logprobs": None, "finish_reason": None}]


def _before_last(frames: list[bytes], moment: Moment, call: Call) -> list[bytes]:
    """The last event of output waits, and goes out behind the usage."""
    if call.operation is not Operation.CHAT or moment is Moment.ERROR:
        return frames
    if moment is Moment.CHUNKS:
        held = call.memo.pop("last", [])
        call.memo["last"] = frames[-1:]
        return [*held, *frames[:-1]]
    return [*frames[:-1], *call.memo.pop("last", []), *frames[-1:]]


def _running(chunk: Doc) -> None:
    if "usage" in chunk and chunk["usage"] is None:
        chunk["usage"] = {"prompt_tokens": 9, "completion_tokens": 0, "total_tokens": 9}


def _null_counter(doc: Doc) -> None:
    if doc.get("usage"):
        doc["usage"] = doc["usage"] | {"completion_tokens": None}


def _padded(doc: Doc) -> None:
    if doc.get("usage"):
        doc["usage"] = doc["usage"] | {"total_tokens": doc["usage"]["total_tokens"] + 7}


def _unasked(chunks: list[Doc], call: Call) -> list[Doc]:
    """The usage follows every chunk that ends a choice, asked for or not."""
    if call.include_usage or call.operation is not Operation.CHAT:
        return chunks
    ended = [chunk for chunk in chunks if any(choice["finish_reason"] for choice in chunk.get("choices", ()))]
    if not ended or call.memo.get("counted"):
        return chunks
    call.memo["counted"] = True
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    return [*chunks, ended[0] | {"choices": [], "usage": usage}]


def _cached_above(doc: Doc) -> None:
    """The prompt is told without what came from a cache."""
    if doc.get("usage"):
        doc["usage"] = doc["usage"] | {"prompt_tokens_details": {"cached_tokens": doc["usage"]["prompt_tokens"] + 5}}


def _overhead(doc: Doc) -> None:
    """The completion is told with a thousand tokens that nobody generated."""
    usage = doc.get("usage")
    if usage:
        more = {name: usage[name] + 1000 for name in ("completion_tokens", "total_tokens")}
        doc["usage"] = usage | more


TABLE = (
    # Portkey-AI/gateway#1259
    defect(
        "usage-chunk-missing",
        "A stream with include_usage has no usage chunk",
        "usage.stream.present",
        Behaviour(skip=frozenset({Step.USAGE_CHUNK})),
    ),
    # BerriAI/litellm#28735
    defect(
        "usage-chunk-with-a-choice",
        "The usage chunk has a choice with an empty delta",
        "usage.stream.own-chunk",
        Behaviour(chunks=each_chunk(_with_choice)),
    ),
    # router-for-me/CLIProxyAPI#796, BerriAI/litellm#17136
    defect(
        "usage-before-last-output",
        "The usage chunk comes before the last chunk of the answer",
        "usage.stream.last",
        Behaviour(frames=_before_last),
    ),
    defect(
        "usage-on-every-chunk",
        "A running usage stands on every chunk",
        "usage.stream.once usage.stream.own-chunk",
        Behaviour(chunks=each_chunk(_running)),
        "usage.none-sent",
    ),
    defect(
        "usage-chunk-unasked",
        "A usage chunk comes although nobody asked for it, with numbers of the gateway's own",
        "usage.stream.unrequested relay.usage.kept",
        Behaviour(chunks=_unasked),
    ),
    defect(
        "usage-counter-null",
        "A usage counter is null",
        "usage.counters relay.usage.kept",
        Behaviour(doc=each_reply(_null_counter)),
    ),
    # router-for-me/CLIProxyAPI#2419
    defect(
        "usage-part-above-whole",
        "More tokens are told as cached than the prompt has",
        "usage.parts relay.usage.kept",
        Behaviour(doc=each_reply(_cached_above)),
    ),
    defect(
        "usage-past-the-bound",
        "More tokens are told than were asked for",
        "bounds.cap.kept relay.usage.kept",
        Behaviour(doc=each_reply(_overhead)),
    ),
    # BerriAI/litellm#36168: recomputed from visible text
    defect(
        "usage-total-recounted",
        "The total is counted anew, from another text",
        "usage.total relay.usage.kept",
        Behaviour(doc=each_reply(_padded)),
    ),
)
