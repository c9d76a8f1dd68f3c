"""Events are data."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from conformance.wire.facts import Span
from conformance.wire.sse import Event, read_events


def test_quickly_built_events_are_ordinary() -> None:
    """An event that was built column by column equals one that was built by its constructor, and is as frozen."""
    event = read_events(b"data: a\n\n").events[0]
    assert event == Event(index=0, type="", data=b"a", span=Span(0, 9))
    assert repr(event) == repr(Event(index=0, type="", data=b"a", span=Span(0, 9)))
    assert hash(event) == hash(Event(index=0, type="", data=b"a", span=Span(0, 9)))
    with pytest.raises(FrozenInstanceError):
        event.data = b"b"  # type: ignore[misc]
