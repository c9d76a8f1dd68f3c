"""Which real gateways are there, how one is asked, and what is seen of it from outside."""

from __future__ import annotations

import http.client
import importlib.util
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from conformance.target.lanes import Lane
from conformance.target.launch import RunningTarget
from conformance.target.render import lane_headers
from conformance.upstream.journal import Entry

#: Each gateway, whether it is there, and how to bring it.
PRESENT = {
    "reference": (importlib.util.find_spec("conformance.reference") is not None, "it ships"),
    "nginx": (bool(os.environ.get("CONFORMANCE_NGINX") or shutil.which("nginx")), "install nginx"),
    "portkey": (bool(os.environ.get("CONFORMANCE_PORTKEY")), "nox -s portkey"),
    "litellm": (bool(os.environ.get("CONFORMANCE_LITELLM")), "nox -s litellm"),
    "smg": (bool(os.environ.get("CONFORMANCE_SMG")), "nox -s smg"),
}

GATEWAYS = [
    pytest.param(name, marks=pytest.mark.skipif(not there, reason=f"{name} is not here: {hint}"))
    for name, (there, hint) in PRESENT.items()
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A response: status and body."""

    status: int
    body: bytes

    @property
    def content(self) -> object:
        """The first choice's text."""
        return json.loads(self.body)["choices"][0]["message"]["content"]


def ask(target: RunningTarget, lane: Lane, *, nonce: str = "") -> Reply:
    """One chat request through `lane`; with a nonce the armed play answers, without one the healthy default."""
    profile = target.profile
    message = {"role": "user", "content": f"Say hello. {nonce}".rstrip()}
    body = json.dumps({"model": profile.model_prefix + lane.alias, "messages": [message]})
    headers = {"Authorization": f"Bearer {profile.api_key}", "Content-Type": "application/json"}
    connection = http.client.HTTPConnection("127.0.0.1", target.port, timeout=60)
    try:
        path = f"{profile.path_prefix}/chat/completions"
        connection.request("POST", path, body, headers | dict(lane_headers(profile, lane)))
        response = connection.getresponse()
        return Reply(status=response.status, body=response.read())
    finally:
        connection.close()


def dispatched(entry: Entry) -> tuple[int, str, str]:
    """Whom an attempt was meant for: port, key and model."""
    head, _, body = entry.request.partition(b"\r\n\r\n")
    fields = (line.partition(b":") for line in head.split(b"\r\n")[1:])
    named = {name.strip().lower(): value.strip().decode() for name, _, value in fields}
    return entry.port, named.get(b"authorization", "").removeprefix("Bearer "), json.loads(body)["model"]


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
