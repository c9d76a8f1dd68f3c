"""Drivers are found by name, and what is missing is said with the way to get it."""

from __future__ import annotations

import sys

import pytest

from conformance.driver.registry import DRIVERS, make_driver
from conformance.driver.stack import load_stack
from conformance.errors import DriverError
from tests.driver.calls import prerequisite, run


@pytest.mark.parametrize("name", DRIVERS)
def test_every_driver_is_made(name: str) -> None:
    """Each driver carries its registry name and a version; one whose prerequisite is missing says how to get it."""
    if name == "openai-node" and (missing := prerequisite("openai-node")):
        pytest.skip(missing)
    driver = make_driver(name)
    assert driver.name == name
    assert driver.version
    run(driver.aclose())


def test_unknown_driver() -> None:
    """An unknown name is refused, with the known ones."""
    with pytest.raises(DriverError, match="openai-python-async"):
        make_driver("curl")


def test_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing package is a DriverError with the command that installs it."""
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(DriverError, match="pip install openai"):
        make_driver("openai-python")


def test_translated_exceptions() -> None:
    """A core exception becomes the client library's of the same name; any other stays what it is."""
    stack = load_stack("httpx")
    with pytest.raises(stack.http.ReadTimeout, match="late"), stack.translated():
        raise stack.core.ReadTimeout("late")
    with pytest.raises(KeyError), stack.translated():
        raise KeyError("own")
