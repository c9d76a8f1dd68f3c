"""A program under a supervisor, as the harness holds it: whether it lives, how it ended, what it said, and its end.

Knows how to start and stop any program; nothing of gateways. The supervisor ends the program when this process is gone.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from conformance.errors import LaunchError
from conformance.target import supervise

#: Bytes of the log that are looked at for its last lines.
_TAIL_BYTES = 65_536


class SupervisedProcess:
    """One started program. `pid` is the program's own (the leader of its session and group), not the supervisor's."""

    def __init__(
        self, command: Sequence[str], *, environment: Mapping[str, str], folder: Path, log: Path, grace: float = 5.0
    ) -> None:
        """Start `command` in `folder`, output to `log`. Raises LaunchError when it cannot be executed."""
        self.log = log
        self.pid = 0
        self.returncode: int | None = None
        self._grace = grace
        self._error = ""
        self._received = b""
        self._lock = threading.RLock()
        self._channel, theirs = socket.socketpair()
        self._channel.setblocking(False)
        # -I and -S: neither the folder, nor the environment, nor site packages can get in the supervisor's way.
        words = [sys.executable, "-I", "-S", supervise.__file__, str(theirs.fileno()), str(grace), *command]
        with theirs, log.open("ab") as output:
            self._supervisor = subprocess.Popen(
                words,
                cwd=folder,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        atexit.register(_stop_if_left, weakref.ref(self))
        self._await_start(command[0])

    @property
    def alive(self) -> bool:
        """Whether the program still runs."""
        with self._lock:
            self._listen()
            return self.returncode is None

    def wait(self, seconds: float) -> bool:
        """Wait for the program's end, at most `seconds`; whether it ended."""
        with self._lock:
            deadline = time.monotonic() + seconds
            while self.alive and (left := deadline - time.monotonic()) > 0:
                select.select([self._channel], [], [], left)
            return not self.alive

    def stop(self) -> int | None:
        """End the program and its family: SIGTERM, after the grace SIGKILL. Idempotent; the program's return code."""
        with self._lock:
            with suppress(OSError):
                self._channel.shutdown(socket.SHUT_WR)
            try:
                self._supervisor.wait(self._grace + 12.0)
            except subprocess.TimeoutExpired:
                self._kill()
            self._listen()
            self._channel.close()
            return self.returncode

    def log_tail(self, lines: int = 20) -> str:
        """The last lines of what the program wrote, "" when it wrote nothing."""
        with suppress(OSError), self.log.open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL_BYTES))
            return "\n".join(log.read().decode("utf-8", "replace").splitlines()[-lines:])
        return ""

    def _await_start(self, program: str) -> None:
        deadline = time.monotonic() + 15.0
        while self.alive and not self.pid and (left := deadline - time.monotonic()) > 0:
            select.select([self._channel], [], [], left)
        if not self.pid:
            self.stop()
            raise LaunchError("the program cannot be started", where=program, hint=self._error or self.log_tail())

    def _listen(self) -> None:
        """Take in what the supervisor said. When it was killed, the kernel killed the program with it."""
        while self._channel.fileno() >= 0:
            try:
                data = self._channel.recv(4096)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                if self.returncode is None:
                    self.returncode = -signal.SIGKILL
                return
            self._received += data
            *lines, self._received = self._received.split(b"\n")
            for line in lines:
                self._heed(json.loads(line))

    def _heed(self, message: dict[str, object]) -> None:
        self.pid = int(str(message.get("pid", self.pid)))
        self._error = str(message.get("error", self._error))
        if "returncode" in message:
            self.returncode = int(str(message["returncode"]))

    def _kill(self) -> None:
        """The supervisor hangs: kill the program's group and the supervisor itself."""
        if self.pid:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        self._supervisor.kill()
        self._supervisor.wait()


def _stop_if_left(reference: weakref.ref[SupervisedProcess]) -> None:
    process = reference()
    if process is not None:
        process.stop()
