"""The book of a load run: counts by clause, concurrency and shape, the control's doubt, one exchange as evidence."""

from __future__ import annotations

from conformance.contract.clause import Outcome, Verdict
from conformance.load.compare import Count, LoadResult, compare
from conformance.load.plan import Cell, Shape
from conformance.report.model import Case
from conformance.run.book import Book, Tally


def cell(shape: Shape, concurrency: int) -> Cell:
    """A cell of eight requests."""
    return Cell(scenario="s", shape=shape, concurrency=concurrency, requests=8)


def tally(**counts: tuple[int, int]) -> Tally:
    """A tally of eight exchanges; for each clause (failed, decided), the failed ones first."""
    made = Tally()
    for number in range(8):
        verdicts = [
            Verdict(clause=clause, outcome=Outcome.VIOLATED if number < failed else Outcome.HELD)
            for clause, (failed, total) in counts.items()
            if number < total
        ]
        made.add(verdicts, "s", lambda number=number: Case(id=f"case {number}", scenario="s"))  # type: ignore[misc]
    return made


def test_verdicts_become_counts_and_one_exchange_of_evidence() -> None:
    """What was not decided does not count, what is faulty is told, and the first failing exchange is kept."""
    made = tally(a=(3, 8), b=(0, 2))
    made.add([Verdict(clause="c", outcome=Outcome.FAULTY, reason="oops")], "here", lambda: Case(id="", scenario=""))
    assert made.counts == {"a": Count(3, 8), "b": Count(0, 2)}
    assert made.evidence["a"].id == "case 0"
    assert made.failing == {"a"}
    assert made.faults == ["here: c: oops"]
    assert made.played == 9


def test_a_clause_that_fails_under_load_alone_is_a_suspect() -> None:
    """One that failed alone too is none."""
    book = Book("s")
    book.add(cell(Shape.ALONE, 1), tally(a=(0, 8), b=(1, 8)))
    book.add(cell(Shape.BURST, 8), tally(a=(2, 8), b=(2, 8)))
    assert book.suspects == ("a",)
    assert book.loaded("a") == Count(2, 8)


def test_the_telling_shape_fails_lowest_and_a_level_without_a_decision_holds() -> None:
    """A clause on errors is not decided where no error came: that level is known to hold all the same."""
    book = Book("s")
    book.add(cell(Shape.BURST, 8), tally(a=(2, 2)))
    book.add(cell(Shape.MIXED, 4), tally(a=(1, 1)))
    book.add(cell(Shape.MIXED, 2), tally(b=(0, 8)))
    assert book.telling("a") == (Shape.MIXED, {4: Count(1, 1), 2: Count(0, 0)})


def test_a_control_that_fails_under_load_makes_it_inconclusive() -> None:
    """What a bare upstream does not hold alone either is no doubt; a new failure of any clause is."""
    for failing, result in (("b", LoadResult.LOAD_SHAPED), ("c", LoadResult.INCONCLUSIVE)):
        book = Book("s")
        for _ in range(4):
            book.add(cell(Shape.ALONE, 1), tally(a=(0, 8)))
        book.add(cell(Shape.BURST, 8), tally(a=(8, 8)))
        book.add_control(cell(Shape.ALONE, 1), tally(b=(8, 8), c=(0, 8)))
        book.add_control(cell(Shape.BURST, 8), tally(**{failing: (1, 8)}))
        rows = {row.clause: row for row in compare(book.measured(frozenset()), alpha=0.01)}
        assert rows["a"].result is result
