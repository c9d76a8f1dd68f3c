"""The official Python SDK under the tap: OpenAI (in a thread) and AsyncOpenAI, one request for each call.

A call's parameters become the SDK method's arguments, those that the method does not know go through `extra_body`.
Works with SDKs on httpx (before 3) and on httpx2 (from 3 on). What the SDK returns or raises becomes the client's view.
"""

from __future__ import annotations

import asyncio
import inspect
import ssl
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from operator import attrgetter
from typing import Any
from urllib.parse import unquote

from conformance.driver.model import Call, Capture
from conformance.driver.request import locate
from conformance.driver.stack import Stack, load, load_stack
from conformance.driver.tape import Tape
from conformance.driver.tapped import MAX_THREADS, converse, converse_in_thread
from conformance.driver.transport import async_client, sync_client
from conformance.driver.view import View
from conformance.errors import DriverError
from conformance.exchange.model import Endpoint

#: The SDK's method for each operation.
METHODS = {
    Endpoint.CHAT: "chat.completions.create",
    Endpoint.COMPLETIONS: "completions.create",
    Endpoint.EMBEDDINGS: "embeddings.create",
    Endpoint.RESPONSES: "responses.create",
    Endpoint.MODELS: "models.list",
    Endpoint.MODEL: "models.retrieve",
}


class AsyncOpenAIDriver:
    """AsyncOpenAI, one client for each API root and key, `max_retries=0`, redirects not followed."""

    name = "openai-python-async"

    def __init__(self, *, ssl_context: ssl.SSLContext | None = None) -> None:
        self._sdk = load("openai")
        self._stack = sdk_stack(self._sdk)
        self._http = async_client(self._stack, ssl_context)
        self._clients: dict[tuple[str, str], Any] = {}
        self.version: str = self._sdk.__version__

    async def send(self, call: Call) -> Capture:
        """Send the call once and return what happened. Raises DriverError for our own faults."""
        require_sendable(call)
        return await converse(call, self._stack, self._converse, name=self.name, version=self.version)

    async def aclose(self) -> None:
        """Close the clients."""
        await self._http.aclose()

    async def _converse(self, call: Call, view: View, tape: Tape) -> None:
        client = _client(self._clients, self._sdk.AsyncOpenAI, self._http, call)
        result = await _method(client, call)(**arguments(self._sdk, _method(client, call), call))
        if not isinstance(result, self._sdk.AsyncStream):
            view.keep(result)
            return
        view.start_stream()
        try:
            async for chunk in result:
                if view.add(chunk) == call.behaviour.after_events:
                    tape.leave()
                    return
        finally:
            await result.close()


class OpenAIDriver:
    """OpenAI, the blocking client: each call in a thread of its own, `max_retries=0`, redirects not followed."""

    name = "openai-python"

    def __init__(self, *, ssl_context: ssl.SSLContext | None = None) -> None:
        self._sdk = load("openai")
        self._stack = sdk_stack(self._sdk)
        self._http = sync_client(self._stack, ssl_context)
        self._clients: dict[tuple[str, str], Any] = {}
        self._threads = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="openai-python")
        self.version: str = self._sdk.__version__

    async def send(self, call: Call) -> Capture:
        """Send the call once and return what happened. Raises DriverError for our own faults."""
        require_sendable(call)
        return await converse_in_thread(
            call, self._stack, self._converse, self._threads, name=self.name, version=self.version
        )

    async def aclose(self) -> None:
        """Wait for the threads, close the clients."""
        await asyncio.to_thread(self._threads.shutdown)
        self._http.close()

    def _converse(self, call: Call, view: View, tape: Tape) -> None:
        client = _client(self._clients, self._sdk.OpenAI, self._http, call)
        result = _method(client, call)(**arguments(self._sdk, _method(client, call), call))
        if not isinstance(result, self._sdk.Stream):
            view.keep(result)
            return
        view.start_stream()
        try:
            for chunk in result:
                if view.add(chunk) == call.behaviour.after_events:
                    tape.leave()
                    return
        finally:
            result.close()


def sdk_stack(sdk: Any) -> Stack:
    """The HTTP stack that an installed SDK runs on: the one its own default client comes from."""
    roots = [kind.__module__.partition(".")[0] for kind in sdk.DefaultHttpxClient.__mro__]
    for name in ("httpx2", "httpx"):
        if name in roots:
            return load_stack(name)
    raise DriverError(f"openai {sdk.__version__} runs on an HTTP library that is not known here")


def require_sendable(call: Call) -> None:
    """Raises DriverError for a call that cannot be made through the SDK."""
    locate(call.base_url)
    if call.endpoint not in METHODS:
        raise DriverError(f"the SDK driver knows no operation {call.endpoint!r}", hint="use the wire driver")
    if call.body and not call.params and call.endpoint not in (Endpoint.MODELS, Endpoint.MODEL):
        raise DriverError("raw body bytes cannot be sent through the SDK", hint="use the wire or the httpx driver")


def arguments(sdk: Any, method: Any, call: Call) -> dict[str, Any]:
    """The keyword arguments for the SDK's method: known parameters by name, unknown ones in `extra_body`.

    Fields that the SDK would take from the environment (organization, project) are left out.
    """
    headers: dict[str, Any] = {"OpenAI-Organization": sdk.Omit(), "OpenAI-Project": sdk.Omit()}
    if not call.api_key:
        headers["Authorization"] = sdk.Omit()
    own = {name.lower() for name, _ in call.headers}
    headers = {name: value for name, value in headers.items() if name.lower() not in own} | dict(call.headers)
    if call.endpoint == Endpoint.MODELS:
        return {"extra_headers": headers, "extra_query": dict(call.params)}
    if call.endpoint == Endpoint.MODEL:
        return {"model": call.params.get("model", unquote(call.path.rpartition("/")[2])), "extra_headers": headers}
    known = _parameters(getattr(method, "__func__", method))
    given = {name: value for name, value in call.params.items() if name in known}
    extra = {name: value for name, value in call.params.items() if name not in known}
    return {**given, "extra_headers": headers, "extra_body": extra or None}


@cache
def _parameters(function: Any) -> frozenset[str]:
    names = inspect.signature(function).parameters
    return frozenset(names) - {"self", "timeout", "extra_headers", "extra_query", "extra_body"}


def _method(client: Any, call: Call) -> Any:
    return attrgetter(METHODS[Endpoint(call.endpoint)])(client)


def _client(clients: dict[tuple[str, str], Any], kind: Any, http: Any, call: Call) -> Any:
    key = (call.base_url, call.api_key)
    if key not in clients:
        secret = call.api_key or "unused"  # the SDK insists on one; `arguments` leaves the field out
        clients[key] = kind(base_url=call.base_url, api_key=secret, http_client=http, max_retries=0)
    return clients[key]
