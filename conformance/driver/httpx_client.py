"""The httpx driver: plain httpx under the tap, as many users call an OpenAI-compatible endpoint without an SDK.

Sends the call's exact body; reads JSON, or the `data:` lines of a stream. (Not named httpx.py, so that it never shadows
the library.)
"""

from __future__ import annotations

import json
import ssl
from typing import Any

from conformance.driver.model import Call, Capture
from conformance.driver.request import locate
from conformance.driver.stack import load_stack
from conformance.driver.tape import Tape
from conformance.driver.tapped import converse
from conformance.driver.transport import async_client
from conformance.driver.view import View


class HttpxDriver:
    """Plain httpx (`stack` "httpx", or "httpx2" for its successor). Redirects are not followed."""

    def __init__(self, *, stack: str = "httpx", ssl_context: ssl.SSLContext | None = None) -> None:
        self._stack = load_stack(stack)
        self._client = async_client(self._stack, ssl_context)
        self.name = stack
        self.version = self._stack.version

    async def send(self, call: Call) -> Capture:
        """Send the call once and return what happened. Raises DriverError for our own faults."""
        locate(call.base_url)
        return await converse(call, self._stack, self._converse, name=self.name, version=self.version)

    async def aclose(self) -> None:
        """Close the client."""
        await self._client.aclose()

    async def _converse(self, call: Call, view: View, tape: Tape) -> None:
        url = call.base_url.rstrip("/") + call.path
        request = self._client.build_request(
            call.method, url, headers=_headers(call), content=call.body or None, timeout=None
        )
        response = await self._client.send(request, stream=True)
        try:
            if "event-stream" in response.headers.get("content-type", ""):
                await _read_stream(response, view, tape)
            else:
                view.keep(_json_or_text(await response.aread()))
        finally:
            await response.aclose()


async def _read_stream(response: Any, view: View, tape: Tape) -> None:
    view.start_stream()
    async for line in response.aiter_lines():
        if line.startswith("data:"):
            count = view.add(_json_or_text(line[5:].strip().encode()))
            if count == tape.behaviour.after_events:
                tape.leave()
                return


def _headers(call: Call) -> list[tuple[str, str]]:
    own = {name.lower() for name, _ in call.headers}
    fields = [("Authorization", f"Bearer {call.api_key}" if call.api_key else "")]
    fields.append(("Content-Type", "application/json" if call.body else ""))
    return [(name, value) for name, value in fields if value and name.lower() not in own] + list(call.headers)


def _json_or_text(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return data.decode("utf-8", "replace")
