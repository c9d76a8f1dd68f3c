"""Which members a request body must have, and of what types: a table, and the first member that does not fit.

Pure. What the gateway does not know is not its business: a member decides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.reference.call import Operation

Accepts = Callable[[Any], bool]


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_messages(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, dict) and isinstance(item.get("role"), str) for item in value)
    )


def _is_list_of(kind: type, value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, kind) for item in value)


def _is_text_or_list(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and bool(value))


Member = tuple[str, Accepts, str]
MODEL: Member = ("model", lambda value: isinstance(value, str) and bool(value), "a string")
#: Members that an operation cannot go without.
REQUIRED: dict[Operation, tuple[Member, ...]] = {
    Operation.CHAT: (("messages", _is_messages, "a non-empty array of message objects with a role"),),
    Operation.COMPLETIONS: (("prompt", _is_text_or_list, "a string or a non-empty array"),),
    Operation.EMBEDDINGS: (("input", _is_text_or_list, "a string or a non-empty array"),),
    Operation.RESPONSES: (("input", _is_text_or_list, "a string or a non-empty array"),),
}
#: Members that must have a type where they are given; null counts as absent.
TYPED: tuple[Member, ...] = (
    ("stream", lambda value: isinstance(value, bool), "a boolean"),
    ("stream_options", lambda value: isinstance(value, dict), "an object"),
    ("n", lambda value: _is_count(value) and value > 0, "a positive integer"),
    ("max_tokens", _is_count, "a non-negative integer"),
    ("max_completion_tokens", _is_count, "a non-negative integer"),
    ("temperature", _is_number, "a number"),
    ("top_p", _is_number, "a number"),
    ("stop", lambda value: isinstance(value, str) or _is_list_of(str, value), "a string or an array of strings"),
    ("tools", lambda value: _is_list_of(dict, value), "an array of objects"),
)


def wrong_member(operation: Operation, doc: dict[str, Any]) -> tuple[str, str] | None:
    """The first member of a request body that is missing or of a wrong type, and what it has to be; None when all is
    well.
    """
    for name, accepts, meaning in (MODEL, *REQUIRED[operation]):
        if not accepts(doc.get(name)):
            return name, meaning
    for name, accepts, meaning in TYPED:
        if doc.get(name) is not None and not accepts(doc[name]):
            return name, meaning
    return None
