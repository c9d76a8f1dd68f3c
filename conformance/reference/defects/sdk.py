"""Defects that the official SDK stumbles over: what it raises where an answer, or an error's cause, was meant."""

from __future__ import annotations

import dataclasses

from conformance.reference.behaviour import Behaviour, ErrorReply, Moment
from conformance.reference.call import Call
from conformance.reference.defects.entry import defect
from conformance.reference.defects.hooks import at


def _ping_with_id(frames: list[bytes]) -> list[bytes]:
    return [b"id: 1\n\n", *frames]


def _as_text(error: ErrorReply, call: Call) -> ErrorReply:
    return dataclasses.replace(error, doc={"error": error.doc["error"]["message"]})


TABLE = (
    # theopenco/llmgateway#2334: the SDK parses the data of an event that has none
    defect(
        "ping-that-the-sdk-parses",
        "A ping has an id and no data, which the SDK takes for a chunk",
        "sdk.reads stream.event.has-data",
        Behaviour(frames=at(Moment.CHUNKS, _ping_with_id)),
    ),
    defect(
        "error-as-bare-text",
        "The member error of an error body is a text",
        "sdk.error.body error.envelope.object relay.error.code-kept error.unserved.envelope",
        Behaviour(error=_as_text),
    ),
)
