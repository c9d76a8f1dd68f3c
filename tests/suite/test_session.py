"""The suite as users meet it: pytest in an empty folder, alone and in parallel, with its options and exit codes."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from conformance import reportfile
from conformance.columns import LEAST
from conformance.report.model import Report, RunEnd
from conformance.suite.session import SuiteSession

pytest_plugins = ["pytester"]

#: Other plugins of this environment take seconds at the end of each session.
QUIET = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest")
SELECTION = ("--select", "baseline.chat,baseline.chat-stream,errors.*rate-limit*")


def suite(pytester: pytest.Pytester, *words: str) -> tuple[pytest.RunResult, Report | None]:
    """Run the suite with these options; its result, and the report that it wrote."""
    line = ("--pyargs", "conformance.suite", "--conformance-report", "report", *QUIET, *words)
    result = pytester.runpytest_subprocess(*line, timeout=120)
    folder = pytester.path / "report"
    return result, reportfile.read(folder) if (folder / reportfile.NAME).exists() else None


def test_alone_and_in_parallel(pytester: pytest.Pytester) -> None:
    """One test for each scenario and driver; two workers share one stage, and the report is the same."""
    ids = []
    for words in ((), ("-n", "2")):
        result, report = suite(pytester, "--target", "reference", "--driver", "wire,httpx", *SELECTION, *words)
        assert report is not None
        assert result.ret == 0
        assert report.footer is not None
        assert (report.footer.exit_code, report.footer.end) == (0, RunEnd.COMPLETE)
        assert result.parseoutcomes()["passed"] == len(report.cases) == report.header.planned
        assert {case.driver for case in report.cases} == {"wire", "httpx"}
        result.stdout.fnmatch_lines(["*conforms: * checks over * exchanges*"])
        ids.append([case.id for case in report.cases])
        assert (pytester.path / "report" / "junit.xml").exists()
    assert sorted(ids[0]) == sorted(ids[1])


KNOWN = """
[[deviation]]
clause = "stream.done.once"
scenarios = ["baseline.chat-stream"]
reason = "The relay adds one."
link = "https://tracker.example/1"
expires = 2999-12-31
"""


def test_a_known_violation_is_an_expected_failure(pytester: pytest.Pytester) -> None:
    """With several workers too: what is listed is xfailed with its reason, what is not fails, what is stale fails."""
    known = str(pytester.makefile(".toml", known=KNOWN))
    words = ("--driver", "wire", "--clauses", "stream.*", "--deviations", known, "-n", "2", "-rx")
    plain, relayed = "baseline.chat-stream", "baseline.chat-stream-relayed"
    result, report = suite(pytester, "--target", "reference:done-twice", "--select", plain, *words)
    assert (result.ret, result.parseoutcomes().get("xfailed")) == (0, 1)
    result.stdout.fnmatch_lines(["*conforms, but for 1 known violation*", "*XFAIL*stream.done.once: The relay adds*"])
    assert report is not None
    assert [one.reason for one in report.header.deviations] == ["The relay adds one."]
    result, _ = suite(pytester, "--target", "reference:done-twice", "--select", f"{plain},{relayed}", *words)
    assert (result.ret, result.parseoutcomes()["xfailed"], result.parseoutcomes()["failed"]) == (1, 1, 1)
    result, _ = suite(pytester, "--target", "reference", "--select", plain, *words)
    assert (result.ret, result.parseoutcomes()["passed"]) == (1, 1)
    result.stdout.fnmatch_lines(["*does not pass: 1 stale deviation*"])
    result, _ = suite(pytester, "--deviations", "nope.toml")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*nope.toml*cannot be read*"])


def test_a_violation(pytester: pytest.Pytester) -> None:
    """A violated clause ends with 1, and shows requirement, expected, actual and the bytes with their times."""
    result, report = suite(
        pytester, "--target", "reference:done-twice", "--driver", "wire", "--select", "baseline.chat-stream",
        "--clauses", "stream.*",
    )  # fmt: skip
    assert report is not None
    assert result.ret == 1
    assert {need.id.partition(".")[0] for need in report.header.requirements} == {"stream"}
    result.stdout.fnmatch_lines_random(
        [
            "*stream.done.once*",
            "requires   *DONE*",
            "expected   *",
            "actual     *",
            "*+* ms*data: [[]DONE]*",
            "*FAILED*baseline.chat-stream*",
            "*does not conform: 1 clause violated*",
        ]
    )


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "distributed"])
def test_a_failure_is_as_wide_as_the_terminal(
    workers: tuple[str, ...], pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure's text fills the terminal of the controller, whoever played the case; a narrow one has its least."""
    for columns, wide in ((130, 130), (45, LEAST)):
        monkeypatch.setenv("COLUMNS", str(columns))
        result, _ = suite(
            pytester, "--target", "reference:done-twice", "--driver", "wire", "--select", "baseline.chat-stream",
            "--clauses", "stream.*", *workers,
        )  # fmt: skip
        told = result.stdout.str().split("to see one finding alone")[0]
        rule = next(line for line in told.splitlines() if line.startswith("MUST contract · stream.done.once"))
        assert len(rule) == wide


def test_nothing_is_said_without_the_suite(pytester: pytest.Pytester) -> None:
    """A session of somebody's own tests sees nothing of the suite: no report, no stage, no line."""
    pytester.makepyfile("def test_mine():\n    pass\n")
    result = pytester.runpytest_subprocess(*QUIET, "--conformance-report", "report")
    result.assert_outcomes(passed=1)
    assert "conforms" not in result.stdout.str()
    assert not (pytester.path / "report").exists()


class Config:
    """The part of pytest's configuration that the suite asks for."""

    def __init__(self, **options: object) -> None:
        lists: dict[str, object] = {name: [] for name in ("select", "clauses", "driver", "scenarios", "cassettes")}
        self._options = {"target": None, **lists, **options}
        self.option = SimpleNamespace(numprocesses=None)

    def getoption(self, name: str) -> object:
        """The option by the name of its flag."""
        name = name.removeprefix("--").removeprefix("conformance-")
        return self._options.get(name, 0 if name == "seed" else None)

    def getini(self, name: str) -> list[Path]:
        """The setting of that name: no folder."""
        assert name == "conformance_cassettes"
        return []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"target": "refrence"}, "there is no target 'refrence'"),
        ({"target": "reference:no-such-defect"}, "no-such-defect"),
        ({"select": ["no.such.*"]}, "no scenario matches 'no.such.*'"),
        ({"clauses": ["no.such.*"]}, "no clause matches 'no.such.*'"),
        ({"clauses": ["chat.*", "streem.*"]}, "no clause matches 'streem.*'"),
        ({"driver": ["telnet"]}, "there is no driver 'telnet'"),
    ],
)
def test_what_cannot_be_run(options: dict[str, object], said: str) -> None:
    """What cannot be run is pytest's own kind of usage error, in one sentence."""
    with pytest.raises(pytest.UsageError, match=re.escape(said)):
        SuiteSession.prepare(Config(**options))  # type: ignore[arg-type]


def test_usage_ends_before_anything_is_started(pytester: pytest.Pytester) -> None:
    """A gateway at a URL whose upstream nobody knows: the code for usage, the reason, and no report."""
    result, report = suite(pytester, "--target", "http://127.0.0.1:9/v1")
    assert report is None
    assert result.ret == 2
    assert "nothing is known of the upstream" in result.stderr.str() + result.stdout.str()


def test_no_test_no_result(pytester: pytest.Pytester) -> None:
    """Where pytest's own selection leaves no case, nothing was judged: that is not green."""
    result, report = suite(pytester, *SELECTION, "--driver", "wire", "-k", "nothing_of_that_name")
    assert report is None
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED


#: A test session that is interrupted after two tests, and again while pytest tells of the first time.
TWICE = """
calls = []
def pytest_runtest_logreport(report):
    calls.append(report.when)
    if calls.count("call") == 2:
        raise KeyboardInterrupt
def pytest_keyboard_interrupt(excinfo):
    raise KeyboardInterrupt
"""


@pytest.mark.parametrize("words", [(), ("-n", "2")])
def test_interrupted_twice(pytester: pytest.Pytester, words: tuple[str, ...]) -> None:
    """A second Ctrl-C hides the first from pytest's exit code; the report says that the run ended early."""
    pytester.makeconftest(TWICE)
    result, report = suite(pytester, "--driver", "wire", "--select", "baseline.*", "-p", "conftest", *words)
    assert result.ret != 0
    assert report is not None
    assert report.footer is not None
    assert (report.footer.exit_code, report.footer.end) == (3, RunEnd.INTERRUPTED)


#: A harness that breaks in one of its cases.
BREAKS = """
from conformance.run.play import Player
plays = Player.play
async def play(self, case, **words):
    if case.scenario.id == "baseline.chat-stream":
        raise RuntimeError("a bug of ours")
    return await plays(self, case, **words)
Player.play = play
"""


@pytest.mark.parametrize("words", [(), ("-n", "2")])
def test_a_fault_of_the_harness(pytester: pytest.Pytester, words: tuple[str, ...]) -> None:
    """An exception in a case is no violation: the run has no result, and its report says which test broke."""
    pytester.makeconftest(BREAKS)
    result, report = suite(pytester, *SELECTION, "--driver", "wire", "-p", "conftest", *words)
    assert result.ret == 3
    assert report is not None
    assert report.footer is not None
    assert report.footer.exit_code == 3
    assert "baseline.chat-stream" in str(report.footer.errors)


@pytest.mark.parametrize("words", [(), ("-n", "2")])
def test_a_report_that_cannot_be_written(pytester: pytest.Pytester, words: tuple[str, ...]) -> None:
    """A folder that another run has is a matter of usage; a disk that is full leaves no result. Both are told."""
    folder = pytester.path / "report"
    with reportfile.ReportFile(folder):
        result, report = suite(pytester, *SELECTION, "--driver", "wire", *words)
        assert (result.ret, report) == (2, None)
        assert "another run writes its report there" in result.stdout.str() + result.stderr.str()
    (folder / reportfile.NAME).symlink_to("/dev/full")
    line = ("--pyargs", "conformance.suite", "--conformance-report", "report", *QUIET, *SELECTION, *words)
    result = pytester.runpytest_subprocess(*line, timeout=120)
    assert result.ret == 3
    assert "cannot be written: No space left" in result.stdout.str() + result.stderr.str()
    assert "INTERNALERROR" not in result.stdout.str() + result.stderr.str()


def test_interrupted_before_the_first_test(pytester: pytest.Pytester) -> None:
    """Ctrl-C while tests are collected is no matter of usage: there is no result."""
    pytester.makeconftest("def pytest_collection_finish(session):\n    raise KeyboardInterrupt\n")
    result, report = suite(pytester, *SELECTION, "-p", "conftest")
    assert (result.ret, report) == (3, None)
