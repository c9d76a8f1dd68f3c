"""The suite inside one pytest session: the plan, the stage that all workers share, and the one report.

In the controller (or without xdist) it opens the stage and writes the report; in a worker it joins the stage. A case
travels from the worker on its test report, as the very line that the report file gets.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

import pytest

from conformance.columns import LEAST, columns, plain
from conformance.errors import ConformanceError, HarnessError
from conformance.interrupt import ended_in_order
from conformance.load.plan import LoadOptions, Shape
from conformance.options import RunOptions, shown_command, words
from conformance.owned import own_cassettes
from conformance.report.codec import decode_case, encode_line
from conformance.report.deviations import excused
from conformance.report.gate import close
from conformance.report.model import Case, LoadCell, LoadRow, Part, Report, RunEnd, RunHeader
from conformance.reportfile import ReportFile
from conformance.run import chosen_clauses, serial
from conformance.run.choice import chosen_scenarios, roots_of
from conformance.run.header import deviations_of, header_of, now
from conformance.run.plan import apart, drivers_of, plan_cases
from conformance.run.play import Player
from conformance.run.stage import Seat, Stage, open_stage
from conformance.target.load import load_profile

_HARNESS, _USAGE = 3, 2
_STOPPED = (int(pytest.ExitCode.INTERRUPTED), int(pytest.ExitCode.INTERNAL_ERROR))
_active: SuiteSession | None = None


class SuiteSession:
    """One run of the suite under pytest."""

    def __init__(self, options: RunOptions, report: str, told: dict[str, Any] | None) -> None:
        self.options = options
        self._width = LEAST
        self.profile = load_profile(options.target)
        self.clauses = chosen_clauses(options.clauses)
        deviations_of(options)
        planned = plan_cases(chosen_scenarios(options), options.drivers, self.profile)
        self.cases = planned if told is None and options.workers < 2 else apart(planned, self.profile)
        self._twins = serial.twins(self.cases) if options.load is not None else ()
        self._all = (*self.cases, *self._twins)
        self._folder = report
        self._told = told
        self._lost = Path(told["lost"]) if told else None
        self._stack = ExitStack()
        self._stage: Stage | None = None
        self._header: RunHeader | None = None
        self._file: ReportFile | None = None
        self._player: Player | None = None
        self._runner: asyncio.Runner | None = None
        self._done: dict[str, Case] = {}
        self._lines: dict[str, list[str]] = {}
        self._errors: list[str] = []
        self._broken: list[str] = []
        self._refused = 0
        #: Whether pytest's loop over the tests came to its end.
        self.looped = False
        self._session: pytest.Session | None = None
        self._began = 0.0
        self._report: Report | None = None

    @classmethod
    def prepare(cls, config: pytest.Config) -> SuiteSession:
        """The run that the options describe. Raises pytest.UsageError for what cannot be run."""
        options = RunOptions(
            target=config.getoption("--target") or "reference",
            select=words(config.getoption("--select")),
            clauses=words(config.getoption("--clauses")),
            drivers=words(config.getoption("--driver")),
            scenarios=tuple(config.getoption("--scenarios")),
            cassettes=own_cassettes(config),
            seed=config.getoption("--conformance-seed"),
            workers=int(getattr(config.option, "numprocesses", None) or 1),
            load=LoadOptions() if config.getoption("--load") else None,
            deviations=config.getoption("--deviations") or "",
            command=_command(config),
        )
        told = getattr(config, "workerinput", {}).get("conformance")
        if hasattr(config.option, "maxworkerrestart"):
            config.option.maxworkerrestart = "0"  # a worker that died took verdicts with it: none can take its place
        try:
            return cls(options, config.getoption("--conformance-report") or "", told)
        except ConformanceError as error:
            raise pytest.UsageError(str(error)) from error

    @property
    def controls(self) -> bool:
        """Whether this process opens the stage and writes the report."""
        return self._told is None

    def start(self, session: pytest.Session) -> None:
        """The session has begun in this process."""
        global _active
        self._session = session
        self._width = columns(session.config)
        self._began = monotonic()
        if self.controls:
            _active = self
            self._stack.enter_context(ended_in_order())

    def seat(self) -> dict[str, Any]:
        """What a worker needs to join; brings the stage up when it is first asked for."""
        return {**self._open().seat.encode(), "lost": str(self._lost)}

    def _open(self) -> Stage:
        if self._stage is None:
            try:
                if self._folder:
                    self._file = self._stack.enter_context(ReportFile(Path(self._folder)))
                scratch = self._stack.enter_context(TemporaryDirectory(prefix="conformance-"))
                self._lost = Path(scratch) / "lost"
                self._stage = self._stack.enter_context(
                    open_stage(self.profile, self._all, Path(scratch), cassettes=roots_of(self.options))
                )
            except ConformanceError as error:
                self._refused = _HARNESS if isinstance(error, HarnessError) else _USAGE
                pytest.exit(str(error), returncode=self._refused)
            header = header_of(self.options, self.profile, self.clauses, self.cases, version=self._stage.version)
            self._header = header
            self._write(header)
        return self._stage

    def play(self, case: Any) -> tuple[Case, ...]:
        """Play one case of the plan here, and keep what came of it for the test's report."""
        if not self.controls and self._lost is not None and self._lost.exists():
            self._stop("the run is lost")
            pytest.skip("the run is lost")
        if self._player is None:
            self._runner = asyncio.Runner()
            seat: Stage | Seat = self._open() if self._told is None else self._join(self._told)
            self._player = Player(seat, self.clauses, seed=self.options.seed, drivers=drivers_of(self.cases))
        assert self._runner is not None
        try:
            made = self._runner.run(self._player.play(case))
        except HarnessError as error:
            made = (Case(id=case.id, scenario=case.scenario.id, driver=case.driver, error=str(error)),)
        self._lines[case.id] = [encode_line(one).decode() for one in made]
        return made

    def _join(self, told: dict[str, Any]) -> Seat:
        return Seat.decode(told, self.profile, self._all)

    def _write(self, part: Part) -> None:
        """Write a part of the report; where that is not possible the run has no result."""
        if self._file is not None:
            try:
                self._file.add(part)
            except HarnessError as error:
                self._file = None
                self.lose(str(error))

    def owns(self, item: pytest.Item) -> bool:
        """Whether `item` is a test of the suite."""
        return "conformance_case" in getattr(getattr(item, "callspec", None), "params", ())

    def lines(self, item: pytest.Item) -> list[str]:
        """The cases that `item` played here, each once, as lines of the report."""
        case = getattr(item, "callspec", None)
        planned = case.params.get("conformance_case") if case is not None else None
        return self._lines.pop(planned.id, []) if planned is not None else []

    def keep(self, line: str) -> None:
        """A case has come in; the stage is looked at, so that a lost one ends the run."""
        made = decode_case(line.encode())
        self._done[made.id] = made
        self._write(made)
        if self._stage is not None:
            try:
                self._stage.ensure_alive()
            except HarnessError as error:
                self.lose(str(error))

    def broke(self, test: str) -> None:
        """A test failed without a case: that is the harness's fault, and no verdict on the gateway."""
        self._broken.append(f"{test} failed itself")

    def failure(self, case: Case) -> str:
        """What fails `case`, as text; "" for nothing."""
        from conformance.report import terminal

        shown = terminal.failure(self._told_of(), case)
        return "" if shown is None else plain(shown, self._width)

    def known(self, case: Case) -> str:
        """Why the violations of `case` do not fail it, where it has such; "" where it has none."""
        reasons = dict.fromkeys(
            f"{verdict.clause}: {known.reason}" for verdict, known in excused(self._told_of(), case)
        )
        return "; ".join(reasons)

    def _told_of(self) -> RunHeader:
        if self._header is None:
            self._header = header_of(self.options, self.profile, self.clauses, ())
        return self._header

    def lose(self, reason: str) -> None:
        """Something of ours, or the gateway, is gone: the run has no result, and ends in every process of it."""
        if self._errors:
            return
        self._errors.append(" ".join(reason.split()))
        if self._lost is not None:
            self._lost.touch()
        self._stop(self._errors[0])

    def _stop(self, reason: str) -> None:
        assert self._session is not None
        self._session.shouldstop = reason
        distributed = self._session.config.pluginmanager.getplugin("dsession")
        if distributed is not None:
            distributed.shouldstop = reason

    def finish(self, status: int) -> int:
        """The exit code of the session; report and stage are closed."""
        global _active
        if self._runner is not None:
            if self._player is not None:
                self._runner.run(self._player.aclose())
            self._runner.close()
        if not self.controls:
            return status
        _active = None
        try:
            return self._close(status)
        finally:
            self._stack.close()

    def _close(self, status: int) -> int:
        if self._header is None:  # nothing was played
            return self._refused or (_HARNESS if status in _STOPPED else status)
        order = {case.id: number for number, case in enumerate(self.cases)}
        # A sequence's requests are called after it ("id/1.2") and came before it.
        done = sorted(self._done.values(), key=lambda case: order.get(case.id.partition("/")[0], len(order)))
        stopped = not self.looped or status in _STOPPED
        rows, cells = self._alone(done) if self._twins and not stopped and not self._errors else ((), ())
        end = RunEnd.FAILED if self._errors else RunEnd.INTERRUPTED if stopped else RunEnd.COMPLETE
        errors = (*self._errors, *self._broken)
        report = close(self._header, done, ended_at=now(), end=end, errors=errors, load=rows, cells=cells)
        assert report.footer is not None
        if self._file is not None:
            try:
                self._file.add(report.footer)
                self._file.finish(report)
            except HarnessError as error:
                errors = (*errors, str(error))
                report = close(self._header, done, ended_at=now(), end=RunEnd.FAILED, errors=errors)
        self._report = report
        assert report.footer is not None
        if report.footer.exit_code == _HARNESS or stopped:
            return _HARNESS
        return max(status, report.footer.exit_code)

    def _alone(self, done: Sequence[Case]) -> tuple[tuple[LoadRow, ...], tuple[LoadCell, ...]]:
        """Play the whole suite once more in series, and compare; a lost stage becomes an error of the run."""
        assert self._stage is not None
        workers, parallel, began = self.options.workers, monotonic() - self._began, monotonic()
        try:
            made = asyncio.run(serial.play_alone(self._stage, self._twins, self.clauses, self.options.seed + 1))
        except HarnessError as error:
            self._errors.append(" ".join(str(error).split()))
            return (), ()
        cells = (
            serial.cell_of(Shape.ALONE, 1, len(made), monotonic() - began),
            serial.cell_of(Shape.CLOSED, workers, len(done), parallel),
        )
        return serial.difference(done, made, workers), cells

    def show(self, terminalreporter: Any) -> None:
        """Write the report's summary to pytest's terminal."""
        if self._report is None:
            return
        from rich.console import Console

        from conformance.report import terminal

        terminalreporter.ensure_newline()
        console = Console(file=terminalreporter._tw._file, width=terminalreporter._tw.fullwidth)
        console.print(terminal.render(self._report), crop=False)


def _command(config: pytest.Config) -> str:
    """What was asked of the suite, as a line for pytest."""
    given = [] if config.getoption("--target") is None else ["--target", config.getoption("--target")]
    for option in ("--select", "--clauses", "--driver", "--scenarios", "--cassettes"):
        given += [word for value in config.getoption(option) for word in (option, value)]
    if config.getoption("--deviations"):
        given += ["--deviations", config.getoption("--deviations")]
    if config.getoption("--load"):
        given.append("--load")
    return shown_command("pytest", ["--pyargs", "conformance.suite", *given])


def collect(lines: Sequence[str], test: str) -> None:
    """Hand the cases of a report of `test` to the session that controls the run, where there is one."""
    if _active is None:
        return
    for line in lines:
        _active.keep(line)
    if not lines:
        _active.broke(test)
