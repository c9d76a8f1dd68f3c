"""Sequences on the reference gateway: what is sent when, in which lane, with which nonce; the cases that come of it."""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from conformance.contract.catalog import select
from conformance.contract.clause import Outcome
from conformance.exchange.sequence import Sequence
from conformance.report.evidence import requirement_of
from conformance.report.gate import missed
from conformance.report.model import Case, RunHeader
from conformance.report.reading import Reading
from conformance.run import play
from conformance.run.plan import PlannedCase, milliseconds, plan_cases, ruled_out
from conformance.run.play import Player
from conformance.run.sequence import Sent, perform, read, sequence_cases
from conformance.run.stage import Seat, Stage, open_stage
from conformance.scenario.codec import decode
from conformance.scenario.model import Wait, Window
from conformance.target.load import load_profile
from conformance.upstream.client import Address
from tests.run.orders import remembering

TEXT = """
[[scenario]]
id = "test.waits"
title = "Waits"
request = { endpoint = "chat.completions", messages = [{ role = "user", content = "Hi" }] }
play.default = ["authored/openai/chat-hello"]
exercises = ["chat.id"]
steps = [{}, { after = "0.3 cooldown" }, { after = 50, times = 2, gap_ms = 80 }]

[[scenario]]
id = "test.together"
title = "Together"
request = { endpoint = "chat.completions", messages = [{ role = "user", content = "Hi" }] }
play.default = ["authored/openai/chat-hello | delay-head:150"]
exercises = ["isolation.nonce", "alive.after"]
steps = [{ times = 4, together = true }]

[[scenario]]
id = "test.same"
title = "Same nonce"
request = { endpoint = "chat.completions", messages = [{ role = "user", content = "Hi" }] }
play.default = ["authored/openai/chat-hello"]
exercises = ["cache.key"]
steps = [{}, { nonce = "same", request = { temperature = 0.5 } }, { nonce = "same", times = 2 }]

[[scenario]]
id = "test.lanes"
title = "Lanes"
request = { endpoint = "chat.completions", messages = [{ role = "user", content = "Hi" }] }
lane = "pool2"
play.default = ["authored/openai/chat-hello"]
exercises = ["alive.after"]
steps = [{ times = 2 }, { lane = "other", times = 2 }, { lane = "sibling", times = 2 }]

[[scenario]]
id = "test.silent"
title = "Nothing that opens a window"
request = { endpoint = "chat.completions", messages = [{ role = "user", content = "Hi" }] }
play.default = ["authored/openai/chat-hello"]
exercises = ["quarantine.skips"]
steps = [{}]

[[scenario]]
id = "test.broken"
title = "Broken"
request = { endpoint = "chat.completions", messages = [{ role = "user", content = "Hi" }] }
play.default = ["authored/openai/chat-hello | no-such-transform"]
exercises = ["chat.id"]
steps = [{}, {}]

[[scenario]]
id = "test.failing"
title = "Failing"
request = { endpoint = "chat.completions", messages = [{ role = "user", content = "Hi" }] }
lane = "pool2"
play.default = ["authored/openai/chat-hello"]
exercises = ["chat.id", "stream.done.once"]
steps = [{ play.m0 = ["authored/errors/mistral-rate-limit"] }]
"""
PROFILE = dataclasses.replace(
    load_profile("reference"), cooldown_ms=600.0, capabilities=frozenset({"failover", "quarantine"})
)
CLAUSES = select(())
#: Each time a sequence is played its nonces are new, or a gateway with a cache would remember.
REPETITIONS = itertools.count()


@cache
def cases() -> dict[str, PlannedCase]:
    """The planned cases by their scenario's last word."""
    scenarios = [decode(table, where="test.toml") for table in tomllib.loads(TEXT)["scenario"]]
    return {case.scenario.id.removeprefix("test."): case for case in plan_cases(scenarios, ["wire"], PROFILE)}


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """The reference gateway with a lane for each."""
    with open_stage(PROFILE, tuple(cases().values()), Path(tmp_path_factory.mktemp("stage"))) as opened:
        yield opened


async def _with_player(stage: Stage, case: PlannedCase) -> tuple[Sequence | None, tuple[Case, ...]]:
    player = Player(stage, CLAUSES)
    try:
        if case.scenario.id == "test.broken":
            return None, await player.play(case)
        sequence = await read(player, case, await perform(player, case, repetition=next(REPETITIONS)))
        return sequence, await sequence_cases(case, sequence, CLAUSES)
    finally:
        await player.aclose()


def played(stage: Stage, name: str) -> tuple[Sequence, tuple[Case, ...]]:
    """The sequence of that name and its cases."""
    sequence, made = asyncio.run(_with_player(stage, cases()[name]))
    assert sequence is not None
    return sequence, made


def test_waits_are_counted_from_the_end_of_the_step_before(stage: Stage) -> None:
    """A multiple of a window, plain milliseconds, and the gap between repetitions: never shorter."""
    sequence, _ = played(stage, "waits")
    first, second, third, fourth = sequence.turns
    assert second.began - first.ended >= 180.0
    assert third.began - second.ended >= 50.0
    assert fourth.began - third.ended >= 80.0
    assert [turn.label for turn in sequence.turns] == ["1.1", "2.1", "3.1", "3.2"]
    assert sequence.windows.cooldown_ms == 600.0


def test_requests_are_sent_at_once(stage: Stage) -> None:
    """All of a step's requests are on their way before the first is answered, each with its own nonce."""
    sequence, _ = played(stage, "together")
    assert max(turn.began for turn in sequence.turns) < min(turn.ended for turn in sequence.turns)
    assert len({turn.exchange.nonce for turn in sequence.turns}) == 4


def test_the_same_nonce_makes_the_same_prompt(stage: Stage) -> None:
    """Requests differ in the changed field alone, and each has the attempts that were made for it."""
    sequence, _ = played(stage, "same")
    bodies = [turn.exchange.request.body for turn in sequence.turns]
    assert bodies[0] == bodies[2] == bodies[3]
    assert bodies[1].replace(b',"temperature":0.5', b"") == bodies[0]
    assert [len(turn.exchange.attempts or ()) for turn in sequence.turns[:2]] == [1, 1]


def test_lanes_are_other_aliases(stage: Stage) -> None:
    """Another lane has members of its own; a sibling has the same origins and other models."""
    sequence, _ = played(stage, "lanes")
    asked = {
        lane: {(d.attempt.request.host, d.attempt.request.model) for d in sequence.dispatches if d.lane == lane}
        for lane in sequence.lanes
    }
    hosts = {lane: {host for host, _ in found} for lane, found in asked.items()}
    assert hosts["own"] == hosts["sibling"]
    assert not hosts["own"] & hosts["other"]
    models = [{model for _, model in found} for found in asked.values()]
    assert len(set().union(*models)) == sum(map(len, models)) == 6


def test_each_request_is_a_case_and_so_is_the_whole(stage: Stage) -> None:
    """Requests are judged by the clauses on exchanges, the whole by those on sequences, with a timeline as evidence."""
    sequence, made = played(stage, "same")
    assert [case.id for case in made] == [
        *(f"test.same[wire]/{n}" for n in ("1.1", "2.1", "3.1", "3.2")),
        "test.same[wire]",
    ]
    assert len(made) == cases()["same"].parts
    scopes = {clause.id: clause.scope.value for clause in CLAUSES}
    assert {scopes[verdict.clause] for case in made[:-1] for verdict in case.verdicts} == {"exchange"}
    assert {scopes[verdict.clause] for verdict in made[-1].verdicts} == {"sequence"}
    assert made[-1].exercises == ("cache.key",)
    assert [verdict.clause for verdict in made[-1].of(Outcome.HELD) if verdict.clause == "cache.key"] == ["cache.key"]
    (leg,) = made[-1].evidence
    assert leg.name == "timeline"
    assert leg.data.count(b"\n") == 4 * 2 + len(sequence.dispatches)
    assert [case.reading for case in made] == [*[Reading.ANSWERED] * 4, None]
    assert sequence.name == made[-1].id


def test_a_clause_that_no_request_reached_is_missed(stage: Stage) -> None:
    """A request carries what it reached; what none reached the whole is held to, and did not judge."""
    _, made = played(stage, "failing")
    part, whole = made
    assert part.exercises == ("chat.id",)
    assert part.reading is Reading.RESCUED
    header = RunHeader(
        target="t",
        suite_version="0",
        started_at="2026-11-29T12:00:00Z",
        requirements=tuple(requirement_of(clause) for clause in CLAUSES),
        capabilities=tuple(PROFILE.capabilities),
    )
    assert missed(header, part) == ()
    assert missed(header, whole) == ("stream.done.once",)


def test_a_fault_of_ours_is_one_case_with_an_error(stage: Stage) -> None:
    """A play that cannot be played is no verdict on the gateway."""
    _, made = asyncio.run(_with_player(stage, cases()["broken"]))
    (case,) = made
    assert "no-such-transform" in case.error
    assert case.verdicts == ()


def test_a_window_that_is_not_declared_rules_the_scenario_out() -> None:
    """What cannot be timed is skipped, with the reason; so is what a running target's lanes do not allow."""
    waits, lanes = cases()["waits"].scenario, cases()["lanes"].scenario
    silent = dataclasses.replace(PROFILE, cooldown_ms=None)
    assert ruled_out(waits, PROFILE) == ""
    assert ruled_out(waits, silent) == "the target does not declare how long its cooldown lasts"
    running = dataclasses.replace(PROFILE, kind="url")
    assert "lanes do not allow" in ruled_out(lanes, running)
    assert "cannot share members" in ruled_out(lanes, dataclasses.replace(PROFILE, one_lane_a_member=True))
    assert "cannot be kept apart" in ruled_out(waits, dataclasses.replace(running, fault_isolation="none"))


def test_waits_scale_with_the_target() -> None:
    """A multiple of a window is as long as the target's window makes it."""
    assert milliseconds(Wait(amount=0.5, window=Window.COOLDOWN), PROFILE) == 300.0
    assert milliseconds(Wait(amount=40.0), PROFILE) == 40.0


def test_lanes_are_numbered_without_gaps() -> None:
    """Each case takes its lanes in order, and as many again for each time that it may be played again."""
    numbers = [number for case in cases().values() for number in case.lanes]
    assert numbers == list(range(len(numbers)))
    case = cases()["lanes"]
    assert case.lanes == tuple(range(case.lane, case.lane + 3 * (case.spares + 1)))
    assert [(one.lane, one.other, one.sibling) for one in case.tries[:2]] == [
        (case.lane, case.lane + 1, case.lane + 2),
        (case.lane + 3, case.lane + 4, case.lane + 5),
    ]
    assert case.shared == {one.sibling: one.lane for one in case.tries}


def test_the_last_try_of_a_late_sequence_has_nothing_beside_it(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a run it comes when all else is done, for so many sequences as there is time for; none is lost."""
    known, played_in = cases(), list[int]()
    silent, lanes = known["silent"], known["lanes"]

    async def noting(player: Player, one: PlannedCase, *, repetition: int = 0) -> list[Sent]:
        played_in.append(one.lane)
        return await perform(player, one, repetition=next(REPETITIONS))

    monkeypatch.setattr(play, "perform", noting)

    def ids_of(last_tries: int) -> list[str]:
        monkeypatch.setattr(play, "LAST_TRIES", last_tries)
        made = list[Case]()
        played_in.clear()
        asyncio.run(Player(stage, CLAUSES).play_all([silent, lanes], workers=1, keep=made.append))
        return [case.id for case in made]

    last = silent.tries[-1].lane
    apart = ids_of(1)
    assert played_in[:2] == [one.lane for one in silent.tries[:-1]]
    assert played_in[-1] == last
    at_once = ids_of(0)
    assert played_in[:3] == [one.lane for one in silent.tries]
    assert sorted(apart) == sorted(at_once)
    assert len(apart) == silent.parts + lanes.parts


def test_a_sequence_that_came_too_late_is_played_again(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """As often as there are spare lanes, while a clause that it exists for does not apply; the last time counts."""
    case, played_in = cases()["silent"], list[int]()

    async def noting(player: Player, one: PlannedCase, *, repetition: int = 0) -> list[Sent]:
        played_in.append(one.lane)
        return await perform(player, one, repetition=next(REPETITIONS))

    monkeypatch.setattr(play, "perform", noting)

    async def run() -> tuple[Case, ...]:
        player = Player(stage, CLAUSES)
        try:
            return await player.play(case)
        finally:
            await player.aclose()

    made = asyncio.run(run())
    assert played_in == [one.lane for one in case.tries]
    assert [verdict.clause for verdict in made[-1].of(Outcome.NOT_APPLICABLE)].count("quarantine.skips") == 1


class Busy(Player):
    """Plays nothing, and knows how many cases were played at once."""

    now = most = 0

    async def _play(self, case: PlannedCase, repetition: int, tries: slice) -> tuple[Case, ...]:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.001)
        self.now -= 1
        return ()


@pytest.mark.parametrize(("alone", "most"), [(True, 1), (False, 4)])
def test_sequences_may_have_the_gateway_to_themselves(alone: bool, most: int) -> None:
    """Where a gateway's lanes share one bounded memory, sequences are played one at a time, however many workers."""
    profile = dataclasses.replace(PROFILE, sequences_alone=alone)
    cases = [PlannedCase(scenario=one, driver="wire", lane=0) for one in remembering(("cache.*",))]
    assert len(cases) > 4
    address = Address(control_port=1, token="", ports=(1,))
    seat = Seat(upstream=address, base_url="http://127.0.0.1:1/v1", version="", lanes=(), profile=profile)

    async def play_them() -> int:
        player = Busy(seat, ())
        await player.play_all(cases, workers=4, keep=lambda _: None)
        return player.most

    assert asyncio.run(play_them()) == most
