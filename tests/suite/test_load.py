"""`--load`: the suite in parallel, then in series, and what differs."""

from __future__ import annotations

import pytest

from conformance import reportfile

pytest_plugins = ["pytester"]

QUIET = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest")


def test_the_suite_ends_with_a_table_of_what_differs(pytester: pytest.Pytester) -> None:
    """Both passes are told of, and every clause that was decided has its row."""
    words = ("--select", "baseline.chat,load.chat", "--driver", "wire", "-n", "2", "--load")
    line = ("--pyargs", "conformance.suite", "--conformance-report", "report", *QUIET, *words)
    result = pytester.runpytest_subprocess(*line, timeout=120)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*alone and in parallel*", "*held alone and in parallel*"])
    report = reportfile.read(pytester.path / "report")
    assert report.footer is not None
    assert [(cell.shape, cell.concurrency, cell.requests) for cell in report.footer.cells] == [
        ("alone", 1, 2),
        ("closed", 2, 2),
    ]
    rows = {row.scenario for row in report.footer.load}
    assert rows == {"baseline.chat[wire]", "load.chat[wire]"}
    assert all(row.result == "holds" for row in report.footer.load)
