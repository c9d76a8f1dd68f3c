"""Bytes that are no UTF-8, as spans."""

from __future__ import annotations

import pytest

from conformance.wire.facts import FaultLog, Span
from conformance.wire.utf8 import note_invalid_utf8


@pytest.mark.parametrize(
    ("data", "spans"),
    [
        (b"", []),
        ("aé€😀".encode(), []),
        (b"a\xffb", [(1, 2)]),
        (b"\xe2\x82", [(0, 2)]),
        (b"x\xc3(y\x80", [(1, 2), (4, 5)]),
        (b"\xed\xa0\x80", [(0, 1), (1, 2), (2, 3)]),
    ],
)
def test_invalid_runs(data: bytes, spans: list[tuple[int, int]]) -> None:
    """Each run of bytes that is no UTF-8, an unfinished character and an encoded surrogate included, has its span."""
    log = FaultLog()
    assert note_invalid_utf8(data, log) == bool(spans)
    assert [(fault.code, fault.span) for fault in log.freeze()] == [("utf8.invalid", Span(*span)) for span in spans]


def test_bound() -> None:
    """The search ends when the log is full."""
    log = FaultLog(3)
    assert note_invalid_utf8(b"\xff" * 1000, log)
    assert [fault.code for fault in log.freeze()] == ["utf8.invalid"] * 3 + ["faults.too-many"]
