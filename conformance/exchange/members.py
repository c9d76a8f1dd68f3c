"""Members of a JSON value by the type that they should have, empty where they have another: for readers of any shape.

From a value and a name to an object, an array or a text. Total: whatever the value is.
"""

from __future__ import annotations

from typing import Any


def object_in(value: Any, name: str) -> dict[str, Any]:
    """The object that the member `name` of an object is; {} for anything else."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def list_in(value: Any, name: str) -> list[Any]:
    """The array that it is; [] for anything else."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def text_in(value: Any, name: str) -> str:
    """The text that it is; "" for anything else."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def texts(value: Any) -> list[Any]:
    """A value that is one text or several, as a list; [] for anything else. An array's items may be of any type."""
    return [value] if isinstance(value, str) else value if isinstance(value, list) else []
