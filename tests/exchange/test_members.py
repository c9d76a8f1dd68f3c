"""Members of values of any shape: what has the right type, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.exchange.members import list_in, object_in, text_in, texts

ODD: tuple[Any, ...] = (None, 3, True, "x", [], [{"a": 1}], {}, {"a": None}, {"a": 0})


@pytest.mark.parametrize("value", ODD)
def test_what_is_not_there_is_empty(value: Any) -> None:
    """Whatever the value is."""
    assert (object_in(value, "a"), list_in(value, "a"), text_in(value, "a")) == ({}, [], "")


def test_what_is_there_is_it() -> None:
    """A member of the right type, and of no other."""
    value = {"o": {"x": 1}, "l": [1], "t": "y"}
    assert (object_in(value, "o"), list_in(value, "l"), text_in(value, "t")) == ({"x": 1}, [1], "y")
    assert (object_in(value, "l"), list_in(value, "t"), text_in(value, "o")) == ({}, [], "")


def test_one_text_or_several() -> None:
    """A text is a list of one; an array is itself."""
    assert (texts("a"), texts(["a", 1]), texts(None), texts({"a": 1})) == (["a"], ["a", 1], [], [])
