"""conformance.upstream.serve: the upstream alone, as `conformance upstream` runs it."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from conformance.upstream.serve import folders
from tests.upstream.peer import eventually

ALONE = """
import sys
from conformance.upstream.serve import Settings, serve_alone
sys.exit(serve_alone(Settings(members=2, port_base=int(sys.argv[1])), lambda line: print(line, flush=True)))
"""


def free_base() -> int:
    """A port that is free, and its successor too."""
    while True:
        with socket.socket() as one, socket.socket() as two:
            one.bind(("127.0.0.1", 0))
            port: int = one.getsockname()[1]
            try:
                two.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_alone_it_says_where_it_is_and_ends_on_a_signal(number: signal.Signals) -> None:
    """Control URL, token file (for the owner only) and ports are told; the file goes with the process."""
    base = free_base()
    child = subprocess.Popen([sys.executable, "-c", ALONE, str(base)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    try:
        told = dict(child.stdout.readline().split(maxsplit=1) for _ in range(2))
        members = [child.stdout.readline().split()[1:] for _ in range(2)]
        assert members == [["u0", f"http://127.0.0.1:{base}"], ["u1", f"http://127.0.0.1:{base + 1}"]]
        token_file = Path(told["token-file"].strip())
        assert token_file.stat().st_mode & 0o077 == 0
        request = urllib.request.Request(
            told["control"].strip() + "/health", headers={"Authorization": f"Bearer {token_file.read_text()}"}
        )
        with urllib.request.urlopen(request, timeout=10) as response:
            assert json.load(response)["members"]["u1"]["port"] == base + 1
        child.send_signal(number)
        assert child.wait(10) == 0
        assert eventually(lambda: not token_file.exists())
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


def test_folder_names_become_paths() -> None:
    """As they were given."""
    assert folders(["a", "/b"]) == (Path("a"), Path("/b"))
