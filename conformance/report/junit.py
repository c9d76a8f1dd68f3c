"""The report as JUnit XML: a suite for each area of scenarios, a test case for each case, clause ids as properties.

From a report to a text. Valid XML whatever bytes the wire held: what XML 1.0 cannot hold is escaped.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from conformance.contract.clause import Outcome, Verdict
from conformance.report import views
from conformance.report.deviations import Standing, accounts, excused, unexcused
from conformance.report.model import Case, Deviation, Report, Requirement
from conformance.report.origin import origin
from conformance.report.wireview import clean

#: What can happen to a test case, the gravest first, and the attribute of its suite that counts it.
_COUNTED = {"error": "errors", "failure": "failures", "skipped": "skipped"}


def render(report: Report) -> str:
    """The XML document. Only what fails a run is a failure, be it a stale deviation; the rest stands in system-out."""
    root = Element("testsuites", name="gateway-conformance")
    areas = dict.fromkeys(case.area for case in report.cases)
    for area in areas:
        suite = SubElement(root, "testsuite", name=clean(area), timestamp=clean(report.header.started_at))
        _properties(suite, _run_facts(report))
        for case in report.cases:
            if case.area == area:
                _testcase(suite, report, case)
    _stale(root, report)
    own = views.run_faults(report)
    if own:
        suite = SubElement(root, "testsuite", name="harness")
        run = SubElement(suite, "testcase", classname="conformance.harness", name="run", time="0")
        for fault in own:
            SubElement(run, "error", type="harness", message=clean(fault))
    for suite in root:
        _count(suite)
    indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _stale(root: Element, report: Report) -> None:
    """A suite of the known violations that are none any more: they fail the run, and no case does for them."""
    stale = [account for account in accounts(report) if account.standing is Standing.STALE]
    suite = SubElement(root, "testsuite", name="known-violations") if stale else root
    for account in stale:
        line = views.account_line(account)
        test = SubElement(
            suite, "testcase", classname="conformance.known", name=clean(account.deviation.clause), time="0"
        )
        SubElement(test, "failure", type="stale", message=clean(line))


def _testcase(suite: Element, report: Report, case: Case) -> None:
    index = report.header.index()
    element = SubElement(
        suite,
        "testcase",
        classname=f"conformance.{clean(case.area)}",
        name=clean(case.id),
        time=f"{case.duration_ms / 1000:.4f}",
    )
    judged = [verdict.clause for verdict in case.verdicts if verdict.outcome is not Outcome.NOT_APPLICABLE]
    facts = [("title", case.title), ("driver", case.driver), ("nonce", case.nonce)]
    facts.append(("reading", case.reading.value if case.reading is not None else ""))
    _properties(element, [fact for fact in facts if fact[1]] + [("clause", clause) for clause in judged])
    _problems(element, report, case)
    known = {verdict.clause: deviation for verdict, deviation in excused(report.header, case)}
    notes = [
        f"{_excuse(known.get(v.clause))}{_account(index[v.clause], case, v)}"
        for v in case.of(Outcome.VIOLATED)
        if v.clause in known or not index[v.clause].gates
    ]
    if notes:
        SubElement(element, "system-out").text = "\n\n".join(notes)


def _problems(element: Element, report: Report, case: Case) -> None:
    index = report.header.index()
    for fault in views.case_faults(report, case):
        SubElement(element, "error", type="harness", message=clean(fault))
    for verdict in unexcused(report.header, case):
        need = index[verdict.clause]
        if need.gates:
            failure = SubElement(element, "failure", type=clean(need.id), message=clean(f"{need.id}: {need.title}"))
            failure.text = _account(need, case, verdict)
    if element.find("failure") is None and element.find("error") is None:
        decided = case.of(Outcome.HELD, Outcome.VIOLATED)
        if case.skipped or not decided:
            SubElement(element, "skipped", message=clean(case.skipped or "no clause could be decided"))


def _excuse(deviation: Deviation | None) -> str:
    if deviation is None:
        return ""
    return clean(f"known until {deviation.expires}: {deviation.reason} ({deviation.link})") + "\n"


def _account(need: Requirement, case: Case, verdict: Verdict) -> str:
    """Requirement, what was expected and what was there, with the bytes and when they arrived."""
    lines = [f"{need.level.value} {need.basis.value} {need.id}: {need.title}", need.rationale, views.norm(need)]
    lines += [f"client: {views.exchange_line(case)}", f"attempts: {views.attempts_line(case)}"]
    for finding in verdict.findings:
        lines += [f"expected: {finding.expected}", f"actual: {finding.actual}"]
        lines += [f"origin: {made}"] if (made := origin(need.id, case, finding)) else []
        lines += [f"wire: {views.leg_title(finding.leg)}"]
        for line in views.evidence(case, finding):
            when = f"+{line.at:.1f} ms" if line.at is not None else ""
            lines.append(f"{when:>12} {'>' if line.hit else ' '} {line.text}")
    return "\n".join(clean(line) for line in lines if line)


def _properties(parent: Element, facts: list[tuple[str, str]]) -> None:
    holder = SubElement(parent, "properties")
    for name, value in facts:
        SubElement(holder, "property", name=clean(name), value=clean(value))


def _run_facts(report: Report) -> list[tuple[str, str]]:
    run = report.header
    facts = [("target", run.target), ("target-version", run.target_version), ("suite-version", run.suite_version)]
    facts += [("capabilities", " ".join(run.capabilities)), ("cassettes", run.cassettes), ("seed", str(run.seed))]
    return facts + [(f"default.{name}", value) for name, value in run.defaults.items()]


def _count(suite: Element) -> None:
    """Tests are counted once each, under the gravest thing that happened to them."""
    tests = suite.findall("testcase")
    kinds = [next((kind for kind in _COUNTED if test.find(kind) is not None), "") for test in tests]
    suite.set("tests", str(len(tests)))
    for kind, name in _COUNTED.items():
        suite.set(name, str(kinds.count(kind)))
    suite.set("time", f"{sum(float(test.get('time', '0')) for test in tests):.4f}")
