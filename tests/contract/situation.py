"""One situation of a gateway as captures: what the upstream did, what the client was wrongly sent, and what is right.

Knows no clause.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from conformance.cassette.model import Envelope
from tests.contract.captures import Ask, Capture, Try, ask, capture

#: One or more attempts: bare envelopes are members m0, m1, ...; None: the upstream leg is not held; () no attempt.
Upstream = Envelope | Try | tuple[Envelope | Try, ...] | None


@dataclass(frozen=True, slots=True)
class Right:
    """A conforming reply, and the attempts that led to it."""

    reply: Envelope
    upstream: Upstream = None


@dataclass(frozen=True, slots=True)
class Report:
    """One wrong capture and the right ones for the same situation.

    `clauses` are those of which at least one is violated by the wrong reply; `told` is why it is reported and does not
    gate ("" for one that gates). A bare envelope among `right` answers after the same attempts as the wrong one.
    """

    id: str
    wrong: Envelope | None
    right: tuple[Envelope | Right, ...]
    clauses: frozenset[str]
    request: Ask
    upstream: Upstream = None
    capabilities: frozenset[str] = frozenset()
    told: str = ""


def report(
    id: str,
    *clauses: str,
    wrong: Envelope | None = None,
    right: Envelope | Right | Iterable[Envelope | Right] = (),
    up: Upstream = None,
    request: Ask | None = None,
    caps: str = "",
    told: str = "",
) -> Report:
    """A Report in a line; `caps` are the declared capabilities, divided by commas."""
    rights = (right,) if isinstance(right, Envelope | Right) else tuple(right)
    names = frozenset(caps.split(",")) if caps else frozenset()
    return Report(id, wrong, rights, frozenset(clauses), request or ask(), up, names, told)


def wrong_capture(item: Report) -> Capture:
    """The capture that has to be found wrong."""
    assert item.wrong is not None
    return capture(item.request, item.wrong, item.upstream, *sorted(item.capabilities))


def right_captures(item: Report) -> list[Capture]:
    """The captures in which nothing that gates may be violated."""
    found = []
    for right in item.right:
        reply, upstream = (right.reply, right.upstream) if isinstance(right, Right) else (right, item.upstream)
        found.append(capture(item.request, reply, upstream, *sorted(item.capabilities)))
    return found


def cases(reports: Iterable[Report]) -> tuple[list[tuple[str, Report]], list[tuple[str, Capture]]]:
    """The wrong ones and the right ones, each with a name for the test."""
    found = list(reports)
    wrong = [(item.id, item) for item in found if item.wrong is not None]
    right = [(f"{item.id}-{n}", one) for item in found for n, one in enumerate(right_captures(item))]
    return wrong, right
