"""conformance.upstream.process: the upstream's process comes up, and never outlives what started it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.errors import UpstreamError, UsageError
from conformance.upstream import process
from conformance.upstream.process import start_upstream
from tests.upstream.peer import eventually

PARENT = """
import os, sys, time
from conformance.upstream.process import start_upstream
upstream = start_upstream(1)
if sys.argv[1] == "fork" and os.fork() == 0:
    time.sleep(60)  # a copy of the pipe's writing end lives on
print(upstream.pid, os.getpid(), flush=True)
time.sleep(60)
"""


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_it_serves_until_it_is_stopped() -> None:
    """Alive with its ports, then stopped with 0; stopping again does no harm."""
    with start_upstream(2) as started:
        assert started.alive
        assert started.returncode is None
        assert len(set(started.ports)) == 2
        assert started.client().health()["members"].keys() == {"u0", "u1"}
    assert not started.alive
    assert started.returncode == 0
    assert gone(started.pid)
    started.stop()


def test_it_ends_when_asked_to_shut_down() -> None:
    """POST /shutdown answers, then the process ends by itself."""
    with start_upstream(1) as started:
        started.client().shutdown()
        assert eventually(lambda: not started.alive)
        assert started.returncode == 0


@pytest.mark.parametrize("mode", ["plain", "fork"])
def test_a_killed_parent_leaves_no_upstream(mode: str) -> None:
    """kill -9 of the parent ends the upstream within seconds, also when a fork still holds the pipe."""
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, mode], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert parent.stdout is not None
    pid, parent_pid = map(int, parent.stdout.readline().split())
    try:
        assert parent_pid == parent.pid
        assert not gone(pid)
        parent.kill()
        assert eventually(lambda: gone(pid))
    finally:
        os.killpg(parent.pid, signal.SIGKILL)
        parent.wait()
        parent.stdout.close()


def test_a_killed_upstream_is_noticed() -> None:
    """`alive` tells, and its client raises UpstreamError."""
    with start_upstream(1) as started:
        os.kill(started.pid, signal.SIGKILL)
        assert eventually(lambda: not started.alive)
        assert started.returncode == -signal.SIGKILL
        with pytest.raises(UpstreamError, match="does not answer"):
            started.client().health()


def test_an_upstream_that_cannot_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error carries what the child wrote to its stderr."""
    with pytest.raises(UpstreamError, match="ended at once") as caught:
        start_upstream("two")  # type: ignore[arg-type]
    assert "invalid int value" in caught.value.hint
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    with pytest.raises(UpstreamError, match="cannot be started"):
        start_upstream(1)


def test_an_upstream_that_does_not_come_up_is_killed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A child that stays silent is given up at the deadline, and does not stay."""
    silent = tmp_path / "silent"
    silent.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 60\n")
    silent.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(silent))
    monkeypatch.setattr(process, "START_SECONDS", 0.5)
    monkeypatch.setattr(process, "STOP_SECONDS", 0.1)
    with pytest.raises(UpstreamError, match=r"not up after 0\.5 s") as caught:
        start_upstream(1)
    assert caught.value.hint.startswith("where the machine is only slow, set CONFORMANCE_UPSTREAM_SECONDS")
    assert gone(int((tmp_path / "pid").read_text()))


def test_the_deadline_is_the_callers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The variable that the error names is the number of seconds; what is none is a usage error that names it."""
    silent = tmp_path / "silent"
    silent.write_text("#!/bin/sh\nexec sleep 60\n")
    silent.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(silent))
    monkeypatch.setattr(process, "STOP_SECONDS", 0.1)
    monkeypatch.setenv(process.START_VARIABLE, "0.25")
    with pytest.raises(UpstreamError, match=r"not up after 0\.25 s"):
        start_upstream(1)
    for wrong in ("soon", "-1", "0", "nan", "inf"):
        monkeypatch.setenv(process.START_VARIABLE, wrong)
        with pytest.raises(UsageError, match=wrong) as caught:
            process.start_seconds()
        assert caught.value.where == "CONFORMANCE_UPSTREAM_SECONDS"


def test_the_log_is_kept() -> None:
    """Nothing is written to stderr by a healthy upstream."""
    with start_upstream(1) as started:
        assert started.log_tail() == ""
    assert started.log_tail() == ""
