"""Whether a fault came from the member: a gateway is held to what it relays, not to what its member did wrong itself.

From a check and an exchange to the findings that the gateway has to answer for; no clause stands here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import wraps

from conformance.contract.clause import Finding
from conformance.contract.when import serving
from conformance.exchange.model import Exchange

Findings = Callable[[Exchange], Iterator[Finding]]


def of_member(x: Exchange) -> Exchange | None:
    """The serving member's own leg as an exchange by itself; None where it is not held, or speaks another API."""
    attempt = serving(x)
    if attempt is None or attempt.reply is None or attempt.request.endpoint is not x.request.endpoint:
        return None
    return replace(x, request=attempt.request, reply=attempt.reply, attempts=None)


def own(check: Findings) -> Findings:
    """The check without findings where the member's own answer has any: the fault is not the gateway's."""

    @wraps(check)
    def checked(x: Exchange) -> Iterator[Finding]:
        found = iter(check(x))
        first = next(found, None)
        if first is None:
            return
        member = of_member(x)
        if member is None or next(iter(check(member)), None) is None:
            yield first
            yield from found

    return checked
