"""Real runs as processes: started in a session of their own, watched through /proc, and what is left of them.

For the tests that kill parts of a run; Linux alone tells them apart that way.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

#: Seconds within which a run whose part was killed has to be over, and that anything before may take.
BOUND, PATIENCE = 15.0, 90.0

#: Scenarios that take their time, so that there is a middle of the run, and many quick ones behind them.
SELECTION = ("--select", "timeouts.*", "--select", "baseline.*", "--driver", "wire")


def processes() -> dict[int, tuple[int, str, str]]:
    """Every running process: pid -> parent, start time (with the pid it is unique), command line. No zombies."""
    found: dict[int, tuple[int, str, str]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                fields = (entry / "stat").read_bytes().rpartition(b")")[2].split()
                if fields[0] not in (b"Z", b"X"):
                    line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                    found[int(entry.name)] = (int(fields[1]), fields[19].decode(), line)
    return found


class Run:
    """A started run: its process, and every process that was ever seen to descend from it."""

    def __init__(self, child: subprocess.Popen[bytes], folder: Path) -> None:
        self.child = child
        self.report = folder / "report" / "report.jsonl"
        self.output = folder / "output.txt"
        self._family: dict[tuple[int, str], str] = {}

    @property
    def text(self) -> str:
        """What it wrote, on both streams."""
        return self.output.read_text(encoding="utf-8", errors="replace")

    def pid_of(self, *words: str) -> int:
        """The one descendant whose command line holds all of `words`."""
        (pid,) = [pid for pid in self.pids_of(*words) if "supervise.py" not in processes()[pid][2]]
        return pid

    def pids_of(self, *words: str) -> list[int]:
        """The descendants whose command line holds all of `words`; remembers the whole family."""
        running = processes()
        family = {self.child.pid} if self.child.pid in running else set()
        grown = True
        while grown:
            grown = False
            for pid, (parent, _, _) in running.items():
                if parent in family and pid not in family:
                    family.add(pid)
                    grown = True
        self._family.update({(pid, running[pid][1]): running[pid][2] for pid in family})
        return sorted(pid for pid in family - {self.child.pid} if all(word in running[pid][2] for word in words))

    def cases(self) -> list[str]:
        """The ids of the cases that stand in the report so far."""
        with suppress(OSError):
            lines = self.report.read_bytes().split(b"\n")[:-1]
            return [row["id"] for row in map(json.loads, lines) if row["kind"] == "case"]
        return []

    def footer(self) -> dict[str, object] | None:
        """The report's footer, if there is one."""
        last = json.loads(self.report.read_bytes().rstrip(b"\n").rpartition(b"\n")[2])
        return last if last["kind"] == "footer" else None

    def reach(self, cases: int) -> None:
        """Wait until so many cases stand in the report: the run is in its middle."""
        until = time.monotonic() + PATIENCE
        while len(self.cases()) < cases:
            assert self.child.poll() is None, f"it ended with {self.child.returncode}:\n{self.text}"
            assert time.monotonic() < until, f"only {self.cases()} after {PATIENCE} s:\n{self.text}"
            time.sleep(0.02)
        self.pids_of()

    def end(self) -> int:
        """Wait for the end, at most BOUND; the exit code."""
        try:
            return self.child.wait(BOUND)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it runs on after {BOUND} s:\n{self.text}") from None

    def survivors(self) -> list[str]:
        """The command lines of the family's members that are still there; waits for them to go, at most BOUND."""
        until = time.monotonic() + BOUND
        while left := self._left():
            if time.monotonic() > until:
                break
            time.sleep(0.05)
        return list(left.values())

    def _left(self) -> dict[tuple[int, str], str]:
        running = {(pid, began): line for pid, (_, began, line) in processes().items()}
        return {key: line for key, line in self._family.items() if key in running}

    def destroy(self) -> None:
        """Kill whatever is left: for the end of a test that failed."""
        self.pids_of()
        for pid, _ in self._left():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.child.wait()


@contextmanager
def started(words: Sequence[str], folder: Path) -> Iterator[Run]:
    """A Python process with these words, in a session and a folder of its own; destroyed at the end."""
    with (folder / "output.txt").open("wb") as output:
        child = subprocess.Popen(
            [sys.executable, *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            start_new_session=True,
        )  # fmt: skip
    run = Run(child, folder)
    try:
        yield run
    finally:
        run.destroy()


def conformance(*words: str) -> list[str]:
    """The words that run the suite through the command line."""
    return ["-m", "conformance", "run", "-n", "2", "--report", "report", *SELECTION, *words]


def suite(*words: str) -> list[str]:
    """The words that run the suite through pytest with two workers."""
    return ["-m", "pytest", "--pyargs", "conformance.suite", "-n", "2", "--conformance-report", "report", "-q",
            "-p", "no:cacheprovider", "-p", "no:hypothesispytest", *SELECTION, *words]  # fmt: skip


def eventually(condition: Callable[[], bool], *, seconds: float = PATIENCE) -> bool:
    """Whether `condition` came true before the deadline."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True
