"""Frozen dataclasses to plain JSON values and back, by their annotations."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.contract.clause import Level
from conformance.report.plain import Misfit, bytes_to_plain, from_plain, to_plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """One field of every type that has a plain form."""

    text: str
    data: bytes
    level: Level
    number: float = 1.5
    names: frozenset[str] = frozenset()
    parts: tuple[int, ...] = ()
    table: dict[Level, int] = field(default_factory=dict)
    maybe: Level | None = None
    flag: bool = False
    places: tuple[tuple[float, str], ...] = ()


things = st.builds(
    Thing,
    text=st.text(st.characters()),
    data=st.binary(max_size=40) | st.text(max_size=20).map(str.encode),
    level=st.sampled_from(Level),
    number=st.floats(allow_nan=False, allow_infinity=False),
    names=st.frozensets(st.text(max_size=3), max_size=3),
    parts=st.lists(st.integers(), max_size=3).map(tuple),
    table=st.dictionaries(st.sampled_from(Level), st.integers()),
    maybe=st.none() | st.sampled_from(Level),
    flag=st.booleans(),
    places=st.lists(st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.text()), max_size=3).map(tuple),
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(things)
def test_round_trip(thing: Thing) -> None:
    """Whatever the fields hold comes back equal."""
    assert from_plain(Thing, to_plain(thing)) == thing


def test_empty_defaults_are_left_out() -> None:
    """A field is left out only when its default is empty and it is, too."""
    assert to_plain(Thing(text="", data=b"", level=Level.MAY)) == {
        "text": "",
        "data": "",
        "level": "MAY",
        "number": 1.5,
    }


@pytest.mark.parametrize("data", [b"\x00", b"\xff", b"\x1b[31m", b"\x7f"])
def test_unclean_bytes_are_base64(data: bytes) -> None:
    """Bytes that are no text or hold control characters are base64."""
    assert isinstance(bytes_to_plain(data), dict)


@pytest.mark.parametrize(
    ("places", "message"),
    [
        ([[1.0]], r"places\[0\] is not an array of 2"),
        ([[1.0, "a", "b"]], r"places\[0\] is not an array of 2"),
        (["ab"], r"places\[0\] is not an array of 2"),
        ([["a", 1.0]], r"places\[0\]\[0\] is not of type float"),
    ],
)
def test_items_of_a_fixed_tuple_have_their_places(places: object, message: str) -> None:
    """A tuple of several types has as many items as types, in their order."""
    with pytest.raises(Misfit, match=message):
        from_plain(Thing, {"text": "", "data": "", "level": "MAY", "places": places})


def test_whole_numbers_are_floats_too() -> None:
    """An integer is accepted where a float is wanted; a bool is neither."""
    base = {"text": "", "data": "", "level": "MAY"}
    assert from_plain(Thing, base | {"number": 2}).number == 2.0
    with pytest.raises(Misfit, match="number is not of type float"):
        from_plain(Thing, base | {"number": True})


def test_other_types_have_no_plain_form() -> None:
    """A value that reports do not use is refused loudly."""
    with pytest.raises(TypeError):
        to_plain(object())
