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
#: Clauses on sequences that one request can violate, where it is told when each of its members was asked.
_ALONE = frozenset({"retry-after.waits"})


def _sequences(
    options: JudgeOptions,
    client: Cassette,
    upstream: Cassette | None,
    found: Sequence[Exchange],
    clauses: Sequence[Clause],
) -> list[Case]:
    """A case for the requests one after the other, and one for each, where a clause on sequences applies to them."""
    ordered = [clause for clause in clauses if clause.scope is Scope.SEQUENCE and clause.id.startswith(_ORDERED)]
    name, made = f"{client.name}: in order", []
    for model, group in _groups(found).items():
        sequence = InOrder(name=name, turns=_turns(group), capabilities=options.capabilities)
        if len(group) > 1:
            made.append(_case(sequence, f"{name} ({model})" if model else name, client, ordered))
    if upstream is not None and all(interaction.at is not None for interaction in upstream.interactions):
        alone = [clause for clause in clauses if clause.id in _ALONE]
        for exchange in found:
            turn = Turn(exchange=exchange, began=0.0, step=1)
            sequence = InOrder(name=exchange.name, turns=(turn,), capabilities=options.capabilities)
            made.append(_case(sequence, f"{exchange.name}: its dispatches", client, alone))
    return [case for case in made if case is not None]


def _groups(found: Sequence[Exchange]) -> dict[str, Sequence[Exchange]]:
    """The requests that are judged as one sequence, by the name of their model, "" for all: where it is not known of
    some who was asked, it may be of those of another model."""
    if all(exchange.attempts is not None for exchange in found):
        return {"": found}
    models = dict.fromkeys(exchange.request.model for exchange in found)
    return {f"{model}": [exchange for exchange in found if exchange.request.model == model] for model in models}


def _turns(found: Sequence[Exchange]) -> tuple[Turn, ...]:
    turns: list[Turn] = []
    for exchange in found:
        began = turns[-1].ended + 1 if turns else 0.0
        turns.append(Turn(exchange=exchange, began=began, step=len(turns) + 1, lane=_lane(exchange, found[0])))
    return tuple(turns)


def _lane(exchange: Exchange, first: Exchange) -> str:
    """The requests of each model are a lane: what they have for members, and what these are sent, is their own."""
    return "own" if exchange.request.model == first.request.model else f"{exchange.request.model}"


def _case(sequence: InOrder, name: str, client: Cassette, clauses: Sequence[Clause]) -> Case | None:
    """The case of a sequence, where one of the clauses applies to it."""
    verdicts = judge_sequence(sequence, clauses)
    if all(verdict.outcome is Outcome.NOT_APPLICABLE for verdict in verdicts):
        return None
    driver = sequence.turns[0].exchange.driver
    return case_of_sequence(sequence, verdicts, case=name, scenario=name, title=client.title, driver=driver)


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
    cases += _sequences(options, client, upstream, found, clauses)
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
