"""The statistics agree with values worked out elsewhere."""

from __future__ import annotations

from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.load.stats import alone_needed, fisher_greater, holm, wilson


def test_fisher_is_the_hypergeometric_tail() -> None:
    """The lady who tastes tea: 3 of 4 against 1 of 4 has p 0.243."""
    assert fisher_greater(1, 4, 3, 4) == pytest.approx(17 / 70)
    assert fisher_greater(0, 20, 10, 20) == pytest.approx(comb(20, 10) / comb(40, 10), rel=1e-9)


def test_no_difference_is_never_certain() -> None:
    """Equal rates, and an empty side, give a p that proves nothing."""
    assert fisher_greater(0, 10, 0, 10) == pytest.approx(1.0)
    assert fisher_greater(0, 0, 5, 10) == 1.0
    assert fisher_greater(5, 10, 5, 10) > 0.5


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.integers(0, 30), st.integers(1, 30), st.integers(0, 30), st.integers(1, 30))
def test_fisher_is_a_probability(failed_a: int, total_a: int, failed_b: int, total_b: int) -> None:
    """It stays between 0 and 1, and never grows with one more failure under load."""
    failed_a, failed_b = min(failed_a, total_a), min(failed_b, total_b)
    p = fisher_greater(failed_a, total_a, failed_b, total_b)
    assert 0.0 <= p <= 1.0
    if failed_b < total_b:
        assert fisher_greater(failed_a, total_a, failed_b + 1, total_b) <= p + 1e-12


def test_wilson_holds_the_rate() -> None:
    """The interval of 1 in 10 is known; that of nothing counted is everything."""
    low, high = wilson(1, 10)
    assert (low, high) == (pytest.approx(0.0179, abs=1e-3), pytest.approx(0.4042, abs=1e-3))
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(0, 100)[0] == 0.0


def test_holm_multiplies_the_smallest_most_and_keeps_the_order() -> None:
    """0.01, 0.04, 0.03 of three tests become 0.03, 0.06, 0.06."""
    assert holm([0.01, 0.04, 0.03]) == (pytest.approx(0.03), pytest.approx(0.06), pytest.approx(0.06))
    assert holm([]) == ()


def test_as_many_runs_alone_as_certainty_takes() -> None:
    """A rate of a half needs few runs alone, a rare failure many, and the bound bounds."""
    few = alone_needed(16, 32, 0.01, most=500)
    assert fisher_greater(0, few, 16, 32) <= 0.01 < fisher_greater(0, few - 1, 16, 32)
    assert alone_needed(1, 500, 0.01, most=100) == 0
