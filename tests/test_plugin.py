"""The fixtures for a gateway's own tests, in a small project as its developers have one."""

from __future__ import annotations

import pytest

from tests.run.test_choice import CASSETTE, SCENARIO

pytest_plugins = ["pytester"]

CONFTEST = """
import sys

def pytest_unconfigure(config):
    print("imported:", "conformance.run" in sys.modules)
"""

TESTS = '''
import httpx
import pytest
from conformance.errors import ScenarioError, UsageError

HELLO = [{"role": "user", "content": "Say hello."}]
RETIRED = "authored/errors/openrouter-no-endpoints"
ANSWER = "authored/openai/chat-hello"


def test_failover(send, judge):
    """One member is gone: the next one answers, and every clause holds."""
    exchange = send(messages=HELLO, play={"m0": RETIRED, "m1": RETIRED, "default": ANSWER})
    assert exchange.reply.status == 200
    assert [attempt.reply.status for attempt in exchange.attempts][-1] == 200
    held = [verdict.clause for verdict in judge(exchange) if verdict.outcome == "held"]
    assert "pool.failover.answers" in held


def test_each_request_has_its_play(send, judge):
    """Two requests of one test get what each of them was given."""
    first = send(messages=HELLO, play={"default": ANSWER})
    second = send(messages=HELLO, stream=True, play={"default": ANSWER + "-stream | crlf"})
    assert first.nonce != second.nonce
    assert judge(first, ["chat.*"]) and judge(second, ["stream.*", "chunk.*"])


@pytest.mark.parametrize("driver", ["wire", "openai-python"])
def test_drivers(send, driver):
    """Any driver can send; the SDK's view is part of the exchange."""
    exchange = send(messages=HELLO, driver=driver, play={"default": ANSWER})
    assert exchange.driver == driver
    assert (exchange.client is None) == (driver == "wire")


def test_upstream_and_gateway(gateway, upstream, bench):
    """The gateway is an ordinary one: any client can call it, and the upstream tells what arrived."""
    upstream.arm("cf-abcdef1", {}, [])
    body = {"model": bench.lane.alias, "messages": [{"role": "user", "content": "Hello."}]}
    headers = {"Authorization": "Bearer " + bench.seat.profile.api_key}
    answer = httpx.post(gateway.base_url + "/chat/completions", json=body, headers=headers)
    assert answer.status_code == 200
    assert gateway.alive and gateway.version
    assert any(b"Hello." in entry.request for entry in upstream.stray())


@pytest.mark.conformance(capabilities=[])
def test_no_promises(send, judge):
    """What the marker does not declare is not asked for."""
    exchange = send(messages=HELLO, play={"m0": RETIRED, "default": ANSWER})
    outcomes = {verdict.clause: verdict.outcome for verdict in judge(exchange)}
    assert outcomes["pool.failover.answers"] == "not-applicable"


@pytest.mark.conformance(target="reference:done-twice")
def test_violated(send, judge):
    """This one fails."""
    judge(send(messages=HELLO, stream=True, play={"default": ANSWER + "-stream"}))


@pytest.mark.conformance(capabilities=["telepathy"])
def test_unknown_capability(send):
    """This one is an error of its set-up."""


def test_slips(send, judge):
    """What cannot be played or judged is told before anything is judged."""
    with pytest.raises(UsageError, match="no clause matches"):
        judge(send(messages=HELLO, play={"default": ANSWER}), ["no.such.*"])
    with pytest.raises(ScenarioError):
        send(messages=HELLO, play={"default": ANSWER + " | no-such-transform"})
    with pytest.raises(UsageError, match="no member 'm9'"):
        send(messages=HELLO, play={"m9": ANSWER})


def test_slip_that_fails(send):
    """What is shown is this line, and none of the way down."""
    send(messages=HELLO, play={"default": "authored/openai/chat-helo"})


def test_nothing_checked(send, judge):
    """Clauses that do not apply check nothing, and a test that checks nothing fails."""
    judge(send(messages=HELLO, play={"default": ANSWER}), ["embeddings.*"])
'''


def test_a_project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Send, play, judge and the marker do what they say; a violated clause fails its test, and shows the bytes."""
    monkeypatch.setenv("COLUMNS", "130")
    pytester.makepyfile(test_gateway=TESTS)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:hypothesispytest", timeout=180)
    result.assert_outcomes(passed=7, failed=3, errors=1)
    result.stdout.fnmatch_lines_random(
        [
            "*test_violated*",
            "*stream.done.once*",
            "requires   *",
            "expected   *",
            "actual     *",
            "*ms*data: [[]DONE]*",
            "*there is no capability 'telepathy'*",
            "*none of the clauses embeddings.[*] applies to this exchange*",
        ]
    )
    slip = result.stdout.str().partition("_ test_slip_that_fails _")[2].partition("_ test_nothing_checked _")[0]
    assert "CassetteError: there is no cassette 'authored/openai/chat-helo'" in slip
    assert "test_gateway.py" in slip
    assert "client.py" not in slip and "bench.py" not in slip
    (rule,) = (line for line in result.stdout.lines if line.startswith("MUST contract · stream.done.once"))
    assert len(rule) == 130


OWN = '''
def test_march(send, judge):
    """A cassette of the project's own is played."""
    exchange = send(messages=[{"role": "user", "content": "Say hello."}], play={"default": "mine/march"})
    assert b"Words of March." in exchange.reply.content
    judge(exchange)
'''


def test_cassettes_of_the_projects_own(pytester: pytest.Pytester) -> None:
    """A setting names their folder, for the fixtures; options do for the suite, which plays scenarios of one's own."""
    folder = pytester.mkdir("tapes") / "mine"
    folder.mkdir()
    (folder / "march.yaml").write_text(CASSETTE, encoding="utf-8")
    pytester.makepyfile(OWN)
    pytester.makeini("[pytest]\nconformance_cassettes = tapes\n")
    assert pytester.runpytest_subprocess("-p", "no:cacheprovider", timeout=60).parseoutcomes() == {"passed": 1}
    scenarios = pytester.makefile(".toml", mine=SCENARIO)
    words = ("--pyargs", "conformance.suite", "--scenarios", str(scenarios), "--driver", "wire", "-n", "2")
    assert pytester.runpytest_subprocess(*words, timeout=60).parseoutcomes() == {"passed": 1}
    pytester.makeini("")
    missing = pytester.runpytest_subprocess(*words, timeout=60)
    assert missing.ret == pytest.ExitCode.USAGE_ERROR
    missing.stderr.fnmatch_lines(["*mine.hello: play*there is no cassette 'mine/march'*"])


def test_nothing_is_imported(pytester: pytest.Pytester) -> None:
    """A project without such tests pays for a few options: the pipeline is not even imported."""
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile("def test_mine():\n    pass\n")
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:hypothesispytest")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*imported: False*"])
