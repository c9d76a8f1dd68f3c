"""Legacy completions that are not streamed (their chunks are judged in `chunk`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.clauses.chunk import requested_choices
from conformance.contract.clauses.inherited import own
from conformance.contract.evidence import at_path, show
from conformance.contract.shape import problems
from conformance.contract.when import json_of, the_reply
from conformance.exchange.model import Endpoint, Exchange

_completion = json_of(Endpoint.COMPLETIONS)
_REASONS = ("stop", "length", "content_filter")
_SIDE_BY_SIDE = ("tokens", "token_logprobs", "text_offset")


def _value(x: Exchange) -> dict[str, Any]:
    doc = the_reply(x).doc
    assert doc is not None and isinstance(doc.value, dict)
    return doc.value


def _choices(x: Exchange) -> list[Any]:
    choices = _value(x).get("choices")
    return choices if isinstance(choices, list) else []


@clause(
    id="completion.shape",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A legacy completion has the API's shape",
    rationale="Typed clients read every member by the API's schema; one of another type fails the whole reply.",
    source="openai-api/completions",
    applies=_completion,
)
def shape(x: Exchange) -> Iterator[Finding]:
    for problem in problems("completion", _value(x)):
        head = problem.path[:1]
        if head in (("object",), ("usage",)) or problem.path == ("choices",):
            continue
        if len(problem.path) >= 3 and problem.path[0] == "choices" and problem.path[2] in ("text", "finish_reason"):
            continue
        where = ".".join(map(str, problem.path)) or "the completion"
        yield at_path(the_reply(x), problem.path, f"{where}: {problem.expected}", problem.actual)


@clause(
    id="completion.object",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A legacy completion names its object type",
    rationale="A chat completion in answer to a legacy request has no `text`; `object` is how clients notice.",
    source="openai-api/completions",
    applies=_completion,
)
def object_type(x: Exchange) -> Iterator[Finding]:
    if _value(x).get("object") != "text_completion":
        yield at_path(the_reply(x), ("object",), '"text_completion"', show(_value(x).get("object")))


@clause(
    id="completion.choices",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A legacy completion has as many choices as were asked for",
    rationale="Batch users pair choices with prompts by position and index.",
    source="openai-api/completions",
    applies=_completion,
)
def choices(x: Exchange) -> Iterator[Finding]:
    count = len(_choices(x))
    if count != requested_choices(x):
        yield at_path(the_reply(x), ("choices",), f"{requested_choices(x)} choices", f"{count} choices")


@clause(
    id="completion.text",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="Every choice of a legacy completion has a text",
    rationale="Clients read choices[0].text: a chat `message` or null in its place is no answer.",
    source="openai-api/completions",
    applies=lambda x: _completion(x) and bool(_choices(x)),
)
def text(x: Exchange) -> Iterator[Finding]:
    for position, choice in enumerate(_choices(x)):
        value = choice.get("text") if isinstance(choice, dict) else choice
        if not isinstance(value, str):
            yield at_path(the_reply(x), ("choices", position, "text"), "a string `text`", show(value))


@clause(
    id="completion.finish-reason",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A legacy completion's finish reason is one of the API's values",
    rationale="Clients branch on length against stop; null or another word hides a cut text.",
    source="openai-api/completions",
    applies=lambda x: _completion(x) and bool(_choices(x)),
)
def finish_reason(x: Exchange) -> Iterator[Finding]:
    for position, choice in enumerate(_choices(x)):
        reason = choice.get("finish_reason") if isinstance(choice, dict) else None
        if reason not in _REASONS:
            yield at_path(
                the_reply(x), ("choices", position, "finish_reason"), f"one of {', '.join(_REASONS)}", show(reason)
            )


@clause(
    id="completion.index",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The choices of a legacy completion have the indexes from 0, each once",
    rationale="The index pairs a choice with its prompt; two choices that share one overwrite each other.",
    source="openai-api/completions",
    applies=lambda x: _completion(x) and bool(_choices(x)),
)
@own
def choices_index(x: Exchange) -> Iterator[Finding]:
    seen: set[int] = set()
    for position, choice in enumerate(_choices(x)):
        index = choice.get("index") if isinstance(choice, dict) else None
        if not isinstance(index, int):
            continue  # completion.shape judges it
        if index in seen or not 0 <= index < len(_choices(x)):
            expected = f"each of 0 to {len(_choices(x)) - 1} once"
            yield at_path(the_reply(x), ("choices", position, "index"), expected, show(index))
        seen.add(index)


def _logprobs(x: Exchange) -> Iterator[tuple[int, dict[str, Any]]]:
    """The log probabilities of each choice that has any."""
    for position, choice in enumerate(_choices(x)):
        found = choice.get("logprobs") if isinstance(choice, dict) else None
        if isinstance(found, dict) and found:
            yield position, found


@clause(
    id="completion.logprobs.shape",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="Log probabilities of a legacy completion are arrays side by side",
    rationale="Scorers read tokens and token_logprobs by position: the chat form has neither, and of unequal ones the numbers are other tokens'.",
    source="openai-api/completions",
    applies=lambda x: _completion(x) and any(True for _ in _logprobs(x)),
)
@own
def logprobs_shape(x: Exchange) -> Iterator[Finding]:
    for position, found in _logprobs(x):
        path = ("choices", position, "logprobs")
        arrays = {name: found[name] for name in _SIDE_BY_SIDE if isinstance(found.get(name), list) and found[name]}
        sizes = {name: len(array) for name, array in arrays.items()}
        if "content" in found and not isinstance(found.get("tokens"), list):
            yield at_path(the_reply(x), path, "tokens, token_logprobs", f"members {', '.join(found)}"[:200])
        elif len(set(sizes.values())) > 1:
            yield at_path(the_reply(x), path, "as many of each", show(sizes))
