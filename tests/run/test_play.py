"""Cases on the reference gateway: what both legs saw, the verdicts on it, and whose fault what is."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Iterator, Sequence
from time import monotonic

import pytest

from conformance.contract.catalog import select
from conformance.contract.clause import Outcome, Scope
from conformance.errors import HarnessError, UpstreamError
from conformance.exchange.model import Exchange
from conformance.report.model import Case
from conformance.run import play
from conformance.run.plan import PlannedCase
from conformance.run.play import Player, call_of, nonce_for
from conformance.run.stage import Stage
from conformance.upstream.plays import NONCE
from conformance.wire.transcript import End
from tests.run.scenes import HELLO, HELLO_STREAM, REFERENCE, lane, scenario, staged

STREAM = 'request = { endpoint = "chat.completions", stream = true, messages = [{ role = "user", content = "Hi" }] }'
SCENARIOS = [
    scenario("hello"),
    scenario("stream", STREAM, default=HELLO_STREAM),
    scenario("retired", 'lane = "pool4"', m0="authored/errors/openrouter-no-endpoints", default=HELLO),
    scenario("missing", default="authored/openai/no-such-cassette"),
    scenario("needy", 'needs = ["spread"]'),
    scenario("leaving", f'{STREAM}\nclient = {{ hang_up = "event:1" }}', default=f"{HELLO_STREAM} | pace:120"),
    scenario("models", 'request = { endpoint = "models" }'),
    scenario("key", 'request = { endpoint = "chat.completions", messages = [{ role = "user", content = "Hi" }], '
                    'api_key = "sk-test-other" }'),
]  # fmt: skip
DRIVERS = ("wire", "openai-python", "openai-python-async", "httpx")


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stage, dict[str, PlannedCase]]]:
    """One stage for all."""
    with staged(SCENARIOS, tmp_path_factory.mktemp("stage"), *DRIVERS) as opened:
        yield opened


Staged = tuple[Stage, dict[str, PlannedCase]]


def exchange(stage: Staged, case: str, *, seed: int = 0) -> Exchange:
    """The exchange of one case."""

    async def scene() -> Exchange:
        player = Player(stage[0], (), seed=seed)
        try:
            return await player.exchange(stage[1][case])
        finally:
            await player.aclose()

    return asyncio.run(scene())


def played(stage: Staged, names: Sequence[str], *, workers: int = 1) -> dict[str, Case]:
    """The report's cases of these, by id."""
    done: list[Case] = []
    cases = [stage[1][name] for name in names]
    player = Player(stage[0], select(()), drivers=DRIVERS)
    asyncio.run(player.play_all(cases, workers=workers, keep=done.append))
    return {case.id: case for case in done}


@pytest.mark.parametrize("driver", DRIVERS)
def test_both_legs(stage: Staged, driver: str) -> None:
    """The client's leg and the member's attempt meet in one exchange, on one clock, whoever is the client."""
    made = exchange(stage, f"test.stream[{driver}]", seed=DRIVERS.index(driver))
    assert made.reply is not None
    assert made.attempts is not None
    (attempt,) = made.attempts
    assert (made.reply.status, made.end, attempt.member) == (200, End.COMPLETE, "m0")
    assert made.nonce.encode() in made.request.body
    assert made.nonce.encode() in attempt.request.body
    assert 0 < attempt.at < attempt.ended_at < made.transcript.ended_at + 1000
    assert attempt.reply is not None
    assert attempt.reply.answer.finished
    assert (made.client is None) == (driver == "wire")


def test_every_attempt_is_kept(stage: Staged) -> None:
    """All dispatches of a request are there, in order, named as the lane names its members."""
    attempts = exchange(stage, "test.retired[wire]").attempts
    assert attempts is not None
    assert [attempt.reply.status for attempt in attempts if attempt.reply] in ([404, 200], [200])
    assert {attempt.member for attempt in attempts} <= {"m0", "m1", "m2", "m3"}


def test_a_request_without_a_nonce(stage: Staged) -> None:
    """Where the request has no place for a nonce, nothing is known of its dispatches: not that there were none."""
    made = exchange(stage, "test.models[wire]")
    assert (made.nonce, made.attempts) == ("", None)


def test_a_hang_up_is_a_fact(stage: Staged) -> None:
    """The client that leaves is on record, and so is how the gateway left the member then."""
    made = exchange(stage, "test.leaving[wire]")
    assert made.hangup is not None
    assert made.end is End.HANGUP
    assert made.attempts is not None
    assert made.attempts[0].peer_closed


def test_a_call_of_its_own_key() -> None:
    """A scenario's key replaces the target's; alias and nonce stand in the body."""
    key = next(one for one in SCENARIOS if one.id == "test.key")
    call = call_of(
        PlannedCase(scenario=key, driver="wire", lane=0), lane("alias-1", 1), REFERENCE, "http://h/v1", "cf-abcdef1"
    )
    assert call.api_key == "sk-test-other"
    assert b"alias-1" in call.body
    assert b"cf-abcdef1" in call.body
    assert call.deadlines == REFERENCE.deadlines


@pytest.mark.parametrize(
    ("limit", "moment", "wait"),
    [(None, "send", 1500.0), (700.0, "send", 350.0), (60_000.0, "send", 1500.0), (700.0, "event:1", 1500.0)],
)
def test_a_client_goes_before_the_gateway_gives_up(limit: float | None, moment: str, wait: float) -> None:
    """A hang-up before the head comes within half of the declared first-token time, one after events as planned."""
    asked = scenario("leaving", f'{STREAM}\nclient = {{ hang_up = "{moment}", wait_ms = 1500 }}')
    profile = dataclasses.replace(REFERENCE, first_token_timeout_ms=limit)
    case = PlannedCase(scenario=asked, driver="wire", lane=0)
    call = call_of(case, lane("alias-1", 1), profile, "http://h/v1", "cf-abcdef1")
    assert call.behaviour.wait_ms == wait


def test_cases_are_judged(stage: Staged) -> None:
    """Every clause gives a verdict on a played case; the faithful gateway violates none, one at a time or several."""
    names = ["test.hello[wire]", "test.hello[openai-python]", "test.stream[httpx]", "test.retired[wire]"]
    cases = played(stage, names, workers=3)
    assert set(cases) == set(names)
    for case in cases.values():
        assert len(case.verdicts) == sum(clause.scope is Scope.EXCHANGE for clause in select(()))
        assert not case.of(Outcome.VIOLATED, Outcome.FAULTY)
        assert case.exercises == ("chat.id",)
        assert not case.evidence


def test_skipped_cases_owe_nothing(stage: Staged) -> None:
    """A case that the target's declaration rules out is passed on with its reason, unplayed."""
    case = played(stage, ["test.needy[wire]"])["test.needy[wire]"]
    assert "spread" in case.skipped
    assert (case.nonce, case.verdicts, case.exercises) == ("", (), ())


def test_our_own_fault_is_not_the_gateways(stage: Staged) -> None:
    """A cassette that is not there is an error of that case, without a verdict; the others are played on."""
    cases = played(stage, ["test.missing[wire]", "test.hello[wire]"])
    assert "no-such-cassette" in cases["test.missing[wire]"].error
    assert not cases["test.missing[wire]"].verdicts
    assert cases["test.hello[wire]"].verdicts


def test_a_lost_upstream_ends_the_run(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Without its upstream a stage plays no more: the error says what is gone, and nothing is left waiting."""
    with staged(SCENARIOS[:1], tmp_path_factory.mktemp("lost")) as stage:
        assert stage[0].upstream is not None
        stage[0].upstream.stop()
        with pytest.raises(HarnessError) as caught:
            played(stage, ["test.hello[wire]"])
        assert isinstance(caught.value, UpstreamError)


def test_a_long_wait_sees_that_the_upstream_is_gone(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request that is meant for an hour from now is not waited for when nothing stands any more."""
    monkeypatch.setattr(play, "WATCH_S", 0.05)
    with staged(SCENARIOS[:1], tmp_path_factory.mktemp("gone")) as stage:
        upstream = stage[0].upstream
        assert upstream is not None

        async def scene() -> None:
            player, armed = Player(stage[0], ()), asyncio.Event()
            until = player._until

            async def noting(at: float) -> None:
                armed.set()
                await until(at)

            monkeypatch.setattr(player, "_until", noting)
            waiting = asyncio.create_task(player.observe(stage[1]["test.hello[wire]"], at=monotonic() + 3600))
            await asyncio.wait_for(armed.wait(), 30)
            await asyncio.to_thread(upstream.stop)
            with pytest.raises(HarnessError):
                await asyncio.wait_for(waiting, 30)
            await player.aclose()

        asyncio.run(scene())


def test_nonces() -> None:
    """A nonce is the case's own, the same for the same seed, and one that the replay upstream knows as such."""
    made = [nonce_for(seed, case, again) for seed in (0, 1) for case in ("a[wire]", "b[wire]") for again in (0, 1)]
    assert len(set(made)) == len(made)
    assert made[0] == nonce_for(0, "a[wire]")
    assert all(NONCE.fullmatch(nonce.encode()) for nonce in made)
    assert all(nonce[-1].isdigit() for nonce in made)
