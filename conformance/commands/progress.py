"""A run's progress on a terminal: a bar, and above it each case in which something is violated or faulty.

Shows the parts of a report as they come; silent where there is no terminal.
"""

from __future__ import annotations

from types import TracebackType

from rich import progress
from rich.console import Console

from conformance.contract.clause import Outcome
from conformance.report import terminal
from conformance.report.gate import missed
from conformance.report.model import Case, Part, RunHeader


class Progress:
    """A context in which `observe` takes the parts of a report."""

    def __init__(self, console: Console) -> None:
        columns = (
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
        )
        self._bar = progress.Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._task = self._bar.add_task("", total=None)
        self._header: RunHeader | None = None

    def observe(self, part: Part) -> None:
        """Show one part."""
        if isinstance(part, RunHeader):
            self._header = part
            self._bar.update(self._task, description=part.target, total=part.planned or None)
        elif isinstance(part, Case) and self._header is not None:
            self._bar.advance(self._task)
            bad = part.error or part.of(Outcome.VIOLATED, Outcome.FAULTY) or missed(self._header, part)
            if bad and not self._bar.disable:
                self._bar.console.print(terminal.case_line(self._header, part), no_wrap=True, overflow="ellipsis")

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
