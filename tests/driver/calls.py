"""Calls for the drivers' tests, and the way to run one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from typing import Any, TypeVar

from conformance.driver.model import Behaviour, Call, Capture, Deadlines, Driver
from conformance.driver.registry import make_driver
from conformance.errors import DriverError

T = TypeVar("T")

#: Deadlines for servers that answer: far away, so that a slow machine does not pass them.
FAR = Deadlines(connect=20, head=20, idle=20, exchange=30)
READ_ALL = Behaviour()
CHAT_PARAMS: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Say hello."}]}


def prerequisite(name: str) -> str:
    """What a driver lacks on this machine, with the way to get it; "" when nothing."""
    try:
        make_driver(name)
    except DriverError as error:
        return f"{error} ({error.hint})"
    return ""


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end in a loop of its own."""
    return asyncio.run(work)


def chat(base_url: str, *, stream: bool = False, behaviour: Behaviour = READ_ALL, deadlines: Deadlines = FAR) -> Call:
    """A chat completion call for any driver."""
    params = CHAT_PARAMS | ({"stream": True} if stream else {})
    return Call(
        base_url=base_url,
        path="/chat/completions",
        method="POST",
        endpoint="chat.completions",
        api_key="sk-test-1",
        body=json.dumps(params).encode(),
        params=params,
        behaviour=behaviour,
        deadlines=deadlines,
    )


async def send(name: str, call: Call) -> Capture:
    """One call with a driver of its own."""
    driver: Driver = make_driver(name)
    try:
        return await driver.send(call)
    finally:
        await driver.aclose()
