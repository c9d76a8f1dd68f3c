"""Locust users that send scenarios and judge every exchange; a violation is a Locust failure named by its clause.

The stage stands already (`conformance stage --file stage.json`) and is shared by every worker; CONFORMANCE_STAGE names
its file. Each worker process has an attendant (`conformance.run.attendant`) that plays and judges: gevent's world and
asyncio's stay apart, and what is measured is measured where nothing is patched. Needs the extra `locust`.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import subprocess
import sys
from typing import Any, ClassVar

import gevent
from gevent.event import AsyncResult
from gevent.lock import Semaphore
from locust import User, constant, events, task
from locust.env import Environment

#: The variable that names the standing stage's file.
STAGE_VARIABLE = "CONFORMANCE_STAGE"


class ClauseViolated(Exception):
    """An exchange violated a clause; its text is the clause's id, so that Locust counts by clause."""


class AttendantFailed(Exception):
    """The harness itself failed: no verdict on the gateway."""


class Attendant:
    """The attendant of this process, asked from any greenlet."""

    def __init__(self, stage: str) -> None:
        command = [sys.executable, "-m", "conformance.run.attendant", stage]
        self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._numbers = itertools.count(1)
        self._waiting: dict[int, AsyncResult[dict[str, Any]]] = {}
        self._writing = Semaphore()
        self.cases: list[str] = self._hello()["cases"]
        self._reader = gevent.spawn(self._read)

    def play(self, case: int) -> dict[str, Any]:
        """Play a case by its number; what came of it. Raises AttendantFailed."""
        number = next(self._numbers)
        result: AsyncResult[dict[str, Any]] = AsyncResult()
        self._waiting[number] = result
        assert self._child.stdin is not None
        try:
            with self._writing:
                self._child.stdin.write(json.dumps({"id": number, "case": case}).encode() + b"\n")
                self._child.stdin.flush()
        except OSError as error:
            raise AttendantFailed(f"the attendant is gone: {error}") from error
        told: dict[str, Any] = result.get()
        return told

    def stop(self) -> None:
        """End the child, and wait for it."""
        assert self._child.stdin is not None
        self._child.stdin.close()
        try:
            self._child.wait(5)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._reader.kill()

    def _hello(self) -> dict[str, Any]:
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        if not line:
            raise AttendantFailed(f"no stage stands: exit code {self._child.wait()}")
        told: dict[str, Any] = json.loads(line)
        return told

    def _read(self) -> None:
        assert self._child.stdout is not None
        while line := self._child.stdout.readline():
            told = json.loads(line)
            self._waiting.pop(told["id"]).set(told)
        for result in self._waiting.values():
            result.set_exception(AttendantFailed("the attendant ended"))


_attendant: Attendant | None = None
_starting = Semaphore()


def attendant() -> Attendant:
    """The attendant of this process, started when first asked."""
    global _attendant
    with _starting:
        if _attendant is None:
            stage = os.environ.get(STAGE_VARIABLE, "")
            if not stage:
                raise AttendantFailed(f"{STAGE_VARIABLE} is not set: it names the file of `conformance stage`")
            _attendant = Attendant(stage)
    return _attendant


@events.quitting.add_listener
def _end(environment: Environment, **_: Any) -> None:
    global _attendant
    if _attendant is not None:
        _attendant.stop()
        _attendant = None


class ScenarioUser(User):
    """Plays one scenario of the stage after the other, from a random one on, without a pause.

    `scenarios` names those it plays (all when empty). For Locust a request is "driver, scenario".
    """

    wait_time = constant(0)
    scenarios: ClassVar[tuple[str, ...]] = ()

    def on_start(self) -> None:
        """Choose where to begin."""
        known = attendant().cases
        numbers = [number for number, name in enumerate(known) if not self.scenarios or name in self.scenarios]
        if not numbers:
            raise AttendantFailed(f"the stage has none of {', '.join(self.scenarios)}; it has {', '.join(known)}")
        turn = random.randrange(len(numbers))
        self._turns = itertools.cycle(numbers[turn:] + numbers[:turn])

    @task
    def play(self) -> None:
        """One exchange, judged, told to Locust; each violated clause is a failure."""
        told = attendant().play(next(self._turns))
        failures: list[Exception] = [ClauseViolated(clause) for clause in told["violated"]]
        if told["error"]:
            failures.insert(0, AttendantFailed(told["error"]))
        self.environment.events.request.fire(
            request_type=told["driver"],
            name=told["scenario"],
            response_time=told["ms"],
            response_length=told["bytes"],
            exception=failures[0] if failures else None,
            context={"nonce": told.get("nonce", "")},
        )
        for failure in failures[1:]:
            self.environment.stats.log_error(told["driver"], told["scenario"], failure)
