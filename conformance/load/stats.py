"""The few statistics that a comparison of failure rates needs, exact where counts are small.

Counts in, probabilities out. Knows nothing of clauses. (No dependency: three short formulas are not worth SciPy.)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, lgamma, sqrt

#: z of a two-sided 95 % interval.
Z95 = 1.959964


def _log_comb(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def fisher_greater(failed_a: int, total_a: int, failed_b: int, total_b: int) -> float:
    """Fisher's exact test, one-sided: the probability, if both rates were one, that B fails at least as often as here.

    `failed_a` of `total_a` is the quiet side (alone), `failed_b` of `total_b` the loud one. 1.0 where a side is empty.
    """
    if total_a == 0 or total_b == 0:
        return 1.0
    failed, total = failed_a + failed_b, total_a + total_b
    whole = _log_comb(total, failed)
    most = min(failed, total_b)
    terms = (
        exp(_log_comb(total_b, k) + _log_comb(total_a, failed - k) - whole)
        for k in range(failed_b, most + 1)
        if failed - k <= total_a
    )
    return min(1.0, sum(terms))


def wilson(failed: int, total: int, z: float = Z95) -> tuple[float, float]:
    """The Wilson score interval of a rate: (low, high), (0.0, 1.0) where nothing was counted."""
    if total == 0:
        return 0.0, 1.0
    rate = failed / total
    spread = z * z / total
    middle = (rate + spread / 2) / (1 + spread)
    half = z * sqrt(rate * (1 - rate) / total + spread / (4 * total)) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)


def holm(values: Sequence[float]) -> tuple[float, ...]:
    """Holm's correction: p values of as many tests as there are, adjusted so that together they keep one error rate."""
    order = sorted(range(len(values)), key=lambda index: values[index])
    adjusted = [1.0] * len(values)
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, values[index] * (len(values) - rank)))
        adjusted[index] = highest
    return tuple(adjusted)


def alone_needed(failed: int, total: int, alpha: float, *, most: int) -> int:
    """How many runs alone without a failure make `failed` of `total` under load significant; at most `most`.

    0 where even `most` do not. With as many comparisons as there are the caller divides `alpha` beforehand.
    """
    low, high = 1, most
    if fisher_greater(0, most, failed, total) > alpha:
        return 0
    while low < high:
        middle = (low + high) // 2
        if fisher_greater(0, middle, failed, total) <= alpha:
            high = middle
        else:
            low = middle + 1
    return low
