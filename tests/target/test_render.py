"""Lanes in each known gateway's own words."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from conformance.target.lanes import plan_lanes
from conformance.target.load import load_profile
from conformance.target.profile import Profile
from conformance.target.render import RENDERERS, lane_headers
from conformance.target.schema import _validator

LANES = plan_lanes([1, 2], ports=[1001, 1002, 1003])


def test_the_schema_knows_exactly_the_renderers() -> None:
    """A profile can name every renderer and nothing else."""
    schema = _validator("target").schema
    assert isinstance(schema, dict)
    assert set(schema["properties"]["config"]["enum"]) == set(RENDERERS)


def test_the_reference_gateway_gets_lanes_and_time_limits() -> None:
    """Members with the API root, and the declared limits in seconds."""
    profile = load_profile("reference")
    config = json.loads(RENDERERS["reference"].text(profile, LANES, 4000))
    assert config["api_key"] == profile.api_key
    assert config["timeouts"] == {"first_token": 2.0, "idle": 2.0}
    assert config["lanes"][0] == {
        "alias": "lane-000",
        "members": [
            {
                "name": "m0",
                "base_url": "http://127.0.0.1:1001/v1",
                "api_key": "sk-up-lane-000-0",
                "model": "up-model-l000-m0",
            }
        ],
    }


def test_a_gateway_of_ones_own_is_told_all_that_is_declared() -> None:
    """Key, port and lanes, and the capabilities with the times that are set."""
    profile = replace(load_profile("reference"), capabilities=frozenset({"failover", "cooldown"}), quarantine_ms=None)
    config = json.loads(RENDERERS["lanes"].text(profile, LANES, 4000))
    reference = json.loads(RENDERERS["reference"].text(profile, LANES, 4000))
    assert (config["api_key"], config["port"], config["lanes"]) == (profile.api_key, 4000, reference["lanes"])
    assert config["declares"] == {
        "capabilities": ["cooldown", "failover"],
        "first_token_timeout_ms": 2000,
        "idle_timeout_ms": 2000,
        "cooldown_ms": 600,
        "cooldown_after": 2,
        "cancel_ms": 500,
    }


def test_the_reference_gateway_remembers_what_is_declared() -> None:
    """Windows in seconds for the declared capabilities, and no section for the others."""
    profile = load_profile("reference")
    config = json.loads(RENDERERS["reference"].text(profile, LANES, 4000))
    assert (config["cooldown"], config["quarantine"]) == ({"window": 0.6, "after": 2}, {"window": 1.2})
    assert (config["retry_after"], config["cache"], config["name_deployment"]) == ({}, {}, True)
    assert "retries" not in config
    bare = replace(profile, capabilities=frozenset({"retries", "honours-retry-after"}), retry_after_max_ms=2000.0)
    config = json.loads(RENDERERS["reference"].text(bare, LANES, 4000))
    assert config.keys() == {"api_key", "lanes", "timeouts", "retries", "retry_after"}
    assert config["retry_after"] == {"longest": 2.0}


def test_litellm_gets_one_deployment_for_each_member() -> None:
    """A lane is a model group; nothing else of the router is set but the declared first-token limit."""
    config = json.loads(RENDERERS["litellm"].text(load_profile("litellm"), LANES, 4000))
    assert [model["model_name"] for model in config["model_list"]] == ["lane-000", "lane-001", "lane-001"]
    assert config["model_list"][2] == {
        "model_name": "lane-001",
        "litellm_params": {
            "model": "openai/up-model-l001-m1",
            "api_base": "http://127.0.0.1:1003/v1",
            "api_key": "sk-up-lane-001-1",
        },
        "model_info": {"id": "up-model-l001-m1"},
    }
    assert config["router_settings"] == {"stream_timeout": 3.0, "timeout": 3.0}
    assert config["general_settings"] == {"master_key": "sk-test-client"}


def test_nginx_gets_a_pool_for_each_lane_on_loopback() -> None:
    """The lane's header picks the pool, the first lane is the default, and it listens on loopback."""
    text = RENDERERS["nginx"].text(load_profile("nginx"), LANES, 4000)
    assert "listen 127.0.0.1:4000;" in text
    assert "default lane-000;" in text
    assert "upstream lane-001 {\n    server 127.0.0.1:1002 max_fails=0;\n    server 127.0.0.1:1003 max_fails=0;" in text
    assert "proxy_read_timeout 2s;" in text


def test_smg_gets_a_worker_for_each_member() -> None:
    """Its file of workers says which model each one serves: the lane's alias."""
    manifest = json.loads(RENDERERS["smg"].text(load_profile("smg"), LANES, 4000))
    assert manifest["version"] == 1
    assert [(worker["url"], worker["model_id"]) for worker in manifest["workers"]] == [
        ("http://127.0.0.1:1001", "lane-000"),
        ("http://127.0.0.1:1002", "lane-001"),
        ("http://127.0.0.1:1003", "lane-001"),
    ]


def test_portkey_gets_its_lane_on_each_request() -> None:
    """The header is one line of JSON with the lane's members in order."""
    ((name, value),) = lane_headers(load_profile("portkey"), LANES[1])
    assert name == "x-portkey-config"
    assert "\n" not in value
    config = json.loads(value)
    assert config["strategy"]["mode"] == "fallback"
    assert [target["custom_host"] for target in config["targets"]] == [
        "http://127.0.0.1:1002/v1",
        "http://127.0.0.1:1003/v1",
    ]
    assert config["targets"][1]["override_params"] == {"model": "up-model-l001-m1"}


def test_a_lane_header_carries_the_alias() -> None:
    """Other gateways can be told the lane by name."""
    profile = Profile(name="x", kind="command", lane_headers=(("x-lane", "is {alias}"),))
    assert lane_headers(profile, LANES[0]) == (("x-lane", "is lane-000"),)


@pytest.mark.parametrize("config", sorted(RENDERERS))
def test_the_upstream_prefix_is_part_of_the_members_url(config: str) -> None:
    """A gateway that adds /v1 itself is told the members without it; nginx passes the client's path through."""
    profile = Profile(name="x", kind="command", upstream_prefix="")
    text = RENDERERS[config].text(profile, LANES, 4000)
    assert "127.0.0.1:1001" in text
    assert "1001/v1" not in text
