"""Browsers: the answer to a preflight, and the field that lets a page read a response (Fetch Standard, section 3.2).

Pure: from a call to field lines. Any origin may call, with a key: there are no cookies.
"""

from __future__ import annotations

from conformance.reference.behaviour import Fields
from conformance.reference.call import Call

#: What a page may send. `*` would not cover Authorization.
ALLOWED_FIELDS = "authorization, content-type"


def is_preflight(call: Call) -> bool:
    """Whether a browser asks whether it may send a request."""
    asked = call.headers.get("origin") and call.headers.get("access-control-request-method")
    return call.method == "OPTIONS" and bool(asked)


def preflight_fields(call: Call) -> Fields:
    """The field lines of the answer to a preflight."""
    asked = call.headers.get("access-control-request-headers") or ALLOWED_FIELDS
    fields = (
        *readable(call),
        ("access-control-allow-methods", "GET, POST"),
        ("access-control-allow-headers", asked),
        ("access-control-max-age", "600"),
        ("x-request-id", call.request_id),
    )
    return call.behaviour.headers(fields, 204, call)


def readable(call: Call) -> Fields:
    """What lets the page that asked read the response; nothing where no page did."""
    return (("access-control-allow-origin", "*"),) if call.headers.get("origin") else ()
