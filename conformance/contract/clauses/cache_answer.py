"""Caches over sequences: what is given from memory is the answer that was put there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, sequence_clause
from conformance.contract.clauses.cache import document_of, equals, from_memory
from conformance.contract.clauses.embedded import dispatched, inputs, same_vector, vectors
from conformance.contract.evidence import show
from conformance.contract.sameness import same_calls
from conformance.contract.timeline import at_turn
from conformance.exchange.answer import Answer, Choice, ToolCall, normal_reason
from conformance.exchange.counted import counts
from conformance.exchange.model import Endpoint, Reply
from conformance.exchange.sequence import Sequence, Turn


def _whole(reply: Reply | None) -> bool:
    return reply is not None and reply.ok and reply.answer.finished and not reply.answer.errors


def _answers(turn: Turn) -> list[Answer]:
    """What a turn came to, by either leg: whichever was kept."""
    exchange = turn.exchange
    replies = [exchange.reply] if exchange.hangup is None else []
    replies += [attempt.reply for attempt in exchange.attempts or () if attempt.succeeded]
    return [reply.answer for reply in replies if reply is not None and _whole(reply) and reply.answer.choices]


def _kept(s: Sequence) -> Iterator[tuple[Turn, Turn]]:
    """Each turn with an earlier one that asked for the same and was answered."""
    for earlier, turn in equals(s):
        if _answers(earlier) and not _asks_of_memory(earlier):
            yield earlier, turn


def _asks_of_memory(turn: Turn) -> bool:
    """Whether a request says itself how the memory is to be used: then its answer may not be what is kept."""
    return any(b"cache" in line.name.lower() for line in turn.exchange.request.head.headers)


def _told(choice: Choice) -> dict[str, Any]:
    reasons = [normal_reason(reason) or reason for reason in choice.reasons]
    return {"text": choice.text.strip(), "refusal": choice.refusal, "finish reason": reasons[-1] if reasons else None}


def _call(call: ToolCall) -> dict[str, Any]:
    return {"function": {"name": call.name, "arguments": call.arguments}}


def _other(kept: Answer, given: Answer) -> tuple[str, Any, Any] | None:
    """The first thing in which two answers differ, with both."""
    choices = [{choice.index: choice for choice in answer.choices} for answer in (kept, given)]
    if choices[0].keys() != choices[1].keys():
        return "choices", sorted(choices[0]), sorted(choices[1])
    for index, mine in choices[0].items():
        yours = choices[1][index]
        calls = [[_call(call) for call in one.tool_calls] for one in (mine, yours)]
        if not same_calls(*calls):
            return "tool calls", calls[0], calls[1]
        told = _told(mine), _told(yours)
        for name in told[0]:
            if told[0][name] != told[1][name]:
                return name, told[0][name], told[1][name]
    return _recounted(kept, given)


def _recounted(kept: Answer, given: Answer) -> tuple[str, Any, Any] | None:
    """What was thought, where both count the same tokens: an answer from memory may cost nothing."""
    numbers = counts(kept.usage), counts(given.usage)
    same = all(numbers[0].get(name) == numbers[1].get(name) for name in ("prompt", "completion"))
    if same and "completion" in numbers[0] and "reasoning" in numbers[0] and numbers[0] != numbers[1]:
        thought = [number.get("reasoning", (None,))[0] for number in numbers]
        if thought[0] != thought[1]:
            return "reasoning tokens", thought[0], thought[1]
    return None


def _embedding_turns(s: Sequence) -> list[Turn]:
    return [t for t in s.turns if t.exchange.request.endpoint is Endpoint.EMBEDDINGS and _whole(t.exchange.reply)]


def _group(turn: Turn) -> str:
    """What makes an embedding beside its input; the form of the numbers is none of it."""
    members = document_of(turn.exchange).items()
    return show({name: value for name, value in members if name not in ("input", "encoding_format", "user")}, 1 << 20)


def _vectors(turn: Turn) -> Iterator[tuple[str, list[float]]]:
    """Which input's vector is which, by what the members said that a turn asked."""
    for attempt, asked in dispatched(turn.exchange):
        found = vectors(attempt.reply) if _whole(attempt.reply) else []
        if len(found) == len(asked):
            yield from zip(asked, found, strict=True)


def _embedded(s: Sequence) -> Iterator[tuple[Turn, int, list[list[float]], list[float]]]:
    """The vectors of inputs for which no member was asked, or not in their place, with those that a member gave."""
    known: dict[tuple[str, str], list[list[float]]] = {}
    for turn in _embedding_turns(s):
        group, wanted, mine = _group(turn), inputs(turn.exchange.request), vectors(turn.exchange.reply)
        for item, vector in _vectors(turn):
            known.setdefault((group, item), []).append(vector)
        if any(inputs == wanted for _, inputs in dispatched(turn.exchange)) or len(mine) != len(wanted):
            continue
        for place, item in enumerate(wanted):
            if (group, item) in known:
                yield turn, place, known[group, item], mine[place]


def _applies(s: Sequence) -> bool:
    return s.held and (any(True for _ in _kept(s)) or any(True for _ in _embedded(s)))


@sequence_clause(
    id="cache.answer.same",
    level=Level.MUST,
    basis=Basis.POLICY,
    title="An answer from memory says what the answer said that was put there",
    rationale="A kept answer without its tool calls, its reason or the end of its text is an answer that no model gave.",
    source="incident/streams",
    applies=_applies,
    capabilities=("cache",),
)
def answer_same(s: Sequence) -> Iterator[Finding]:
    kept: dict[str, tuple[Turn, list[tuple[Turn, Answer]]]] = {}
    for earlier, turn in _kept(s):
        if from_memory(turn) and _whole(turn.exchange.reply):
            kept.setdefault(turn.label, (turn, []))[1].extend((earlier, answer) for answer in _answers(earlier))
    for turn, found in kept.values():
        assert turn.exchange.reply is not None
        given = turn.exchange.reply.answer
        others = [(earlier, _other(answer, given)) for earlier, answer in found]
        earlier, other = others[0]
        if other is not None and all(different is not None for _, different in others):
            name, expected, actual = other
            yield at_turn(s, turn, f"the {name} of {earlier.label}: {show(expected)}", show(actual))
    for turn, place, expected, actual in _embedded(s):
        if not any(same_vector(one, actual) for one in expected):
            yield at_turn(s, turn, f"input {place}: {show(expected[-1], 60)}", show(actual, 60))
