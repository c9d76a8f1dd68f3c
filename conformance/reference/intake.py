"""A client's HTTP request becomes a Call with a known lane, or is refused: method, key, body, members, model, in
that order.

Nothing is dispatched here, and nothing that fails here reaches a member.
"""

from __future__ import annotations

import hmac
import json
from typing import Any

from starlette.types import Receive, Scope

from conformance.reference.call import Call
from conformance.reference.config import Lane
from conformance.reference.errors import refuse
from conformance.reference.hangup import ClientGone
from conformance.reference.jsontext import parse_json
from conformance.reference.params import wrong_member
from conformance.reference.steps import Step


def check_method(call: Call, allowed: str) -> None:
    """Refuses a method that the path does not have."""
    if call.method not in allowed.split(", "):
        raise refuse(
            405,
            f"Not allowed to {call.method} on {call.path}.",
            code="method_not_allowed",
            headers=(("allow", allowed),),
        )


def check_key(call: Call) -> None:
    """Refuses a request without the gateway's key."""
    scheme, _, key = call.headers.get("authorization", "").partition(" ")
    known = scheme.lower() == "bearer" and hmac.compare_digest(key.strip().encode(), call.config.api_key.encode())
    if not known and call.does(Step.AUTHENTICATE):
        what = "Incorrect API key provided." if key else "You didn't provide an API key."
        raise refuse(401, what, code="invalid_api_key", headers=(("www-authenticate", "Bearer"),))


async def read_body(call: Call, receive: Receive) -> bytes:
    """The request's body. Refuses one past the limit, once it has been taken in; raises ClientGone."""
    limit = call.config.limits.body if call.does(Step.BODY_LIMIT) else 2**40
    parts: list[bytes] = []
    size = 0
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        size += len(message.get("body", b""))
        if size <= limit:
            parts.append(message.get("body", b""))
        elif size > 4 * limit:
            break
        more = message.get("more_body", False)
    if size > limit:
        raise refuse(
            413,
            f"The request body is larger than {limit} bytes.",
            code="request_too_large",
            headers=(("connection", "close"),),
        )
    return b"".join(parts)


def read_request(call: Call, body: bytes) -> None:
    """Reads the JSON body into the call. Refuses what the operation cannot be asked with."""
    try:
        doc = parse_json(body)
        text = body.decode("utf-8")
    except ValueError:
        raise refuse(400, "We could not parse the JSON body of your request.", code="invalid_json") from None
    if not isinstance(doc, dict):
        raise refuse(400, "The JSON body of your request is not an object.", code="invalid_type")
    call.doc, call.text = doc, text
    if call.operation is None or not call.does(Step.VALIDATE):
        return
    if wrong := wrong_member(call.operation, doc):
        name, meaning = wrong
        if doc.get(name) is None:
            raise refuse(400, f"Missing required parameter: '{name}'.", code="missing_required_parameter", param=name)
        raise refuse(400, f"Invalid value for '{name}': expected {meaning}.", code="invalid_type", param=name)


def find_lane(call: Call) -> Lane:
    """The lane that serves the model. Refuses a model that the gateway does not have."""
    lane = call.config.lanes.get(call.alias)
    if lane is None and not call.does(Step.KNOW_MODEL):
        lane = next(iter(call.config.lanes.values()))
    if lane is None:
        raise no_such_model(call.alias)
    call.lane = lane
    return lane


def no_such_model(name: str) -> Exception:
    """The refusal for a model that the gateway does not have; the name is the client's own, cut and on one line."""
    shown = json.dumps(name[:100], ensure_ascii=True)[1:-1]
    what = f"The model `{shown}` does not exist or you do not have access to it."
    return refuse(404, what, code="model_not_found", param="model")


def fields_of(scope: Scope) -> dict[str, str]:
    """The request's field lines by lower-case name; of a repeated one the first."""
    fields: dict[str, Any] = {}
    for name, value in scope["headers"]:
        fields.setdefault(name.decode("latin-1").lower(), value.decode("latin-1"))
    return fields
