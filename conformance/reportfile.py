"""A report's folder on disk: report.jsonl as it grows, and its other forms beside it once it is whole.

The only reader and writer of report files; what a line means is the codec's matter.
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

from conformance.errors import ReportError, UsageError
from conformance.report import junit, markdown
from conformance.report.codec import ReportWriter, decode
from conformance.report.model import Part, Report

NAME = "report.jsonl"
#: The other forms that stand beside it.
FORMS = {"junit.xml": junit.render, "summary.md": markdown.render}


def read(path: Path) -> Report:
    """The report in a file, or in a folder's report.jsonl. Raises ReportError when there is none or it is not valid."""
    file = path / NAME if path.is_dir() else path
    try:
        data = file.read_bytes()
    except OSError as error:
        raise ReportError(f"the report cannot be read: {error.strerror}", where=str(file)) from error
    return decode(data, name=str(file))


class ReportFile:
    """Writes a run's report into a folder, made if needed. Each part is on disk, line by line, when `add` returns.

    A run that is killed leaves a report without a footer, which no reader accepts. An older report is replaced at once.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name in FORMS:
                (folder / name).unlink(missing_ok=True)
            self._file = (folder / NAME).open("wb")
        except OSError as error:
            hint = "name another folder with --report"
            raise UsageError(f"no report can be written: {error.strerror}", where=str(folder), hint=hint) from error
        self._writer = ReportWriter(self._write)

    def add(self, part: Part) -> None:
        """Write one part of the report."""
        self._writer.add(part)

    def _write(self, line: bytes) -> None:
        self._file.write(line)
        self._file.flush()

    def finish(self, report: Report) -> None:
        """Write the other forms of the whole report beside it."""
        for name, render in FORMS.items():
            (self.folder / name).write_text(render(report), encoding="utf-8")

    def __enter__(self) -> ReportFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
