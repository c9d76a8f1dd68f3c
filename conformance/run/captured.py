"""Captured cassettes -> the report of their verdicts, without running anything."""

from __future__ import annotations

from collections.abc import Sequence

from conformance import __version__
from conformance.capture import exchanges
from conformance.cassette.model import Cassette
from conformance.contract.clause import Clause
from conformance.contract.judge import judge as judge_exchange
from conformance.options import JudgeOptions, unjudged
from conformance.report.evidence import case_of, requirement_of
from conformance.report.gate import close
from conformance.report.model import Report, RunHeader
from conformance.run.header import now


def _notes(options: JudgeOptions) -> dict[str, str]:
    unknown = unjudged(options.capabilities)
    return {"declared, but judged by no clause:": ", ".join(unknown)} if unknown else {}


def judge(options: JudgeOptions, client: Cassette, upstream: Cassette | None, clauses: Sequence[Clause]) -> Report:
    """The report on each interaction of the client leg. Raises CassetteError."""
    cases = []
    found = exchanges(client, upstream, options.capabilities)
    for exchange in found:
        cases.append(
            case_of(
                exchange,
                judge_exchange(exchange, clauses),
                scenario=exchange.name,
                title=client.title,
                case=exchange.name,
                upstream=tuple(attempt.sent for attempt in exchange.attempts or ()),
            )
        )
    header = RunHeader(
        target=client.name,
        target_kind="capture",
        capabilities=tuple(sorted(options.capabilities)),
        suite_version=__version__,
        started_at=now(),
        requirements=tuple(requirement_of(clause) for clause in clauses),
        defaults=_notes(options),
        drivers=("capture",),
        command=options.command,
        mode="judge",
        planned=len(cases),
    )
    return close(header, cases, ended_at=now())
