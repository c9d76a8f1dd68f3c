"""Drivers whose client is a process of its own, seen through the relay: several SDK processes against one gateway.

A call goes to a child as its parameters, the child's bytes pass the relay, and the relay's record of them is the
capture. Calls are dealt among the children, as a test runner deals files among its workers.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from conformance.driver.children import Children
from conformance.driver.model import Call, Capture
from conformance.driver.openai_python import require_sendable
from conformance.driver.relay import Relay, nonce_in
from conformance.driver.request import Place, locate
from conformance.driver.stack import load
from conformance.errors import DriverError
from conformance.exchange.model import ClientView, Endpoint

#: How many processes share the calls.
PROCESSES = 4
#: How long the capture may come after the child's answer, in seconds.
GRACE = 5.0
NODE = Path(__file__).parent / "node"
NODE_VARIABLE = "CONFORMANCE_NODE"


class RelayedDriver:
    """Children of one command behind a relay for each gateway. Belongs to one event loop."""

    def __init__(self, name: str, command: tuple[str, ...], *, version: str, processes: int = PROCESSES) -> None:
        self.name, self.version = name, version
        self._children = Children(command, processes)
        self._relays: dict[Place, Relay] = {}
        self._starting = asyncio.Lock()
        self._nameless = asyncio.Lock()

    async def send(self, call: Call) -> Capture:
        """Send the call once, through the next child. Raises DriverError for our own faults."""
        require_sendable(call)
        _ = call.behaviour.after_events
        relay = await self._relay(locate(call.base_url))
        nonce = nonce_in(call.body)
        if nonce:
            return await self._pass(call, relay, nonce)
        async with self._nameless:  # a request without a nonce is known by being the only one
            return await self._pass(call, relay, nonce)

    async def aclose(self) -> None:
        """End the children and the relays."""
        await self._children.stop()
        for relay in self._relays.values():
            await relay.aclose()
        self._relays.clear()

    async def _relay(self, place: Place) -> Relay:
        async with self._starting:
            if place not in self._relays:
                relay = Relay(place)
                await relay.start()
                self._relays[place] = relay
        return self._relays[place]

    async def _pass(self, call: Call, relay: Relay, nonce: bytes) -> Capture:
        hello = await self._children.ready()
        expected = relay.expect(nonce, call.deadlines, call.behaviour)
        try:
            answer = await self._children.ask(question(call, relay.port))
            async with asyncio.timeout(GRACE + (call.deadlines.exchange if expected.claimed else 0.0)):
                capture = await expected.done
        except TimeoutError:
            told = answer.get("fields", {}).get("message", answer)
            raise DriverError(f"{self.name} refused the call before sending anything: {told}") from None
        finally:
            relay.forget(nonce)
        return replace(capture, client=_view(answer, hello, left=capture.hangup is not None))


def question(call: Call, port: int) -> dict[str, Any]:
    """What a child is asked: the operation with its parameters, where to send it, and when to go away."""
    place = locate(call.base_url)
    params = dict(call.params)
    if call.endpoint == Endpoint.MODEL:
        params = {"model": params.get("model", unquote(call.path.rpartition("/")[2]))}
    return {
        "base_url": f"http://127.0.0.1:{port}{place.prefix}",
        "api_key": call.api_key,
        "endpoint": call.endpoint,
        "params": params,
        "headers": dict(call.headers),
        "events": call.behaviour.after_events,
        "pause_ms": call.behaviour.pause_ms,
        "timeout": call.deadlines.exchange + GRACE,
    }


def _view(answer: dict[str, Any], hello: dict[str, Any], *, left: bool) -> ClientView:
    """What the SDK made of it. The way out of a hang-up is the harness's own doing, and no exception."""
    return ClientView(
        name=str(hello.get("name", "")),
        version=str(hello.get("version", "")),
        parsed=answer.get("parsed"),
        exception="" if left else str(answer.get("exception", "")),
        fields={} if left else dict(answer.get("fields", {})),
    )


def python_processes() -> RelayedDriver:
    """The official Python SDK in several processes. Raises DriverError where the package is missing."""
    command = (sys.executable, "-m", "conformance.driver.sdk_worker")
    return RelayedDriver("openai-python-processes", command, version=load("openai").__version__)


def node_processes() -> RelayedDriver:
    """The official Node SDK in several processes. Raises DriverError where Node or the package is missing."""
    node = shutil.which("node")
    folder = Path(os.environ.get(NODE_VARIABLE, "") or NODE)
    package = folder / "node_modules" / "openai" / "package.json"
    if node is None:
        raise DriverError("there is no node on the PATH", hint="install Node.js 20 or newer")
    if not package.is_file():
        hint = f"npm ci in {NODE}, or name a folder whose node_modules holds openai in {NODE_VARIABLE}"
        raise DriverError("the npm package openai is not installed", where=str(folder), hint=hint)
    version = str(json.loads(package.read_text(encoding="utf-8"))["version"])
    return RelayedDriver("openai-node", (node, str(NODE / "runner.mjs"), str(folder)), version=version)
