"""The command that a failed run ends with shows the finding alone."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from conformance import reportfile
from conformance.cli import main
from conformance.contract.clause import Outcome

pytest_plugins = ["pytester"]


def step(text: str) -> list[str]:
    """The words of the command that stands below its title."""
    return shlex.split(text.split("to see one finding alone:\n", 1)[1].split("\n", 1)[0])


def test_the_command_can_be_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of several violated clauses in several cases it shows the one, in one case, however narrow the terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "60")
    chosen = ["--select", "baseline.chat-stream,streams.crlf", "--clauses", "stream.*", "--report", "whole"]
    assert main(["run", "--target", "reference:done-twice", *chosen]) == 1
    words = step(capsys.readouterr().out)
    assert words[0] == "conformance"
    assert main(words[1:]) == 1
    assert step(capsys.readouterr().out) == words
    report = reportfile.read(Path("conformance-report"))
    (case,) = report.cases
    assert [verdict.clause for verdict in case.of(Outcome.VIOLATED)] == ["stream.done.once"]
    assert [need.id for need in report.header.requirements] == ["stream.done.once"]


def test_readme_shows_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """How README says that a failed run ends is how the run that it names ends."""
    readme = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")
    words = shlex.split(readme.split("To see one: `", 1)[1].split("`", 1)[0])
    listed, shown = readme.split("```text\nviolated ", 1)[1].split("```", 1)[0].split("...\n")
    monkeypatch.chdir(tmp_path)
    assert main(words[1:]) == 1
    out = capsys.readouterr().out
    assert f"violated {listed}" in "".join(f"{line.rstrip()}\n" for line in out.splitlines())
    assert out.endswith(shown)


def test_under_pytest(pytester: pytest.Pytester) -> None:
    """So does that of the suite under pytest, which is a line for pytest."""
    quiet = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest")
    chosen = ("--target", "reference:done-twice", "--select", "baseline.chat-stream", "--driver", "wire")
    first = pytester.runpytest_subprocess("--pyargs", "conformance.suite", *chosen, *quiet, timeout=120)
    words = step(first.stdout.str())
    assert words[:3] == ["pytest", "--pyargs", "conformance.suite"]
    second = pytester.runpytest_subprocess(*words[1:], *quiet, timeout=120)
    assert second.ret == 1
    second.stdout.fnmatch_lines(["*does not conform: 1 clause violated, 1 time"])
