"""The error envelope of a reply, as the clauses over errors ask for it. Pure."""

from __future__ import annotations

from typing import Any

from conformance.contract.when import api_failure, the_reply
from conformance.exchange.model import Exchange


def json_failure(x: Exchange) -> bool:
    """Whether a failure of the API came, with a body that is JSON."""
    doc = the_reply(x).doc if x.reply is not None else None
    return api_failure(x) and doc is not None and doc.ok


def body_of(x: Exchange) -> Any:
    """The value of the reply's JSON body; None where it is none."""
    doc = the_reply(x).doc
    return doc.value if doc is not None and doc.ok else None


def error_of(x: Exchange) -> dict[str, Any]:
    """The reply's `error` object; empty where there is none."""
    body = body_of(x)
    error = body.get("error") if isinstance(body, dict) else None
    return error if isinstance(error, dict) else {}


def enveloped(x: Exchange) -> bool:
    """Whether a failure of the API came with an `error` object."""
    body = body_of(x) if json_failure(x) else None
    return isinstance(body, dict) and isinstance(body.get("error"), dict)
