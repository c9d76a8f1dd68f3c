"""Which real gateways are there, and what is seen of one from outside: its listening sockets and its processes."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

#: Each gateway, whether it is there, and how to bring it.
PRESENT = {
    "reference": (importlib.util.find_spec("conformance.reference.__main__") is not None, "it ships"),
    "nginx": (bool(os.environ.get("CONFORMANCE_NGINX") or shutil.which("nginx")), "install nginx"),
    "portkey": (bool(os.environ.get("CONFORMANCE_PORTKEY")), "nox -s portkey"),
    "litellm": (bool(os.environ.get("CONFORMANCE_LITELLM")), "nox -s litellm"),
}

GATEWAYS = [
    pytest.param(name, marks=pytest.mark.skipif(not there, reason=f"{name} is not here: {hint}"))
    for name, (there, hint) in PRESENT.items()
]


class Upstream(ThreadingHTTPServer):
    """One healthy member; `seen` is each POST as (port, key, model)."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Member)
        self.seen: list[tuple[int, str, str]] = []

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A gateway that is stopped resets its kept connections: no news."""


class _Member(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Upstream

    def do_GET(self) -> None:
        self._reply({"object": "list", "data": []})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        key = self.headers.get("authorization", "").removeprefix("Bearer ")
        self.server.seen.append((self.server.server_port, key, asked["model"]))
        message = {"role": "assistant", "content": "Hello there."}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
        self._reply(
            {
                "id": "chatcmpl-real",
                "object": "chat.completion",
                "created": 1767225600,
                "model": asked["model"],
                "choices": [choice],
                "usage": usage,
            }
        )

    def log_message(self, *words: Any) -> None:
        """Nothing on the terminal."""

    def _reply(self, value: dict[str, Any]) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def upstreams(count: int) -> Iterator[list[Upstream]]:
    """`count` healthy members, each on a port of its own."""
    servers = [Upstream() for _ in range(count)]
    threads = [threading.Thread(target=server.serve_forever, args=(0.05,)) for server in servers]
    for thread in threads:
        thread.start()
    try:
        yield servers
    finally:
        for server, thread in zip(servers, threads, strict=True):
            server.shutdown()
            thread.join()
            server.server_close()


def listening_addresses(port: int) -> set[str]:
    """The addresses on which somebody listens at `port`, as the kernel writes them (0100007F is 127.0.0.1)."""
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            address, _, number = fields[1].partition(":")
            if fields[3] == "0A" and int(number, 16) == port:
                found.add(address)
    return found


def session_members(session: int) -> list[int]:
    """The pids of all processes in the session that `session` leads."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_bytes().rpartition(b")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session:
                found.append(int(entry.name))
    return found
