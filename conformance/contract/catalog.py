"""The catalogue: every clause of the contract, by id, from the one list of area modules.

Adding a clause is adding a function to an area module; adding an area is adding its module to AREAS.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from types import ModuleType

from conformance.contract.clause import Clause
from conformance.contract.clauses import (
    blind,
    bounds,
    cache,
    cache_answer,
    chat,
    chat_output,
    chunk,
    completion,
    cooldown,
    embeddings,
    error,
    error_kind,
    error_paths,
    error_request,
    error_status,
    format,
    header,
    http,
    inner,
    isolation,
    lifecycle,
    logprobs,
    memory,
    message,
    models,
    patience,
    pool,
    pool_closing,
    quarantine,
    relay,
    relay_answer,
    relay_detail,
    relay_error,
    relay_items,
    relay_numbers,
    relay_request,
    relay_thoughts,
    relay_turns,
    responses,
    responses_course,
    responses_items,
    responses_object,
    routing,
    sdk,
    stream,
    stream_course,
    stream_early,
    stream_text,
    tier,
    tool,
    tool_asked,
    tool_kinds,
    tool_said,
    usage,
    usage_counted,
)

AREAS: tuple[ModuleType, ...] = (
    http,
    stream,
    stream_course,
    stream_early,
    stream_text,
    chunk,
    chat,
    tier,
    chat_output,
    tool,
    tool_kinds,
    tool_asked,
    tool_said,
    format,
    logprobs,
    usage,
    usage_counted,
    bounds,
    completion,
    embeddings,
    models,
    responses,
    responses_course,
    responses_items,
    responses_object,
    error,
    error_status,
    error_kind,
    error_request,
    error_paths,
    message,
    relay,
    relay_answer,
    relay_error,
    relay_items,
    relay_numbers,
    relay_request,
    relay_detail,
    relay_thoughts,
    relay_turns,
    header,
    patience,
    pool,
    pool_closing,
    lifecycle,
    blind,
    inner,
    sdk,
    cooldown,
    quarantine,
    routing,
    cache,
    cache_answer,
    isolation,
    memory,
)

#: Ids that were used once and never come back: id -> version and reason.
RETIRED: dict[str, str] = {}


def _collect() -> dict[str, Clause]:
    found: dict[str, Clause] = {}
    for module in AREAS:
        for value in vars(module).values():
            if isinstance(value, Clause):
                if value.id in found or value.id in RETIRED:
                    raise ValueError(f"clause id {value.id} is used twice or was retired")
                found[value.id] = value
    return found


CATALOG: dict[str, Clause] = _collect()


def select(globs: tuple[str, ...]) -> tuple[Clause, ...]:
    """The clauses whose id matches one of `globs` (all for none). A glob without a match gives nothing for itself."""
    if not globs:
        return tuple(CATALOG.values())
    return tuple(item for item in CATALOG.values() if any(fnmatchcase(item.id, glob) for glob in globs))
