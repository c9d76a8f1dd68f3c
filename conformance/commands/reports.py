"""`report FILE|DIR ...`: a written report in another form, or several side by side."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from conformance import reportfile
from conformance.commands.shown import Shown, as_json
from conformance.errors import UsageError
from conformance.report import badge, draft, html, junit, markdown, matrix, terminal
from conformance.report.codec import document
from conformance.report.gate import exit_code, numbers

_TEXTS = {
    "junit": junit.render,
    "markdown": markdown.render,
    "html": html.render,
    "badge": badge.render,
    "deviations": draft.render,
}
FORMS = ("text", "json", "matrix", *_TEXTS)


def show(arguments: Namespace) -> Shown:
    """The report in the form asked for; its own exit code only where that was asked for (of several, the highest).

    Raises ReportError, and UsageError for several reports in a form for one.
    """
    reports = [reportfile.read(Path(path)) for path in arguments.path]
    code = max(exit_code(numbers(report)) for report in reports) if arguments.exit_code else 0
    if arguments.format == "matrix":
        return Shown(text=matrix.render(reports), code=code)
    if len(reports) > 1:
        raise UsageError(f"{arguments.format} shows one report", where="report", hint="add --format matrix")
    (report,) = reports
    if arguments.format == "json":
        return as_json(document(report), code)
    if arguments.format == "text":
        return Shown(view=terminal.render(report), code=code)
    return Shown(text=_TEXTS[arguments.format](report), code=code)
