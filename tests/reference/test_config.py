"""Facts about the gateway's configuration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.errors import TargetError
from conformance.reference.config import decode_config, load_config
from conformance.reference.rules import CacheRule, CooldownRule, QuarantineRule, RetryRule, WaitRule

MEMBER = {"name": "m0", "base_url": "http://127.0.0.1:9/v1/", "api_key": "sk-up-0", "model": "up-model-0"}
TABLE: dict[str, Any] = {"api_key": "sk-test-client", "lanes": [{"alias": "a", "members": [MEMBER]}]}


def test_a_configuration_is_read(tmp_path: Path) -> None:
    """Lanes by alias, times in seconds, everything else by default."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps(TABLE | {"timeouts": {"idle": 2}}))
    config = load_config(path)
    member = config.lanes["a"].members[0]
    assert (member.base_url, member.host) == ("http://127.0.0.1:9/v1", "127.0.0.1:9")
    assert (config.timeouts.idle, config.timeouts.connect, config.rotate) == (2, 2.0, True)


def test_memory_is_off_unless_it_is_asked_for() -> None:
    """A section switches its rule on, with defaults for the rest."""
    config = decode_config(TABLE)
    assert [config.cooldown, config.quarantine, config.retry_after, config.retries, config.cache] == [None] * 5
    sections = {"cooldown": {"window": 5}, "quarantine": {"window": 600}, "retry_after": {}, "retries": {}, "cache": {}}
    config = decode_config(TABLE | sections)
    assert config.cooldown == CooldownRule(window=5, after=1, longest=300.0, silent=0.5)
    assert config.quarantine == QuarantineRule(window=600)
    assert (config.retry_after, config.retries, config.cache) == (WaitRule(), RetryRule(), CacheRule())


@pytest.mark.parametrize(
    ("change", "where", "what"),
    [
        ({"lanes": []}, "", "lanes"),
        ({"api_key": ""}, "", "api_key"),
        ({"lane": 1}, "", "unknown key 'lane'"),
        ({"timeouts": {"idle": "2"}}, "timeouts", "idle"),
        ({"timeouts": {"ilde": 2}}, "timeouts", "unknown key"),
        ({"limits": {"body": True}}, "limits", "body"),
        (
            {"lanes": [{"alias": "a", "members": [MEMBER | {"base_url": "127.0.0.1"}]}]},
            "lanes[0]: members[0]",
            "http URL",
        ),
        ({"lanes": [7]}, "lanes[0]", "object"),
        ({"cooldown": {"after": 2}}, "cooldown", "window is missing"),
        ({"cooldown": {"window": 0}}, "cooldown", "window"),
        ({"quarantine": {}}, "quarantine", "window is missing"),
        ({"cache": {"years": 1}}, "cache", "unknown key"),
    ],
)
def test_a_wrong_configuration_names_its_place(change: dict[str, Any], where: str, what: str) -> None:
    """The error says what is wrong and where."""
    with pytest.raises(TargetError) as caught:
        decode_config(TABLE | change, where="c.json")
    assert what in caught.value.what
    assert caught.value.where == f"c.json: {where}" if where else caught.value.where == "c.json"


def test_an_unreadable_file_is_a_target_error(tmp_path: Path) -> None:
    """A missing file, and one that is not JSON."""
    with pytest.raises(TargetError):
        load_config(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(TargetError):
        load_config(tmp_path / "bad.json")
