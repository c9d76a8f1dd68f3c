"""Captured cassettes -> the report of their verdicts, without running anything."""

from __future__ import annotations

from collections.abc import Sequence

from conformance import __version__
from conformance.capture import exchanges
from conformance.cassette.model import Cassette
from conformance.contract.clause import Clause, Outcome, Scope
from conformance.contract.judge import judge as judge_exchange
from conformance.contract.judge import judge_sequence
from conformance.exchange.model import Exchange
from conformance.exchange.sequence import Sequence as InOrder
from conformance.exchange.sequence import Turn
from conformance.options import JudgeOptions, unjudged
from conformance.report.evidence import case_of, case_of_sequence, requirement_of
from conformance.report.gate import close
from conformance.report.model import Case, Report, RunHeader
from conformance.run.header import now


def _notes(options: JudgeOptions) -> dict[str, str]:
    unknown = unjudged(options.capabilities)
    return {"declared, but judged by no clause:": ", ".join(unknown)} if unknown else {}


#: Areas of clauses on sequences that ask for the order alone: a capture does not say when its requests were sent.
_ORDERED = ("cache.", "isolation.")


def _sequences(
    options: JudgeOptions, client: Cassette, found: Sequence[Exchange], clauses: Sequence[Clause]
) -> list[Case]:
    """A case for the requests of each model one after the other, where a clause on sequences applies to them."""
    ordered = [clause for clause in clauses if clause.scope is Scope.SEQUENCE and clause.id.startswith(_ORDERED)]
    cases = []
    for model in dict.fromkeys(exchange.request.model for exchange in found):
        turns: list[Turn] = []
        for exchange in (exchange for exchange in found if exchange.request.model == model):
            turns.append(Turn(exchange=exchange, began=turns[-1].ended + 1 if turns else 0.0, step=len(turns) + 1))
        sequence = InOrder(name=f"{client.name}: in order", turns=tuple(turns), capabilities=options.capabilities)
        verdicts = judge_sequence(sequence, ordered) if len(turns) > 1 else ()
        if any(verdict.outcome is not Outcome.NOT_APPLICABLE for verdict in verdicts):
            name = f"{sequence.name} ({model})"
            cases.append(
                case_of_sequence(
                    sequence, verdicts, case=name, scenario=name, title=client.title, driver=turns[0].exchange.driver
                )
            )
    return cases


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
    cases += _sequences(options, client, found, clauses)
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
