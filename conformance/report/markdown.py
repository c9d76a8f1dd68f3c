"""The report as Markdown, for a CI job's summary page.

From a report to a text. Bounded, since such pages are; what comes from the wire stands in fenced code or is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from conformance.contract.clause import Outcome
from conformance.report import follow, views
from conformance.report.gate import numbers
from conformance.report.model import Report, RunHeader
from conformance.report.origin import origin
from conformance.report.reading import Reading
from conformance.report.views import Violation, counted
from conformance.report.wireview import clean

#: How many clauses are shown in full, and findings of each.
CLAUSES, FINDINGS = 40, 2
#: How many scenarios are listed with how they came out.
READINGS = 1000
_SPECIAL = re.compile(r"([\\`*_\[\]|~])")


def render(report: Report) -> str:
    """The Markdown text."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    run, told = report.header, numbers(report)
    yield f"## Gateway conformance: {text(views.result(report))}\n"
    yield f"**{text(f'{run.target} {run.target_version}'.strip())}**, suite {text(run.suite_version)},"
    yield f"declares {text(', '.join(run.capabilities) or 'no capability')};"
    yield f"{views.cases_line(report)}, {counted(told.checks, 'check')}.\n"
    yield f"| area | {' | '.join(outcome.value for outcome in Outcome)} |"
    yield f"|---|{'---:|' * len(Outcome)}"
    for row in views.areas(report):
        yield f"| {text(row.area)} | {' | '.join(f'{number:,}' for number in row.counts.values())} |"
    found = views.violations(report)
    for violation in found[:CLAUSES]:
        yield from _violation(report.header, violation)
    if len(found) > CLAUSES:
        yield f"\nand {counted(len(found) - CLAUSES, 'more violated clause')}"
    if known := views.known(report):
        yield "\n### Known violations\n"
        yield from (f"- {text(line)}" for line in known)
    problems = views.faults(report)
    if problems:
        yield "\n### Faults of the run itself\n"
        yield from (f"- {text(line)}" for line in problems[:CLAUSES])
    yield from _readings(report)
    if run.defaults:
        yield "\nDefaults: " + text(", ".join(f"{name} {value}" for name, value in run.defaults.items()))


def _readings(report: Report) -> Iterator[str]:
    """How each scenario came out for its caller, folded; misleading ones in bold."""
    rows = views.readings(report)
    if not rows:
        return
    yield f"\n<details><summary>How {counted(len(rows), 'scenario')} came out</summary>\n"
    yield f"| scenario | {' | '.join(reading.value for reading in Reading)} |"
    yield f"|---|{'---:|' * len(Reading)}"
    for row in rows[:READINGS]:
        name = f"**{text(row.name)}**" if row.bad else text(row.name)
        yield f"| {name} | {' | '.join(f'{number:,}' if number else '' for number in row.counts.values())} |"
    if len(rows) > READINGS:
        yield f"\nand {counted(len(rows) - READINGS, 'more scenario')}"
    yield "</details>"


def _violation(run: RunHeader, found: Violation) -> Iterator[str]:
    need, case = found.requirement, found.case
    mark = "❌" if need.gates else "⚠️"
    yield f"\n<details><summary>{mark} {escape(clean(f'{need.id}: {need.title}'))}</summary>\n"
    norm = (
        f"[{text(need.source)}]({need.link})"
        if re.fullmatch(r"https://[^\s()<>]+", need.link)
        else text(views.norm(need))
    )
    yield f"{need.level.value} {need.basis.value}, {norm}. {text(need.rationale)}\n"
    yield f"- case: {text(case.id)} {text(case.title)}"
    yield f"- client: {text(views.exchange_line(case))}"
    yield f"- attempts: {text(views.attempts_line(case))}"
    if found.others:
        yield f"- also in: {text(views.listed(found.others))}"
    if command := follow.alone(run, case, need.id):
        yield from ("- alone:", "", *_fenced([clean(command)]), "")
    for finding in found.findings[:FINDINGS]:
        yield f"- expected: {text(finding.expected)}"
        yield f"- actual: {text(finding.actual)}"
        if made := origin(need.id, case, finding):
            yield f"- origin: {text(made)}"
        wire = [f"{_when(line.at)} {'>' if line.hit else ' '} {line.text}" for line in views.evidence(case, finding)]
        if wire:
            yield from ("", *_fenced(wire), "")
    yield "</details>"


def _when(at: float | None) -> str:
    return f"+{at:.1f} ms".rjust(12) if at is not None else " " * 12


def _fenced(lines: list[str]) -> list[str]:
    """A code block whose fence is longer than any run of backticks in it."""
    runs = (len(run) for line in lines for run in re.findall(r"`+", line))
    fence = "`" * max(3, max(runs, default=0) + 1)
    return [f"{fence}text", *lines, fence]


def text(words: str) -> str:
    """Words that mean themselves in Markdown, also within a table."""
    return escape(_SPECIAL.sub(r"\\\1", clean(words)), quote=False)
