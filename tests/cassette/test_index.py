"""The derived index: equal after a round trip, None for anything that is not its source's."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.cassette.index import pack, unpack
from conformance.cassette.model import Cassette

from .strategies import cassettes

quick = settings(max_examples=60, derandomize=True, deadline=None, database=None)


@quick
@given(cassettes)
def test_round_trip(cassette: Cassette) -> None:
    """What is packed unpacks to an equal cassette under the name that is asked for, and for no other source."""
    packed = pack(cassette, key="k")
    assert unpack(packed, key="k", name="made") == cassette
    assert unpack(packed, key="other", name="made") is None


@quick
@given(cassettes, st.integers(0, 10_000), st.binary(max_size=3))
def test_damage(cassette: Cassette, place: int, patch: bytes) -> None:
    """A changed or cut index unpacks to None or, when nothing really changed, to the same."""
    packed = pack(cassette, key="k")
    cut = place % len(packed)
    assert unpack(packed[:cut], key="k", name="made") is None
    damaged = packed[:cut] + patch + packed[cut + len(patch) :]
    assert unpack(damaged, key="k", name="made") in (None, cassette)


@quick
@given(st.binary(max_size=80))
def test_any_bytes(data: bytes) -> None:
    """No bytes make it raise."""
    assert unpack(data, key="k", name="made") is None
