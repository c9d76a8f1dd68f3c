"""`report FILE|DIR`: a written report in another form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.contract.clause import Basis, Level, Outcome, Verdict
from conformance.report.codec import encode
from conformance.report.gate import close
from conformance.report.model import Case, Requirement, RunHeader

NEED = Requirement(id="a.b", level=Level.MUST, basis=Basis.CONTRACT, title="A fact")
HEADER = RunHeader(target="t", suite_version="0", started_at="2026-11-29T12:00:00Z", requirements=(NEED,))
CASE = Case(id="s.t[wire]", scenario="s.t", verdicts=(Verdict(clause="a.b", outcome=Outcome.VIOLATED),))
DATA = encode(close(HEADER, [CASE], ended_at="2026-11-29T12:00:01Z"))


@pytest.mark.parametrize(
    ("form", "start"), [("text", "target"), ("junit", "<?xml"), ("markdown", "## Gateway"), ("json", "{")]
)
def test_forms(form: str, start: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every form is written to standard output, from the folder or the file."""
    (tmp_path / "report.jsonl").write_bytes(DATA)
    for path in (tmp_path, tmp_path / "report.jsonl"):
        assert main(["report", str(path), "--format", form]) == 0
        assert capsys.readouterr().out.startswith(start)


def test_the_reports_code_only_when_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Showing a report succeeds; `--exit-code` ends as the run did."""
    (tmp_path / "report.jsonl").write_bytes(DATA)
    assert main(["report", str(tmp_path), "--exit-code", "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["exit_code"] == 1


def test_no_footer_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A report without its footer is refused, with its line."""
    (tmp_path / "report.jsonl").write_bytes(DATA[: DATA.index(b'{"kind":"footer"')])
    assert main(["report", str(tmp_path)]) == 2
    err = capsys.readouterr().err
    assert "no footer" in err
    assert "report.jsonl:2" in err
