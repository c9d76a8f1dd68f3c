"""Captured legs become a report like any other, with the gate and the evidence of a run."""

from __future__ import annotations

from pathlib import Path

from conformance.cassette.store import load
from conformance.contract.catalog import select
from conformance.options import JudgeOptions
from conformance.report.gate import exit_code, summarise
from conformance.run.captured import judge

PAIR = Path(__file__).parent.parent / "captures" / "retired-member-kills-alias"
CLIENT, UPSTREAM = PAIR / "client-wrong.yaml", PAIR / "upstream-wrong.yaml"


def options(*capabilities: str) -> JudgeOptions:
    """The options that judge the wrong side of the pair."""
    return JudgeOptions(
        client=CLIENT, upstream=UPSTREAM, capabilities=frozenset(capabilities), command="conformance judge"
    )


def test_report_of_a_capture() -> None:
    """Each client interaction is a case, with the bytes of both legs where something is violated."""
    report = judge(options("failover"), load(CLIENT), load(UPSTREAM), select(("pool.*",)))
    (case,) = report.cases
    assert exit_code(summarise(report)) == 1
    assert [leg.name for leg in case.evidence] == ["request", "client", "upstream:0"]
    assert (report.header.mode, report.header.target_kind, report.header.planned) == ("judge", "capture", 1)
    assert report.header.capabilities == ("failover",)


def test_a_promise_that_nothing_judges_is_told() -> None:
    """A declared capability that no clause speaks of makes nothing applicable, and the report says that."""
    report = judge(options("failover", "telepathy"), load(CLIENT), load(UPSTREAM), select(()))
    assert report.header.defaults == {"declared, but judged by no clause:": "telepathy"}
