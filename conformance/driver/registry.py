"""The drivers by name. A name becomes a Driver; what a driver needs is imported only when it is asked for.

The one place to add a driver to.
"""

from __future__ import annotations

from collections.abc import Callable

from conformance.driver.model import Driver
from conformance.errors import DriverError


def _wire() -> Driver:
    from conformance.driver.wire import WireDriver

    return WireDriver()


def _httpx() -> Driver:
    from conformance.driver.httpx_client import HttpxDriver

    return HttpxDriver()


def _openai_python() -> Driver:
    from conformance.driver.openai_python import OpenAIDriver

    return OpenAIDriver()


def _openai_python_async() -> Driver:
    from conformance.driver.openai_python import AsyncOpenAIDriver

    return AsyncOpenAIDriver()


def _openai_python_processes() -> Driver:
    from conformance.driver.relayed import python_processes

    return python_processes()


def _openai_node() -> Driver:
    from conformance.driver.relayed import node_processes

    return node_processes()


#: Every driver's name and how it is made.
DRIVERS: dict[str, Callable[[], Driver]] = {
    "wire": _wire,
    "httpx": _httpx,
    "openai-python": _openai_python,
    "openai-python-async": _openai_python_async,
    "openai-python-processes": _openai_python_processes,
    "openai-node": _openai_node,
}


def make_driver(name: str) -> Driver:
    """A new driver. Raises DriverError for an unknown name, or when a package that it needs is missing."""
    if name not in DRIVERS:
        raise DriverError(f"there is no driver {name!r}", hint=f"one of: {', '.join(DRIVERS)}")
    return DRIVERS[name]()
