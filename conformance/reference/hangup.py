"""The watch over a client: work for it is cancelled as soon as it has gone.

Knows ASGI's `receive` and nothing of what the work is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.types import Receive

_T = TypeVar("_T")


class ClientGone(Exception):
    """The client went away; nobody is left to answer."""


async def while_there(receive: Receive, work: Coroutine[Any, Any, _T], poll: float = 0.0) -> _T:
    """The result of `work`, which is cancelled once the client is gone, `poll` seconds later. Raises ClientGone."""
    task, gone = asyncio.ensure_future(work), asyncio.ensure_future(_gone(receive, poll))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise ClientGone
    finally:
        gone.cancel()
        if not task.done():
            task.cancel()
            await asyncio.wait({task})


async def _gone(receive: Receive, poll: float) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    if poll:
        await asyncio.sleep(poll)
