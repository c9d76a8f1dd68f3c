"""The command line: words in, one exit code out."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from conformance import __version__, cli
from conformance.cli import main
from conformance.commands.shown import Shown


@pytest.mark.parametrize(
    "line",
    [
        "",
        "fly",
        "run --no-such-option",
        "run --targ reference",
        "run -n 0",
        "run -n many",
        "run --max-requests -1",
        "run --max-requests 0",
        "run --api-key-env KEY --model m",
        "run --target http://127.0.0.1:9/v1 --live --load --model m",
        "judge",
        "clauses --format xml",
        "report",
        "report /nowhere/at/all",
        "explain",
        "upstream --members 0",
        "upstream --port-base 65534 --members 3",
        "upstream --cassettes /nowhere/at/all",
    ],
)
def test_usage_ends_with_2(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever is wrong with the words ends with 2 and says so on standard error alone."""
    assert main(line.split()) == 2
    captured = capsys.readouterr()
    assert captured.err
    assert not captured.out


@pytest.mark.parametrize("line", ["--help", "--version", "run --help"])
def test_help_ends_with_0(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Help and version are no errors."""
    assert main(line.split()) == 0
    assert capsys.readouterr().out


def test_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    """The version is the distribution's."""
    main(["--version"])
    assert capsys.readouterr().out == f"gateway-conformance {__version__}\n"


def test_targets_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """The bundled targets have the promised members."""
    assert main(["targets", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {"reference", "litellm"} <= {row["name"] for row in rows}
    told = {"name", "kind", "title", "capabilities", "program", "program_variable", "install", "profile"}
    assert all(row.keys() == told for row in rows)


def test_odd_texts_can_be_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the console's encoding cannot hold is escaped, never an exception."""
    code = "import sys; from conformance import cli; from conformance.commands import shown;"
    code += "cli._perform = lambda p: shown.Shown(text='caf\\u00e9 \\ud800\\n', view='\\u2026');"
    code += "sys.exit(cli.main(['clauses']))"
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"caf\\xe9 \\ud800\n\\u2026\n")


def test_a_reader_that_goes_away_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A closed pipe is quiet and keeps the exit code."""
    code = "import sys; from conformance import cli; from conformance.commands import shown;"
    code += "cli._perform = lambda p: shown.Shown(text='x' * 1000000, code=1); sys.exit(cli.main(['clauses']))"
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stderr is not None
    with child:
        child.stdout.close()
        assert child.wait(timeout=30) == 1
        assert child.stderr.read() == b""


@pytest.mark.parametrize(("closing", "code"), [(">&-", 1), (">&- 2>&-", 1), (">/dev/full", 3)])
def test_an_output_that_takes_nothing(closing: str, code: int) -> None:
    """A closed output keeps the exit code; one that is full is told, since somebody waits for what it should hold."""
    words = "import sys; from conformance import cli; from conformance.commands import shown;"
    words += "cli._perform = lambda p: shown.Shown(view='seen', code=1); cli.entry()"
    line = f'"{sys.executable}" -c "{words}" clauses {closing}'
    done = subprocess.run(["sh", "-c", line], stderr=subprocess.PIPE, check=False, text=True)
    assert done.returncode == code
    assert ("the result cannot be shown: No space left" in done.stderr) == (code == 3)


def test_entry_exits_with_the_code(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The console script exits with what `main` returns."""
    monkeypatch.setattr(sys, "argv", ["conformance", "targets"])
    monkeypatch.setattr(cli, "_perform", lambda parsed: Shown(text="done\n", code=3))
    with pytest.raises(SystemExit) as left:
        cli.entry()
    assert left.value.code == 3


def test_holdings_are_gathered_only_when_asked_for() -> None:
    """Importing the command line loads neither the catalogue nor an SDK."""
    code = "import sys, conformance.cli;"
    code += "print([m for m in sys.modules if 'catalog' in m or m in ('openai', 'httpx', 'yaml')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout == "[]\n"
