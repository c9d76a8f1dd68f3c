"""Runs a part of the matrix by hand: `python -m tests.reference.matrix --defects 'stream-*' [--all] [--select GLOB]`.

Prints, for each gateway, what it violates beyond or short of what its defect lists; exits 1 when there is any.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from conformance.contract.catalog import CATALOG
from conformance.contract.clause import Scope
from conformance.reference.defects import DEFECTS
from conformance.run.matrix import FAITHFUL, Row, cover, run_matrix
from conformance.scenario.load import load_scenarios, select
from conformance.scenario.model import Scenario

#: Clauses that only megabytes can show.
HEAVY = frozenset({"stream.event.bounded", "backpressure.bounded"})


def apart(clause: str) -> bool:
    """Whether a clause is shown by scenarios that take megabytes, or the windows of a memory: they are played for the
    defects that list it, and for the faithful.
    """
    return clause in HEAVY or CATALOG[clause].scope is Scope.SEQUENCE


def covering() -> tuple[Scenario, ...]:
    """The scenarios for every gateway: they cover all clauses that are not apart."""
    quick = [scenario for scenario in load_scenarios() if not scenario.steps]
    return cover(quick, [clause for clause in CATALOG if not apart(clause)])


def showing() -> tuple[Scenario, ...]:
    """The scenarios that cover the clauses that are apart, and all that show a defect."""
    shown = frozenset[str]().union(*(one.shown_by for one in DEFECTS.values()))
    return cover(load_scenarios(), [clause for clause in CATALOG if apart(clause)], always=shown)


def listed(name: str) -> frozenset[str]:
    """What the gateway `name` is known to violate."""
    return DEFECTS[name].violates if name in DEFECTS else frozenset()


def differs(row: Row) -> bool:
    """Whether a row has violations beyond or short of the defect's list, or faults."""
    return row.violated.keys() != listed(row.gateway) or bool(row.faults)


def play(names: Sequence[str], drivers: Sequence[str] = ("wire",)) -> dict[str, Row]:
    """The rows of the gateways: over the covering scenarios (but for defects whose damage goes from lane to lane), and
    over those that show the defect; of the faithful over all.
    """
    shown = {name: DEFECTS[name].shown_by for name in names if name in DEFECTS and DEFECTS[name].shown_by}
    alone = [name for name in names if name not in DEFECTS or not DEFECTS[name].crossing]
    rows = run_matrix(covering(), alone, drivers=drivers) if alone else {}
    special = [name for name in names if name in shown or name == FAITHFUL]
    more = run_matrix(showing(), special, drivers=drivers, only=shown) if special else {}
    return rows | {name: _joined(rows[name], row) if name in rows else row for name, row in more.items()}


def confirmed(
    rows: Mapping[str, Row], drivers: Sequence[str] = ("wire",), scenarios: Sequence[Scenario] = ()
) -> dict[str, Row]:
    """The rows after a second look: what one has beyond or short of its list is played again, one case at a time, and
    what does not show again does not count. Where many cases keep a machine busy, some come late.
    """
    played = scenarios or tuple({scenario.id: scenario for scenario in (*covering(), *showing())}.values())
    doubtful = {name: _doubtful(row, played) for name, row in rows.items() if differs(row)}
    if not doubtful:
        return dict(rows)
    again = [scenario for scenario in played if any(scenario.id in ids for ids in doubtful.values())]
    seen = run_matrix(again, list(doubtful), drivers=drivers, only=doubtful)
    return dict(rows) | {name: _confirmed(rows[name], row) for name, row in seen.items()}


def _joined(first: Row, second: Row) -> Row:
    """One row of two, over different scenarios."""
    found = {
        name: [*first.violated.get(name, ()), *second.violated.get(name, ())]
        for name in first.violated | second.violated
    }
    return dataclasses.replace(
        first,
        violated=found,
        faults=first.faults + second.faults,
        held=first.held | second.held,
        cases=first.cases + second.cases,
    )


def _doubtful(row: Row, scenarios: Sequence[Scenario]) -> frozenset[str]:
    """The scenarios whose cases violate what is not listed, or that show what is listed and is not violated."""
    beyond = [case for clause, cases in row.violated.items() if clause not in listed(row.gateway) for case in cases]
    short = listed(row.gateway) - row.violated.keys()
    shown = DEFECTS[row.gateway].shown_by if short else frozenset()
    showing = {scenario.id for scenario in scenarios if short & set(scenario.exercises) or scenario.id in shown}
    return frozenset(case.split("[")[0] for case in (*beyond, *row.faults)) | showing


def _confirmed(first: Row, second: Row) -> Row:
    """The first row without what did not show again, and with what only then showed."""
    due = listed(first.gateway)
    kept = {clause: cases for clause, cases in first.violated.items() if clause in due or clause in second.violated}
    late = {clause: cases for clause, cases in second.violated.items() if clause in due}
    return dataclasses.replace(first, violated=late | kept, faults=second.faults)


def difference(row: Row) -> str:
    """What a row has beyond ("+") and short of ("-") its defect's list; "" for none."""
    beyond = sorted(row.violated.keys() - listed(row.gateway))
    lines = [f"  + {clause}  in {', '.join(row.violated[clause][:4])}" for clause in beyond]
    lines += [f"  - {clause}" for clause in sorted(listed(row.gateway) - row.violated.keys())]
    lines += [f"  ! {fault}" for fault in row.faults[:5]]
    return "\n".join(lines)


def main() -> int:
    """Run and print; the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--defects", action="append", default=[], help="globs of defect names (default: all)")
    parser.add_argument("--select", action="append", default=[], help="globs of scenarios (default: those of the test)")
    parser.add_argument("--all", action="store_true", help="every scenario")
    parser.add_argument("--drivers", default="wire", help="names of drivers, with commas between")
    options = parser.parse_args()
    names = [FAITHFUL, *(name for name in DEFECTS if any(fnmatchcase(name, glob) for glob in options.defects or ["*"]))]
    drivers = options.drivers.split(",")
    if options.select or options.all:
        scenarios = select(load_scenarios(), options.select) if options.select else load_scenarios()
        rows = confirmed(run_matrix(scenarios, names, drivers=drivers), drivers, scenarios)
    else:
        rows = confirmed(play(names, drivers), drivers)
    failed = 0
    for row in rows.values():
        wrong = difference(row)
        failed += bool(wrong)
        print(f"{'DIFFERS' if wrong else 'ok':<8}{row.gateway} ({row.cases} cases)")
        if wrong:
            print(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
