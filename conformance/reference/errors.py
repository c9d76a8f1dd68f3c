"""An error becomes the API's envelope: {"error": {message, type, param, code}}, all four always there.

Pure. What may be said about a member's failure is decided before; the gateway's own refusals are worded here.
"""

from __future__ import annotations

from typing import Any

from conformance.reference.behaviour import ErrorReply, Fields
from conformance.reference.failure import Failure, type_of


class Refused(Exception):
    """The gateway answers with an error; nothing of an answer has been sent."""

    def __init__(self, reply: ErrorReply) -> None:
        super().__init__(str(reply.status))
        self.reply = reply


def envelope(
    message: str, kind: str, *, code: str | None = None, param: str | None = None, **extra: Any
) -> dict[str, Any]:
    """The error document."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code, **extra}}


def refuse(
    status: int, message: str, *, code: str | None = None, param: str | None = None, headers: Fields = ()
) -> Refused:
    """A refusal in the gateway's own words."""
    return Refused(
        ErrorReply(status=status, doc=envelope(message, type_of(status), code=code, param=param), headers=headers)
    )


def failure_doc(failure: Failure) -> dict[str, Any]:
    """The error document of a member's failure, for a body or for an event of a stream."""
    return envelope(failure.message, failure.type, code=failure.code, param=failure.param, **failure.extra)


def failed(failure: Failure) -> ErrorReply:
    """The error reply of a member's failure."""
    return ErrorReply(status=failure.status, doc=failure_doc(failure), headers=failure.headers)
