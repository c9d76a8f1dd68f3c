"""Relay: the numbers that reach the client are the upstream's: usage and embeddings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.clauses.embedded import embedded, inputs, vectors
from conformance.contract.clauses.legs import (
    both_whole,
    served,
    shared_out,
)
from conformance.contract.clauses.mended import usage_mended
from conformance.contract.evidence import at_end, at_path, show
from conformance.contract.when import serving, the_reply
from conformance.exchange.counted import counts, number
from conformance.exchange.model import Attempt, Endpoint, Exchange

_DETAILS = (
    ("prompt", "audio"),
    ("completion", "audio"),
    ("completion", "accepted_prediction"),
    ("completion", "rejected_prediction"),
    ("input", "cached"),
    ("output", "reasoning"),
)
_NUMBERS: tuple[tuple[str, ...], ...] = (
    ("prompt_tokens",),
    ("completion_tokens",),
    ("total_tokens",),
    ("prompt_tokens_details", "cached_tokens"),
    ("completion_tokens_details", "reasoning_tokens"),
    ("input_tokens",),
    ("output_tokens",),
    *((f"{side}_tokens_details", f"{name}_tokens") for side, name in _DETAILS),
)


def _usage_owed(x: Exchange) -> bool:
    if x.request.endpoint is Endpoint.EMBEDDINGS:
        found = served(x)
        both = (found[1], the_reply(x)) if found and found[1].ok and the_reply(x).ok else None
    else:
        both = both_whole(x)
    attempt = serving(x)
    if both is None or attempt is None:
        return False
    if shared_out(x):
        return len(_parts(x)) > 1 and both[1].answer.usage is not None
    if attempt.request.endpoint is Endpoint.EMBEDDINGS and len(inputs(attempt.request)) < len(inputs(x.request)):
        return False  # the rest was known before: nobody counted it now
    if attempt.request.endpoint is not x.request.endpoint:
        told = counts(both[0].answer.usage)
        expects = not x.request.stream or x.request.endpoint is Endpoint.RESPONSES
        return "prompt" in told and "completion" in told and (expects or both[1].answer.usage is not None)
    # Numbers that are not the API's own have no one right reading.
    names = ("input_tokens", "output_tokens") if x.request.endpoint is Endpoint.RESPONSES else ("prompt_tokens",)
    counted = all(number(both[0].answer.usage, name) is not None for name in names)
    asked_for = not x.request.stream or x.request.endpoint is Endpoint.RESPONSES
    return counted and (asked_for or both[1].answer.usage is not None)


@clause(
    id="relay.usage.kept",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The upstream's usage numbers reach the client unchanged",
    rationale="Numbers that the gateway counts for itself miss cached and reasoning tokens: bills and budgets are wrong.",
    source="openai-api/chat-object",
    applies=_usage_owed,
)
def usage_kept(x: Exchange) -> Iterator[Finding]:
    attempt = serving(x)
    assert attempt is not None and attempt.reply is not None
    if shared_out(x):
        yield from _summed(x)
        return
    if attempt.request.endpoint is not x.request.endpoint:
        yield from _recounted(x, attempt)
        return
    upstream, mine = attempt.reply.answer.usage, the_reply(x).answer.usage
    wrong = [
        path
        for path in _NUMBERS
        if number(upstream, *path) is not None and number(upstream, *path) != _told(mine, *path)
    ]
    parts = [number(mine, *path) or 0 for path in _NUMBERS[:2]]
    if wrong == [("total_tokens",)] and number(mine, "total_tokens") == sum(parts):
        return  # a total that was no sum is put right
    if usage_mended(x, upstream, mine):
        wrong = [path for path in wrong if len(path) > 1]
    if wrong:
        names = ["_".join(path) for path in wrong]
        expected = {name: number(upstream, *path) for name, path in zip(names, wrong, strict=True)}
        actual = {name: number(mine, *path) for name, path in zip(names, wrong, strict=True)}
        yield at_end(the_reply(x), show(expected), show(actual))


def _recounted(x: Exchange, attempt: Attempt) -> Iterator[Finding]:
    """The numbers of a member that speaks another API, in the client's words; its details may be left out."""
    assert attempt.reply is not None
    upstream, mine = counts(attempt.reply.answer.usage), counts(the_reply(x).answer.usage)
    for name, told in upstream.items():
        if name in ("prompt", "completion") or name in mine:
            got = mine.get(name, (None,))[0]
            if got not in told:
                yield at_end(the_reply(x), f"{told[0]} {name} tokens", show(got) if got is not None else "none told")


def _told(usage: Any, *path: str) -> int | None:
    """A number of a usage; of its details one that is left out is 0."""
    found = number(usage, *path)
    return 0 if found is None and len(path) > 1 else found


def _parts(x: Exchange) -> list[Attempt]:
    """The attempts that each gave a part of the client's answer; [] where it is not made of just these parts."""
    gave = [attempt for attempt in x.attempts or () if attempt.succeeded and attempt.reply is not None]
    if x.request.endpoint is Endpoint.EMBEDDINGS:
        asked = [one for attempt in gave for one in inputs(attempt.request)]
        return gave if sorted(asked) == sorted(inputs(x.request)) else []
    gave = [attempt for attempt in gave if attempt.reply and attempt.reply.answer.choices]
    said = [choice.text for attempt in gave if attempt.reply for choice in attempt.reply.answer.choices]
    return gave if sorted(said) == sorted(choice.text for choice in the_reply(x).answer.choices) else []


def _summed(x: Exchange) -> Iterator[Finding]:
    """What was written for each part was written for the answer; what was read may count once."""
    name = "prompt" if x.request.endpoint is Endpoint.EMBEDDINGS else "completion"
    told = [counts(attempt.reply.answer.usage).get(name) for attempt in _parts(x) if attempt.reply is not None]
    mine = counts(the_reply(x).answer.usage).get(name)
    least = sum(min(each) for each in told if each)
    if mine and all(told) and max(mine) < least:
        yield at_end(the_reply(x), f"{least} {name} tokens, of {len(told)} parts", f"{max(mine)}")


def _embedded(x: Exchange) -> bool:
    found = served(x)
    if x.request.endpoint is not Endpoint.EMBEDDINGS or found is None or not found[1].ok or not the_reply(x).ok:
        return False
    return bool(_expected(x))


def _expected(x: Exchange) -> list[list[list[float]]]:
    """For each vector that the client is owed, those that members gave for it; nothing where nobody was asked for it."""
    attempt = serving(x)
    asked, known = inputs(x.request), embedded(x)
    if any(one in known for one in asked):
        return [known.get(one, []) for one in asked]
    whole = attempt is not None and not shared_out(x)
    return [[one] for one in vectors(attempt.reply)] if attempt is not None and whole else []


@clause(
    id="relay.embedding.equal",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The embeddings that reach the client are those that the upstream sent",
    rationale="A vector that was decoded or cut wrongly is stored and found again for years.",
    source="openai-api/embeddings",
    applies=_embedded,
)
def embedding_equal(x: Exchange) -> Iterator[Finding]:
    mine = vectors(x.reply)
    for position, given in enumerate(_expected(x)):
        actual = mine[position] if position < len(mine) else []
        if given and not any(_close(expected, actual) for expected in given):
            yield at_path(
                the_reply(x),
                ("data", position, "embedding"),
                f"{len(given[0])} numbers {show(given[0], 40)}",
                f"{len(actual)} numbers {show(actual, 40)}",
            )


def _close(expected: list[float], actual: list[float]) -> bool:
    pairs = zip(expected, actual, strict=False)
    return len(expected) == len(actual) and all(abs(a - b) <= 1e-6 * max(1.0, abs(a)) for a, b in pairs)
