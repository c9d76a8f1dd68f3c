"""The report for a person at a terminal: rich renderables, plain text on a console without colour.

From a report to one renderable. Every text from the wire or from a clause is escaped; nothing is read as markup.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from conformance.contract.clause import Finding, Outcome
from conformance.report import follow, views
from conformance.report.deviations import excused, unexcused
from conformance.report.gate import CONFORMS, exit_code, missed, numbers
from conformance.report.model import Case, Report, RunHeader
from conformance.report.origin import origin
from conformance.report.views import counted
from conformance.report.wiretable import WireTable
from conformance.report.wireview import WireLine, clean

#: How many findings of one clause, and how many cases that repeat it, are shown.
FINDINGS, REPEATS = 3, 8
#: How many reasons of skipped cases are listed.
REASONS = 8
#: The least width of the names on the left of the header: that of the longest.
HEADING = 14
_STYLES = {Outcome.HELD: "green", Outcome.VIOLATED: "red", Outcome.INCONCLUSIVE: "yellow", Outcome.FAULTY: "magenta"}


def render(report: Report) -> RenderableType:
    """The whole report: what ran against what, each violated clause, the numbers, the result, what to do next."""
    return Group(
        header(report.header),
        *_violations(report),
        *_known(report),
        *_inconclusive(report),
        *_load(report),
        *_faults(report),
        *summary(report),
    )


def header(run: RunHeader) -> RenderableType:
    """Target, version and capabilities; how it was run; then every default that the harness set, one a line."""
    manner = views.manner(run)
    manner["environment"] = ", ".join(f"{name} {value}" for name, value in run.environment.items())
    groups: list[RenderableType] = [
        _facts(views.subject(run), least=HEADING),
        Text(),
        _facts({name: value for name, value in manner.items() if value}, least=HEADING),
    ]
    if run.defaults:
        groups += [
            Text("\ndefaults of the harness", "dim"),
            _facts({f"  {n}": value for n, value in run.defaults.items()}, least=HEADING),
        ]
    return Group(*groups)


def failure(run: RunHeader, case: Case) -> RenderableType | None:
    """What fails one case: each violated clause that gates, with its bytes, and what it did not reach."""
    index = run.index()
    kept = tuple(v for v in unexcused(run, case) if index[v.clause].gates)
    shown = list(_violations(Report(header=run, cases=(replace(case, verdicts=kept),))))
    unreached = missed(run, case)
    if unreached:
        shown.append(Text(clean(f"the scenario did not reach what it exists for: {views.listed(unreached)}")))
    return Group(*shown) if shown else None


def case_line(report_header: RunHeader, case: Case) -> Text:
    """One case in one line, for a progress display."""
    bad = unexcused(report_header, case)
    known = excused(report_header, case)
    word, style = ("violated", "red") if bad else ("known", "yellow") if known else ("held", "green")
    if case.error or case.of(Outcome.FAULTY) or missed(report_header, case):
        word, style = "faulty", "magenta"
    elif case.skipped:
        word, style = "skipped", "dim"
    told = bad or [verdict for verdict, _ in known]
    tail = views.listed((verdict.clause for verdict in told), 3) or case.skipped or case.error
    return Text.assemble((f"{word:<9}", style), clean(case.id), (f"  {clean(tail)}" if tail else "", "dim"))


def summary(report: Report) -> Iterator[RenderableType]:
    """What was judged by area, how it came out for callers, what was skipped, the result, and what to do next."""
    code = exit_code(told := numbers(report))
    yield Rule(style="dim")
    yield from _violated(report)
    yield from _areas(report)
    yield from _readings(report)
    yield Text()
    yield from (Text(clean(line), "dim") for line in views.skipped_lines(report, REASONS))
    yield Text(f"{views.cases_line(report)}; {counted(told.checks, 'check')} decided", "dim")
    spent = report.footer.spent if report.footer else {}
    if spent:
        yield Text("spent: " + ", ".join(f"{number:,} {name}" for name, number in spent.items()))
    yield Text(views.result(report), "bold green" if code == CONFORMS else "bold red")
    if aside := views.beside(report):
        yield Text(aside, "dim")
    yield from _next(report)


def _violated(report: Report) -> Iterator[RenderableType]:
    """The violated clauses, a line each: in how many cases, and how many of these show a member's own bytes."""
    rows = views.violated_rows(report)
    if not rows:
        return
    table = _counts("violated", ["level", "cases", "passed on"])
    for row in rows:
        style = "red" if row.requirement.gates else "yellow"
        cells = (_count(row.cases, style), _count(row.passed_on, ""))
        table.add_row(clean(row.requirement.id), row.requirement.level.value, *cells)
    yield table
    yield Text()


def _areas(report: Report) -> Iterator[RenderableType]:
    """The areas of clauses in which not all held, the gravest first; then those in which all did, and the others."""
    rows = views.areas(report)
    worse = sorted((row for row in rows if row.rank), key=lambda row: -row.rank)
    if worse:
        table = _counts("clauses", [outcome.value for outcome in _STYLES])
        for row in worse:
            table.add_row(clean(row.area), *(_count(row.counts[outcome], style) for outcome, style in _STYLES.items()))
        yield table
    held = ", ".join(f"{row.area} {row.counts[Outcome.HELD]:,}" for row in rows if row.told and not row.rank)
    loaded = {row.clause.partition(".")[0] for row in (report.footer.load if report.footer else ())}
    silent = ", ".join(row.area for row in rows if not row.told and row.area not in loaded)
    others = {name: areas for name, areas in (("held", held), ("untested", silent)) if areas}
    if worse and others:
        yield Text()
    if others:
        yield _facts(others, least=HEADING)


def _readings(report: Report) -> Iterator[RenderableType]:
    """How the exchanges came out for their callers: the areas of scenarios in which one was misled, and all of them."""
    rows = views.readings(report, by_area=True)
    if not rows:
        return
    whole = views.total("all" if len(rows) > 1 else rows[0].name, rows)
    shown = [reading for reading, number in whole.counts.items() if number]
    table = _counts("scenarios", [reading.value for reading in shown])
    for row in (*(row for row in rows if row.bad and len(rows) > 1), whole):
        table.add_row(clean(row.name), *(_count(row.counts[reading], "") for reading in shown))
    yield Text()
    yield table


def _next(report: Report) -> Iterator[RenderableType]:
    """How to see the first violated clause alone, and where it is explained. The commands are never wrapped."""
    found = views.violations(report)
    if not found:
        return
    first = found[0]
    command = follow.alone(report.header, first.case, first.requirement.id)
    steps = {
        "to see one finding alone:": command,
        "to read about a clause:": f"conformance explain {first.requirement.id}",
    }
    for title, line in steps.items():
        if line:
            yield Text(f"\n{title}", "dim")
            yield Text(f"  {clean(line)}", no_wrap=True, overflow="ignore")


def _counts(title: str, columns: list[str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column(title, no_wrap=True)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _count(number: int, style: str) -> Text:
    return Text(f"{number:,}" if number else "·", style if number else "dim")


def _violations(report: Report) -> Iterator[RenderableType]:
    for found in views.violations(report):
        need = found.requirement
        style = "bold red" if need.gates else "bold yellow"
        yield Rule(Text(f"{need.level.value} {need.basis.value} · {clean(need.id)}", style), align="left", style="dim")
        facts = {"requires": need.title, "why": need.rationale, "norm": views.norm(need)}
        if not need.gates:
            facts["gate"] = "does not fail the run"
        case = found.case
        facts |= {"case": f"{case.id}  {case.title}".strip(), "nonce": case.nonce, "client": views.exchange_line(case)}
        facts["attempts"] = views.attempts_line(case)
        yield _facts({name: value for name, value in facts.items() if value})
        shown: tuple[WireLine, ...] = ()
        for finding in found.findings[:FINDINGS]:
            lines = views.evidence(case, finding)
            yield from _finding(finding, lines, origin(need.id, case, finding), again=lines == shown)
            shown = lines
        if len(found.findings) > FINDINGS:
            yield Text(f"\n{len(found.findings)} findings in this case, {FINDINGS} shown", "dim")
        if found.others:
            yield _facts({"also in": views.listed(found.others, REPEATS)})


def _finding(finding: Finding, lines: tuple[WireLine, ...], made: str, *, again: bool) -> Iterator[RenderableType]:
    wire = views.leg_title(finding.leg) + (", as above" if lines and again else "")
    facts = {"expected": finding.expected, "actual": finding.actual, "origin": made, "wire": wire}
    yield Text()
    yield _facts({name: value for name, value in facts.items() if value})
    if lines and not again:
        yield WireTable(lines)


def _known(report: Report) -> Iterator[RenderableType]:
    lines = views.known(report)
    if lines:
        yield Rule(Text("known violations", "bold yellow"), align="left", style="dim")
        yield from (Text(clean(line)) for line in lines)


def _inconclusive(report: Report) -> Iterator[RenderableType]:
    seen: dict[str, list[str]] = {}
    for case in report.cases:
        for verdict in case.of(Outcome.INCONCLUSIVE):
            seen.setdefault(f"{verdict.clause}: {verdict.reason or 'no reason given'}", []).append(case.id)
    if seen:
        yield Rule(Text("not decided", "bold yellow"), align="left", style="dim")
        yield from (Text(clean(f"{what}  [{views.listed(cases, 3)}]")) for what, cases in seen.items())


def _load(report: Report) -> Iterator[RenderableType]:
    """Alone against in parallel: what is not simply held, then how the control went."""
    footer = report.footer
    if footer is None or not footer.cells:
        return
    yield Rule(Text("alone and in parallel", "bold"), align="left", style="dim")
    for row in footer.load:
        if row.result != "holds":
            yield Text.assemble((clean(row.clause), "bold"), clean(f"  {row.result} in {row.scenario}"))
            yield Padding(Text(clean(views.load_line(row))), (0, 0, 0, 2), expand=False)
    yield from (Text(clean(line), "dim") for line in views.load_summary(report))
    for case in report.cases:
        if case.beside:
            yield Text(f"\nin flight beside {clean(case.nonce)} ({clean(case.id)})", "dim")
            yield from (Text(clean(line)) for line in views.flight_lines(case))


def _faults(report: Report) -> Iterator[RenderableType]:
    lines = views.faults(report)
    if lines:
        yield Rule(Text("faults of the run itself", "bold magenta"), align="left", style="dim")
        yield from (Text(clean(line)) for line in lines)


def _facts(rows: dict[str, str], *, least: int = 9) -> Table:
    """Names on the left, values on the right, wrapped under themselves."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style="dim", min_width=least)
    grid.add_column(overflow="fold")
    for name, value in rows.items():
        grid.add_row(name, Text(clean(value)))
    return grid
