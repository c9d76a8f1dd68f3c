"""The defects: named ways to be wrong, each turning one right behaviour of the reference gateway into a wrong one.

A table. Each entry says which clauses it violates, exactly; the matrix test holds it to that.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from conformance.errors import UsageError
from conformance.reference.behaviour import Behaviour
from conformance.reference.framing import Framing
from conformance.reference.steps import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """One wrong gateway: `title` is the fact, `violates` the ids of the clauses that it breaks."""

    name: str
    title: str
    violates: frozenset[str]
    behaviour: Behaviour


class _NoLastChunk(Framing):
    def end(self) -> bytes:
        return b""


_TABLE = (
    Defect(
        name="stream-without-done",
        title="A finished stream ends without [DONE]",
        violates=frozenset({"stream.done.present"}),
        behaviour=Behaviour(skip=frozenset({Step.DONE})),
    ),
    Defect(
        name="body-without-last-chunk",
        title="A chunked body ends without its last chunk",
        violates=frozenset({"http.body.complete"}),
        behaviour=Behaviour(framing=_NoLastChunk),
    ),
)
DEFECTS: dict[str, Defect] = {defect.name: defect for defect in _TABLE}


def find_defect(name: str) -> Defect:
    """The defect called `name`. Raises UsageError with a suggestion."""
    if name in DEFECTS:
        return DEFECTS[name]
    near = difflib.get_close_matches(name, DEFECTS, n=3)
    raise UsageError(f"no defect is called {name!r}", hint=f"near: {', '.join(near)}" if near else "")
