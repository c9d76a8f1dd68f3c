"""A child that holds the official Python SDK: `python -m conformance.driver.sdk_worker`.

Reads calls, a JSON line each, from standard input; holds each with AsyncOpenAI, `max_retries=0`, many at a time; writes
what the SDK returned or raised, a JSON line each. Ends with its input.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import openai

from conformance.driver.children import LINE
from conformance.driver.model import Call
from conformance.driver.openai_python import METHODS, arguments
from conformance.driver.view import View
from conformance.exchange.model import Endpoint


class Worker:
    """The SDK clients of this process, one for each API root and key."""

    def __init__(self) -> None:
        self._clients: dict[tuple[str, str], openai.AsyncOpenAI] = {}

    async def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """What came of one call."""
        view = View()
        try:
            await self._converse(asked, view)
        except Exception as error:
            view.error = error
        seen = view.record("openai-python", openai.__version__)
        return {"id": asked["id"], "parsed": seen.parsed, "exception": seen.exception, "fields": seen.fields}

    async def _converse(self, asked: dict[str, Any], view: View) -> None:
        client = self._client(asked["base_url"], asked["api_key"], asked["timeout"])
        method: Any = client
        for name in METHODS[Endpoint(asked["endpoint"])].split("."):
            method = getattr(method, name)
        result = await method(**arguments(openai, method, _call(asked)))
        if not isinstance(result, openai.AsyncStream):
            view.keep(result)
            return
        view.start_stream()
        async for chunk in result:
            if view.add(chunk) == asked["events"]:
                break
            if asked["pause_ms"]:
                await asyncio.sleep(asked["pause_ms"] / 1000)
        await result.close()

    def _client(self, base_url: str, api_key: str, timeout: float) -> openai.AsyncOpenAI:
        key = (base_url, api_key)
        if key not in self._clients:
            secret = api_key or "unused"
            self._clients[key] = openai.AsyncOpenAI(base_url=base_url, api_key=secret, timeout=timeout, max_retries=0)
        return self._clients[key]


def _call(asked: dict[str, Any]) -> Call:
    return Call(
        base_url=asked["base_url"],
        path="",
        method="",
        endpoint=asked["endpoint"],
        api_key=asked["api_key"],
        params=asked["params"],
        headers=tuple(asked["headers"].items()),
    )


async def main() -> None:
    """Serve until standard input ends."""
    reader = asyncio.StreamReader(limit=LINE)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    worker = Worker()
    say({"name": "openai-python", "version": openai.__version__})
    tasks: set[asyncio.Task[None]] = set()

    async def serve(line: bytes) -> None:
        say(await worker.answer(json.loads(line)))

    while line := await reader.readline():
        task = asyncio.create_task(serve(line))
        tasks.add(task)
        task.add_done_callback(tasks.discard)


def say(line: dict[str, Any]) -> None:
    """Write one line."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main())
