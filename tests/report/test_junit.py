"""The report as JUnit XML."""

from __future__ import annotations

from dataclasses import replace
from xml.etree.ElementTree import Element, fromstring

from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.contract.clause import Finding, Outcome
from conformance.report import junit
from conformance.report.model import Report

from . import sample


def parsed(report: Report = sample.EVERYTHING) -> Element:
    """The root element, parsed by an XML parser from the bytes of a file."""
    return fromstring(junit.render(report).encode())


def case(name: str) -> Element:
    """One test case's element."""
    return next(element for element in parsed().iter("testcase") if element.get("name") == name)


def test_suite_for_each_area() -> None:
    """There is a suite for each area of scenarios, and one for the harness's own faults; their counts are right."""
    suites = {suite.get("name"): suite for suite in parsed()}
    assert list(suites) == ["chat", "stream", "models", "cache", "harness"]
    stream = suites["stream"]
    assert [stream.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["14", "12", "2", "0"]
    assert suites["cache"].get("skipped") == "1"
    assert suites["harness"].get("errors") == "1"


def test_gating_violations_are_failures() -> None:
    """Every violated clause that fails the run is a failure with requirement, expectation, bytes; others are output."""
    element = case("stream.twice[wire]")
    failures = element.findall("failure")
    assert [failure.get("type") for failure in failures] == ["stream.done.once", "pool.failover.answers"]
    assert "+41.5 ms > data: [DONE]" in (failures[0].text or "")
    assert "SHOULD protocol stream.utf8" in element.findtext("system-out", "")


def test_clause_ids_are_properties() -> None:
    """The clauses that applied are properties of the test case."""
    properties = [(p.get("name"), p.get("value")) for p in case("chat.hello[wire]").iter("property")]
    assert ("clause", "chat.id.present") in properties
    assert ("clause", "stream.done.once") not in properties


def test_faults_are_errors() -> None:
    """A faulty clause, an unreached one and a harness error are errors, never failures."""
    for name in ("models.list[openai-python]", "stream.plain[wire]", "stream.broken[wire]"):
        assert case(name).find("error") is not None
        assert case(name).find("failure") is None


def test_undecided_cases_are_skipped() -> None:
    """A case that was not run, or in which nothing could be decided, is skipped with the reason."""
    for name, reason in (("cache.two[wire]", "does not declare"), ("chat.nothing[wire]", "no clause could be decided")):
        skipped = case(name).find("skipped")
        assert skipped is not None
        assert reason in skipped.get("message", "")


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.text(st.characters()), st.binary(max_size=50))
def test_any_bytes_give_valid_xml(text: str, data: bytes) -> None:
    """Whatever the wire and a finding held, an XML parser takes the document."""
    finding = Finding(expected=text, actual=text, leg="upstream:9", excerpt=data)
    verdicts = (sample.verdict("stream.done.once", Outcome.VIOLATED, finding),)
    odd = replace(sample.VIOLATED, title=text, verdicts=verdicts, scenario=f"a.{text}", error=text)
    assert parsed(sample.report(odd, errors=(text,))).tag == "testsuites"
