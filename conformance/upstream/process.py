"""Starts the replay upstream in a process of its own, and ends it; what runs in there is `serve`'s matter.

The child ends by itself when this process is gone, however it went: its stdin is a pipe that nobody else holds.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from conformance.errors import UpstreamError, UsageError
from conformance.upstream.client import Address, SyncControlClient
from conformance.upstream.server import Bounds

#: How long it may take to come up; on a machine where that is too short, START_VARIABLE holds another number.
START_SECONDS = 20.0
START_VARIABLE = "CONFORMANCE_UPSTREAM_SECONDS"
STOP_SECONDS = 5.0
LOG_BYTES = 4000


class UpstreamProcess:
    """A running replay upstream. Use it as a context manager, or call `stop`."""

    def __init__(self, child: subprocess.Popen[bytes], log: IO[bytes], address: Address) -> None:
        self._child, self._log = child, log
        self.address = address
        self._finalizer = weakref.finalize(self, _end, child, log)

    @property
    def ports(self) -> tuple[int, ...]:
        """The members' ports, u0 first."""
        return self.address.ports

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._child.pid

    @property
    def alive(self) -> bool:
        """Whether the child runs."""
        return self._child.poll() is None

    @property
    def returncode(self) -> int | None:
        """How the child ended, or None while it runs."""
        return self._child.poll()

    def client(self) -> SyncControlClient:
        """A client of its control port."""
        return SyncControlClient(self.address)

    def log_tail(self) -> str:
        """The last of what the child wrote to its stderr."""
        return "" if self._log.closed else _tail(self._log)

    def stop(self) -> None:
        """End the child and wait for it; again and again does no harm."""
        self._finalizer()

    def __enter__(self) -> UpstreamProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def start_upstream(
    members: int, *, cassettes: Path | Sequence[Path] | None = None, bounds: Bounds | None = None
) -> UpstreamProcess:
    """Start a replay upstream with so many members on free loopback ports.

    `cassettes` are the folders that cassette names are looked up in (None: the shipped ones), `bounds` what the journal
    may hold. Raises UpstreamError when it does not come up within `start_seconds()`.
    """
    folders = (cassettes,) if isinstance(cassettes, Path) else tuple(cassettes or ())
    command = [sys.executable, "-m", "conformance.upstream", "--members", str(members)]
    command += [word for folder in folders for word in ("--cassettes", str(folder))]
    if bounds is not None:
        command += ["--journal-entries", str(bounds.entries), "--journal-bytes", str(bounds.bytes)]
    log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the child
    try:
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
    except OSError as error:
        log.close()
        raise UpstreamError(f"the replay upstream cannot be started: {error}", where=command[0]) from error
    try:
        return UpstreamProcess(child, log, _handshake(child, log))
    except BaseException:
        _end(child, log)
        raise


def start_seconds() -> float:
    """How long the upstream may take to come up. Raises UsageError for a variable that holds no such number."""
    told = os.environ.get(START_VARIABLE, "")
    try:
        seconds = float(told) if told else START_SECONDS
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 86_400:
        raise UsageError(f"{told!r} is no number of seconds", where=START_VARIABLE, hint="such as 60")
    return seconds


def _handshake(child: subprocess.Popen[bytes], log: IO[bytes]) -> Address:
    """The child's first line, as an address."""
    assert child.stdout is not None
    limit = start_seconds()
    line, until = b"", time.monotonic() + limit
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        while not line.endswith(b"\n"):
            if not selector.select(max(0.0, until - time.monotonic())):
                advice = f"where the machine is only slow, set {START_VARIABLE} to more seconds"
                written = f"; its last lines:\n{tail}" if (tail := _tail(log)) else "; it wrote nothing"
                raise UpstreamError(f"the replay upstream is not up after {limit:g} s", hint=advice + written)
            piece = os.read(child.stdout.fileno(), 65536)
            if not piece:
                code = child.wait(STOP_SECONDS)
                raise UpstreamError(f"the replay upstream ended at once, with {code}", hint=_tail(log))
            line += piece
    told: dict[str, Any] = json.loads(line)
    return Address(control_port=told["control_port"], token=told["token"], ports=tuple(told["ports"]))


def _end(child: subprocess.Popen[bytes], log: IO[bytes]) -> None:
    """Close the child's stdin, which ends it; kill it when it does not end."""
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    try:
        child.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    log.close()


def _tail(log: IO[bytes]) -> str:
    size = log.seek(0, os.SEEK_END)
    log.seek(max(0, size - LOG_BYTES))
    return log.read().decode("utf-8", "replace").strip()
