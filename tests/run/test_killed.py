"""Whatever part of a run is killed, the run ends soon, says that it proves nothing, and leaves no process behind."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance import reportfile
from conformance.errors import ReportError
from tests.run.processes import Run, conformance, started, suite

pytestmark = [
    pytest.mark.killed,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are told apart through /proc"),
]

HOW = {"command": conformance, "pytest": suite}
both = pytest.mark.parametrize("words", HOW.values(), ids=HOW)

#: A gateway that ends by itself, by what its working directory holds.
LEAVING = """
import os, sys, threading, time
def leave():
    while not os.path.exists(sys.argv[1]):
        time.sleep(0.02)
    print("gone for lunch", flush=True)
    os._exit(7)
threading.Thread(target=leave, daemon=True).start()
from conformance.reference.__main__ import main
sys.exit(main(sys.argv[2:]))
"""


def kill(pid: int) -> None:
    """SIGKILL: nothing of the process's own can run any more."""
    os.kill(pid, signal.SIGKILL)


def assert_proves_nothing(run: Run) -> None:
    """Exit code 3, a report that says so in its footer, and nobody left."""
    assert run.end() == 3, run.text
    footer = run.footer()
    assert footer is not None
    assert (footer["exit_code"], footer["end"]) == (3, "failed")
    assert run.survivors() == []


@both
def test_gateway_killed(words: Callable[..., list[str]], tmp_path: Path) -> None:
    """The gateway's death is no violation of a clause by the next request: the run has no result, and says why."""
    with started(words(), tmp_path) as run:
        run.reach(3)
        kill(run.pid_of("conformance.reference", "--port", "-m"))
        assert_proves_nothing(run)
        assert "the gateway ended during the run with signal 9" in str(run.footer())


@both
def test_gateway_leaves(words: Callable[..., list[str]], tmp_path: Path) -> None:
    """A gateway that ends by itself is told with its exit code and its last words."""
    (tmp_path / "leaving.py").write_text(LEAVING, encoding="utf-8")
    lunch = tmp_path / "lunch"
    command = ["{python}", str(tmp_path / "leaving.py"), str(lunch), "--config", "{config}", "--port", "{port}"]
    (tmp_path / "leaving.toml").write_text(
        f'kind = "command"\nconfig = "reference"\ncommand = {command}\n'
        'capabilities = ["idle-timeout", "first-token-timeout"]\n'
        "idle_timeout_ms = 2000\nfirst_token_timeout_ms = 2000\n",
        encoding="utf-8",
    )
    with started(words("--target", str(tmp_path / "leaving.toml")), tmp_path) as run:
        run.reach(3)
        lunch.touch()
        assert_proves_nothing(run)
        assert "with exit code 7" in str(run.footer())
        assert "gone for lunch" in run.text


@both
def test_upstream_killed(words: Callable[..., list[str]], tmp_path: Path) -> None:
    """Without the replay upstream nothing can be judged: not one verdict is made of its absence."""
    with started(words(), tmp_path) as run:
        run.reach(3)
        kill(run.pid_of("conformance.upstream"))
        assert_proves_nothing(run)
        assert "replay upstream" in str(run.footer())


def test_worker_killed(tmp_path: Path) -> None:
    """An xdist worker takes verdicts with it: the run stops, and no other worker takes its place."""
    with started(suite(), tmp_path) as run:
        run.reach(3)
        workers = run.pids_of("import sys;exec(eval(sys.stdin.readline()))")
        assert len(workers) == 2
        kill(workers[0])
        assert_proves_nothing(run)
        assert "worker gw" in str(run.footer())


@both
def test_controller_killed(words: Callable[..., list[str]], tmp_path: Path) -> None:
    """The report of a run that was itself killed has no footer, so that no reader takes it; its children end."""
    with started(words(), tmp_path) as run:
        run.reach(3)
        kill(run.child.pid)
        assert run.end() == -signal.SIGKILL
        assert run.survivors() == []
        with pytest.raises(ReportError, match="footer"):
            reportfile.read(run.report)


@both
@pytest.mark.parametrize(
    ("whole_group", "number"),
    [(False, signal.SIGINT), (True, signal.SIGINT), (False, signal.SIGTERM), (False, signal.SIGHUP)],
    ids=["process", "terminal", "terminated", "hung-up"],
)
def test_interrupted(
    words: Callable[..., list[str]], whole_group: bool, number: signal.Signals, tmp_path: Path
) -> None:
    """Ctrl-C, SIGTERM and SIGHUP end a run in order: what was judged is in the report, whose end says so."""
    with started(words(), tmp_path) as run:
        run.reach(3)
        (os.killpg if whole_group else os.kill)(run.child.pid, number)
        assert run.end() == 3, run.text
        footer = run.footer()
        assert footer is not None
        assert (footer["exit_code"], footer["end"]) == (3, "interrupted"), run.text
        assert len(run.cases()) >= 3
        assert run.survivors() == []
