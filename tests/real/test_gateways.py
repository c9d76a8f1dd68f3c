"""Each real gateway that is there is launched, serves its lanes, is gone afterwards, and shows what is known of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("name", GATEWAYS)
def test_a_real_gateway_serves_its_lanes_and_ends(name: str, tmp_path: Path) -> None:
    """It gets ready on loopback alone, sends a lane's own keys and models, and its session is empty after the end."""
    with start_upstream(5) as upstream:
        lanes = plan_lanes([1, 4], ports=upstream.ports)
        with launch(load_profile(name), lanes, scratch=tmp_path) as target:
            session = target.pid
            assert target.version
            assert listening_addresses(target.port) == {"0100007F"}
            assert session in session_members(session)
            assert [ask(target, lane).status for lane in lanes] == [200, 200]
        assert session_members(session) == []
        attempts = [dispatched(entry) for entry in upstream.client().stray() if b"POST" in entry.request[:4]]
    assert len(attempts) == 2
    assert attempts[0][0] == lanes[0].members[0].port
    if name in REWRITING:
        assert set(attempts) <= {
            (member.port, member.api_key, member.model) for lane in lanes for member in lane.members
        }


@pytest.mark.parametrize("name", GATEWAYS)
def test_one_retired_member_of_four(name: str, tmp_path: Path) -> None:
    """A member that answers 404 is passed over, except by the gateways of which it is known that it is not.

    This fails when a known gateway words its 404 differently (who matches on the words is then blind), and when it
    begins to fail over (then it is known no longer).
    """
    with start_upstream(4) as upstream:
        control = upstream.client()
        lanes = plan_lanes([4] * LANES, ports=upstream.ports)
        with launch(load_profile(name), lanes, scratch=tmp_path) as target:
            replies = [retired_member_reply(target, control, lanes, number) for number in range(LANES)]
    lost = [(reply, gone) for reply, gone in replies if reply.status != 200]
    assert sum(gone for _, gone in replies) > 0, "the retired member was never asked"
    if name not in RETIRED_MEMBER_KILLS:
        assert [(reply.status, reply.body) for reply, _ in lost] == []
        return
    assert len(lost) == sum(gone for _, gone in replies)
    for reply, gone in lost:
        assert (reply.status, gone) == (404, 1)
        assert json.loads(reply.body)["error"]["message"].startswith(RETIRED_MEMBER_KILLS[name])


def retired_member_reply(
    target: RunningTarget, control: SyncControlClient, lanes: tuple[Lane, ...], number: int
) -> tuple[Reply, int]:
    """What a client of one lane gets while the lane's first member is retired, and how often that member was asked."""
    nonce = f"cf-retired{number:03d}"
    retired = upstream_name(control, lanes[number].members[0].port)
    control.arm(nonce, {retired: GONE}, HEALTHY)
    reply = ask(target, lanes[number], nonce=nonce)
    attempts = control.take(nonce, wait_ms=2000)
    return reply, sum(entry.member == retired for entry in attempts)


def upstream_name(control: SyncControlClient, port: int) -> str:
    """The replay upstream's own name for the member at `port`."""
    return control.address.members[control.address.ports.index(port)]
