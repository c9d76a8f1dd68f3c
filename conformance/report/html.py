"""The report as one HTML page that stands by itself: for a browser, an archive, a vendor's certificate.

From a report to a text. No script and nothing from elsewhere; what comes from the wire is escaped and can act on
nothing. Bounded as the other forms are: each violated clause shows its first case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape

from conformance.contract.clause import Finding, Outcome
from conformance.report import follow, views
from conformance.report.gate import CONFORMS, VIOLATIONS, exit_code, numbers, tally
from conformance.report.model import Case, Report, RunHeader
from conformance.report.origin import origin
from conformance.report.page import FOOT, HEAD
from conformance.report.reading import Reading
from conformance.report.views import Violation, counted
from conformance.report.wireview import WireLine, clean, view

#: How many findings of one clause are shown; how many lines of each leg, and bytes of each line.
FINDINGS, LINES, WIDTH = 3, 60, 600
_CLASSES = {CONFORMS: "good", VIOLATIONS: "bad"}


def render(report: Report) -> str:
    """The HTML document."""
    run = report.header
    title = text(f"{run.target} {run.target_version}".strip())
    return "\n".join((HEAD.format(title=title), *_body(report, title), FOOT))


def _body(report: Report, title: str) -> Iterator[str]:
    run, told = report.header, numbers(report)
    kind = _CLASSES.get(exit_code(told), "faulty")
    yield f"<h1>Gateway conformance of {title}</h1>"
    yield f'<p class="result {kind}">{text(views.result(report))}</p>'
    yield from _facts(views.subject(run) | views.manner(run) | {"played": views.cases_line(report)})
    yield from _faults(report)
    yield from _violations(report)
    yield from _lines("Known violations", views.known(report))
    yield from _load(report)
    yield from _areas(report)
    yield from _readings(report)
    yield from _clauses(report)
    yield from _folded("Defaults of the harness", _facts(run.defaults))
    yield from _folded("Environment", _facts(run.environment))


def _violations(report: Report) -> Iterator[str]:
    found = views.violations(report)
    if found:
        yield "<h2>Violated</h2>"
    for number, violation in enumerate(found):
        yield from _violation(report.header, violation, opened=number == 0)


def _violation(run: RunHeader, found: Violation, *, opened: bool) -> Iterator[str]:
    need, case = found.requirement, found.case
    level = f"{need.level.value} {need.basis.value}"
    yield f'<details class="clause {"bad" if need.gates else "mild"}"{" open" if opened else ""}>'
    yield f"<summary><code>{text(need.id)}</code> <small>{text(level)}</small> {text(need.title)}</summary>"
    facts = {
        "why": text(need.rationale),
        "norm": _norm(need.link) or text(views.norm(need)),
        "gate": "" if need.gates else "does not fail the run",
        "case": text(f"{case.id}  {case.title}".strip()),
        "nonce": text(case.nonce),
        "client": text(views.exchange_line(case)),
        "attempts": text(views.attempts_line(case)),
        "also in": text(views.listed(found.others)),
        "alone": _code(follow.alone(run, case, need.id)),
    }
    # A browser opens what a link leads into, not what it leads to.
    yield f'<div id="{text(need.id)}">'
    yield from _rows(facts.items())
    yield "</div>"
    for finding in found.findings[:FINDINGS]:
        yield from _finding(need.id, case, finding)
    if len(found.findings) > FINDINGS:
        yield f"<p>{len(found.findings)} findings in this case, {FINDINGS} shown</p>"
    yield from _legs(case)
    yield "</details>"


def _legs(case: Case) -> Iterator[str]:
    """All that was kept of the exchange, leg by leg, folded."""
    kept = [leg for leg in case.evidence if leg.data]
    if kept:
        yield "<details><summary>the whole exchange</summary>"
        for leg in kept:
            lines = "\n".join(map(_wire, view(leg, None, most=LINES, width=WIDTH)))
            yield f"<p>{text(views.leg_title(leg.name))}</p><pre>{lines}</pre>"
        yield "</details>"


def _finding(clause: str, case: Case, finding: Finding) -> Iterator[str]:
    wire = views.evidence(case, finding)
    facts = {"expected": finding.expected, "actual": finding.actual, "origin": origin(clause, case, finding)}
    yield from _facts(facts | {"wire": views.leg_title(finding.leg)})
    if wire:
        lines = "\n".join(map(_wire, wire))
        yield f"<pre>{lines}</pre>"


def _wire(line: WireLine) -> str:
    when = f"+{line.at:.1f} ms".rjust(12) if line.at is not None else " " * 12
    marked = f"<mark>{escape(line.marked)}</mark>" if line.marked else ""
    shown = f"{when} {'&gt;' if line.hit else ' '} {escape(line.before)}{marked}{escape(line.after)}"
    return f"<b>{shown}</b>" if line.hit else shown


def _load(report: Report) -> Iterator[str]:
    footer = report.footer
    if footer is None or not footer.cells:
        return
    rows = [row for row in footer.load if row.result != "holds"]
    shown = [f"{row.clause} {row.result} in {row.scenario}: {views.load_line(row)}" for row in rows]
    yield from _lines("Alone and in parallel", [*shown, *views.load_summary(report)])
    for case in report.cases:
        if case.beside:
            flights = escape("\n".join(map(clean, views.flight_lines(case))))
            yield f"<p>In flight beside {text(case.nonce)} ({text(case.id)})</p><pre>{flights}</pre>"


def _faults(report: Report) -> Iterator[str]:
    yield from _lines("Faults of the run itself", views.faults(report))


def _areas(report: Report) -> Iterator[str]:
    yield "<h2>By area</h2>"
    rows = (
        [f"<a href='#area-{text(row.area)}'>{text(row.area)}</a>", *map(_number, row.counts.values())]
        for row in views.areas(report)
    )
    yield from _table(["area", *(outcome.value for outcome in Outcome)], rows)


def _readings(report: Report) -> Iterator[str]:
    """How each scenario came out for its caller."""
    rows = views.readings(report)
    if not rows:
        return
    cells = (
        [f"<b>{text(row.name)}</b>" if row.bad else text(row.name), *map(_number, row.counts.values())] for row in rows
    )
    table = _table(["scenario", *(reading.value for reading in Reading)], cells)
    yield from _folded(f"How {counted(len(rows), 'scenario')} came out for the caller", table)


def _clauses(report: Report) -> Iterator[str]:
    """Every clause that was judged, what became of it, and where its norm stands."""
    counts = tally(report.cases)
    shown = {violation.requirement.id for violation in views.violations(report)}
    yield "<h2>Clause by clause</h2>"
    heads = ["clause", "level", "requires", *(outcome.value for outcome in Outcome)]
    rows, met = [], set()
    for need in report.header.requirements:
        anchor = f' id="area-{text(need.area)}"' if need.area not in met else ""
        met.add(need.area)
        norm = f" {_norm(need.link, 'norm')}" if _norm(need.link) else ""
        name = f'<a href="#{text(need.id)}">{text(need.id)}</a>' if need.id in shown else text(need.id)
        told = [f"<code{anchor}>{name}</code>", need.level.value, f"{text(need.title)}{norm}"]
        rows.append([*told, *(_number(counts[need.id, outcome]) for outcome in Outcome)])
    yield from _table(heads, rows)


def _table(heads: list[str], rows: Iterable[list[str]]) -> Iterator[str]:
    """A table; its cells are HTML already, its heads are not."""
    yield '<div class="wide"><table>'
    yield f"<thead><tr>{''.join(f'<th>{text(head)}</th>' for head in heads)}</tr></thead><tbody>"
    yield from (f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    yield "</tbody></table></div>"


def _facts(facts: dict[str, str]) -> Iterator[str]:
    yield from _rows((name, text(value)) for name, value in facts.items())


def _rows(facts: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Names and values (HTML already), without the empty ones."""
    yield "<dl>"
    yield from (f"<dt>{text(name)}</dt><dd>{value}</dd>" for name, value in facts if value)
    yield "</dl>"


def _lines(title: str, lines: Iterable[str]) -> Iterator[str]:
    items = [f"<li>{text(line)}</li>" for line in lines]
    if items:
        yield f"<h2>{text(title)}</h2><ul>{''.join(items)}</ul>"


def _folded(title: str, content: Iterable[str]) -> Iterator[str]:
    yield f"<details><summary>{text(title)}</summary>"
    yield from content
    yield "</details>"


def _norm(link: str, words: str = "") -> str:
    """A link where the norm stands, only to a web address."""
    if not re.fullmatch(r"https://[^\s\"'<>]+", link):
        return ""
    return f'<a href="{escape(link)}" rel="noreferrer">{text(words or link)}</a>'


def _code(words: str) -> str:
    return f"<code>{text(words)}</code>" if words else ""


def _number(number: int) -> str:
    return f"{number:,}" if number else "·"


def text(words: str) -> str:
    """Words that mean themselves in HTML, within an attribute too."""
    return escape(clean(words))
