"""The dispatches of the client's own request, in its own API, beside whatever else a gateway asks a model.

What the clauses on requests share; no clause stands here.
"""

from __future__ import annotations

from conformance.contract.clause import Finding
from conformance.contract.clauses.legs import speaks_of
from conformance.contract.evidence import at_exchange
from conformance.contract.when import failed
from conformance.exchange.model import Attempt, Endpoint, Exchange


def same_operation(x: Exchange) -> list[tuple[int, Attempt]]:
    """The dispatches in the client's own API whose bodies can be read, each with its number."""
    if x.request.doc is None or not isinstance(x.request.doc.value, dict):
        return []
    found = [
        (number, attempt)
        for number, attempt in enumerate(x.attempts or ())
        if attempt.request.endpoint is x.request.endpoint
        and attempt.request.endpoint is not Endpoint.OTHER
        and attempt.request.doc is not None
        and isinstance(attempt.request.doc.value, dict)
    ]
    # A gateway may ask a model about the request (a guard, a router): that is a request of its own beside the client's.
    mine = [(number, attempt) for number, attempt in found if speaks_of(x, attempt)]
    return mine or ([] if failed(x) else found)


def forwarded(x: Exchange) -> bool:
    """Whether there is one."""
    return bool(same_operation(x))


def at_request(x: Exchange, number: int, expected: str, actual: str) -> Finding:
    """A finding on what the member of a dispatch was sent."""
    return at_exchange(x, expected, actual, leg=f"upstream:{number}")
