"""One tapped call from start to end: tape, client, what the client left unread, capture. Asynchronous and in a thread.

Knows no particular client: a conversation is a function that sends the call with one and fills the view. What the
client raises is a fact of the capture; what it refuses before anything reached the network is a DriverError.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

from conformance.driver.blocking_tap import SyncTap
from conformance.driver.model import FEWER, Call, Capture
from conformance.driver.stack import Stack
from conformance.driver.tap import AsyncTap, recording
from conformance.driver.tape import Tape
from conformance.driver.view import View
from conformance.errors import DriverError

#: Blocking calls at once; each has a thread, made only when no idle one is left.
MAX_THREADS = 512


async def converse(
    call: Call, stack: Stack, conversation: Callable[[Call, View, Tape], Awaitable[None]], *, name: str, version: str
) -> Capture:
    """Hold one asynchronous conversation under a tap. Raises DriverError for our own faults."""
    tap = AsyncTap(_tape(call), stack)
    view = View()
    try:
        with recording(tap):
            try:
                await conversation(call, view, tap.tape)
            except DriverError:
                raise
            except Exception as error:
                view.error = error
        await tap.finish()
    finally:
        await tap.close()
    return _capture(tap, view, name, version)


async def converse_in_thread(
    call: Call,
    stack: Stack,
    conversation: Callable[[Call, View, Tape], None],
    threads: ThreadPoolExecutor,
    *,
    name: str,
    version: str,
) -> Capture:
    """Hold one blocking conversation under a tap, in a thread. Cancelling ends its socket waits at once."""
    tap = SyncTap(_tape(call), stack)
    view = View()

    def hold() -> None:
        try:
            with recording(tap):
                try:
                    conversation(call, view, tap.tape)
                except DriverError:
                    raise
                except Exception as error:
                    view.error = error
            tap.finish()
        finally:
            tap.disconnect()

    try:
        await asyncio.get_running_loop().run_in_executor(threads, hold)
    except asyncio.CancelledError:
        tap.abort()
        raise
    return _capture(tap, view, name, version)


def _tape(call: Call) -> Tape:
    return Tape(method=call.method, behaviour=call.behaviour, deadlines=call.deadlines)


def _capture(tap: AsyncTap | SyncTap, view: View, name: str, version: str) -> Capture:
    tap.assert_one_connection()
    if not tap.tape.over:
        raise DriverError(f"{name} refused the call before sending anything: {view.error!r}") from view.error
    if tap.tape.lack:
        raise DriverError(f"no connection can be made here: {tap.tape.lack}", where=name, hint=FEWER)
    return Capture(transcript=tap.tape.transcript(), hangup=tap.tape.hangup, client=view.record(name, version))
