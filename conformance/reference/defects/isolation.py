"""Defects of isolation: a key or a conversation of one request that goes along with the next."""

from __future__ import annotations

import json

from conformance.reference.behaviour import Behaviour, Fields
from conformance.reference.call import Call
from conformance.reference.config import Member
from conformance.reference.defects.entry import defect


def _key_kept(headers: Fields, member: Member, call: Call) -> Fields:
    """The client of a lane keeps the last key that a request brought for a member."""
    kept: dict[str, str] = call.shared.setdefault("keys", {})
    if brought := call.headers.get("x-api-key"):
        kept[call.alias] = brought
    key = kept.get(call.alias)
    return tuple((name, f"Bearer {key}" if key and name == "Authorization" else value) for name, value in headers)


def _instructions_kept(body: bytes, member: Member, call: Call) -> bytes:
    """A lane's instructions are one object: those of one request stay for the next that has none."""
    kept: dict[str, object] = call.shared.setdefault("instructions", {})
    doc = json.loads(body)
    messages = doc.get("messages") if isinstance(doc, dict) else None
    if not isinstance(messages, list):
        return body
    own = [message for message in messages if isinstance(message, dict) and message.get("role") == "system"]
    if own:
        kept[call.alias] = own[0]
    elif call.alias in kept:
        return json.dumps({**doc, "messages": [kept[call.alias], *messages]}).encode()
    return body


TABLE = (
    # BerriAI/litellm#36794
    defect(
        "key-sticks",
        "A key that one request brings for the member is used for the lane's later requests, too",
        "isolation.key relay.request.key",
        Behaviour(request_headers=_key_kept),
        "isolation.keys",
    ),
    # python-a2a#97
    defect(
        "instructions-stick",
        "The instructions of one request go along with the lane's later requests",
        "isolation.state",
        Behaviour(request_body=_instructions_kept),
        "isolation.instructions",
    ),
)
