"""Usage objects of several APIs say how many tokens there were, in one form."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.exchange.counted import counts, number


@pytest.mark.parametrize(
    ("usage", "told"),
    [
        pytest.param(
            {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11, "prompt_tokens_details": None},
            {"prompt": (9,), "completion": (2,)},
            id="chat",
        ),
        pytest.param(
            {
                "input_tokens": 9,
                "input_tokens_details": {"cached_tokens": 4},
                "output_tokens": 2,
                "output_tokens_details": {"reasoning_tokens": 1},
                "total_tokens": 11,
            },
            {"prompt": (9,), "completion": (2,), "cached": (4,), "reasoning": (1,)},
            id="responses",
        ),
        pytest.param(
            {"input_tokens": 9, "output_tokens": 2, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 5},
            {"prompt": (54, 49), "completion": (2,), "cached": (40,)},
            id="anthropic",
        ),
        pytest.param({"input_tokens": 9}, {"prompt": (9, 9)}, id="anthropic-start"),
        pytest.param(
            {"promptTokenCount": 20, "candidatesTokenCount": 8, "thoughtsTokenCount": 405, "totalTokenCount": 433},
            {"prompt": (20, 20), "completion": (413, 413), "reasoning": (405,)},
            id="gemini",
        ),
        pytest.param({"promptTokenCount": 20, "totalTokenCount": 20}, {"prompt": (20, 20)}, id="gemini-nothing-given"),
        pytest.param(
            {"inputTokens": 9, "outputTokens": 2, "totalTokens": 11, "cacheReadInputTokens": 40},
            {"prompt": (9, 49), "completion": (2,)},
            id="converse",
        ),
        pytest.param({"prompt_eval_count": 9, "eval_count": 2}, {"prompt": (9,), "completion": (2,)}, id="ollama"),
        pytest.param({"eval_count": 2}, {"completion": (2,)}, id="ollama-cached"),
        pytest.param(
            {
                "billed_units": {"input_tokens": 3, "output_tokens": 2},
                "tokens": {"input_tokens": 9, "output_tokens": 2},
            },
            {"prompt": (9, 3), "completion": (2,)},
            id="cohere",
        ),
        pytest.param(None, {}, id="none"),
        pytest.param({"prompt_tokens": "9"}, {}, id="no-number"),
    ],
)
def test_a_usage_is_read_in_its_own_words(usage: Any, told: dict[str, tuple[int, ...]]) -> None:
    """Each API's counters become those of the OpenAI API; what an API leaves open has several numbers."""
    assert counts(usage) == told


def test_a_boolean_is_no_number() -> None:
    """true is not 1, and what is no object has no members."""
    assert number({"a": {"b": True}}, "a", "b") is None
    assert number({"a": 1}, "a", "b") is None
    assert number({"a": {"b": 7}}, "a", "b") == 7
