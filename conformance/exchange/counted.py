"""How many tokens a usage object says there were, in the words of whichever API it comes from.

From the `usage` of a reply (of Gemini: `usageMetadata`) to the numbers that say the same in the OpenAI API. Knows the
chat and Responses APIs, Anthropic's messages, Gemini's contents, Bedrock's Converse, Ollama's chat and Cohere's;
whatever else says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: By counter, each number that says the same: an API may leave open what its own counter holds.
Counts = Mapping[str, tuple[int, ...]]


#: What is longer than 64 bits counts nothing, and has no text in Python past some thousand digits.
_COUNTABLE = 1 << 63


def number(usage: Any, *path: str) -> int | None:
    """The integer at `path` of a usage object, or None."""
    for step in path:
        usage = usage.get(step) if isinstance(usage, dict) else None
    counted = isinstance(usage, int) and not isinstance(usage, bool) and abs(usage) < _COUNTABLE
    return usage if counted else None


def counts(usage: Any) -> Counts:
    """The numbers of tokens: `prompt`, `completion`, and of these `cached` and `reasoning`."""
    if number(usage, "promptTokenCount") is not None:
        return _gemini(usage)
    for taken, given in _PLAIN:
        if number(usage, *taken) is not None or number(usage, *given) is not None:
            return _plain(usage, taken, given)
    if number(usage, "input_tokens") is not None and number(usage, "total_tokens") is None:
        return _anthropic(usage)
    names = ("prompt", "completion") if number(usage, "prompt_tokens") is not None else ("input", "output")
    found = {
        "prompt": number(usage, f"{names[0]}_tokens"),
        "completion": number(usage, f"{names[1]}_tokens"),
        "cached": number(usage, f"{names[0]}_tokens_details", "cached_tokens"),
        "reasoning": number(usage, f"{names[1]}_tokens_details", "reasoning_tokens"),
    }
    return {name: (value,) for name, value in found.items() if value is not None}


#: Of APIs that count nothing but what went in and what came out: by which names.
_PLAIN: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("inputTokens",), ("outputTokens",)),
    (("prompt_eval_count",), ("eval_count",)),
    (("tokens", "input_tokens"), ("tokens", "output_tokens")),
)


def _plain(usage: Any, taken: tuple[str, ...], given: tuple[str, ...]) -> Counts:
    """Bedrock counts apart what it read from its cache or put there, Cohere what it bills."""
    read, written = (number(usage, f"cache{name}InputTokens") or 0 for name in ("Read", "Write"))
    went, came = number(usage, *taken), number(usage, *given)
    billed = [number(usage, "billed_units", name) for name in ("input_tokens", "output_tokens")]
    told = {
        "prompt": (went, *(went + more for more in (read, read + written)), billed[0]) if went is not None else (),
        "completion": (came, billed[1]) if came is not None else (),
    }
    numbers = {name: tuple(dict.fromkeys(one for one in each if one is not None)) for name, each in told.items()}
    return {name: each for name, each in numbers.items() if each}


def _anthropic(usage: Any) -> Counts:
    """`input_tokens` leaves out what came from the cache, and what went there."""
    taken, given = number(usage, "input_tokens") or 0, number(usage, "output_tokens")
    read, written = number(usage, "cache_read_input_tokens") or 0, number(usage, "cache_creation_input_tokens") or 0
    told: dict[str, tuple[int, ...]] = {"prompt": (taken + read + written, taken + read)}
    if given is not None:
        told["completion"] = (given,)
    return told | ({"cached": (read,)} if read else {})


def _gemini(usage: Any) -> Counts:
    """`candidatesTokenCount` leaves out what was thought, `promptTokenCount` what tools put in."""
    taken, given = number(usage, "promptTokenCount") or 0, number(usage, "candidatesTokenCount")
    thought, total = number(usage, "thoughtsTokenCount"), number(usage, "totalTokenCount")
    told: dict[str, tuple[int, ...]] = {"prompt": (taken, taken + (number(usage, "toolUsePromptTokenCount") or 0))}
    if given is not None or thought is not None:
        summed = (given or 0) + (thought or 0)
        told["completion"] = (summed, total - taken) if total is not None else (summed,)
    cached = number(usage, "cachedContentTokenCount")
    return told | ({"cached": (cached,)} if cached is not None else {}) | ({"reasoning": (thought,)} if thought else {})
