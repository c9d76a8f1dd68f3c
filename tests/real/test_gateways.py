"""Each real gateway that is there is launched, serves its lanes, is gone afterwards, and shows what is known of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from conformance import reportfile
from conformance.cli import main
from conformance.scenario.model import PlayItem
from conformance.target.lanes import Lane, plan_lanes
from conformance.target.launch import RunningTarget, launch
from conformance.target.load import load_profile
from conformance.upstream.client import SyncControlClient
from conformance.upstream.process import start_upstream
from tests.real.gateways import GATEWAYS, Reply, ask, dispatched, listening_addresses, session_members

#: Gateways that put the member's own key and model in the place of the client's.
REWRITING = {"reference", "portkey", "litellm"}

#: Gateways of which it is known that one retired member takes its whole pool down, and the words that they do it with.
RETIRED_MEMBER_KILLS = {"litellm": "litellm.NotFoundError: NotFoundError: OpenAIException"}

#: A gateway that picks at random meets the one bad member of four at least once in so many lanes (but for 1 in 10^5).
LANES = 40

GONE = (PlayItem(cassette="authored/errors/openrouter-no-endpoints"),)
HEALTHY = (PlayItem(cassette="authored/openai/chat-hello"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A launched gateway, its lanes (the first with one member, the others with four), and the upstream's control."""

    target: RunningTarget
    lanes: tuple[Lane, ...]
    control: SyncControlClient


@pytest.fixture(scope="module", params=GATEWAYS)
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A gateway with its lanes in front of a replay upstream; when it is stopped, its session has to be empty."""
    sizes = [1, *[4] * LANES]
    with start_upstream(sum(sizes)) as upstream:
        lanes = plan_lanes(sizes, ports=upstream.ports)
        scratch = tmp_path_factory.mktemp(request.param)
        with launch(load_profile(request.param), lanes, scratch=scratch) as target:
            session = target.pid
            assert session in session_members(session)
            yield Running(target=target, lanes=lanes, control=upstream.client())
        assert session_members(session) == []


def test_a_real_gateway_serves_its_lanes(running: Running) -> None:
    """It tells its version, listens on loopback alone, and asks a lane's own members with their keys and models."""
    assert running.target.version
    assert listening_addresses(running.target.port) == {"0100007F"}
    assert [ask(running.target, lane).status for lane in running.lanes[:2]] == [200, 200]
    asked = [dispatched(entry) for entry in running.control.stray() if entry.request.startswith(b"POST")]
    assert len(asked) == 2
    assert asked[0][0] == running.lanes[0].members[0].port
    if running.target.profile.name in REWRITING:
        planned = {(member.port, member.api_key, member.model) for lane in running.lanes for member in lane.members}
        assert set(asked) <= planned


def test_one_retired_member_of_four(running: Running) -> None:
    """A member that answers 404 is passed over, except by the gateways of which it is known that it is not.

    This fails when a known gateway words its 404 differently (who matches on the words is then blind), and when it
    begins to fail over (then it is known no longer).
    """
    replies = [reply_with_retired_member(running, lane) for lane in running.lanes[1:]]
    lost = [(reply, gone) for reply, gone in replies if reply.status != 200]
    assert sum(gone for _, gone in replies) > 0, "the retired member was never asked"
    words = RETIRED_MEMBER_KILLS.get(running.target.profile.name)
    if words is None:
        assert [(reply.status, reply.body) for reply, _ in lost] == []
        return
    assert len(lost) == sum(gone for _, gone in replies)
    for reply, gone in lost:
        assert (reply.status, gone) == (404, 1)
        assert json.loads(reply.body)["error"]["message"].startswith(words)


def reply_with_retired_member(running: Running, lane: Lane) -> tuple[Reply, int]:
    """What a client of `lane` gets while the lane's first member is retired, and how often that member was asked."""
    nonce = f"cf-retired{lane.alias[-3:]}"
    address = running.control.address
    retired = address.members[address.ports.index(lane.members[0].port)]
    running.control.arm(nonce, {retired: GONE}, HEALTHY)
    reply = ask(running.target, lane, nonce=nonce)
    attempts = running.control.take(nonce, wait_ms=2000)
    return reply, sum(entry.member == retired for entry in attempts)


def test_live_job(running: Running, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The post-deploy job, to which the upstream is unknown, ends with verdicts and its exact cost, never the key."""
    profile, lane = running.target.profile, running.lanes[0]
    if profile.lane_headers or profile.model_prefix:
        pytest.skip(f"{profile.name} wants more of a client than an API root, a key and a model")
    monkeypatch.setenv("CONFORMANCE_TEST_KEY", profile.api_key)
    words = ["run", "--target", running.target.base_url, "--live", "--model", lane.alias, "--report", str(tmp_path)]
    words += ["--api-key-env", "CONFORMANCE_TEST_KEY", "--driver", "openai-python,openai-python-async"]
    for more, most in (["--select", "baseline.*"], None), (["--max-requests", "3"], 3):
        before = posts(running)
        assert main([*words, *more]) in (0, 1)
        report = reportfile.read(tmp_path)
        assert report.footer is not None
        spent = report.footer.spent
        played = [case for case in report.cases if not case.skipped]
        assert spent["requests"] == len(played) == posts(running) - before
        assert (spent["tokens"] > 0, spent["replies_without_usage"]) == (True, 0)
        assert most is None or (spent["requests"], report.footer.end) == (most, "capped")
        assert all(profile.api_key.encode() not in file.read_bytes() for file in tmp_path.iterdir())


def posts(running: Running) -> int:
    """How many requests of the API the upstream has seen that belong to no play."""
    return sum(entry.request.startswith(b"POST") for entry in running.control.stray())
