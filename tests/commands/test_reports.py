"""`report FILE|DIR`: a written report in another form."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.arguments import REPORT_EXIT_CODES
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


def test_several_side_by_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A matrix has a column for each report; any other form shows one, and says so."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "report.jsonl").write_bytes(DATA)
    both = [str(tmp_path / "one"), str(tmp_path / "two")]
    assert main(["report", *both, "--format", "matrix", "--exit-code"]) == 1
    assert "| `a.b` | MUST | A fact | **1** | **1** |" in capsys.readouterr().out
    assert main(["report", *both]) == 2
    assert "add --format matrix" in capsys.readouterr().err


def test_the_reports_code_only_when_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Showing a report succeeds; `--exit-code` ends as the run did."""
    (tmp_path / "report.jsonl").write_bytes(DATA)
    assert main(["report", str(tmp_path), "--exit-code", "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["exit_code"] == 1


@pytest.mark.parametrize(
    ("change", "words", "code"),
    [
        (lambda data: data, [], 0),
        (lambda data: data, ["--exit-code"], 1),
        (lambda data: data.replace(b"violated", b"held"), [], 2),
        (lambda data: data.replace(b'"format":2', b'"format":1'), ["--exit-code"], 2),
        (lambda data: data[:-9], ["--exit-code"], 2),
        (lambda data: b"", [], 2),
        (lambda data: None, ["--exit-code"], 2),
    ],
    ids=["shown", "its own code", "changed", "other format", "cut off", "empty", "missing"],
)
def test_exit_codes(
    change: Callable[[bytes], bytes | None],
    words: list[str],
    code: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A report that can be shown ends with 0 or its own code, one that is missing or not valid with 2 either way."""
    data = change(DATA)
    if data is not None:
        (tmp_path / "report.jsonl").write_bytes(data)
    assert main(["report", str(tmp_path), *words]) == code
    captured = capsys.readouterr()
    assert bool(captured.out) is (code != 2)
    assert ("hint: " in captured.err) is (code == 2)


def test_a_report_without_result_ends_with_3(tmp_path: Path) -> None:
    """A run that proved nothing is shown, and its own code is 3."""
    (tmp_path / "report.jsonl").write_bytes(encode(close(HEADER, [], ended_at="2026-11-29T12:00:01Z")))
    assert main(["report", str(tmp_path)]) == 0
    assert main(["report", str(tmp_path), "--exit-code"]) == 3


def test_help_tells_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    """What `report` ends with stands in its help."""
    assert main(["report", "--help"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert " ".join(REPORT_EXIT_CODES.split()) in out


def test_no_footer_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A report without its footer is refused, with its line."""
    (tmp_path / "report.jsonl").write_bytes(DATA[: DATA.index(b'{"kind":"footer"')])
    assert main(["report", str(tmp_path)]) == 2
    err = capsys.readouterr().err
    assert "no footer" in err
    assert "report.jsonl:2" in err
