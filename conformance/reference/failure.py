"""A failed attempt in words for the client: its kind, status, message, and whether another member may be asked.

Data, and the failures that the gateway words itself; what a member's own error means is `classify`'s.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from conformance.reference.client import FaultKind, UpstreamFault


class Kind(StrEnum):
    """The kinds of failure; all but REQUEST are the member's, and allow another member."""

    CONNECT = "connect"
    TIMEOUT = "timeout"
    BROKEN = "broken"  # cut, malformed, or not what was asked for
    EMPTY = "empty"  # a success that holds nothing, or does not finish
    RETIRED = "retired"  # the member does not serve its model
    RATE_LIMIT = "rate-limit"
    QUOTA = "quota"
    AUTH = "auth"  # the gateway's own key was refused
    UNAVAILABLE = "unavailable"
    REQUEST = "request"  # the client's request itself is refused: any member would


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One failed attempt, already in words for the client. `headers` are the field lines that may be passed on.

    What it says of the member: `outage` counts against its health, `names_model` says that it does not serve its model,
    and `wait` are the seconds that it asked to be left alone for.
    """

    kind: Kind
    status: int
    message: str
    type: str
    code: str
    param: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)
    moves_on: bool = True
    outage: bool = False
    names_model: bool = False
    wait: float | None = None


class UpstreamFailed(Exception):
    """An attempt failed."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The alias that the client knows, and the texts that must not reach it with what stands in for each.

    With `raw`, a defect, messages go on as they came.
    """

    alias: str
    hidden: tuple[tuple[str, str], ...] = ()
    raw: bool = False


STATUS_OF_FAULT = {FaultKind.CONNECT: 503, FaultKind.TIMEOUT: 504, FaultKind.RESET: 502, FaultKind.BROKEN: 502}
KIND_OF_FAULT = {FaultKind.CONNECT: Kind.CONNECT, FaultKind.TIMEOUT: Kind.TIMEOUT}
TEXT_OF_FAULT = {
    FaultKind.CONNECT: "The model is unavailable: no connection to the upstream.",
    FaultKind.TIMEOUT: "The upstream did not answer in time.",
    FaultKind.RESET: "The upstream broke the connection.",
    FaultKind.BROKEN: "The upstream sent an incomplete or malformed response.",
}
CODE_OF_KIND = {
    Kind.CONNECT: "upstream_unreachable", Kind.TIMEOUT: "upstream_timeout", Kind.BROKEN: "upstream_error",
    Kind.EMPTY: "empty_response", Kind.RETIRED: "model_not_found", Kind.RATE_LIMIT: "rate_limit_exceeded",
    Kind.QUOTA: "insufficient_quota", Kind.AUTH: "upstream_authentication_failed", Kind.UNAVAILABLE: "upstream_error",
    Kind.REQUEST: "invalid_request",
}  # fmt: skip


#: The kinds of failure below HTTP's statuses, or inside a success, that count against a member's health.
OUTAGES = frozenset({Kind.CONNECT, Kind.TIMEOUT, Kind.BROKEN, Kind.EMPTY})


def type_of(status: int) -> str:
    """The API's error type for a status that brings none."""
    if status == 429:
        return "rate_limit_error"
    if status == 402:
        return "insufficient_quota"
    return "invalid_request_error" if status < 500 else "server_error"


def from_fault(fault: UpstreamFault) -> Failure:
    """The failure that a fault below HTTP's statuses is."""
    kind = KIND_OF_FAULT.get(fault.kind, Kind.BROKEN)
    return own_failure(kind, TEXT_OF_FAULT[fault.kind], STATUS_OF_FAULT[fault.kind])


def own_failure(kind: Kind, message: str, status: int = 502) -> Failure:
    """A failure in the gateway's own words."""
    return Failure(
        kind=kind, status=status, message=message, type=type_of(status), code=CODE_OF_KIND[kind], outage=kind in OUTAGES
    )
