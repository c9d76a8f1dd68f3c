"""Tiny fake gateways, each with one habit, and conditions to wait on. Started by the launch tests as real processes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from conformance.target.profile import Profile

#: argv: port, mode. "family" and "strays" write the pids of what they start to the file pids in the working directory.
FAKE_GATEWAY = r"""
import json, os, signal, socket, sys, time
port, mode = int(sys.argv[1]), sys.argv[2]
def answer(status):
    listener = socket.create_server(("127.0.0.1", port))
    asked = 0
    while True:
        connection, _ = listener.accept()
        body = b""
        if b"/models" in connection.recv(65536):
            asked += 1
            served = ["lane-000"] if mode == "late" and asked > 2 else []
            body = json.dumps({"data": [{"id": alias} for alias in served]}).encode()
        head = b"HTTP/1.1 %d X\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % (status, len(body))
        connection.sendall(head + body)
        connection.close()
def note(pid):
    with open("pids", "a") as file:
        file.write(f"{pid}\n")
if mode == "dies":
    print("\n".join(f"line {n}" for n in range(30)), flush=True)
    sys.exit(3)
if mode == "silent":
    signal.pause()
if mode == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if mode in ("family", "strays"):
    child = os.fork()
    if child == 0:
        if mode == "strays":
            os.setsid()
            if os.fork():
                os._exit(0)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        note(os.getpid())
        while True:
            signal.pause()
    if mode == "strays":
        os.waitpid(child, 0)
    while not (os.path.exists("pids") and os.path.getsize("pids")):
        time.sleep(0.005)
if mode == "environment":
    with open("environment", "w") as file:
        file.write("\n".join(f"{name}={value}" for name, value in os.environ.items()))
def pour(head, more, seconds):
    listener = socket.create_server(("127.0.0.1", port))
    while True:
        connection, _ = listener.accept()
        connection.recv(65536)
        try:
            connection.sendall(head)
            while True:
                connection.sendall(more)
                time.sleep(seconds)
        except OSError:
            pass
if mode == "endless-body":
    pour(b"HTTP/1.1 200 X\r\n\r\n", b"x" * 65536, 0)
if mode == "endless-head":
    pour(b"HTTP/1.1 200 X\r\n", b"a: b\r\n" * 1000, 0)
if mode == "endless-interim":
    pour(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 10, 0)
if mode == "slow-head":
    pour(b"HTTP/1.1 200 X\r\nA: ", b"x", 0.05)
answer(503 if mode == "unready" else 200)
"""


def fake_profile(folder: Path, mode: str = "ready", *, ready_seconds: float = 10.0, ready_status: int = 200) -> Profile:
    """A profile whose command is the fake gateway in `mode`; its script is written to `folder`."""
    script = folder / "fake_gateway.py"
    script.write_text(FAKE_GATEWAY, encoding="utf-8")
    return Profile(
        name="fake",
        kind="command",
        command=(sys.executable, "-I", "-S", str(script), "{port}", mode),
        ready_seconds=ready_seconds,
        ready_status=ready_status,
    )


def is_running(pid: int) -> bool:
    """Whether the process exists and is no zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    return stat.rpartition(b")")[2].split()[0] not in (b"Z", b"X")


def eventually(condition: Callable[[], bool], *, seconds: float = 10.0) -> bool:
    """Whether `condition` came true before the deadline."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
