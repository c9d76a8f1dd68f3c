"""The defects: named ways to be wrong, each turning one right behaviour of the reference gateway into a wrong one.

One module for each area of the catalogue, each with a table `TABLE`; collected here by name. Those that only load shows
stand apart: the matrix plays one request after the other.
"""

from __future__ import annotations

import difflib
from types import ModuleType

from conformance.errors import UsageError
from conformance.reference.defects import (
    asked,
    blind,
    cache,
    chat,
    chunk,
    completion,
    content,
    cooldown,
    embeddings,
    error,
    http,
    isolation,
    lifecycle,
    load,
    message,
    models,
    paths,
    pool,
    quarantine,
    relay,
    relay_header,
    relay_request,
    responses,
    responses_items,
    routing,
    sdk,
    stream,
    stream_end,
    tool,
    usage,
)
from conformance.reference.defects.entry import Defect
from conformance.reference.defects.load import LoadDefect

__all__ = ["DEFECTS", "LOAD_DEFECTS", "Defect", "LoadDefect", "find_defect"]

AREAS: tuple[ModuleType, ...] = (
    asked,
    blind,
    cache,
    chat,
    chunk,
    completion,
    content,
    cooldown,
    embeddings,
    error,
    http,
    isolation,
    lifecycle,
    message,
    models,
    paths,
    pool,
    quarantine,
    relay,
    relay_header,
    relay_request,
    responses,
    responses_items,
    routing,
    sdk,
    stream,
    stream_end,
    tool,
    usage,
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
LOAD_DEFECTS: dict[str, LoadDefect] = {defect.name: defect for defect in load.TABLE}


def find_defect(name: str) -> Defect:
    """The defect called `name`. Raises UsageError with a suggestion."""
    known: dict[str, Defect] = {**DEFECTS, **LOAD_DEFECTS}
    if name in known:
        return known[name]
    lists = "`conformance defects` lists them"
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    parts = [other for other in known if name and name in other][:3]
    proposed = list(dict.fromkeys([*near, *parts]))[:4]
    hint = f"did you mean {' or '.join(proposed)}? {lists}" if proposed else lists
    raise UsageError(f"the reference gateway has no defect {name!r}", where="--target reference:DEFECT", hint=hint)
