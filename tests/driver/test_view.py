"""A client's objects and exceptions become bounded JSON facts."""

from __future__ import annotations

import json
from typing import Any

from conformance.driver.tape import HungUp
from conformance.driver.view import MAX_FIELD, View, as_json, exception_fields


class Dumping:
    """An SDK object."""

    def __init__(self, dumped: Any) -> None:
        self.dumped = dumped

    def model_dump(self, **options: Any) -> Any:
        if isinstance(self.dumped, Exception):
            raise self.dumped
        return self.dumped


def test_values() -> None:
    """Objects give their dump, JSON values themselves, anything else its text; a failing dump is no failure."""
    assert as_json(Dumping({"a": 1})) == {"a": 1}
    assert as_json(["x", 1.5, None]) == ["x", 1.5, None]
    assert as_json(b"raw") == "b'raw'"
    assert "Dumping" in as_json(Dumping(ValueError("no")))


def test_stream_and_exception() -> None:
    """Chunks and the exception after them are both kept."""
    view = View()
    view.start_stream()
    assert (view.add(Dumping(1)), view.add(Dumping(2))) == (1, 2)
    view.error = KeyError("x")
    record = view.record("client", "1")
    assert (record.parsed, record.exception, record.fields) == ([1, 2], "KeyError", {"message": "'x'"})


def test_hang_up_is_no_exception() -> None:
    """The way out of a hang-up is not the client's exception, wrapped or not."""
    view = View()
    wrapped = RuntimeError("connection error")
    wrapped.__cause__ = HungUp()
    for view.error in (HungUp(), wrapped):
        assert view.record("client", "1").exception == ""


def test_fields_are_bounded() -> None:
    """A huge or unspeakable body is cut to text; a small one stays JSON."""
    error = RuntimeError("long" * MAX_FIELD)
    error.body = {"pad": "x" * MAX_FIELD}  # type: ignore[attr-defined]
    error.code = {1, 2}  # type: ignore[attr-defined]
    error.status_code = 404  # type: ignore[attr-defined]
    fields = exception_fields(error)
    assert len(fields["message"]) == MAX_FIELD
    assert len(fields["body"]) == MAX_FIELD
    assert fields["code"] == "{1, 2}"
    assert fields["status_code"] == 404
    json.dumps(fields)
