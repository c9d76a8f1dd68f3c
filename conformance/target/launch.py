"""Brings a target up and down: renders its configuration, starts it under the supervisor, waits until it answers.

From a profile and lanes to a RunningTarget; a target that already runs becomes one too. Knows nothing of what is
then sent.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from conformance.errors import LaunchError, TargetDied, TargetError
from conformance.target.command import assemble, read_version
from conformance.target.lanes import Lane
from conformance.target.ports import free_port, is_free
from conformance.target.process import SupervisedProcess
from conformance.target.profile import Profile
from conformance.target.render import RENDERERS, member_url
from conformance.wire.http1 import ResponseReader

_POLL_SECONDS = 0.05
#: How long one question may take, and how much of its answer is read: a gateway that sends without end is asked again.
_ANSWER_SECONDS, _ANSWER_BYTES = 5.0, 4 * 1024 * 1024
_PORT_TRIES = 3
_LATE = (
    "where it only needs longer, raise ready_seconds in its profile (--target FILE.toml; a bundled one can be copied); "
    "where it is up, see whether ready_path and ready_status are right; "
)


class RunningTarget:
    """A target that answers. `base_url` is the API root; `pid` is 0 and `port` 0 when it was not launched by us."""

    def __init__(
        self,
        profile: Profile,
        *,
        base_url: str,
        port: int = 0,
        version: str = "",
        process: SupervisedProcess | None = None,
    ) -> None:
        self.profile = profile
        self.base_url = base_url
        self.port = port
        self.version = version
        self._process = process

    @property
    def pid(self) -> int:
        """The process id of the gateway, which leads its own session and group."""
        return self._process.pid if self._process else 0

    @property
    def alive(self) -> bool:
        """Whether the gateway's process runs; True for one that we did not launch."""
        return self._process is None or self._process.alive

    @property
    def returncode(self) -> int | None:
        """How the process ended (negative: by that signal), None while it runs."""
        return None if self.alive or self._process is None else self._process.returncode

    def log_tail(self, lines: int = 20) -> str:
        """The last lines of the gateway's output."""
        return self._process.log_tail(lines) if self._process else ""

    def ensure_alive(self) -> None:
        """Raises TargetDied, with the last lines of the log, when the process that we launched is gone."""
        if not self.alive:
            what = f"the gateway ended during the run with {describe_end(self.returncode)}"
            raise TargetDied(what, where=self.profile.name, hint=f"its last lines:\n{self.log_tail()}")

    def stop(self) -> None:
        """End the gateway with all its children. Idempotent; nothing for one that we did not launch."""
        if self._process:
            self._process.stop()

    def __enter__(self) -> RunningTarget:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def launch(
    profile: Profile, lanes: Sequence[Lane], *, scratch: Path, port: int = 0, grace: float = 5.0
) -> RunningTarget:
    """Start the target with `lanes` and wait until it is ready; one of kind "url" is taken as it is.

    `port` 0 takes a free one. `scratch` is an existing folder: configuration, log, home and working directory of
    the launch go into a new folder in it. `grace` is how many seconds SIGTERM has before SIGKILL. Raises
    TargetError (a program is missing, too many lanes) and LaunchError (it ended or was not ready in time; the last
    20 lines of its log are in the hint).
    """
    if profile.kind == "url":
        return RunningTarget(profile, base_url=profile.base_url)
    if profile.max_lanes and len(lanes) > profile.max_lanes:
        raise TargetError(f"one process serves {profile.max_lanes} lanes, not {len(lanes)}", where=profile.name)
    for attempt in range(1, _PORT_TRIES + 1):
        chosen = port or free_port()
        try:
            return _launch_once(profile, lanes, port=chosen, scratch=scratch, grace=grace)
        except LaunchError:
            if port or attempt == _PORT_TRIES or is_free(chosen):
                raise
    raise AssertionError("unreachable")


def describe_end(returncode: int | None) -> str:
    """A return code in words: "exit code 1", "signal 9"."""
    if returncode is None:
        return "no exit code"
    return f"signal {-returncode}" if returncode < 0 else f"exit code {returncode}"


def _launch_once(profile: Profile, lanes: Sequence[Lane], *, port: int, scratch: Path, grace: float) -> RunningTarget:
    folder = _new_folder(scratch.absolute(), f"{profile.name}-{port}")
    command = assemble(
        profile,
        port=port,
        spare_port=free_port(),
        config=_write_config(profile, lanes, port, folder),
        scratch=folder,
        members=tuple(member_url(profile, member) for member in lanes[0].members) if lanes else (),
    )
    version = read_version(profile, folder)
    process = SupervisedProcess(
        command.arguments, environment=command.environment, folder=folder, log=folder / "target.log", grace=grace
    )
    target = RunningTarget(
        profile, base_url=f"http://127.0.0.1:{port}{profile.path_prefix}", port=port, version=version, process=process
    )
    try:
        _await_ready(profile, process, port, frozenset(lane.alias for lane in lanes))
    except BaseException:
        process.stop()
        raise
    return target


def _new_folder(parent: Path, name: str) -> Path:
    number = 0
    while True:
        folder = parent / (f"{name}.{number}" if number else name)
        try:
            folder.mkdir()
        except FileExistsError:
            number += 1
        else:
            return folder


def _write_config(profile: Profile, lanes: Sequence[Lane], port: int, folder: Path) -> Path | None:
    if not profile.config:
        return None
    renderer = RENDERERS[profile.config]
    path = folder / renderer.file
    path.write_text(renderer.text(profile, lanes, port), encoding="utf-8")
    return path


def _await_ready(profile: Profile, process: SupervisedProcess, port: int, aliases: frozenset[str]) -> None:
    deadline = time.monotonic() + profile.ready_seconds
    answer = "nothing listened"
    while time.monotonic() < deadline:
        if process.wait(_POLL_SECONDS):
            raise _failure(
                f"the gateway ended before it was ready, with {describe_end(process.returncode)}", profile, process
            )
        status, answer = _probe(port, profile.ready_path)
        if status and status == (profile.ready_status or status):
            missing = aliases - _served(profile, port) if profile.ready_models else frozenset[str]()
            if not missing:
                return
            answer = f"status {status}, but {len(missing)} of {len(aliases)} aliases are not in its list of models"
    what = f"the gateway was not ready after {profile.ready_seconds:g} s: GET {profile.ready_path}: {answer}"
    raise _failure(what, profile, process, advice=_LATE)


def _failure(what: str, profile: Profile, process: SupervisedProcess, *, advice: str = "") -> LaunchError:
    tail = f"its last lines:\n{process.log_tail() or '(it wrote nothing)'}"
    return LaunchError(what, where=profile.name, hint=f"{advice}{tail}")


def _probe(port: int, path: str) -> tuple[int, str]:
    """The status of GET `path`, 0 when there was none; and a word on it."""
    try:
        status, _ = _get(port, path)
    except OSError as error:
        return 0, type(error).__name__
    return status, f"status {status}" if status else "no HTTP response"


def _served(profile: Profile, port: int) -> frozenset[str]:
    """The ids in the gateway's list of models; none while it has no such list."""
    try:
        _, body = _get(port, f"{profile.path_prefix}/models", f"Authorization: Bearer {profile.api_key}\r\n")
        return frozenset(entry["id"] for entry in json.loads(body)["data"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return frozenset()


def _get(port: int, path: str, fields: str = "") -> tuple[int, bytes]:
    """Status (0: no response that can be read) and body of GET `path`, as far as it came within the bounds.

    Raises OSError, TimeoutError among them, when no head came.
    """
    until = time.monotonic() + _ANSWER_SECONDS
    reader = ResponseReader("GET", collect=True)
    asked = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n{fields}\r\n"
    parts: list[bytes] = []
    with socket.create_connection(("127.0.0.1", port), timeout=_ANSWER_SECONDS) as connection:
        connection.sendall(asked.encode())
        while not (reader.complete or reader.broken or reader.body_bytes > _ANSWER_BYTES):
            try:
                connection.settimeout(max(0.001, until - time.monotonic()))
                data = connection.recv(65_536)
            except OSError:
                if reader.head_seen:
                    break
                raise
            if not data:
                break
            reader.feed(data)
            parts.append(reader.take_body())
    return (reader.status if reader.head_seen else 0), b"".join(parts)
