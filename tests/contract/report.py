"""A public report as captures: what a reporter saw is the wrong one, what a conforming side sends is the right one.

A report is judged as an endpoint that answers so itself, and as a gateway whose member answered so. Knows no clause.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from conformance.cassette.model import Envelope
from tests.contract.captures import Ask, Capture, Try, capture


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One report. Of `clauses` at least one is violated by the wrong capture (one that gates, if `gates`).

    `wrong` None: the report shows nothing wrong on the wire. `upstream` is the upstream leg (None: a member answered
    the wrong envelope, and the wrong gateway relays it as it is). `direct` and `relayed` say in which setting the wrong
    one is wrong; `answers` is whether the right ones are judged beside that upstream leg too. `why` is the reason for
    what does not gate or is left out.
    """

    id: str
    ask: Ask
    right: tuple[Envelope, ...]
    wrong: Envelope | None = None
    clauses: tuple[str, ...] = ()
    upstream: tuple[Envelope | Try, ...] | None = None
    capabilities: tuple[str, ...] = ()
    gates: bool = True
    direct: bool = True
    relayed: bool = True
    answers: bool = True
    why: str = ""


@dataclass(frozen=True, slots=True)
class Trial:
    """One capture of a report, in one setting."""

    name: str
    report: Report
    capture: Capture


def _legs(report: Report) -> tuple[Envelope | Try, ...]:
    if report.upstream is not None:
        return report.upstream
    return (report.wrong,) if report.wrong is not None else ()


def _trial(report: Report, setting: str, reply: Envelope, upstream: tuple[Envelope | Try, ...] | None) -> Trial:
    name = f"{report.id} {setting}"
    return Trial(name, report, replace(capture(report.ask, reply, upstream, *report.capabilities), name=name))


def wrong_trials(reports: Iterable[Report]) -> list[Trial]:
    """The captures that violate a clause: the endpoint's own answer, and the gateway that relays it."""
    trials = []
    for report in reports:
        if report.wrong is None:
            continue
        if report.direct:
            trials.append(_trial(report, "direct", report.wrong, None))
        if report.relayed:
            trials.append(_trial(report, "relayed", report.wrong, _legs(report)))
    return trials


def right_trials(reports: Iterable[Report]) -> list[Trial]:
    """The captures that violate nothing that gates: a conforming endpoint, a conforming gateway before that member."""
    trials = []
    for report in reports:
        for number, reply in enumerate(report.right):
            trials.append(_trial(report, f"right {number} direct", reply, None))
            if report.answers and _legs(report):
                trials.append(_trial(report, f"right {number} relaying", reply, _legs(report)))
    return trials
