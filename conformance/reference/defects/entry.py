"""What a defect is: a named way to be wrong, with the clauses that it violates, exactly; the matrix test proves it.

Data; an area's module gives a table of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from conformance.reference.behaviour import Behaviour


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """One wrong gateway: `title` is the fact, `violates` the ids of the clauses that it breaks."""

    name: str
    title: str
    violates: frozenset[str]
    behaviour: Behaviour


def defect(name: str, title: str, violates: str, behaviour: Behaviour) -> Defect:
    """A defect whose clauses are written as one text, with blanks between."""
    return Defect(name=name, title=title, violates=frozenset(violates.split()), behaviour=behaviour)
