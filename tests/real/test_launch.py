"""Each real gateway that is there is launched, serves its lanes, and is gone afterwards."""

from __future__ import annotations

import http.client
import json
from pathlib import Path

import pytest

from conformance.target.lanes import Lane, plan_lanes
from conformance.target.launch import RunningTarget, launch
from conformance.target.load import load_profile
from conformance.target.profile import Profile
from conformance.target.render import lane_headers
from tests.real.gateways import GATEWAYS, listening_addresses, session_members, upstreams

#: Gateways that put the member's own key and model in the place of the client's.
REWRITING = {"reference", "portkey", "litellm"}


def ask(target: RunningTarget, profile: Profile, lane: Lane) -> tuple[int, str]:
    """One chat request through the lane: the status and the answer's text."""
    connection = http.client.HTTPConnection("127.0.0.1", target.port, timeout=60)
    body = {"model": profile.model_prefix + lane.alias, "messages": [{"role": "user", "content": "Say hello."}]}
    headers = {"Authorization": f"Bearer {profile.api_key}", "Content-Type": "application/json"}
    try:
        path = f"{profile.path_prefix}/chat/completions"
        connection.request("POST", path, json.dumps(body), headers | dict(lane_headers(profile, lane)))
        response = connection.getresponse()
        answer = json.loads(response.read())
        return response.status, answer["choices"][0]["message"]["content"]
    finally:
        connection.close()


@pytest.mark.parametrize("name", GATEWAYS)
def test_a_real_gateway_serves_its_lanes_and_ends(name: str, tmp_path: Path) -> None:
    """It gets ready on loopback alone, each lane reaches its own member, and its session is empty after the end."""
    profile = load_profile(name)
    with upstreams(5) as servers:
        lanes = plan_lanes([1, 4], ports=[server.server_port for server in servers])
        with launch(profile, lanes, scratch=tmp_path) as target:
            assert target.version
            assert listening_addresses(target.port) == {"0100007F"}
            assert ask(target, profile, lanes[0]) == (200, "Hello there.")
            assert servers[0].seen[0][0] == lanes[0].members[0].port
            assert ask(target, profile, lanes[1]) == (200, "Hello there.")
            seen = [entry for server in servers for entry in server.seen]
            session = target.pid
            assert session in session_members(session)
    assert session_members(session) == []
    if name in REWRITING:
        planned = {(member.port, member.api_key, member.model) for lane in lanes for member in lane.members}
        assert len(seen) == 2
        assert set(seen) <= planned
