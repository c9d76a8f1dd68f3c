"""Facts about the gateway as a process: one port, many ports, errors of its command line, and its end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from conformance.reference.__main__ import main
from conformance.reference.defects import DEFECTS

TABLE = {
    "api_key": "sk-test-client",
    "lanes": [
        {
            "alias": "a",
            "members": [{"name": "m0", "base_url": "http://127.0.0.1:9/v1", "api_key": "sk-up-0", "model": "up"}],
        }
    ],
}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A configuration file."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps(TABLE))
    return path


def test_every_defect_has_a_port_of_its_own(config: Path) -> None:
    """The process names its ports on one line, serves all of them, and ends on SIGTERM."""
    command = [sys.executable, "-m", "conformance.reference", "--config", str(config), "--matrix"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            ports = json.loads(process.stdout.readline())
            assert set(ports) == {"faithful", *DEFECTS}
            for port in ports.values():
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=10) as response:
                    assert json.load(response) == {"status": "ok"}
        finally:
            process.send_signal(signal.SIGTERM)
        process.wait(10)


def test_a_watched_gateway_ends_with_its_parent(config: Path) -> None:
    """With --watched the process ends by itself when standard input does, as it does when the parent is killed."""
    command = [sys.executable, "-m", "conformance.reference", "--config", str(config), "--matrix", "--watched"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        assert json.loads(process.stdout.readline())
        process.stdin.close()
        assert process.wait(20) == 0


def test_a_wrong_command_line_ends_with_2(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown defect and an unreadable configuration are the caller's."""
    assert main(["--config", str(config), "--defect", "no-such-thing"]) == 2
    assert main(["--config", str(config.parent / "none.json")]) == 2
    assert "has no defect" in capsys.readouterr().err
