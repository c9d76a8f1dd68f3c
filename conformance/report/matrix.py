"""Several reports side by side as Markdown: which clauses each gateway violates, and how each scenario came out.

From reports to a text. Knows nothing of files. The rows are those of all reports together, the columns the reports.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from conformance.contract.clause import Outcome
from conformance.report import views
from conformance.report.markdown import text
from conformance.report.model import Case, Report, Requirement

#: What a cell says of a clause that was never violated: it held, or it never applied.
HELD, SILENT = "held", ""


def render(reports: Sequence[Report]) -> str:
    """The Markdown text. Raises ValueError without a report."""
    if not reports:
        raise ValueError("a matrix needs a report")
    return "\n".join((*_heads(reports), *_clauses(reports), *_scenarios(reports))) + "\n"


def _heads(reports: Sequence[Report]) -> Iterator[str]:
    yield "## Gateway conformance: gateways side by side\n"
    yield "| target | version | declares | suite | drivers | result |"
    yield "|---|---|---|---|---|---|"
    for report in reports:
        run = report.header
        told = (run.target, run.target_version, ", ".join(run.capabilities) or "nothing", run.suite_version)
        yield _row(*map(text, (*told, ", ".join(run.drivers), views.result(report))))


def _clauses(reports: Sequence[Report]) -> Iterator[str]:
    counts = [_counts(report) for report in reports]
    needs = {need.id: need for report in reports for need in report.header.requirements}
    violated = [need for need in needs.values() if any(count[need.id, Outcome.VIOLATED] for count in counts)]
    yield "\n### Clauses that at least one violates\n"
    yield "A number counts the cases in which the clause is violated; nothing means that it never applied.\n"
    yield _row("clause", "level", "requires", *_names(reports))
    yield f"|---|---|---|{'---:|' * len(reports)}"
    for need in violated:
        yield _row(f"`{need.id}`", need.level.value, text(need.title), *(_cell(need, count) for count in counts))


def _counts(report: Report) -> Counter[tuple[str, Outcome]]:
    return Counter((verdict.clause, verdict.outcome) for case in report.cases for verdict in case.verdicts)


def _cell(need: Requirement, count: Counter[tuple[str, Outcome]]) -> str:
    if number := count[need.id, Outcome.VIOLATED]:
        return f"**{number:,}**"
    return HELD if count[need.id, Outcome.HELD] else SILENT


def _scenarios(reports: Sequence[Report]) -> Iterator[str]:
    grouped = [_by_scenario(report) for report in reports]
    names = list(dict.fromkeys(name for cases in grouped for name in cases))
    yield "\n### How each scenario came out for the client\n"
    yield "How many of its requests, and how often each member was asked (`m0:2`).\n"
    yield _row("scenario", *_names(reports))
    yield f"|---|{'---|' * len(reports)}"
    for name in sorted(names):
        yield _row(f"`{name}`", *(outcome(cases.get(name, ())) for cases in grouped))


def _by_scenario(report: Report) -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = {}
    for case in report.cases:
        found.setdefault(case.scenario, []).append(case)
    return found


def outcome(cases: Sequence[Case]) -> str:
    """The readings of a scenario's cases with their numbers, and the attempts of each member; why it was not played."""
    played = [case for case in cases if not case.skipped]
    if not played:
        reasons = dict.fromkeys(case.skipped for case in cases)
        return text("; ".join(reasons))
    readings = Counter(case.reading.value for case in played if case.reading is not None)
    away = sum(case.reading is None and case.client is not None for case in played)
    told = [f"{number:,} {name}" for name, number in readings.items()] + ([f"{away:,} went away"] if away else [])
    asked = Counter(attempt.member for case in played for attempt in case.attempts or ())
    members = " ".join(f"{member}:{number}" for member, number in sorted(asked.items()))
    return f"{', '.join(told)} ({members})" if members else ", ".join(told)


def _names(reports: Sequence[Report]) -> list[str]:
    return [text(f"{report.header.target} {report.header.target_version}".strip()) for report in reports]


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
