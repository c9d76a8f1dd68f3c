"""The report as Markdown, for a CI job's summary page."""

from __future__ import annotations

from dataclasses import replace

from conformance.contract.clause import Finding, Outcome
from conformance.report import markdown
from conformance.report.model import Requirement

from . import sample

TEXT = markdown.render(sample.EVERYTHING)


def test_it_leads_with_the_result() -> None:
    """The first line is the result, the table has every area."""
    assert TEXT.startswith("## Gateway conformance: no result: the run itself is faulty\n")
    assert "| stream | 0 | 13 | 3 | 0 | 0 |" in TEXT


def test_violations_are_folded() -> None:
    """Each violated clause is a folded section with its norm's link, expectation and bytes."""
    assert TEXT.count("<details>") == 3
    assert "[openai-api/chat-streaming](https://example.org/chat-streaming)" in TEXT
    assert "    +41.5 ms > data: [DONE]" in TEXT
    assert "answered by another &lt;member&gt; &amp; more</summary>" in TEXT


def test_a_violation_can_be_seen_alone() -> None:
    """Each has the command that shows it alone, in a fence from which it can be copied."""
    command = "conformance run --target sample --select stream.twice --driver wire --clauses stream.done.once"
    assert f"- alone:\n\n```text\n{command}\n```\n" in TEXT


def test_faults_and_defaults_are_listed() -> None:
    """Faults of the run and the harness's defaults are there."""
    assert "- stream.broken\\[wire\\]: the driver fell over" in TEXT
    assert "Defaults: deadline.connect 5 s" in TEXT


def test_wire_cannot_leave_its_fence() -> None:
    """Backticks and markup from the wire stay text."""
    finding = Finding(expected="<b>", actual="[a](b) | `c`", leg="upstream:5", excerpt=b"```` <script>")
    case = replace(sample.VIOLATED, verdicts=(sample.verdict("stream.done.once", Outcome.VIOLATED, finding),))
    text = markdown.render(sample.report(case))
    assert "`````text\n             > ```` <script>\n`````" in text
    assert "- expected: &lt;b&gt;" in text
    assert "- actual: \\[a\\](b) \\| \\`c\\`" in text


def test_a_page_is_bounded() -> None:
    """Past a number of clauses only the count is told."""
    needs = tuple(replace(sample.REQUIREMENTS[0], id=f"stream.x{n}") for n in range(markdown.CLAUSES + 5))
    verdicts = tuple(sample.verdict(need.id, Outcome.VIOLATED, sample.TWICE) for need in needs)
    header = replace(sample.HEADER, requirements=needs)
    report = replace(sample.report(), header=header, cases=(replace(sample.VIOLATED, verdicts=verdicts),))
    assert "and 5 more violated clauses" in markdown.render(report)


def test_only_plain_links_are_links() -> None:
    """A source whose address is no plain https link is text."""
    need = Requirement(
        **{**{f: getattr(sample.REQUIREMENTS[0], f) for f in Requirement.__slots__}, "link": "javascript:x"}
    )
    report = replace(sample.report(), header=replace(sample.HEADER, requirements=(need,)), cases=(sample.REPEATED[0],))
    assert "](" not in markdown.render(report)
