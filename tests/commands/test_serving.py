"""`upstream`: the replay upstream alone."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from conformance.cli import main


def test_a_port_that_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    """A port that another program has ends it at once, with the port and what to do."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["upstream", "--port-base", str(port), "--members", "1"]) == 3
    err = capsys.readouterr().err
    assert f"where: 127.0.0.1:{port}" in err
    assert "hint: name a free one" in err


def test_no_file_descriptor_is_left() -> None:
    """More members than files may be open: one sentence with what to do, and no fault of the harness's own."""
    words = f'ulimit -n 64; exec "{sys.executable}" -m conformance upstream --members 200'
    done = subprocess.run(["sh", "-c", words], capture_output=True, check=False, text=True, timeout=60)
    assert done.returncode == 3
    assert "conformance: error: no port can be had: Too many open files" in done.stderr


def test_it_serves_until_interrupted() -> None:
    """It tells where it listens, answers there, and ends with 0 and without its token file when it is interrupted."""
    code = "from conformance.cli import entry; entry()"
    words = [sys.executable, "-c", code, "upstream", "--members", "2"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            told = [child.stdout.readline().split() for _ in range(4)]
            assert [line[0] for line in told] == ["control", "token-file", "member", "member"]
            assert Path(told[1][1]).read_text(encoding="utf-8")
            with urlopen(f"{told[3][2]}/v1/models", timeout=10) as reply:
                assert reply.status == 200
            child.send_signal(signal.SIGINT)
            assert child.wait(timeout=15) == 0
            assert not Path(told[1][1]).exists()
        finally:
            child.kill()
