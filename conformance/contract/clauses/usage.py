"""Usage: the counters, and their place in a stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.evidence import at_end, at_event, at_path, show
from conformance.contract.when import CHOICES, good_stream, is_stream, serving, stayed, the_reply
from conformance.exchange.counted import counts
from conformance.exchange.model import Endpoint, Exchange, StreamEvent

_BROKEN_DOWN = {
    "prompt_tokens_details": ("cached_tokens", "audio_tokens"),
    "completion_tokens_details": ("reasoning_tokens", "audio_tokens"),
}
_COUNTERS = ("prompt_tokens", "completion_tokens", "total_tokens")


def _asked(x: Exchange) -> bool:
    return good_stream(x) and x.request.include_usage and the_reply(x).answer.finished


def _counted(usage: Any) -> bool:
    """Whether an upstream's usage says how many tokens there were; null counters, as some send, say nothing."""
    return isinstance(usage, dict) and all(type(usage.get(name)) is int for name in _COUNTERS[:2])


def _owed(x: Exchange) -> bool:
    # What an upstream did not count, a gateway can only invent.
    attempt = serving(x)
    silent = attempt is not None and attempt.reply is not None and not _counted(attempt.reply.answer.usage)
    dropped = attempt is not None and attempt.request.endpoint is x.request.endpoint and attempt.request.stream
    unasked = attempt is not None and dropped and not attempt.request.include_usage
    return _asked(x) and (not silent or unasked)


def _chunks(x: Exchange) -> list[StreamEvent]:
    return [event for event in the_reply(x).events if event.doc is not None and event.doc.get("usage") is not None]


@clause(
    id="usage.stream.present",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A stream with include_usage carries the usage",
    rationale="Whoever asks for usage bills by it; a stream without it is counted as zero.",
    source="openai-api/chat-create",
    applies=_owed,
)
def stream_present(x: Exchange) -> Iterator[Finding]:
    if not _chunks(x):
        yield at_end(the_reply(x), "a chunk with `usage` before [DONE]", "no chunk has one")


@clause(
    id="usage.stream.own-chunk",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The usage comes in a chunk whose choices are empty",
    rationale="Clients stop reading choices at the finish reason and look for usage in the extra chunk alone.",
    source="openai-api/chat-create",
    applies=lambda x: _asked(x) and bool(_chunks(x)),
)
def own_chunk(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    for event in _chunks(x)[-1:]:
        choices = event.doc.get("choices") if event.doc is not None else None
        if choices != []:
            yield at_event(reply, event, "`choices`: [] beside the usage", show(choices))


@clause(
    id="usage.stream.last",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The usage chunk is the last before [DONE]",
    rationale="The usage speaks of the whole request; a chunk after it is read as part of another one.",
    source="openai-api/chat-create",
    applies=lambda x: _asked(x) and bool(_chunks(x)),
)
def stream_last(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    last = _chunks(x)[-1]
    for event in reply.events[reply.events.index(last) + 1 :]:
        # The API itself sends the moderation that was asked for in a chunk of its own, after the usage.
        moderation = event.doc is not None and event.doc.get("moderation") and event.doc.get("choices") == []
        if not event.done and not moderation:
            yield at_event(
                reply, event, "[DONE] after the usage chunk", show(event.event.data[:80].decode("utf-8", "replace"))
            )


@clause(
    id="usage.stream.once",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="At most one chunk of a stream has a usage",
    rationale="Clients add up what they meet: running totals on every chunk multiply the bill.",
    source="openai-api/chat-create",
    applies=lambda x: is_stream(x) and x.request.get("stream_options", "continuous_usage_stats") is not True,
)
def stream_once(x: Exchange) -> Iterator[Finding]:
    chunks = _chunks(x)
    for event in chunks[1:]:
        yield at_event(
            the_reply(x), event, "usage null or absent in every chunk but one", f"{len(chunks)} chunks have one"
        )


@clause(
    id="usage.stream.unrequested",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="Without include_usage no extra usage chunk comes",
    rationale="Clients that did not ask read choices[0] of every chunk. Several gateways send it on purpose: a SHOULD.",
    source="openai-api/chat-create",
    applies=lambda x: good_stream(x) and not x.request.include_usage,
)
def stream_unrequested(x: Exchange) -> Iterator[Finding]:
    for event in _chunks(x):
        if event.doc is not None and event.doc.get("choices") == []:
            yield at_event(the_reply(x), event, "no chunk with empty choices", show(event.doc.get("usage")))


def _usages(x: Exchange) -> Iterator[tuple[StreamEvent | None, Any]]:
    reply = the_reply(x)
    if reply.doc is not None and reply.doc.ok and not reply.events:
        usage = reply.doc.get("usage")
        if usage is not None:
            yield None, usage
    for event in _chunks(x):
        yield event, event.doc.get("usage") if event.doc is not None else None


def _has_usage(x: Exchange) -> bool:
    reply = x.reply
    if not stayed(x) or reply is None or not reply.ok or reply.answer.errors:
        return False
    return x.request.endpoint in (*CHOICES, Endpoint.EMBEDDINGS) and any(True for _ in _usages(x))


def _counter(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _finding(x: Exchange, event: StreamEvent | None, expected: str, actual: str) -> Finding:
    reply = the_reply(x)
    return at_path(reply, ("usage",), expected, actual) if event is None else at_event(reply, event, expected, actual)


def _details(usage: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The counters that the API breaks the usage down into, each with its place."""
    for name, counters in _BROKEN_DOWN.items():
        details = usage.get(name)
        if isinstance(details, dict):
            yield from ((f"{name}.{counter}", details.get(counter)) for counter in counters)


def _nothing_counted(x: Exchange, usage: dict[str, Any]) -> bool:
    """Whether the API's legacy endpoint leaves the counter out: where it generated no token."""
    silent = not any(choice.text for choice in the_reply(x).answer.choices)
    left_out = "completion_tokens" not in usage and usage.get("total_tokens") == usage.get("prompt_tokens")
    return x.request.endpoint is Endpoint.COMPLETIONS and silent and left_out


@clause(
    id="usage.counters",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The usage counters are integers, zero or more",
    rationale="Budgets and bills add them: null, a text or a missing counter fails or counts as zero.",
    source="openai-api/chat-object",
    applies=_has_usage,
)
def counters(x: Exchange) -> Iterator[Finding]:
    names = ("prompt_tokens", "total_tokens") if x.request.endpoint is Endpoint.EMBEDDINGS else _COUNTERS
    for event, usage in _usages(x):
        if not isinstance(usage, dict):
            yield _finding(x, event, "an object", show(usage))
            continue
        wrong = [
            f"{name} {show(usage[name]) if name in usage else 'missing'}"
            for name in names
            if not _counter(usage.get(name)) and not (name == "completion_tokens" and _nothing_counted(x, usage))
        ]
        if wrong:
            yield _finding(x, event, f"integers {', '.join(names)}", "; ".join(wrong))
        for place, value in _details(usage):
            if value is not None and not _counter(value):
                yield _finding(x, event, f"{place}: an integer, or null", show(value))


def _relayed(x: Exchange, usage: dict[str, Any]) -> bool:
    """Whether the upstream sent these very numbers: then relay.usage.kept asks the gateway to leave them alone."""
    attempt = serving(x)
    told = attempt.reply.answer.usage if attempt is not None and attempt.reply is not None else None
    return isinstance(told, dict) and all(told.get(name) == usage.get(name) for name in _names(x))


def _names(x: Exchange) -> tuple[str, str, str]:
    """What the endpoint calls the tokens in, those out, and their sum."""
    return ("input_tokens", "output_tokens", "total_tokens") if x.request.endpoint is Endpoint.RESPONSES else _COUNTERS


def _summed(x: Exchange) -> Iterator[tuple[StreamEvent | None, Any]]:
    """Each usage of the reply; of a Responses stream those of its response objects."""
    yield from _usages(x)
    if x.request.endpoint is Endpoint.RESPONSES:
        for event in the_reply(x).events:
            usage = event.doc.get("response", "usage") if event.doc is not None else None
            if usage is not None:
                yield event, usage


def _has_sum(x: Exchange) -> bool:
    return _has_usage(x) or (
        x.request.endpoint is Endpoint.RESPONSES and stayed(x) and the_reply(x).ok and any(True for _ in _summed(x))
    )


@clause(
    id="usage.total",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The total is the sum of prompt and completion tokens",
    rationale="The API defines it so; a total that is not the sum shows that one of the three is made up.",
    source="openai-api/chat-object",
    applies=_has_sum,
)
def total(x: Exchange) -> Iterator[Finding]:
    taken, given, both = names = _names(x)
    for event, usage in _summed(x):
        if not isinstance(usage, dict) or not all(_counter(usage.get(name, 0)) for name in names):
            continue
        if taken not in usage or both not in usage or _relayed(x, usage):
            continue
        expected = usage[taken] + usage.get(given, 0)
        if usage[both] != expected:
            yield _finding(x, event, f"{both} {show(expected)}", show({name: usage.get(name) for name in names}))


_PARTS = {"prompt": "cached", "completion": "reasoning"}


def _told_alike(x: Exchange, usage: dict[str, Any]) -> bool:
    """Whether the upstream told the same numbers, parts included."""
    attempt = serving(x)
    told = attempt.reply.answer.usage if attempt is not None and attempt.reply is not None else None
    return told is not None and counts(told) == counts(usage)


@clause(
    id="usage.parts",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="No part of the tokens is more than the whole",
    rationale="Cached tokens are of the prompt, reasoning tokens of the completion: a smaller whole is not the one that is billed.",
    source="openai-api/chat-object",
    applies=lambda x: _has_sum(x) and any(set(_PARTS.values()) & set(counts(usage)) for _, usage in _summed(x)),
)
def parts(x: Exchange) -> Iterator[Finding]:
    for event, usage in _summed(x):
        told = counts(usage)
        for whole, part in _PARTS.items():
            if whole in told and part in told and told[part][0] > told[whole][0] and not _told_alike(x, usage):
                actual = f"{told[part][0]} {part} of {told[whole][0]}"
                yield _finding(x, event, f"{part} tokens among the {whole} tokens", actual)
