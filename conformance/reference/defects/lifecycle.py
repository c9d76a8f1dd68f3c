"""Defects of a request's life: what it leaves behind, how late its end is seen, what is read ahead of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from conformance.reference.behaviour import Behaviour
from conformance.reference.call import Call
from conformance.reference.config import Member
from conformance.reference.defects.entry import defect
from conformance.reference.errors import refuse
from conformance.reference.hangup import ClientGone
from conformance.reference.jsontext import encode_json

#: What makes a request what it is, and is in each of them.
_OWN = frozenset({"model", "messages", "input", "prompt", "stream", "stream_options"})


def _sticky(body: bytes, member: Member, call: Call) -> bytes:
    """The parameters of a lane are one object: what one request sets stays set for the next that does not."""
    lane: dict[str, Any] = call.shared.setdefault(f"parameters of {call.alias}", {})
    left = {name: value for name, value in lane.items() if name not in call.doc}
    lane.update({name: value for name, value in call.doc.items() if name not in _OWN})
    if not left or not isinstance(json.loads(body), dict):
        return body
    return body.rstrip().removesuffix(b"}") + b"," + encode_json(left).removeprefix(b"{")


@asynccontextmanager
async def _poisoned(call: Call) -> AsyncIterator[None]:
    """A stream whose client went leaves a broken connection for the lane's next request."""
    broken: set[str] = call.shared.setdefault("broken", set())
    if call.alias in broken:
        broken.remove(call.alias)
        raise refuse(503, "The connection is in use.", code="connection_busy")
    try:
        yield
    except ClientGone:
        if call.stream:
            broken.add(call.alias)
        raise


async def _read_ahead(parts: AsyncIterator[bytes], call: Call) -> AsyncIterator[bytes]:
    """The member is read as fast as it sends, into a queue without bound."""
    queue: asyncio.Queue[bytes | None] = asyncio.Queue()

    async def read() -> None:
        try:
            async for part in parts:
                queue.put_nowait(part)
        finally:
            queue.put_nowait(None)

    reading = asyncio.ensure_future(read())
    try:
        while (part := await queue.get()) is not None:
            yield part
    finally:
        reading.cancel()


TABLE = (
    # BerriAI/litellm#13419
    defect(
        "parameters-stick",
        "A parameter that one request sets is sent with the lane's later requests, too",
        "isolation.state relay.request.nothing-added relay.request.defaults",
        Behaviour(request_body=_sticky),
        "isolation.parameters",
    ),
    defect(
        "hangup-breaks-the-next",
        "A client that hangs up in a stream leaves a broken connection for the next request",
        "alive.after",
        Behaviour(around=_poisoned),
        "isolation.after-hang-up",
    ),
    # incident F: cancelling closes the upstream connection at once
    defect(
        "hangup-polled",
        "Whether the client is still there is looked at once a second",
        "cancel.in-time",
        Behaviour(hangup_poll=1.0),
        "lifecycle.cancel-before-head lifecycle.cancel-in-silence",
    ),
    defect(
        "member-read-ahead",
        "A member is read as fast as it sends, however slow the client is",
        "backpressure.bounded",
        Behaviour(flow=_read_ahead),
        "weight.slow-reader",
    ),
)
