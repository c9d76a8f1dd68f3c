"""A draft of the list of known violations that a report asks for: what it has already, and what it found anew.

From a report to the text of a TOML file. Reason and link of a new entry are for a person to fill in: a list with an
empty one is refused. Stale entries are left out; an expired one stays as it is, for a person to give it another day.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from datetime import date, timedelta

from conformance.report.deviations import Standing, accounts, covers, unexcused
from conformance.report.model import Deviation, Report

#: How long a new entry excuses a violation, unless a person says otherwise.
DAYS = 90
_HEAD = """\
# Known violations, for `conformance run --deviations FILE`. What is listed does not fail a run, until the day after
# `expires`; what a run shows no more fails it. Say why in `reason`, and where it is followed up in `link`. What does
# not show in each run, or only in parallel, is `flaky = true`. `scenarios` takes globs; without it, all are meant.
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
            listed = any(covers(known, verdict.clause, case.scenario) for known in report.header.deviations)
            if index[verdict.clause].gates and not listed:
                met.setdefault(verdict.clause, {})[case.scenario] = None
    expires = date.fromisoformat(report.header.started_at[:10]) + timedelta(days=DAYS)
    for clause in index:
        if clause in met:
            scenarios = tuple(met[clause])
            yield Deviation(
                clause=clause,
                scenarios=scenarios,
                reason="",
                link="",
                expires=expires.isoformat(),
                flaky=_in_parallel(report, clause, scenarios),
            )


def _in_parallel(report: Report, clause: str, scenarios: Collection[str]) -> bool:
    """Whether a load run saw it in parallel and, in one of the scenarios, never alone: another run may not show it."""
    rows = report.footer.load if report.footer is not None else ()
    return any(row.clause == clause and row.scenario in scenarios and not row.alone[0] for row in rows)


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
