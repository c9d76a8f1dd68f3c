"""A report's folder on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.errors import HarnessError, ReportError, UsageError
from conformance.report.gate import close
from conformance.report.model import Case, RunHeader
from conformance.reportfile import ReportFile, read

HEADER = RunHeader(target="t", suite_version="0", started_at="2026-11-29T12:00:00Z", requirements=())
CASE = Case(id="a.b[wire]", scenario="a.b")
REPORT = close(HEADER, [CASE], ended_at="2026-11-29T12:00:01Z")


def test_lines_are_on_disk_as_they_come(tmp_path: Path) -> None:
    """Each part is readable as soon as it was added; without the footer the report is refused."""
    folder = tmp_path / "deep" / "report"
    with ReportFile(folder) as file:
        file.add(HEADER)
        assert (folder / "report.jsonl").read_bytes().count(b"\n") == 1
        file.add(CASE)
        with pytest.raises(ReportError, match="no footer"):
            read(folder)
        assert REPORT.footer is not None
        file.add(REPORT.footer)
        assert read(folder) == read(folder / "report.jsonl") == REPORT


def test_other_forms_stand_beside_it(tmp_path: Path) -> None:
    """A finished report has its JUnit, Markdown and HTML forms beside it; a new run removes them once it began."""
    with ReportFile(tmp_path) as file:
        file.add(REPORT.header)
        file.finish(REPORT)
    assert {path.name for path in tmp_path.iterdir()} == {"report.jsonl", "junit.xml", "summary.md", "report.html"}
    with ReportFile(tmp_path) as file:
        assert {path.name for path in tmp_path.iterdir()} == {"report.jsonl", "junit.xml", "summary.md", "report.html"}
        file.add(REPORT.header)
        assert {path.name for path in tmp_path.iterdir()} == {"report.jsonl"}


def test_a_missing_report_says_where(tmp_path: Path) -> None:
    """A report that is not there is a usage error with its path."""
    with pytest.raises(ReportError) as caught:
        read(tmp_path)
    assert caught.value.where == str(tmp_path / "report.jsonl")


def test_a_folder_that_cannot_be_written_is_a_usage_error(tmp_path: Path) -> None:
    """A folder that is a file is refused before anything runs."""
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="no report can be written"):
        ReportFile(tmp_path / "file")


def test_two_runs_never_share_a_folder(tmp_path: Path) -> None:
    """The second is refused before anything runs, and the first one's report stays whole; then the folder is free."""
    with ReportFile(tmp_path) as file:
        file.add(HEADER)
        with pytest.raises(UsageError, match="another run writes its report there"):
            ReportFile(tmp_path)
        file.add(CASE)
        assert REPORT.footer is not None
        file.add(REPORT.footer)
    assert read(tmp_path) == REPORT
    with ReportFile(tmp_path) as file:
        file.add(HEADER)


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    """What cannot be written is an error of the harness that says why, for each form of the report."""
    (tmp_path / "report.jsonl").symlink_to("/dev/full")
    with ReportFile(tmp_path) as file, pytest.raises(HarnessError, match="cannot be written: No space left"):
        file.add(HEADER)
    (tmp_path / "junit.xml").symlink_to("/dev/full")
    with ReportFile(tmp_path) as file, pytest.raises(HarnessError, match="cannot be written: No space left"):
        file.finish(REPORT)
