"""`run` and `judge`: arguments become options, the pipeline's report becomes what is shown and the exit code."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from types import ModuleType

import pytest

from conformance.cli import main
from conformance.contract.clause import Basis, Finding, Level, Outcome, Verdict
from conformance.errors import TargetError, UpstreamError
from conformance.options import JudgeOptions, Observe, RunOptions
from conformance.report.gate import close
from conformance.report.model import Case, Report, Requirement, RunHeader
from conformance.reportfile import read

NEED = Requirement(id="a.b", level=Level.MUST, basis=Basis.CONTRACT, title="A fact")
HEADER = RunHeader(target="t", suite_version="0", started_at="2026-11-29T12:00:00Z", requirements=(NEED,), planned=1)


class Pipeline:
    """Stands in for the pipeline: keeps the options, gives a report with one verdict or raises."""

    def __init__(self) -> None:
        self.outcome = Outcome.HELD
        self.error: BaseException | None = None
        self.options: RunOptions | JudgeOptions | None = None

    def run(self, options: RunOptions, observe: Observe) -> Report:
        """A run of one case."""
        self.options = options
        observe(HEADER)
        if self.error is not None:
            raise self.error
        report = self.judge_files(options)
        observe(report.cases[0])
        assert report.footer is not None
        observe(report.footer)
        return report

    def judge_files(self, options: RunOptions | JudgeOptions) -> Report:
        """The same report."""
        self.options = options
        findings = (Finding(expected="x", actual="y"),) if self.outcome is Outcome.VIOLATED else ()
        verdict = Verdict(clause="a.b", outcome=self.outcome, findings=findings)
        return close(
            HEADER, [Case(id="s.t[wire]", scenario="s.t", verdicts=(verdict,))], ended_at="2026-11-29T12:00:01Z"
        )


@pytest.fixture
def pipeline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Pipeline:
    """The pipeline of this test; the current folder is an empty one."""
    made, module = Pipeline(), ModuleType("conformance.run")
    module.run, module.judge_files = made.run, made.judge_files  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "conformance.run", module)
    monkeypatch.chdir(tmp_path)
    return made


def test_options_reach_the_pipeline(pipeline: Pipeline) -> None:
    """Every option of `run` stands in the options."""
    line = "run --target litellm --select a.*,b.c --select d --clauses stream.* --driver wire --driver httpx -n 4"
    line += " --live --api-key-env KEY --model m --max-requests 3 --max-tokens 0 --seed 7 --report out"
    assert main(line.split()) == 0
    assert pipeline.options == RunOptions(
        target="litellm",
        select=("a.*", "b.c", "d"),
        clauses=("stream.*",),
        drivers=("wire", "httpx"),
        workers=4,
        live=True,
        api_key_env="KEY",
        model="m",
        max_requests=3,
        max_tokens=0,
        seed=7,
        command=shlex.join(["conformance", *line.split()]),
    )


@pytest.mark.parametrize(
    ("outcome", "code"),
    [(Outcome.HELD, 0), (Outcome.VIOLATED, 1), (Outcome.FAULTY, 3), (Outcome.NOT_APPLICABLE, 3)],
)
def test_exit_codes(pipeline: Pipeline, outcome: Outcome, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code is the report's; the report is on disk and equals what is shown."""
    pipeline.outcome = outcome
    assert main(["run", "--format", "json"]) == code
    shown = json.loads(capsys.readouterr().out)
    assert shown["exit_code"] == code
    report = read(Path("conformance-report"))
    assert report.footer is not None
    assert report.footer.exit_code == code


def test_judge_reads_what_it_is_given(pipeline: Pipeline, capsys: pytest.CaptureFixture[str]) -> None:
    """`judge` hands on both legs and the declared capabilities, and writes no report."""
    pipeline.outcome = Outcome.VIOLATED
    assert main(["judge", "c.yaml", "--upstream", "u.yaml", "--capabilities", "failover,cache"]) == 1
    assert isinstance(pipeline.options, JudgeOptions)
    assert (pipeline.options.client, pipeline.options.upstream) == (Path("c.yaml"), Path("u.yaml"))
    assert pipeline.options.capabilities == {"failover", "cache"}
    assert "MUST contract · a.b" in capsys.readouterr().out
    assert not Path("conformance-report").exists()


def test_unknown_capability_is_usage(pipeline: Pipeline, capsys: pytest.CaptureFixture[str]) -> None:
    """A capability that does not exist ends with 2."""
    assert main(["judge", "c.yaml", "--capabilities", "fallover"]) == 2
    assert "failover" in capsys.readouterr().err


@pytest.mark.parametrize("option", [["--load-max", "4"], ["--load-shape", "burst"]])
def test_options_of_a_load_run_belong_to_one(
    pipeline: Pipeline, option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """An option of a load run that would be swallowed by another one ends with 2."""
    assert main(["run", *option]) == 2
    assert f"add --load\n  where: {option[0]}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (TargetError("no such target", where="x.toml", hint="see targets"), 2, "where: x.toml\n  hint: see targets"),
        (UpstreamError("the upstream died"), 3, "error: the upstream died"),
        (KeyError("boom"), 3, "harness fault: KeyError: 'boom'"),
        (KeyboardInterrupt(), 3, "interrupted"),
    ],
)
def test_every_fault_has_its_code(
    pipeline: Pipeline, error: BaseException, code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Usage ends with 2, the harness's faults with 3; what, where and hint are told, a traceback only if asked for."""
    pipeline.error = error
    assert main(["run"]) == code
    err = capsys.readouterr().err
    assert told in err
    assert "Traceback" not in err
    assert main(["run", "--debug"]) == code
    assert "Traceback" in capsys.readouterr().err


def test_judge_writes_a_report_where_one_is_named(pipeline: Pipeline, tmp_path: Path) -> None:
    """The same report as a run's, in every form; without a name there is none."""
    Path("c.yaml").write_text("interactions: []", encoding="utf-8")
    assert main(["judge", "c.yaml"]) == 0
    assert not list(tmp_path.glob("**/report.jsonl"))
    assert main(["judge", "c.yaml", "--report", "told"]) == 0
    assert read(Path("told")).cases[0].id == "s.t[wire]"
    assert Path("told/report.html").exists()
