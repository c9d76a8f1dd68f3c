"""Child processes that hold an SDK: one JSON line asks, one JSON line answers, many at a time in each child.

Starts the children, deals calls among them in turn, and ends them. Knows neither SDK nor HTTP: what is asked and
answered is the workers' matter. A child ends by itself when its standard input does.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from conformance.errors import DriverError

#: The longest answer, in bytes; how long a child may take to start and to end, in seconds.
LINE, START, STOP = 128 * 1024 * 1024, 60.0, 3.0


class Child:
    """One process. `hello` is the first line that it said: the SDK's name and version."""

    def __init__(self, process: asyncio.subprocess.Process, command: Sequence[str]) -> None:
        self._process, self._command = process, command
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._reading: asyncio.Task[None] | None = None
        self.hello: dict[str, Any] = {}

    @classmethod
    async def start(cls, command: Sequence[str]) -> Child:
        """Start a child and wait for its hello. Raises DriverError."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, env=kept, limit=LINE)
        except OSError as error:
            raise DriverError(f"cannot be started: {error.strerror}", where=command[0]) from error
        child = cls(process, command)
        try:
            assert process.stdout is not None
            async with asyncio.timeout(START):
                line = await process.stdout.readline()
            child.hello = json.loads(line)
        except (TimeoutError, ValueError) as error:
            await child.stop()
            raise DriverError(f"the SDK's process said no hello: {error}", where=" ".join(command)) from error
        child._reading = asyncio.create_task(child._read())
        return child

    async def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """The child's answer. Raises DriverError when it is gone."""
        number = next(self._numbers)
        future = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(question | {"id": number}).encode() + b"\n")
            await self._process.stdin.drain()
            answer: dict[str, Any] = await future
            return answer
        except OSError as error:
            raise self._gone() from error
        finally:
            self._waiting.pop(number, None)

    async def stop(self) -> None:
        """End the child, and wait for it."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            async with asyncio.timeout(STOP):
                await self._process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    async def _read(self) -> None:
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            answer = json.loads(line)
            future = self._waiting.get(answer.pop("id", 0))
            if future is not None and not future.done():
                future.set_result(answer)
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(self._gone())

    def _gone(self) -> DriverError:
        return DriverError("the SDK's process ended", where=" ".join(self._command))


class Children:
    """So many children of one command, started when first asked."""

    def __init__(self, command: Sequence[str], count: int) -> None:
        self._command, self._count = tuple(command), count
        self._children: list[Child] = []
        self._starting = asyncio.Lock()
        self._turn = itertools.count()

    async def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """The next child's answer. Raises DriverError."""
        await self.ready()
        return await self._children[next(self._turn) % len(self._children)].ask(question)

    async def ready(self) -> dict[str, Any]:
        """See to it that they run; what they are. Raises DriverError."""
        async with self._starting:
            if not self._children:
                self._children = list(await asyncio.gather(*(Child.start(self._command) for _ in range(self._count))))
        return self._children[0].hello

    async def stop(self) -> None:
        """End them all."""
        children, self._children = self._children, []
        await asyncio.gather(*(child.stop() for child in children))
