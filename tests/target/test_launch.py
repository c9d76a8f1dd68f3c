"""Gateways come up, are told dead from alive, and go down with everything that they started."""

from __future__ import annotations

import dataclasses
import os
import signal
import socket
import time
from pathlib import Path

import pytest

from conformance.errors import LaunchError, TargetDied, TargetError
from conformance.target.lanes import plan_lanes
from conformance.target.launch import RunningTarget, describe_end, launch
from conformance.target.profile import Profile, at_url
from tests.target.fakes import eventually, fake_profile, is_running

LANES = plan_lanes([2], ports=[1001, 1002])


def started(folder: Path, mode: str, **words: float) -> RunningTarget:
    """The fake gateway in `mode`, ready."""
    return launch(fake_profile(folder, mode), LANES, scratch=folder, **words)


def noted_pids(folder: Path) -> list[int]:
    """The pids that a fake gateway noted in its working folder."""
    return [int(line) for path in folder.glob("fake-*/pids") for line in path.read_text().split()]


def test_a_launched_gateway_answers_and_ends(tmp_path: Path) -> None:
    """Ready means that the port answers; after the end nothing runs and nothing listens."""
    with started(tmp_path, "ready") as target:
        assert target.alive
        assert target.returncode is None
        assert target.base_url == f"http://127.0.0.1:{target.port}/v1"
        socket.create_connection(("127.0.0.1", target.port)).close()
        pid = target.pid
        assert is_running(pid)
    assert not target.alive
    assert target.returncode == -signal.SIGTERM
    assert not is_running(pid)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", target.port))


def test_stopping_twice_is_stopping_once(tmp_path: Path) -> None:
    """A second stop changes nothing."""
    target = started(tmp_path, "ready")
    target.stop()
    target.stop()
    assert target.returncode == -signal.SIGTERM


def test_a_gateway_that_dies_at_once_shows_its_last_lines(tmp_path: Path) -> None:
    """The error has the exit code and the last 20 lines of the log, and no more."""
    with pytest.raises(LaunchError) as caught:
        started(tmp_path, "dies")
    assert "exit code 3" in caught.value.what
    assert "line 10\n" in caught.value.hint
    assert caught.value.hint.endswith("line 29")
    assert "line 9\n" not in caught.value.hint


@pytest.mark.parametrize(
    ("mode", "answer"),
    [
        ("silent", "Refused"),
        ("unready", "status 503"),
        ("endless-head", "no HTTP response"),
        ("endless-interim", "status 100"),
        ("slow-head", "Timeout"),
    ],
)
def test_a_gateway_that_never_gets_ready_is_given_up(
    mode: str, answer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The deadline ends the wait; the error says what was last answered; nothing is left."""
    monkeypatch.setattr("conformance.target.launch._ANSWER_SECONDS", 0.6)
    begun = time.monotonic()
    with pytest.raises(LaunchError, match=r"not ready after 0.5 s") as caught:
        launch(fake_profile(tmp_path, mode, ready_seconds=0.5), LANES, scratch=tmp_path)
    assert answer in caught.value.what
    assert "raise ready_seconds in its profile" in caught.value.hint
    assert time.monotonic() - begun < 8


def test_a_ready_answer_without_end_is_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its head says that the gateway is ready; of a body that never ends no more than a bound is read."""
    monkeypatch.setattr("conformance.target.launch._ANSWER_BYTES", 1 << 20)
    with started(tmp_path, "endless-body") as target:
        assert target.alive


def test_any_answer_can_mean_ready(tmp_path: Path) -> None:
    """A profile for a gateway without a health path accepts whatever comes."""
    with launch(fake_profile(tmp_path, "unready", ready_status=0), LANES, scratch=tmp_path) as target:
        assert target.alive


def test_a_gateway_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    """After the grace comes SIGKILL."""
    target = started(tmp_path, "stubborn", grace=0.2)
    target.stop()
    assert target.returncode == -signal.SIGKILL
    assert not is_running(target.pid)


@pytest.mark.parametrize("mode", ["family", "strays"])
def test_children_end_with_their_gateway(mode: str, tmp_path: Path) -> None:
    """A child in the gateway's group, or one that left it for a session of its own, is gone when stop returns."""
    target = started(tmp_path, mode, grace=0.2)
    (child,) = noted_pids(tmp_path)
    assert is_running(child)
    target.stop()
    assert not is_running(child)


def test_children_end_when_their_gateway_is_killed(tmp_path: Path) -> None:
    """A kill -9 of the gateway alone leaves none of its children, and is told as such."""
    target = started(tmp_path, "family")
    (child,) = noted_pids(tmp_path)
    target.ensure_alive()
    os.kill(target.pid, signal.SIGKILL)
    assert eventually(lambda: not target.alive)
    assert target.returncode == -signal.SIGKILL
    with pytest.raises(TargetDied, match="signal 9"):
        target.ensure_alive()
    assert eventually(lambda: not is_running(child))
    target.stop()


def test_a_port_that_is_taken_is_an_error_when_it_was_asked_for(tmp_path: Path) -> None:
    """A port of the caller's choice is not replaced by another."""
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        pytest.raises(LaunchError, match="ended before it was ready"),
    ):
        started(tmp_path, "ready", port=listener.getsockname()[1])


def test_a_port_that_was_lost_in_between_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When somebody takes the free port before the gateway does, the launch takes another one."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        lost = listener.getsockname()[1]
        from conformance.target import launch as module

        real = module.free_port
        ports = [lost]
        monkeypatch.setattr(module, "free_port", lambda: ports.pop() if ports else real())
        with started(tmp_path, "ready") as target:
            assert target.port != lost


def test_a_program_that_cannot_be_executed_is_a_launch_error(tmp_path: Path) -> None:
    """The operating system's word is in the error."""
    program = tmp_path / "broken"
    program.write_bytes(b"\x7fELF broken")
    program.chmod(0o755)
    profile = Profile(name="x", kind="command", command=(str(program),))
    with pytest.raises(LaunchError, match=r"cannot be started .*Exec format error"):
        launch(profile, LANES, scratch=tmp_path)


def test_a_gateway_that_learns_its_lanes_late_is_waited_for(tmp_path: Path) -> None:
    """Ready is then who names every lane in its list of models; who never does is told how many are missing."""
    late = dataclasses.replace(fake_profile(tmp_path, "late"), ready_models=True)
    with launch(late, LANES, scratch=tmp_path) as target:
        assert target.alive
    never = dataclasses.replace(fake_profile(tmp_path, "ready", ready_seconds=0.3), ready_models=True)
    with pytest.raises(LaunchError, match="1 of 1 aliases are not in its list of models"):
        launch(never, LANES, scratch=tmp_path)


def test_too_many_lanes_for_one_process_are_refused(tmp_path: Path) -> None:
    """A gateway that can hold one lane is not given two."""
    profile = Profile(name="x", kind="command", command=("{python}",), max_lanes=1)
    with pytest.raises(TargetError, match="serves 1 lanes, not 2"):
        launch(profile, plan_lanes([1, 1], ports=[1001]), scratch=tmp_path)


def test_a_running_target_is_taken_as_it_is(tmp_path: Path) -> None:
    """Nothing is started for a URL and nothing is stopped."""
    with launch(at_url("http://127.0.0.1:9/v1"), (), scratch=tmp_path) as target:
        assert (target.base_url, target.pid, target.port) == ("http://127.0.0.1:9/v1", 0, 0)
    target.ensure_alive()
    assert target.returncode is None
    assert target.log_tail() == ""
    assert list(tmp_path.iterdir()) == []


def test_ends_are_told_in_words() -> None:
    """A positive code is an exit, a negative one a signal."""
    assert [describe_end(code) for code in (0, 3, -9, None)] == [
        "exit code 0",
        "exit code 3",
        "signal 9",
        "no exit code",
    ]
