"""Locust, for real: a master with two workers, and forked workers, on one stage; failures are named by clause."""

from __future__ import annotations

import csv
import importlib.util
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.errors import UsageError
from conformance.run.standing import Chosen, cases_of, join, stand

LOCUST = importlib.util.find_spec("locust") is not None
needs_locust = pytest.mark.skipif(
    not LOCUST, reason="locust is not installed: pip install 'gateway-conformance[locust]'"
)
#: Eight users until forty exchanges were seen, or a minute and a half has passed.
LOCUSTFILE = """
from locust import LoadTestShape

from conformance.load.locust import ScenarioUser


class Clients(ScenarioUser):
    pass


class Enough(LoadTestShape):
    def tick(self):
        done = self.runner.stats.total.num_requests >= 40 or self.get_run_time() > 90
        return None if done else (8, 8)
"""


def locust(folder: Path, *words: str) -> subprocess.Popen[str]:
    """A Locust process on the stage in `folder`."""
    command = [sys.executable, "-m", "locust", "-f", str(folder / "locustfile.py"), "--headless", *words]
    environment = os.environ | {"CONFORMANCE_STAGE": str(folder / "stage.json")}
    return subprocess.Popen(
        command, env=environment, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def rows(path: Path) -> list[dict[str, str]]:
    """The rows of one of Locust's tables."""
    with path.open(encoding="utf-8", newline="") as table:
        return list(csv.DictReader(table))


def free_port() -> int:
    """A port that is free now."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a locustfile."""
    (tmp_path / "locustfile.py").write_text(LOCUSTFILE, encoding="utf-8")
    return tmp_path


@needs_locust
def test_a_master_and_two_workers_find_what_load_shows(folder: Path) -> None:
    """Eight users on two workers: the double dispatch is a failure named by its clause, and the exit code is 1."""
    port = str(free_port())
    chosen = Chosen(target="reference:counter-dispatches-twice", select=("load.chat",), clauses=("pool.*", "http.*"))
    with stand(chosen, folder / "stage.json"):
        place = ("--master-bind-host", "127.0.0.1", "--master-bind-port", port)
        master = locust(folder, "--master", "--expect-workers", "2", *place, "--csv", "found")
        workers = [locust(folder, "--worker", "--master-host", "127.0.0.1", "--master-port", port) for _ in range(2)]
        told, _ = master.communicate(timeout=240)
        for worker in workers:
            assert worker.communicate(timeout=60) and worker.returncode in (0, 1)
        assert master.returncode == 1, told
    (row,) = (row for row in rows(folder / "found_stats.csv") if row["Name"] == "load.chat")
    assert int(row["Request Count"]) >= 16
    failures = rows(folder / "found_failures.csv")
    assert {(row["Method"], row["Name"], row["Error"]) for row in failures} == {
        ("wire", "load.chat", "ClauseViolated('pool.success.final')")
    }


@needs_locust
def test_forked_workers_find_nothing_on_the_faithful_gateway(folder: Path) -> None:
    """`--processes 2`, many clauses: no failure, exit code 0, and no process stays."""
    with stand(Chosen(select=("load.chat*",)), folder / "stage.json"):
        port = str(free_port())
        where = ("--master-bind-host", "127.0.0.1", "--master-bind-port", port, "--master-port", port)
        run = locust(folder, "--processes", "2", "--csv", "found", *where)
        told, _ = run.communicate(timeout=240)
        assert run.returncode == 0, told
    assert rows(folder / "found_failures.csv") == []
    assert {row["Name"] for row in rows(folder / "found_stats.csv")} == {"load.chat", "load.chat-stream", "Aggregated"}


def test_a_standing_stage_is_joined_by_its_file(tmp_path: Path) -> None:
    """Whoever reads the file plans the same cases and lanes; it is its owner's alone, and goes with the stage."""
    file = tmp_path / "stage.json"
    chosen = Chosen(select=("load.chat", "baseline.chat"), clauses=("chat.*",))
    with stand(chosen, file) as stage:
        assert file.stat().st_mode & 0o777 == 0o600
        seat, cases, clauses = join(file)
        assert seat == stage.seat
        assert cases == cases_of(chosen)
        assert [case.lane for case in cases] == [0, 1]
        assert all(clause.id.startswith("chat.") for clause in clauses)
    assert not file.exists()
    with pytest.raises(UsageError, match="no standing stage"):
        join(file)


def test_what_cannot_be_put_under_load_is_refused() -> None:
    """Sequences alone are no load; unless some are selected, it is those made for load."""
    with pytest.raises(UsageError, match="under load"):
        cases_of(Chosen(select=("cooldown.*",)))
    assert {"load.chat", "load.failing"} <= {case.scenario.id for case in cases_of(Chosen())}


def test_the_command_lets_a_stage_stand_until_it_is_ended(tmp_path: Path) -> None:
    """It says where, answers there, and ends with 0 and without its file."""
    code = "from conformance.cli import entry; entry()"
    file = tmp_path / "stage.json"
    words = [sys.executable, "-c", code, "stage", "--select", "load.chat", "--file", str(file)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline().startswith("gateway http://127.0.0.1:")
            assert child.stdout.readline().split() == ["stage-file", str(file)]
            assert join(file)[1]
            child.send_signal(signal.SIGTERM)
            assert child.wait(timeout=20) == 0
            assert not file.exists()
        finally:
            child.kill()
