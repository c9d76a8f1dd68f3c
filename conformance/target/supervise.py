"""Runs one program and sees to it that it ends, with its whole family, at the latest when the harness is gone.

A script of its own (standard library only): `supervise.py FD GRACE PROGRAM ...`. FD is a socket to the harness. It
says {"pid": n} or {"error": text} at the start and {"returncode": n} at the end, each a line of JSON; when the
harness closes its side (or is killed: the kernel closes it), the program's process group gets SIGTERM, and after
GRACE seconds SIGKILL, and so does every descendant that left the group.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


class Supervisor:
    """One program under watch. Everything happens in one thread, woken by a signal or by the harness."""

    def __init__(self, channel: socket.socket, grace: float) -> None:
        self._channel = channel
        self._grace = grace
        self._leader = 0
        self._asked_to_end = False
        self._wake, self._waker = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(self._waker, False)

    def run(self, command: list[str]) -> None:
        """Start `command`, wait for its end or the harness's, then leave nothing behind."""
        _prctl(_PR_SET_CHILD_SUBREAPER)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, self._end_asked)
        signal.signal(signal.SIGINT, self._end_asked)
        signal.signal(signal.SIGHUP, self._end_asked)
        try:
            child = subprocess.Popen(command, start_new_session=True, preexec_fn=_die_with_supervisor)
        except OSError as error:
            self._say({"error": f"{command[0]}: {error.strerror}"})
            return
        self._leader = child.pid
        self._say({"pid": child.pid})
        returncode = self._watch()
        child.returncode = returncode if returncode is not None else -signal.SIGKILL
        self._say({"returncode": child.returncode})
        self._sweep()

    def _watch(self) -> int | None:
        """Wait until the leader ended (by itself or because it was told to); its return code."""
        ends_at: float | None = None
        killed = False
        while True:
            returncode = self._reap()
            if returncode is not None:
                return returncode
            now = time.monotonic()
            if self._asked_to_end and ends_at is None:
                ends_at = now + self._grace
                self._signal_group(signal.SIGTERM)
            if ends_at is not None and now >= ends_at:
                if killed:
                    return None
                killed, ends_at = True, now + 5.0
                self._signal_group(signal.SIGKILL)
            self._pause(None if ends_at is None else max(0.0, ends_at - now))

    def _pause(self, seconds: float | None) -> None:
        """Sleep until a signal, the harness's end of the channel, or `seconds`."""
        watched: list[int | socket.socket] = [self._wake]
        if not self._asked_to_end:
            watched.append(self._channel)
        ready, _, _ = select.select(watched, [], [], seconds)
        if self._wake in ready:
            with suppress(BlockingIOError):
                os.read(self._wake, 4096)
        if self._channel in ready:
            try:
                self._asked_to_end = not self._channel.recv(4096)
            except OSError:
                self._asked_to_end = True

    def _reap(self) -> int | None:
        """Collect every ended child, adopted ones included; the leader's return code if it was among them."""
        found: int | None = None
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return found
            if pid == 0:
                return found
            if pid == self._leader:
                found = os.waitstatus_to_exitcode(status)

    def _sweep(self) -> None:
        """Kill what the leader left: its group, and descendants that fell to us as their reaper."""
        deadline = time.monotonic() + 5.0
        while time.monotonic() < deadline:
            self._signal_group(signal.SIGKILL)
            left = _children(os.getpid())
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if not left:
                return
            self._pause(0.05)
            self._reap()

    def _signal_group(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._leader, number)

    def _end_asked(self, *_: object) -> None:
        self._asked_to_end = True

    def _say(self, message: dict[str, object]) -> None:
        with suppress(OSError):
            self._channel.sendall(json.dumps(message).encode() + b"\n")


def _children(parent: int) -> list[int]:
    """The processes whose parent is `parent` now; empty where there is no /proc."""
    found: list[int] = []
    with suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit():
                with suppress(OSError), open(f"/proc/{name}/stat", "rb") as stat:
                    fields = stat.read().rpartition(b")")[2].split()
                    if int(fields[1]) == parent:
                        found.append(int(name))
    return found


def _prctl(option: int, value: int = 1) -> None:
    """Linux's prctl; nothing elsewhere, where the process group is all that is ended."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _die_with_supervisor() -> None:
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def main(words: list[str]) -> None:
    """`FD GRACE PROGRAM ...`, as launched by the harness."""
    channel = socket.socket(fileno=int(words[0]))
    channel.set_inheritable(False)
    Supervisor(channel, float(words[1])).run(words[2:])


if __name__ == "__main__":
    main(sys.argv[1:])
