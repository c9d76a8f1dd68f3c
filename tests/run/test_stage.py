"""The stage of a run: lanes for the cases, processes up and down, and what a worker needs to join."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.errors import LaunchError, TargetDied, TargetError, UpstreamError
from conformance.report.model import Case
from conformance.run.plan import plan_cases
from conformance.run.play import Player
from conformance.run.stage import Seat, lane_sizes, lanes_for, open_stage
from conformance.target.lanes import plan_lanes
from conformance.target.launch import launch
from conformance.target.profile import Profile
from conformance.upstream.process import UpstreamProcess, start_upstream
from tests.run.processes import eventually
from tests.run.scenes import HELLO, REFERENCE, lane, scenario, staged, url_profile

RETIRED = "authored/errors/openrouter-no-endpoints"
SINGLE, POOL = scenario("single"), scenario("pool", 'lane = "pool4"')
CASES = plan_cases([SINGLE, POOL], ["wire"], REFERENCE)


def test_lanes_of_a_launched_target() -> None:
    """Each case has a lane of its size; no two members of a run share a port, a key or a model."""
    lanes = lanes_for(CASES, REFERENCE, range(9000, 9005))
    assert lane_sizes(CASES) == [1, 4]
    assert [len(one.members) for one in lanes] == [1, 4]
    members = [member for one in lanes for member in one.members]
    assert len({member.port for member in members}) == len({member.api_key for member in members}) == 5


def test_sibling_lanes_share_ports() -> None:
    """A sibling lane has other models and keys at the very ports of the first."""
    cases = plan_cases([scenario("s", 'lane = "pool2"\nsteps = [{}, { lane = "sibling" }]')], ["wire"], REFERENCE)
    own, sibling, *_ = lanes_for(cases, REFERENCE, range(9000, 9040))
    assert [member.port for member in own.members] == [member.port for member in sibling.members]
    assert not {member.model for member in own.members} & {member.model for member in sibling.members}


def test_lanes_of_a_target_at_a_url() -> None:
    """The lanes are those that the profile names, by size; one that is too small for a scenario is an error."""
    small, large = lane("small", 1), lane("large", 1, 2, 3, 4)
    assert [one.alias for one in lanes_for(CASES, url_profile(small, large), ())] == ["small", "large"]
    with pytest.raises(TargetError, match="4 members"):
        lanes_for(CASES, url_profile(small), ())


def test_a_seat_travels_as_plain_data(tmp_path: Path) -> None:
    """A worker that planned the same cases finds the same upstream, gateway and lanes."""
    with staged([SINGLE, POOL], tmp_path) as (stage, cases):
        assert Seat.decode(stage.seat.encode(), REFERENCE, tuple(cases.values())) == stage.seat
        assert all(isinstance(value, str | int | list) for value in stage.seat.encode().values())
        assert stage.version


def test_death_is_noticed(tmp_path: Path) -> None:
    """A stage whose upstream or gateway is gone says which, and how it ended; both are down at the end."""
    with staged([SINGLE], tmp_path) as (stage, _):
        stage.ensure_alive()
        assert stage.upstream is not None
        os.kill(stage.upstream.pid, signal.SIGKILL)
        assert eventually(lambda: not stage.upstream.alive)  # type: ignore[union-attr]
        with pytest.raises(UpstreamError, match="-9"):
            stage.ensure_alive()
    assert not stage.target.alive
    with staged([SINGLE], tmp_path) as (stage, _):
        os.kill(stage.target.pid, signal.SIGKILL)
        assert eventually(lambda: not stage.target.alive)
        with pytest.raises(TargetDied, match="signal 9"):
            stage.ensure_alive()


def test_a_gateway_that_does_not_start_leaves_nothing(tmp_path: Path) -> None:
    """Where the gateway does not come up, the upstream goes down again."""
    silent = Profile(name="silent", kind="command", command=("sleep", "60"), ready_seconds=0.3)
    before = set(os.listdir("/proc")) if os.path.isdir("/proc") else set()
    with pytest.raises(LaunchError, match="not ready"), open_stage(silent, CASES, tmp_path):
        pass
    lines = [Path(f"/proc/{pid}/cmdline") for pid in os.listdir("/proc") if pid.isdigit() and pid not in before]
    children = [line for line in lines if _parent(line) == os.getpid()]
    assert not children


def _parent(line: Path) -> int:
    try:
        return int((line.parent / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def test_a_target_at_a_url_needs_its_upstream(tmp_path: Path) -> None:
    """Without a replay upstream behind it, a gateway at a URL can only be run live; its token is never guessed."""
    with (
        pytest.raises(TargetError, match="nothing is known of the upstream"),
        open_stage(url_profile(), CASES, tmp_path),
    ):
        pass
    profile = url_profile(lane("a", 9001), lane("b", 9001, 9002, 9003, 9004), control="http://127.0.0.1:9000")
    with pytest.raises(TargetError, match="CONFORMANCE_TEST_TOKEN is not set"), open_stage(profile, CASES, tmp_path):
        pass


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Profile, UpstreamProcess]]:
    """A gateway that runs already: its pool is the upstream's last two members, the last one first."""
    with start_upstream(4) as upstream:
        (pool,) = plan_lanes([2], ports=upstream.ports[:1:-1])
        with launch(REFERENCE, [pool], scratch=tmp_path_factory.mktemp("gateway")) as gateway:
            control = f"http://127.0.0.1:{upstream.address.control_port}"
            yield (
                replace(
                    url_profile(pool, control=control),
                    base_url=gateway.base_url,
                    api_key=REFERENCE.api_key,
                    capabilities=frozenset({"failover"}),
                ),
                upstream,
            )


def test_a_fault_meets_the_member_that_it_is_meant_for(
    deployed: tuple[Profile, UpstreamProcess], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever ports the upstream has and in whatever order: m0 is the first member of the profile's lane."""
    profile, upstream = deployed
    monkeypatch.setenv("CONFORMANCE_TEST_TOKEN", upstream.address.token)
    cases = plan_cases([scenario("pool", 'lane = "pool2"', m0=RETIRED, default=HELLO)], ["wire"], profile)
    done: list[Case] = []
    with open_stage(profile, cases, tmp_path) as stage:
        stage.ensure_alive()
        assert stage.seat.upstream == upstream.address
        for seed in range(4):
            asyncio.run(Player(stage, (), seed=seed).play_all(cases, workers=1, keep=done.append))
    asked = [(attempt.member, attempt.status) for case in done for attempt in case.attempts or ()]
    assert set(asked) == {("m0", 404), ("m1", 200)}


def test_what_does_not_run_is_told_before_anything_is_sent(
    deployed: tuple[Profile, UpstreamProcess], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gateway where nothing listens, a port that the upstream does not have, an upstream that is not there."""
    profile, upstream = deployed
    monkeypatch.setenv("CONFORMANCE_TEST_TOKEN", upstream.address.token)
    cases = plan_cases([SINGLE], ["wire"], profile)
    wrong = [
        (replace(profile, base_url="http://127.0.0.1:9/v1"), TargetError, "nothing answers there"),
        (replace(profile, lanes=(lane("pool", 1, 2),)), TargetError, "no member at port 1, 2"),
        (replace(profile, upstream_control="http://127.0.0.1:9"), UpstreamError, "127.0.0.1:9|control port"),
    ]
    for profile, kind, what in wrong:
        with pytest.raises(kind, match=what), open_stage(profile, cases, tmp_path):
            pass
