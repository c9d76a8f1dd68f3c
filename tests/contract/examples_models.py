"""Examples of the clauses on the models list."""

from __future__ import annotations

from typing import Any

from tests.contract.captures import Capture, capture, listing, wire
from tests.contract.example import Example, Examples, told

ENTRY = {"id": "alias-1", "object": "model", "created": 1785402847, "owned_by": "system"}
ONE_MODEL = listing("/v1/models/alias-1")


def listed(*entries: Any, **more: Any) -> Capture:
    """A models list."""
    return capture(listing(), wire({"object": "list", "data": list(entries), **more}))


def retrieved(**members: Any) -> Capture:
    """A single model."""
    return capture(ONE_MODEL, wire({**ENTRY, **members}))


def knowing(item: Capture, *names: str) -> Any:
    """The exchange of a target that serves those models."""
    return told(item, known_models=frozenset(names))


LISTED = listed(ENTRY)
EXAMPLES: Examples = {
    "models.shape": Example(
        (LISTED, listed()),
        (listed(ENTRY, object="models"), listed(data=None), capture(listing(), wire({"models": [ENTRY]}))),
    ),
    "models.entries": Example(
        (LISTED, listed({**ENTRY, "context": 8192})),
        (
            listed({"id": "alias-1"}),
            listed({**ENTRY, "created": "now"}),
            listed({**ENTRY, "object": "llm"}),
            listed("alias-1"),
            listed({**ENTRY, "id": ""}),
        ),
    ),
    "models.unique": Example((LISTED, listed(ENTRY, {**ENTRY, "id": "alias-2"})), (listed(ENTRY, ENTRY),)),
    "models.listed": Example((knowing(LISTED, "alias-1"),), (knowing(LISTED, "alias-1", "alias-2"),)),
    "models.retrieve": Example(
        (retrieved(),), (retrieved(id="other"), retrieved(object="llm"), capture(ONE_MODEL, wire({"id": "alias-1"})))
    ),
}
