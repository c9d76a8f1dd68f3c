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
from conformance.report import views
from conformance.report.gate import CONFORMS, exit_code, missed, numbers
from conformance.report.model import Case, Report, RunHeader
from conformance.report.reading import Reading
from conformance.report.wireview import WireLine, clean

#: How many findings of one clause, and how many cases that repeat it, are shown.
FINDINGS, REPEATS = 3, 8
_STYLES = {Outcome.HELD: "green", Outcome.VIOLATED: "red", Outcome.INCONCLUSIVE: "yellow", Outcome.FAULTY: "magenta"}


def render(report: Report) -> RenderableType:
    """The whole report: what ran against what, each violated clause, the table by area, the result."""
    return Group(
        header(report.header),
        *_violations(report),
        *_inconclusive(report),
        *_load(report),
        *_faults(report),
        *summary(report),
    )


def header(run: RunHeader) -> RenderableType:
    """Target, version, capabilities, and every default that the harness set."""
    rows = {
        "target": " ".join(filter(None, (run.target, run.target_version, run.target_kind and f"({run.target_kind})"))),
        "declares": ", ".join(run.capabilities) or "no capability",
        "suite": f"{run.suite_version}, {len(run.requirements)} clauses, {run.mode}, seed {run.seed}",
        "cassettes": run.cassettes[:16],
        "drivers": ", ".join(run.drivers),
        "defaults": ", ".join(f"{name} {value}" for name, value in run.defaults.items()),
        "environment": ", ".join(f"{name} {value}" for name, value in run.environment.items()),
        "started": run.started_at,
        "command": run.command,
    }
    return _facts({name: value for name, value in rows.items() if value})


def failure(run: RunHeader, case: Case) -> RenderableType | None:
    """What fails one case: each violated clause that gates, with its bytes, and what it did not reach."""
    index = run.index()
    kept = tuple(v for v in case.verdicts if v.outcome is not Outcome.VIOLATED or index[v.clause].gates)
    shown = list(_violations(Report(header=run, cases=(replace(case, verdicts=kept),))))
    unreached = missed(run, case)
    if unreached:
        shown.append(Text(clean(f"the scenario did not reach what it exists for: {views.listed(unreached)}")))
    return Group(*shown) if shown else None


def case_line(report_header: RunHeader, case: Case) -> Text:
    """One case in one line, for a progress display."""
    bad = case.of(Outcome.VIOLATED)
    word, style = ("violated", "red") if bad else ("held", "green")
    if case.error or case.of(Outcome.FAULTY) or missed(report_header, case):
        word, style = "faulty", "magenta"
    elif case.skipped:
        word, style = "skipped", "dim"
    tail = views.listed((verdict.clause for verdict in bad), 3) or case.skipped or case.error
    return Text.assemble((f"{word:<9}", style), clean(case.id), (f"  {clean(tail)}" if tail else "", "dim"))


def summary(report: Report) -> Iterator[RenderableType]:
    """The table by area and the result."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for title in ("area", *(outcome.value for outcome in Outcome)):
        table.add_column(title, justify="left" if title == "area" else "right", no_wrap=True)
    for row in views.areas(report):
        cells = (Text(f"{n:,}" if n else "·", _STYLES.get(o, "") if n else "dim") for o, n in row.counts.items())
        table.add_row(clean(row.area), *cells)
    code = exit_code(told := numbers(report))
    yield Rule(style="dim")
    yield table
    yield from _readings(report)
    yield Text(f"\n{told.cases:,} cases, {told.skipped:,} skipped; {told.checks:,} checks decided", "dim")
    spent = report.footer.spent if report.footer else {}
    if spent:
        yield Text("spent: " + ", ".join(f"{number:,} {name}" for name, number in spent.items()))
    yield Text(views.result(report), "bold green" if code == CONFORMS else "bold red")


def _readings(report: Report) -> Iterator[RenderableType]:
    """How the exchanges came out for their callers, by area of scenarios."""
    rows = views.readings(report, by_area=True)
    if not rows:
        return
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for title in ("scenarios", *(reading.value for reading in Reading)):
        table.add_column(title, justify="left" if title == "scenarios" else "right", no_wrap=True)
    for row in rows:
        table.add_row(clean(row.name), *(Text(f"{n:,}" if n else "·", "" if n else "dim") for n in row.counts.values()))
    yield Text()
    yield table


def _violations(report: Report) -> Iterator[RenderableType]:
    for found in views.violations(report):
        need = found.requirement
        style = "bold red" if need.gates else "bold yellow"
        yield Rule(Text(f"{need.level.value} {need.basis.value} · {clean(need.id)}", style), align="left", style="dim")
        facts = {"requires": need.title, "why": need.rationale, "norm": need.link or need.source}
        if not need.gates:
            facts["gate"] = "does not fail the run"
        case = found.case
        facts |= {"case": f"{case.id}  {case.title}".strip(), "nonce": case.nonce, "client": views.exchange_line(case)}
        facts["attempts"] = views.attempts_line(case)
        yield _facts({name: value for name, value in facts.items() if value})
        shown: tuple[WireLine, ...] = ()
        for finding in found.findings[:FINDINGS]:
            lines = views.evidence(case, finding)
            yield from _finding(finding, lines, again=lines == shown)
            shown = lines
        if len(found.findings) > FINDINGS:
            yield Text(f"\n{len(found.findings)} findings in this case, {FINDINGS} shown", "dim")
        if found.others:
            yield _facts({"also in": views.listed(found.others, REPEATS)})


def _finding(finding: Finding, lines: tuple[WireLine, ...], *, again: bool) -> Iterator[RenderableType]:
    wire = views.leg_title(finding.leg) + (", as above" if lines and again else "")
    yield Text()
    yield _facts({"expected": finding.expected, "actual": finding.actual, "wire": wire})
    if lines and not again:
        yield Padding(_wire(lines), (0, 0, 0, 2))


def _wire(lines: tuple[WireLine, ...]) -> Table:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right", no_wrap=True, style="dim")
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for line in lines:
        text = Text(line.text, "dim" if line.at is None else "")
        if line.marked:
            text.stylize("bold red", text.plain.index(line.marked, len(line.before)), len(text) - len(line.after))
        grid.add_row("" if line.at is None else f"+{line.at:.1f} ms", ">" if line.hit else " ", text)
    return grid


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
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for title in ("clause", "scenario", "result", "alone", "in parallel", "95 %", "from", "p"):
        table.add_column(title, overflow="fold")
    told = [row for row in footer.load if row.result != "holds"]
    for row in told:
        table.add_row(*(clean(cell) for cell in views.load_cells(row)))
    if told:
        yield table
    held = sum(row.result == "holds" for row in footer.load)
    yield Text(f"{held:,} clause and scenario pairs hold alone and in parallel", "dim")
    if any(cell.leg == "control" for cell in footer.cells):
        yield Text(clean(views.control_line(footer.cells)), "dim")
    for case in report.cases:
        if case.beside:
            yield Text(f"\nin flight beside {clean(case.nonce)} ({clean(case.id)})", "dim")
            yield from (Text(clean(line)) for line in views.flight_lines(case))


def _faults(report: Report) -> Iterator[RenderableType]:
    lines = views.faults(report)
    if lines:
        yield Rule(Text("faults of the run itself", "bold magenta"), align="left", style="dim")
        yield from (Text(clean(line)) for line in lines)


def _facts(rows: dict[str, str]) -> Table:
    """Names on the left, values on the right, wrapped under themselves."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style="dim", min_width=9)
    grid.add_column(overflow="fold")
    for name, value in rows.items():
        grid.add_row(name, Text(clean(value)))
    return grid
