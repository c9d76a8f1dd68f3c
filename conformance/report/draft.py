"""A draft of the list of known violations that a report asks for: what it has already, and what it found anew.

From a report to the text of a TOML file. Reason and link of a new entry are for a person to fill in: a list with an
empty one is refused. Stale entries are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, timedelta

from conformance.report.deviations import Standing, accounts, unexcused
from conformance.report.model import Deviation, Report

#: How long a new entry excuses a violation, unless a person says otherwise.
DAYS = 90
_HEAD = """\
# Known violations, for `conformance run --deviations FILE`. What is listed does not fail a run, until the day after
# `expires`; what a run shows no more fails it. Say why in `reason`, and where it is followed up in `link`. What does
# not show in each run is `flaky = true`. `scenarios` takes globs; without it, all are meant.
"""


def render(report: Report) -> str:
    """The text of the file; "" where nothing is to be listed."""
    listed = [*_kept(report), *_new(report)]
    return _HEAD + "".join(map(_table, listed)) if listed else ""


def _kept(report: Report) -> Iterator[Deviation]:
    for account in accounts(report):
        if account.standing is not Standing.STALE:
            yield account.deviation


def _new(report: Report) -> Iterator[Deviation]:
    """One for each clause for which the run fails, with the scenarios in which it was violated."""
    index = report.header.index()
    met: dict[str, dict[str, None]] = {}
    for case in report.cases:
        for verdict in unexcused(report.header, case):
            if index[verdict.clause].gates:
                met.setdefault(verdict.clause, {})[case.scenario] = None
    expires = date.fromisoformat(report.header.started_at[:10]) + timedelta(days=DAYS)
    for clause in index:
        if clause in met:
            scenarios = tuple(met[clause])
            yield Deviation(clause=clause, scenarios=scenarios, reason="", link="", expires=expires.isoformat())


def _table(deviation: Deviation) -> str:
    """One table. A TOML string with escapes is written as a JSON one is."""
    lines = ["", "[[deviation]]", f"clause = {_text(deviation.clause)}"]
    if deviation.scenarios:
        lines += ["scenarios = [", *(f"  {_text(scenario)}," for scenario in deviation.scenarios), "]"]
    lines += [f"reason = {_text(deviation.reason)}", f"link = {_text(deviation.link)}"]
    lines += [f"expires = {deviation.expires}"]
    if deviation.flaky:
        lines.append("flaky = true")
    return "\n".join(lines) + "\n"


def _text(words: str) -> str:
    return json.dumps(words, ensure_ascii=False).replace("\x7f", "\\u007f")
