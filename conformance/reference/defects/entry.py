"""What a defect is: a named way to be wrong, with the clauses that it violates, exactly; the matrix test proves it.

Data; an area's module gives a table of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from conformance.reference.behaviour import Behaviour


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """One wrong gateway: `title` is the fact, `violates` the ids of the clauses that it breaks.

    `shown_by` names scenarios that show it, where those that any covering set has do not. The damage of a
    `crossing` one goes from lane to lane: it is played those scenarios and no other, one at a time.
    """

    name: str
    title: str
    violates: frozenset[str]
    behaviour: Behaviour
    shown_by: frozenset[str] = frozenset()
    crossing: bool = False


def defect(
    name: str, title: str, violates: str, behaviour: Behaviour, shown_by: str = "", *, crossing: bool = False
) -> Defect:
    """A defect whose clauses, and scenarios, are written as one text each, with blanks between."""
    return Defect(
        name=name,
        title=title,
        violates=frozenset(violates.split()),
        behaviour=behaviour,
        shown_by=frozenset(shown_by.split()),
        crossing=crossing,
    )
