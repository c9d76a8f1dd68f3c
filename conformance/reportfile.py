"""A report's folder on disk: report.jsonl as it grows, and its other forms beside it once it is whole.

The only reader and writer of report files; what a line means is the codec's matter.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType

from conformance.errors import HarnessError, ReportError, UsageError
from conformance.report import html, junit, markdown
from conformance.report.codec import ReportWriter, decode
from conformance.report.model import Part, Report

NAME = "report.jsonl"
#: The other forms that stand beside it.
FORMS = {"junit.xml": junit.render, "summary.md": markdown.render, "report.html": html.render}


def read(path: Path) -> Report:
    """The report in a file, or in a folder's report.jsonl. Raises ReportError when there is none or it is not valid."""
    file = path / NAME if path.is_dir() else path
    try:
        data = file.read_bytes()
    except OSError as error:
        hint = "name the folder that `conformance run --report` wrote, or the report.jsonl in it"
        raise ReportError(f"the report cannot be read: {error.strerror}", where=str(file), hint=hint) from error
    return decode(data, name=str(file))


class ReportFile:
    """Writes a run's report into a folder, made if needed. Each part is on disk, line by line, when `add` returns.

    A run that is killed leaves a report without a footer, which no reader accepts. An older report is replaced when the
    first part comes: a run that never starts leaves it as it was. Two runs never share a folder: the second is refused.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with TemporaryFile(dir=folder):
                pass  # a folder that cannot be written is told before anything runs
            self._folder = os.open(folder, os.O_RDONLY)
        except OSError as error:
            raise self._refused(error) from error
        try:
            _lock(self._folder)
        except BlockingIOError:
            os.close(self._folder)
            hint = "name another folder with --report"
            raise UsageError("another run writes its report there", where=str(folder), hint=hint) from None
        self._file: FileIO | None = None
        self._writer = ReportWriter(self._write)

    def _refused(self, error: OSError) -> UsageError:
        hint = "name another folder with --report"
        return UsageError(f"no report can be written: {error.strerror}", where=str(self.folder), hint=hint)

    def add(self, part: Part) -> None:
        """Write one part of the report."""
        self._writer.add(part)

    def _write(self, line: bytes) -> None:
        with self._written():
            if self._file is None:
                for name in FORMS:
                    (self.folder / name).unlink(missing_ok=True)
                self._file = (self.folder / NAME).open("wb", buffering=0)
            rest = memoryview(line)
            while rest:
                rest = rest[self._file.write(rest) :]

    def finish(self, report: Report) -> None:
        """Write the other forms of the whole report beside it. Raises HarnessError, as `add` does, when it cannot."""
        with self._written():
            for name, render in FORMS.items():
                (self.folder / name).write_text(render(report), encoding="utf-8")

    @contextmanager
    def _written(self) -> Iterator[None]:
        """Around writing: what the system says against it is told as such."""
        try:
            yield
        except OSError as error:
            what = f"the report cannot be written: {error.strerror}"
            raise HarnessError(what, where=str(self.folder), hint="make room, or name another folder") from error

    def __enter__(self) -> ReportFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
        os.close(self._folder)


def _lock(folder: int) -> None:
    """Take the folder for this process. Raises BlockingIOError when another one has it."""
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        return  # a file system without locks
