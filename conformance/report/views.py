"""What every rendering shows, picked and grouped from a report: the table by area, violations by clause, faults.

From a report to small tables of facts and one-line texts. Knows no output format.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from conformance.contract.clause import Finding, Outcome, Verdict
from conformance.report.deviations import Account, Standing, accounts, excused, unexcused
from conformance.report.gate import CONFORMS, VIOLATIONS, exit_code, missed, numbers, tally
from conformance.report.model import (
    AttemptLine,
    Case,
    ClientLine,
    LoadCell,
    LoadRow,
    Report,
    Requirement,
    RunEnd,
    RunHeader,
)
from conformance.report.origin import passed_on
from conformance.report.reading import Reading
from conformance.report.wireview import WireLine, view, visible


def subject(run: RunHeader) -> dict[str, str]:
    """What was judged: the target with its version and kind, and what it declares."""
    return {
        "target": " ".join(filter(None, (run.target, run.target_version, run.target_kind and f"({run.target_kind})"))),
        "declares": ", ".join(run.capabilities) or "no capability",
    }


def manner(run: RunHeader) -> dict[str, str]:
    """How it was run."""
    return {
        "suite": f"{run.suite_version}, {counted(len(run.requirements), 'clause')}, {run.mode}, seed {run.seed}",
        "drivers": ", ".join(run.drivers),
        "cassettes": run.cassettes[:16],
        "started": run.started_at,
        "command": run.command,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class AreaRow:
    """One area of the contract: how many verdicts of each outcome, and how many violated ones fail the run."""

    area: str
    counts: dict[Outcome, int]
    gate: int

    @property
    def told(self) -> bool:
        """Whether there is more to tell of it than that nothing applied."""
        return any(number for outcome, number in self.counts.items() if outcome is not Outcome.NOT_APPLICABLE)

    @property
    def rank(self) -> int:
        """How much it needs to be seen: 3 where the run fails for it, 0 where all held."""
        count = self.counts
        undecided = count[Outcome.INCONCLUSIVE] or count[Outcome.FAULTY]
        return 3 if self.gate else 2 if count[Outcome.VIOLATED] else 1 if undecided else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One violated clause: the first case in which it was, its findings there, and the ids of the other cases."""

    requirement: Requirement
    case: Case
    findings: tuple[Finding, ...]
    others: tuple[str, ...]


def areas(report: Report) -> tuple[AreaRow, ...]:
    """A row for each area of the judged clauses, in the order of the header."""
    index = report.header.index()
    counts = {r.area: dict.fromkeys(Outcome, 0) for r in report.header.requirements}
    gate = dict.fromkeys(counts, 0)
    for (clause, outcome), number in tally(report.cases).items():
        requirement = index[clause]
        counts[requirement.area][outcome] += number
        gate[requirement.area] += number if outcome is Outcome.VIOLATED and requirement.gates else 0
    for case in report.cases:
        for verdict, _ in excused(report.header, case):
            gate[index[verdict.clause].area] -= index[verdict.clause].gates
    return tuple(AreaRow(area=area, counts=row, gate=gate[area]) for area, row in counts.items() if any(row.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingRow:
    """How often the exchanges of one scenario, or of one area of scenarios, came out how."""

    name: str
    counts: dict[Reading, int]

    @property
    def bad(self) -> bool:
        """Whether a caller was misled or left waiting."""
        return any(self.counts[reading] for reading in (Reading.TRUNCATED, Reading.BROKEN, Reading.HANG))


def readings(report: Report, *, by_area: bool = False) -> tuple[ReadingRow, ...]:
    """A row for each scenario with an exchange that has a reading, or for each area of them, in their order."""
    rows: dict[str, dict[Reading, int]] = {}
    for case in report.cases:
        if case.reading is not None:
            name = case.area if by_area else case.scenario
            rows.setdefault(name, dict.fromkeys(Reading, 0))[case.reading] += 1
    return tuple(ReadingRow(name=name, counts=counts) for name, counts in rows.items())


def total(name: str, rows: Iterable[ReadingRow]) -> ReadingRow:
    """The sum of rows."""
    known = tuple(rows)
    return ReadingRow(name=name, counts={reading: sum(row.counts[reading] for row in known) for reading in Reading})


def skipped_lines(report: Report, most: int) -> tuple[str, ...]:
    """Why cases were skipped: a line for each of the commonest reasons, with how many cases it holds for."""
    reasons = Counter(case.skipped for case in report.cases if case.skipped).most_common()
    lines = [f"skipped {counted(number, 'case')}: {reason}" for reason, number in reasons[:most]]
    if len(reasons) > most:
        rest = sum(number for _, number in reasons[most:])
        lines.append(f"skipped {counted(rest, 'case')}: {counted(len(reasons) - most, 'more reason')}")
    return tuple(lines)


def cases_line(report: Report) -> str:
    """How many cases there are, of how many planned ones where some were not played, and how many were skipped."""
    told, footer = numbers(report), report.footer
    # A load run keeps a case for each pair that did not hold.
    part = told.cases < report.header.planned and not (footer is not None and footer.cells)
    of = f" of {report.header.planned:,} planned" if part else ""
    return f"{counted(told.cases, 'case')}{of}, {told.skipped:,} skipped"


def norm(need: Requirement) -> str:
    """Where the norm of a clause stands, for who has the report alone."""
    if not need.link or "://" in need.link:
        return need.link or need.source
    return f"{need.link} of this project; `conformance explain {need.source}` shows it"


def violations(report: Report) -> tuple[Violation, ...]:
    """The violated clauses: those that fail the run first, then the others, each in the order of the header.

    What a deviation excuses is told apart, by `known`.
    """
    met: dict[str, list[tuple[Case, Verdict]]] = {}
    for case in report.cases:
        for verdict in unexcused(report.header, case):
            met.setdefault(verdict.clause, []).append((case, verdict))
    found = [r for r in report.header.requirements if r.id in met]
    return tuple(
        Violation(
            requirement=requirement,
            case=met[requirement.id][0][0],
            findings=met[requirement.id][0][1].findings,
            others=tuple(case.id for case, _ in met[requirement.id][1:]),
        )
        for requirement in sorted(found, key=lambda r: not r.gates)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ViolatedRow:
    """A violated clause in numbers: in how many cases, and in how many of them the bytes shown are a member's own."""

    requirement: Requirement
    cases: int
    passed_on: int


def violated_rows(report: Report) -> tuple[ViolatedRow, ...]:
    """A row for each violated clause, in the order of `violations`."""
    passed = passed_on(report.cases)
    return tuple(
        ViolatedRow(requirement=found.requirement, cases=1 + len(found.others), passed_on=passed[found.requirement.id])
        for found in violations(report)
    )


def beside(report: Report) -> str:
    """What is violated and fails no run, in one sentence; "" for nothing."""
    rows = [1 + len(found.others) for found in violations(report) if not found.requirement.gates]
    if not rows:
        return ""
    clauses = counted(len(rows), "clause")
    return f"beside that {clauses} that {'is' if len(rows) == 1 else 'are'} a SHOULD, {counted(sum(rows), 'time')}"


def known(report: Report) -> tuple[str, ...]:
    """The deviations, a line each: the clause, what became of it, why, where it is followed up, until when."""
    return tuple(map(account_line, accounts(report)))


def account_line(account: Account) -> str:
    """One deviation in a line."""
    of = account.deviation
    where = f" in {listed(of.scenarios, 3)}" if of.scenarios else ""
    times = counted(account.violated, "time")
    told = {
        Standing.SEEN: f"seen {times}, until {of.expires}",
        Standing.STALE: "stale: nothing violates it any more, so take it off the list",
        Standing.EXPIRED: f"expired on {of.expires} and still violated, {times}: it excuses nothing",
    }.get(account.standing, f"{account.standing.value}, until {of.expires}")
    return f"{of.clause}{where}: {told}; {of.reason} ({of.link})"


def faults(report: Report) -> tuple[str, ...]:
    """What makes the run itself untrustworthy, one line each: the run's own faults, then those of its cases."""
    of_cases = (f"{case.id}: {line}" for case in report.cases for line in case_faults(report, case))
    return (*run_faults(report), *of_cases)


def run_faults(report: Report) -> tuple[str, ...]:
    """The faults that belong to no case."""
    if report.footer is None:
        return ("the report has no footer: the run did not come to its end",)
    lines = [*report.footer.errors]
    if report.footer.end in (RunEnd.INTERRUPTED, RunEnd.FAILED):
        lines.append(f"the run ended early: {report.footer.end.value}")
    if not numbers(report).checks:
        lines.append("no check ran")
    return tuple(lines)


def case_faults(report: Report, case: Case) -> tuple[str, ...]:
    """What is faulty about one case: the harness's error, faulty clauses, clauses that it did not reach."""
    lines = [case.error] if case.error else []
    lines += [f"the clause {v.clause} failed itself: {v.reason}" for v in case.of(Outcome.FAULTY)]
    lines += [f"the clause {clause} was not exercised{_why(case, clause)}" for clause in missed(report.header, case)]
    return tuple(lines)


def result(report: Report) -> str:
    """The run's result in one sentence."""
    code = exit_code(summary := numbers(report))
    if code == CONFORMS:
        cells = report.footer.cells if report.footer is not None else ()
        # A load run drops its exchanges; what it sent through the gateway stands in its cells.
        loaded = sum(cell.requests for cell in cells if cell.leg == "gateway")
        exchanges = loaded or summary.cases - summary.skipped
        but = f", but for {counted(summary.known, 'known violation')}" if summary.known else ""
        return f"conforms{but}: {counted(summary.checks, 'check')} over {counted(exchanges, 'exchange')}"
    if code == VIOLATIONS and not summary.gate:
        return f"does not pass: {counted(summary.stale, 'stale deviation')}"
    if code == VIOLATIONS:
        clauses = sum(violation.requirement.gates for violation in violations(report))
        return f"does not conform: {counted(clauses, 'clause')} violated, {counted(summary.gate, 'time')}"
    return "no result: the run itself is faulty"


def exchange_line(case: Case) -> str:
    """What the client saw in one line."""
    if case.client is None:
        return "several requests; see the timeline" if case.leg("timeline") else "no exchange"
    return _client_line(case.client)


def attempts_line(case: Case) -> str:
    """Which members were asked, when, and what they did."""
    if case.attempts is None:
        return "see the timeline" if case.leg("timeline") else "not known"
    return "; ".join(map(_attempt_line, case.attempts)) or "none"


def evidence(case: Case, finding: Finding, *, width: int = 240) -> tuple[WireLine, ...]:
    """The lines of wire that show a finding; its own excerpt where the leg was not kept."""
    leg, span = case.leg(finding.leg), finding.span
    kept = leg is not None and leg.data and (span is None or span.start < len(leg.data) or not leg.cut)
    if leg is None or not kept or (span is None and finding.excerpt):
        return (WireLine(at=finding.at, before=visible(finding.excerpt), hit=True),) if finding.excerpt else ()
    return view(leg, span, width=width)


def load_line(row: LoadRow) -> str:
    """A load row in one line: how often it failed alone and loaded, how sure that is, from where on, and why so."""
    failed = sum(counts[0] for counts in row.load.values())
    total = sum(counts[1] for counts in row.load.values())
    told = [f"failed {row.alone[0]} of {row.alone[1]} alone, {failed} of {total} in parallel"]
    if failed:
        told[0] += f" ({row.low:.0%} to {row.high:.0%} at 95 %)"
        told.append(f"p {row.p:.2g}")
    if row.threshold:
        told.append(f"from {row.threshold} at a time on")
    return "; ".join([*told, *filter(None, [row.reason])])


def control_line(cells: Iterable[LoadCell]) -> str:
    """How the instrument itself fared: the control's failures, the worst lag, the highest CPU share."""
    known = tuple(cells)
    control = [cell for cell in known if cell.leg == "control"]
    failing = sum(bool(cell.failed) for cell in control)
    return (
        f"control, straight at the upstream: {counted(sum(cell.requests for cell in control), 'request')} "
        f"in {counted(len(control), 'cell')}, "
        f"in {failing} of them the member's own bytes violate a clause; harness: loop lag p99 up to "
        f"{max((cell.lag_ms for cell in known), default=0.0):.0f} ms, CPU up to "
        f"{max((cell.client_cpu for cell in known), default=0.0):.0%} of a core"
    )


def load_summary(report: Report) -> tuple[str, ...]:
    """How many pairs of clause and scenario held alone and in parallel, and how the control went."""
    footer = report.footer
    if footer is None:
        return ()
    held = sum(row.result == "holds" for row in footer.load)
    control = [control_line(footer.cells)] if any(cell.leg == "control" for cell in footer.cells) else []
    return (f"{counted(held, 'pair')} of clause and scenario held alone and in parallel", *control)


def flight_lines(case: Case) -> Iterator[str]:
    """A small timeline of what was in flight beside a failing exchange: one line for each request."""
    first = min((flight.start for flight in case.beside), default=0.0)
    last = max((flight.end for flight in case.beside), default=1.0)
    scale = 30 / max(last - first, 1e-9)
    for flight in case.beside:
        start, end = int((flight.start - first) * scale), max(int((flight.end - first) * scale), 1)
        bar = " " * start + "─" * max(1, end - start)
        asked = ", ".join(f"{member} {at - flight.start:+.0f}" for at, member in flight.attempts)
        mark = ">" if flight.nonce == case.nonce else " "
        yield f"{mark} {flight.nonce}  {bar:<32} {flight.start - first:.0f} to {flight.end - first:.0f} ms  {asked}"


def leg_title(leg: str) -> str:
    """The name of a leg for a person."""
    word, _, number = leg.partition(":")
    titles = {"client": "to the client", "request": "from the client", "dispatch": "to the member of attempt {}"}
    return titles.get(word, "upstream attempt {}" if number else word).format(number)


def counted(number: int, noun: str) -> str:
    """ "1 case", "2 cases"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listed(items: Iterable[str], most: int = 8) -> str:
    """The items with commas; how many more there are past `most`."""
    names = list(items)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _client_line(line: ClientLine) -> str:
    status = f"{line.status} {line.media_type}".strip() if line.status else "no response"
    raised = f", the SDK raised {line.exception}" if line.exception else ""
    return f"{status}, {line.end} at {line.ended_at:.1f} ms{raised}"


def _attempt_line(line: AttemptLine) -> str:
    closed = f", closed by the gateway {line.peer_closed}" if line.peer_closed else ""
    return f"{line.member} at {line.at:.1f} ms: {line.status or 'no response'} {line.end}{closed}"


def _why(case: Case, clause: str) -> str:
    reason = next((verdict.reason for verdict in case.verdicts if verdict.clause == clause), "it was not judged")
    return f" ({reason})" if reason else ""
