"""A run's progress on a terminal."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from conformance.commands.progress import Progress
from conformance.report.model import Case, RunHeader

HEADER = RunHeader(target="t", suite_version="0", started_at="2026-11-29T12:00:00Z", requirements=(), planned=2)
CASES = (Case(id="a.b[wire]", scenario="a.b"), Case(id="a.c[wire]", scenario="a.c", error="the driver fell over"))


@pytest.mark.parametrize("terminal", [True, False])
def test_only_a_terminal_is_written_to(terminal: bool) -> None:
    """On a terminal what went wrong is shown at once; elsewhere nothing is written."""
    written = StringIO()
    with Progress(Console(file=written, force_terminal=terminal, width=80)) as progress:
        for part in (HEADER, *CASES):
            progress.observe(part)
    assert ("a.c[wire]" in written.getvalue()) is terminal
    assert "a.b[wire]" not in written.getvalue()
    assert bool(written.getvalue()) is terminal
