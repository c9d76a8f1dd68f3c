"""What is sent to the client: a JSON body, an error, or a stream part by part as it comes.

The one place that writes to ASGI's `send`. A client that does not read is waited for, but not for ever.
"""

from __future__ import annotations

import asyncio

from starlette.types import Send

from conformance.reference.accept import Accepted
from conformance.reference.behaviour import Fields
from conformance.reference.cache import Stored
from conformance.reference.call import Call
from conformance.reference.errors import Refused
from conformance.reference.hangup import ClientGone
from conformance.reference.relay import error_answer, kept_answer, stream_bytes, stream_fields


async def send_json(reply: tuple[Fields, bytes], send: Send, status: int = 200) -> None:
    fields, body = reply
    await _start(send, status, fields)
    await send({"type": "http.response.body", "body": body})


async def send_nothing(fields: Fields, send: Send) -> None:
    """A success without a body."""
    await send_json((fields, b""), send, 204)


async def send_error(call: Call, refused: Refused, send: Send) -> None:
    status, fields, body = error_answer(call, refused.reply)
    await send_json((fields, body), send, status)


async def send_stream(call: Call, accepted: Accepted, send: Send) -> None:
    await _start(send, 200, stream_fields(call, accepted))
    try:
        async for data in stream_bytes(call, accepted):
            if data:
                async with asyncio.timeout(call.config.timeouts.write):
                    await send({"type": "http.response.body", "body": data, "more_body": True})
    except TimeoutError:
        raise ClientGone from None  # it keeps the connection and reads nothing: as good as gone
    await send({"type": "http.response.body", "body": b""})


async def send_kept(call: Call, stored: Stored, send: Send) -> None:
    """An answer from memory."""
    await send_json(kept_answer(call, stored), send)


async def _start(send: Send, status: int, fields: Fields) -> None:
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in fields]
    await send({"type": "http.response.start", "status": status, "headers": headers})
