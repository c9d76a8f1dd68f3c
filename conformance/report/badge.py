"""The report as a badge: one small SVG picture with the result, for a README or a dashboard.

From a report to a text. Says how many clauses were judged and held, or how many are violated; never more than that.
"""

from __future__ import annotations

from html import escape

from conformance.contract.clause import Outcome
from conformance.report import views
from conformance.report.gate import CONFORMS, VIOLATIONS, exit_code, numbers
from conformance.report.model import Report
from conformance.report.views import counted

LABEL = "gateway conformance"
_COLOURS = {CONFORMS: "#2da44e", VIOLATIONS: "#cf222e"}
_OTHER = "#6e7781"
#: The width of a character of 11 px Verdana, about; textLength makes it exact.
_PIXELS, _PAD = 6.6, 6.0


def render(report: Report) -> str:
    """The SVG document."""
    words, colour = _words(report), _COLOURS.get(exit_code(numbers(report)), _OTHER)
    left, right = (len(part) * _PIXELS + 2 * _PAD for part in (LABEL, words))
    title = escape(f"{LABEL}: {words}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right:.0f}" height="20" role="img" '
        f'aria-label="{title}"><title>{title}</title>'
        f'<rect width="{left:.1f}" height="20" fill="#444"/>'
        f'<rect x="{left:.1f}" width="{right:.1f}" height="20" fill="{colour}"/>'
        f'<g fill="#fff" font-family="Verdana,Geneva,sans-serif" font-size="11">'
        f"{_text(LABEL, _PAD)}{_text(words, left + _PAD)}</g></svg>\n"
    )


def _words(report: Report) -> str:
    code = exit_code(summary := numbers(report))
    if code == CONFORMS:
        known = f", {counted(summary.known, 'known violation')}" if summary.known else ""
        return f"{counted(_held(report), 'clause')} held{known}"
    if code == VIOLATIONS and summary.gate:
        return f"{counted(sum(one.requirement.gates for one in views.violations(report)), 'clause')} violated"
    return views.result(report).removeprefix("does not pass: ") if code == VIOLATIONS else "no result"


def _held(report: Report) -> int:
    """How many clauses were decided and violated nowhere, alone or under load."""
    told = {(verdict.clause, verdict.outcome) for case in report.cases for verdict in case.verdicts}
    held = {clause for clause, outcome in told if outcome is Outcome.HELD}
    held |= {row.clause for row in (report.footer.load if report.footer else ()) if row.result == "holds"}
    return len(held - {clause for clause, outcome in told if outcome is Outcome.VIOLATED})


def _text(words: str, x: float) -> str:
    return f'<text x="{x:.1f}" y="14" textLength="{len(words) * _PIXELS:.1f}">{escape(words)}</text>'
