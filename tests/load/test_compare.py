"""What alone and in parallel come to, for every result that there is."""

from __future__ import annotations

from typing import Any

from conformance.load.compare import Compared, Count, LoadResult, Measured, compare


def row(alone: tuple[int, int], load: dict[int, tuple[int, int]], **more: Any) -> Measured:
    """A row from plain numbers."""
    return Measured(
        clause="c",
        scenario=more.pop("scenario", "s"),
        alone=Count(*alone),
        load={level: Count(*count) for level, count in load.items()},
        **more,
    )


def one(measured: Measured) -> Compared:
    """The comparison of a single row."""
    return compare([measured], alpha=0.01)[0]


def test_a_clause_that_never_fails_holds() -> None:
    """No failure anywhere."""
    assert one(row((0, 20), {8: (0, 24)})).result is LoadResult.HOLDS


def test_a_clause_that_always_fails_alone_is_violated() -> None:
    """Load has nothing to do with it."""
    assert one(row((20, 20), {8: (24, 24)})).result is LoadResult.VIOLATED


def test_a_clause_that_fails_now_and_then_alone_is_flaky() -> None:
    """Whatever it does under load."""
    assert one(row((3, 20), {8: (24, 24)})).result is LoadResult.FLAKY


def test_a_clause_that_fails_under_load_alone_is_load_shaped_with_its_threshold() -> None:
    """The lowest failing concurrency is the threshold, and the p value is small."""
    found = one(row((0, 20), {2: (0, 6), 4: (0, 12), 8: (12, 24), 16: (40, 48)}))
    assert found.result is LoadResult.LOAD_SHAPED
    assert found.threshold == 8
    assert found.p < 0.01
    low, high = found.loaded.interval
    assert low < found.loaded.rate < high


def test_one_failure_in_many_is_not_called_load_shaped() -> None:
    """It can be chance: inconclusive, with the numbers."""
    found = one(row((0, 20), {8: (1, 24)}))
    assert found.result is LoadResult.INCONCLUSIVE
    assert "1 of 24" in found.reason


def test_many_comparisons_ask_for_more() -> None:
    """A p that is small alone is not enough among hundreds of rows that fail under load."""
    rows = [row((0, 6), {8: (5, 8)}, scenario=f"s{number}") for number in range(200)]
    assert one(rows[0]).p < 0.05
    assert {found.result for found in compare(rows, alpha=0.05)} == {LoadResult.INCONCLUSIVE}


def test_a_failing_control_makes_it_inconclusive() -> None:
    """What fails straight at the upstream too is the harness's."""
    found = one(row((0, 20), {8: (24, 24)}, shaken=8))
    assert found.result is LoadResult.INCONCLUSIVE
    assert "straight at the upstream" in found.reason
    assert one(row((0, 20), {8: (24, 24)}, shaken=16)).result is LoadResult.LOAD_SHAPED


def test_an_exchange_to_which_a_clause_does_not_apply_did_not_fail_it() -> None:
    """A clause on errors is never decided alone where no error comes; twenty exchanges without one still count."""
    assert one(row((0, 0), {8: (24, 24)})).result is LoadResult.INCONCLUSIVE
    assert one(row((0, 0), {8: (24, 24)}, alone_played=20)).result is LoadResult.LOAD_SHAPED
    assert one(row((0, 0), {8: (6, 6)}, alone_played=20, played={8: 2400})).result is LoadResult.INCONCLUSIVE


def test_a_harness_short_of_cpu_makes_it_inconclusive() -> None:
    """Only where every failing concurrency was starved."""
    assert one(row((0, 20), {8: (24, 24)}, bound=frozenset({8}))).result is LoadResult.INCONCLUSIVE
    starved_above = row((0, 20), {8: (24, 24), 16: (48, 48)}, bound=frozenset({16}))
    assert one(starved_above).result is LoadResult.LOAD_SHAPED
