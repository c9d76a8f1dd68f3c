"""However the harness goes, the gateway goes with it."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.target.fakes import eventually, fake_profile, is_running

#: argv: the tests' root, scratch folder, mode. Prints the gateway's pid and the supervisor's, then waits to be killed.
HARNESS = """
import pathlib, signal, sys
sys.path.insert(0, sys.argv[1])
from conformance.target.launch import launch
from tests.target.fakes import fake_profile
folder = pathlib.Path(sys.argv[2])
target = launch(fake_profile(folder, sys.argv[3]), (), scratch=folder, grace=0.2)
print(target.pid, target._process._supervisor.pid, flush=True)
if sys.argv[4] == "exit":
    sys.exit(0)
signal.pause()
"""


def start_harness(folder: Path, mode: str, habit: str = "wait") -> tuple[subprocess.Popen[bytes], int, int]:
    """A harness process with a gateway; its handle, the gateway's pid, the supervisor's pid."""
    root = str(Path(__file__).parents[2])
    harness = subprocess.Popen([sys.executable, "-c", HARNESS, root, str(folder), mode, habit], stdout=subprocess.PIPE)
    assert harness.stdout is not None
    gateway, supervisor = map(int, harness.stdout.readline().split())
    harness.stdout.close()
    return harness, gateway, supervisor


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("mode", ["ready", "stubborn", "strays"])
def test_a_killed_harness_leaves_nothing(mode: str, number: signal.Signals, tmp_path: Path) -> None:
    """kill -9 of the harness ends the gateway, its strays and the supervisor."""
    harness, gateway, supervisor = start_harness(tmp_path, mode)
    pids = [gateway, supervisor]
    pids += [int(line) for path in tmp_path.glob("fake-*/pids") for line in path.read_text().split()]
    assert all(is_running(pid) for pid in pids)
    harness.send_signal(number)
    harness.wait(10)
    assert eventually(lambda: not any(is_running(pid) for pid in pids))


def test_a_harness_that_ends_without_stopping_leaves_nothing(tmp_path: Path) -> None:
    """The end of the interpreter stops what was forgotten."""
    harness, gateway, supervisor = start_harness(tmp_path, "stubborn", "exit")
    assert harness.wait(10) == 0
    assert eventually(lambda: not is_running(gateway) and not is_running(supervisor))


def test_a_killed_supervisor_takes_the_gateway_with_it(tmp_path: Path) -> None:
    """Even the supervisor's own kill -9 does not leave a gateway; the harness sees it as dead."""
    from conformance.target.launch import launch

    target = launch(fake_profile(tmp_path, "stubborn"), (), scratch=tmp_path)
    assert target._process is not None
    target._process._supervisor.send_signal(signal.SIGKILL)
    assert eventually(lambda: not is_running(target.pid))
    assert eventually(lambda: not target.alive)
    target.stop()
    assert target.returncode == -signal.SIGKILL
