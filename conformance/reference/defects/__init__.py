"""The defects: named ways to be wrong, each turning one right behaviour of the reference gateway into a wrong one.

One module for each area of the catalogue, each with a table `TABLE`; collected here by name.
"""

from __future__ import annotations

import difflib
from types import ModuleType

from conformance.errors import UsageError
from conformance.reference.defects import (
    embeddings,
    http,
    models,
    responses,
    stream,
    stream_end,
)
from conformance.reference.defects.entry import Defect

__all__ = ["DEFECTS", "Defect", "find_defect"]

AREAS: tuple[ModuleType, ...] = (
    embeddings,
    http,
    models,
    responses,
    stream,
    stream_end,
)


def _collected() -> dict[str, Defect]:
    found: dict[str, Defect] = {}
    for area in AREAS:
        for defect in area.TABLE:
            if defect.name in found:
                raise ValueError(f"two defects are called {defect.name!r}")
            found[defect.name] = defect
    return found


DEFECTS: dict[str, Defect] = _collected()


def find_defect(name: str) -> Defect:
    """The defect called `name`. Raises UsageError with a suggestion."""
    if name in DEFECTS:
        return DEFECTS[name]
    near = difflib.get_close_matches(name, DEFECTS, n=3)
    raise UsageError(f"no defect is called {name!r}", hint=f"near: {', '.join(near)}" if near else "")
