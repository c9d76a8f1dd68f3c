"""A scenario of several steps: its requests sent at their times, then judged one by one and as a whole.

Waits are counted from the end of the step before. What was observed is read only when all has been sent, and bit by
bit, so that reading takes no time from the windows that this sequence or another measures.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Iterable, Sequence
from time import monotonic
from typing import TYPE_CHECKING

from conformance.contract.clause import Clause, Outcome, Scope
from conformance.contract.judge import judge, judge_sequence
from conformance.exchange import sequence as facts
from conformance.report.evidence import case_of, case_of_sequence
from conformance.report.model import Case
from conformance.run.plan import PlannedCase, milliseconds
from conformance.scenario.model import SequenceStep

if TYPE_CHECKING:
    from conformance.run.play import Observed, Player


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One request of a sequence: what both legs saw, and which it was."""

    observed: Observed
    step: int
    number: int
    lane: str


async def perform(player: Player, case: PlannedCase, *, repetition: int = 0) -> list[Sent]:
    """Send the steps of a case at their times. Raises ConformanceError for faults of our own."""
    sent: list[Sent] = []
    ended, nonce = monotonic(), ""
    for number, step in enumerate(case.scenario.steps, 1):
        at = ended + milliseconds(step.after, player.profile) / 1000
        nonces = [
            nonce if step.same_nonce else player.nonce(f"{case.id}/{number}.{k}", repetition)
            for k in range(1, step.times + 1)
        ]
        made = await _send(player, _part(case, step), step, nonces, at)
        sent += [Sent(observed=seen, step=number, number=k, lane=step.lane.value) for k, seen in enumerate(made, 1)]
        ended, nonce = max(_ended(seen) for seen in made), nonces[-1]
    return sent


async def _send(
    player: Player, part: PlannedCase, step: SequenceStep, nonces: Sequence[str], at: float
) -> list[Observed]:
    """Send one step's requests at `at`: at once, or one after the other with the step's gap between."""
    if step.together:
        return list(await asyncio.gather(*(player.observe(part, nonce=nonce, at=at) for nonce in nonces)))
    made: list[Observed] = []
    for nonce in nonces:
        made.append(await player.observe(part, nonce=nonce, at=at))
        at = _ended(made[-1]) + step.gap_ms / 1000
    return made


def _part(case: PlannedCase, step: SequenceStep) -> PlannedCase:
    """The case that one step is, as if it were a scenario."""
    scenario = dataclasses.replace(
        case.scenario, request=step.request, play=step.play, behaviour=step.behaviour, steps=()
    )
    return dataclasses.replace(case, scenario=scenario, lane=case.lane_of(step.lane))


def _ended(observed: Observed) -> float:
    """When the client's side was over (CLOCK_MONOTONIC, s)."""
    transcript = observed.capture.transcript
    return transcript.origin + transcript.ended_at / 1000


async def read(player: Player, case: PlannedCase, sent: Sequence[Sent]) -> facts.Sequence:
    """Read what was observed, one request at a time: other sequences of this loop are at their own times meanwhile."""
    profile = player.profile
    start = min(one.observed.capture.transcript.origin for one in sent)
    turns: list[facts.Turn] = []
    for one in sent:
        exchange = dataclasses.replace(player.joined(one.observed), name=f"{case.id}/{one.step}.{one.number}")
        began = (one.observed.capture.transcript.origin - start) * 1000
        turns.append(facts.Turn(exchange=exchange, began=began, step=one.step, number=one.number, lane=one.lane))
        await asyncio.sleep(0)
    return facts.Sequence(
        name=case.id,
        turns=tuple(sorted(turns, key=lambda turn: turn.began)),
        windows=facts.Windows(
            cooldown_ms=profile.cooldown_ms,
            cooldown_after=profile.cooldown_after,
            quarantine_ms=profile.quarantine_ms,
            retry_after_max_ms=profile.retry_after_max_ms,
        ),
        capabilities=profile.capabilities,
    )


async def sequence_cases(case: PlannedCase, sequence: facts.Sequence, clauses: Iterable[Clause]) -> tuple[Case, ...]:
    """A case of the report for each request, judged by itself, and one for the sequence.

    A clause about exchanges that the scenario exercises has to be reached by one of its requests: those that reached it
    carry it, and the whole does when none did.
    """
    chosen = tuple(clauses)
    whole = frozenset(clause.id for clause in chosen if clause.scope is Scope.SEQUENCE)
    own = tuple(name for name in case.scenario.exercises if name not in whole)
    parts: list[Case] = []
    for turn in sequence.turns:
        parts.append(_part_case(case, turn, chosen, own))
        await asyncio.sleep(0)
    reached = {name for part in parts for name in part.exercises}
    missed = tuple(name for name in own if name not in reached)
    violated = any(part.of(Outcome.VIOLATED) for part in parts)
    owed = () if violated else (*(name for name in case.scenario.exercises if name in whole), *missed)
    last = case_of_sequence(
        sequence,
        judge_sequence(sequence, chosen),
        case=case.id,
        scenario=case.scenario.id,
        title=case.scenario.title,
        driver=case.driver,
        exercises=owed,
    )
    return (*parts, last)


def came_late(whole: Case, sequence: facts.Sequence, clauses: Iterable[Clause]) -> bool:
    """Whether a clause that the sequence exists for did not apply: a request missed the window that it was sent for."""
    judged = {clause.id for clause in clauses if not clause.capabilities or clause.capabilities & sequence.capabilities}
    return any(
        verdict.outcome is Outcome.NOT_APPLICABLE and verdict.clause in judged and verdict.clause in whole.exercises
        for verdict in whole.verdicts
    )


def _part_case(case: PlannedCase, turn: facts.Turn, clauses: Sequence[Clause], exercises: tuple[str, ...]) -> Case:
    exchange = turn.exchange
    verdicts = judge(exchange, clauses)
    reached = {verdict.clause for verdict in verdicts if verdict.outcome is not Outcome.NOT_APPLICABLE}
    return case_of(
        exchange,
        verdicts,
        case=exchange.name,
        scenario=case.scenario.id,
        title=case.scenario.title,
        exercises=tuple(name for name in exercises if name in reached),
        upstream=tuple(attempt.sent for attempt in exchange.attempts or ()),
    )
