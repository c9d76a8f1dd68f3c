"""`report FILE|DIR`: a written report in another form."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from conformance import reportfile
from conformance.commands.shown import Shown, as_json
from conformance.report import junit, markdown, terminal
from conformance.report.codec import document
from conformance.report.gate import exit_code, numbers

FORMS = ("text", "junit", "markdown", "json")


def show(arguments: Namespace) -> Shown:
    """The report in the form asked for; its own exit code only where that was asked for. Raises ReportError."""
    report = reportfile.read(Path(arguments.path))
    code = exit_code(numbers(report)) if arguments.exit_code else 0
    if arguments.format == "json":
        return as_json(document(report), code)
    if arguments.format == "text":
        return Shown(view=terminal.render(report), code=code)
    return Shown(text=(junit if arguments.format == "junit" else markdown).render(report), code=code)
