"""Examples of the clauses on what the official SDK made of a reply."""

from __future__ import annotations

from typing import Any

from conformance.exchange.model import ClientView
from tests.contract.captures import Capture, ask, capture, chat, error, knowing, wire
from tests.contract.example import Example, Examples

OK = wire(chat())
BAD = wire(error("Bad."), status=400)


def read(reply: Any, exception: str = "", **fields: Any) -> Capture:
    """A reply and what the SDK raised."""
    return knowing(
        capture(ask(), reply),
        client=ClientView(name="openai-python", version="3.0", exception=exception, fields=fields),
    )


EXAMPLES: Examples = {
    "sdk.reads": Example((read(OK),), (read(OK, "JSONDecodeError", message="Expecting value"),)),
    "sdk.error.body": Example(
        (read(BAD, "BadRequestError", body={"message": "Bad."}),),
        (read(BAD, "BadRequestError", body=None), read(BAD, "JSONDecodeError"), read(BAD)),
    ),
}
