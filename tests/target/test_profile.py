"""A profile's table becomes a Profile, or an error that says what, where and what to do."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from conformance.contract.failover import Cause
from conformance.errors import TargetError
from conformance.target.profile import CAPABILITIES, at_url, decode, lacking

COMMAND: dict[str, Any] = {"kind": "command", "command": ["gate", "--port", "{port}"]}


def test_a_minimal_table_gets_every_default() -> None:
    """A kind and a command are enough; the rest has defaults."""
    profile = decode(COMMAND, name="gate")
    assert profile.name == "gate"
    assert profile.command == ("gate", "--port", "{port}")
    assert profile.path_prefix == "/v1"
    assert profile.capabilities == frozenset()


def test_every_key_reaches_its_field() -> None:
    """Tables become tuples of pairs, lists become sets and tuples, deadlines an object."""
    profile = decode(
        COMMAND
        | {
            "name": "other",
            "capabilities": ["failover", "idle-timeout"],
            "idle_timeout_ms": 1500,
            "environment": {"A": "{scratch}"},
            "lane_headers": {"x-lane": "{alias}"},
            "deadlines": {"head": 3},
        },
        name="gate",
    )
    assert profile.name == "other"
    assert profile.capabilities == {"failover", "idle-timeout"}
    assert profile.environment == (("A", "{scratch}"),)
    assert profile.lane_headers == (("x-lane", "{alias}"),)
    assert (profile.deadlines.head, profile.deadlines.connect) == (3, 5.0)


def test_a_running_target_may_name_the_upstream_behind_it() -> None:
    """Members of a running gateway are known when its profile gives the replay upstream and the lanes."""
    profile = decode(
        {
            "kind": "url",
            "base_url": "http://127.0.0.1:4000/v1",
            "upstream": {"control": "http://127.0.0.1:9000", "token_variable": "TOKEN"},
            "lanes": [{"alias": "gpt-edge", "members": [{"port": 9001}, {"port": 9002, "model": "up-x"}]}],
        },
        name="edge",
    )
    assert profile.upstream_control == "http://127.0.0.1:9000"
    assert [(member.name, member.port, member.model) for member in profile.lanes[0].members] == [
        ("m0", 9001, ""),
        ("m1", 9002, "up-x"),
    ]


@pytest.mark.parametrize(
    ("change", "what", "where", "hint"),
    [
        ({"redy_path": "/"}, "unknown key 'redy_path'", "gate", "did you mean 'ready_path'?"),
        ({"deadlines": {"hed": 1}}, "unknown key 'hed'", "gate: deadlines", "did you mean 'head'?"),
        ({"capabilities": ["fail-over"]}, "unknown capability 'fail-over'", "gate: capabilities", "'failover'"),
        ({"kind": "comand"}, "'comand' is none of the known values", "gate: kind", "did you mean 'command'?"),
        ({"config": "lite-llm"}, "'lite-llm' is none", "gate: config", "did you mean 'litellm'?"),
        ({"command": "gate"}, "'gate' is not of type 'array'", "gate: command", "a list of strings"),
        ({"command": []}, "[]", "gate: command", "a list of strings"),
        ({"command": ["gate", 7]}, "7 is not of type 'string'", "gate: command[1]", ""),
        ({"command": ["gate", "{prot}"]}, "unknown placeholder {prot}", "gate: command", "did you mean 'port'?"),
        ({"lane_headers": {"x": "{alais}"}}, "unknown placeholder {alais}", "gate: lane_headers", "'alias'"),
        ({"environment": {"X": "{folder_}"}}, "unknown placeholder", "gate: environment", "'folder'"),
        ({"idle_timeout_ms": 0}, "0", "gate: idle_timeout_ms", "milliseconds"),
        ({"capabilities": ["idle-timeout"]}, "'idle-timeout' is declared without its time", "gate", "idle_timeout_ms"),
        ({"capabilities": ["cooldown"]}, "'cooldown' is declared without its time", "gate", "cooldown_ms"),
        ({"capabilities": ["quarantine"]}, "'quarantine' is declared without its time", "gate", "quarantine_ms"),
        (
            {"capabilities": ["failover"], "max_attempts": 1},
            "max_attempts = 1 leaves no second",
            "gate",
            "drop failover",
        ),
        ({"path_prefix": "v1/"}, "'v1/' does not match", "gate: path_prefix", "slash"),
        ({"base_url": "http://x/v1"}, "'base_url' has no meaning", "gate", "drop base_url"),
    ],
)
def test_a_wrong_table_says_what_where_and_what_to_do(change: dict[str, Any], what: str, where: str, hint: str) -> None:
    """Each mistake names itself, its place and the nearest right thing."""
    with pytest.raises(TargetError) as caught:
        decode(COMMAND | change, name="gate")
    assert caught.value.what.startswith(what)
    assert caught.value.where == where
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("table", "what"),
    [
        ({}, "'kind' is a required property"),
        ({"kind": "command"}, "a target of kind 'command' needs 'command'"),
        ({"kind": "url"}, "a target of kind 'url' needs 'base_url'"),
        ({"kind": "url", "base_url": "http://x/v1", "command": ["a"]}, "'command' has no meaning"),
        ({"kind": "url", "base_url": "ftp://x"}, "'ftp://x' does not match"),
        (
            {"kind": "url", "base_url": "http://x/v1", "lanes": [{"alias": "a", "members": [{"port": 1}]}]},
            "'lanes' and 'upstream' go together",
        ),
    ],
)
def test_keys_that_do_not_go_together_are_refused(table: dict[str, Any], what: str) -> None:
    """A kind has keys that it needs and keys that mean nothing to it."""
    with pytest.raises(TargetError, match=r"^gate") as caught:
        decode(table, name="gate")
    assert caught.value.what.startswith(what)


def test_a_url_becomes_a_profile_that_promises_nothing() -> None:
    """The API root is kept without a slash at its end; no capability is assumed."""
    profile = at_url("https://gateway.test/openai/v1/")
    assert (profile.kind, profile.base_url) == ("url", "https://gateway.test/openai/v1")
    assert profile.capabilities == frozenset()
    with pytest.raises(TargetError, match="is no http or https URL"):
        at_url("file:///etc/passwd")


def test_every_capability_is_explained() -> None:
    """Each promise says what it is, in words without an end mark."""
    assert all(meaning and not meaning.endswith(".") for meaning in CAPABILITIES.values())


def test_failover_may_be_promised_for_some_failures() -> None:
    """`failover` alone promises it for all; with some named, those are promised, and `failover` goes without saying."""
    some = decode({"kind": "url", "base_url": "http://gateway.test/v1", "capabilities": ["failover:429"]}, name="gate")
    assert some.capabilities == {"failover", "failover:429"}
    assert lacking(["failover", "failover:429", "failover:5xx"], some.capabilities) == ["failover:5xx"]
    assert lacking(["failover", "failover:5xx", "cache"], frozenset({"failover"})) == ["cache"]
    assert lacking(["failover:5xx"], frozenset()) == ["failover:5xx"]


def test_each_cause_of_a_failover_can_be_promised() -> None:
    """The contract's causes and the words that a profile may use are the same."""
    assert {cause.capability for cause in Cause} == {name for name in CAPABILITIES if name.startswith("failover:")}


@pytest.mark.parametrize(
    "lines",
    [
        'kind = "url"\nbase_url = "http://127.0.0.1:99999/v1"',
        'kind = "url"\nbase_url = "http://[::1/v1"',
        'kind = "command"\ncommand = ["a"]\nready_seconds = nan',
        'kind = "command"\ncommand = ["a"]\n[deadlines]\nhead = inf',
        'kind = "command"\ncommand = ["a", "\\u0000"]',
        'kind = "command"\ncommand = ["a"]\n[environment]\n"A=B" = "c"',
        'kind = "command"\ncommand = ["a"]\nready_path = "/a\\r\\nX: y"',
        'kind = "command"\ncommand = ["a"]\n[lane_headers]\n"X" = "a\\r\\nY: b"',
    ],
)
def test_what_no_program_takes(lines: str) -> None:
    """Values that the format can hold and nothing can use are told before anything is started."""
    with pytest.raises(TargetError):
        decode(tomllib.loads(lines), name="odd")


@pytest.mark.parametrize("url", ["http://", "http://:80/v1", "http://[::1/v1", "http://127.0.0.1:99999/v1"])
def test_a_url_that_leads_nowhere(url: str) -> None:
    """A URL without a host, or with a port that there is not, is no target."""
    with pytest.raises(TargetError):
        at_url(url)
