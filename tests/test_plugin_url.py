"""The fixtures on a gateway that already runs, with the upstream that stands behind it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.target.lanes import Lane, plan_lanes
from conformance.target.launch import launch
from conformance.target.load import load_profile
from conformance.upstream.process import UpstreamProcess, start_upstream

pytest_plugins = ["pytester"]

TESTS = '''
import pytest
from conformance.errors import UsageError

HELLO = [{"role": "user", "content": "Say hello."}]
ANSWER = "authored/openai/chat-hello"


def test_both_legs(send, judge, gateway, upstream):
    """The play reaches the members behind the gateway, and the journal tells of them."""
    exchange = send(messages=HELLO, play={"m0": "@reset", "default": ANSWER})
    judge(exchange)
    assert [attempt.member for attempt in exchange.attempts][0] == "m0"
    assert gateway.base_url and not gateway.pid
    assert upstream.health()


def test_a_key_of_its_own(send, judge):
    """A wrong key can be sent."""
    exchange = send(messages=HELLO, api_key="sk-test-other", play={"default": ANSWER})
    judge(exchange, ["error.*"])
    assert exchange.reply.status == 401


def test_the_client_goes(send, judge):
    """A hang-up comes as late as it was asked for."""
    play = {"default": ANSWER + "-stream | pace:60"}
    exchange = send(messages=HELLO, stream=True, hang_up="event:1", wait_ms=40, play=play)
    judge(exchange)
    assert exchange.hangup is not None


def test_a_cassette_that_its_upstream_does_not_have(send):
    """Whose folders are meant is told: those of the upstream that already runs."""
    with pytest.raises(UsageError, match="no cassette 'mine/june'.*conformance upstream --cassettes DIR"):
        send(messages=HELLO, play={"default": "mine/june"})


def test_what_is_no_parameter(send):
    """An argument that nobody knows is told as such."""
    with pytest.raises(UsageError, match="behaviour is no JSON value"):
        send(messages=HELLO, behaviour=object())
'''

PROFILE = """
kind = "url"
base_url = "{base_url}"
api_key = "{api_key}"
capabilities = ["failover"]

[upstream]
control = "http://127.0.0.1:{control}"
token_variable = "UPSTREAM_TOKEN"

[[lanes]]
alias = "{alias}"
members = [{members}]
"""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[UpstreamProcess, Lane, str]]:
    """An upstream, a gateway in front of it, and its API root: what a developer has started beforehand."""
    with start_upstream(4) as upstream:
        lanes = plan_lanes([4], ports=upstream.ports)
        with launch(load_profile("reference"), lanes, scratch=tmp_path_factory.mktemp("gateway")) as gateway:
            yield upstream, lanes[0], gateway.base_url


def profile(running: tuple[UpstreamProcess, Lane, str], folder: Path) -> Path:
    """The profile of that gateway, as the README has it."""
    upstream, lane, base_url = running
    path = folder / "mine.toml"
    text = PROFILE.format(
        base_url=base_url,
        api_key=load_profile("reference").api_key,
        control=upstream.address.control_port,
        alias=lane.alias,
        members=", ".join(f"{{ port = {member.port} }}" for member in lane.members),
    )
    path.write_text(text, encoding="utf-8")
    return path


def test_a_running_gateway(
    pytester: pytest.Pytester, running: tuple[UpstreamProcess, Lane, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fixtures use the gateway of a profile and its upstream, and start none of their own."""
    monkeypatch.setenv("UPSTREAM_TOKEN", running[0].address.token)
    target = profile(running, pytester.path)
    pytester.makepyfile(test_gateway=TESTS)
    result = pytester.runpytest_subprocess(
        "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "--target", str(target), timeout=120
    )
    result.assert_outcomes(passed=5)


def test_a_token_that_is_not_set(
    pytester: pytest.Pytester, running: tuple[UpstreamProcess, Lane, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the upstream's token the variable is named, at set-up."""
    monkeypatch.delenv("UPSTREAM_TOKEN", raising=False)
    target = profile(running, pytester.path)
    pytester.makepyfile("def test_one(send):\n    send(messages=[])\n")
    result = pytester.runpytest_subprocess(
        "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "--target", str(target), timeout=120
    )
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*UPSTREAM_TOKEN is not set*"])
