"""Runs a part of the matrix by hand: `python -m tests.reference.matrix --defects 'stream-*' [--all] [--select GLOB]`.

Prints, for each gateway, what it violates beyond or short of what its defect lists; exits 1 when there is any.
"""

from __future__ import annotations

import argparse
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
    """The scenarios for every gateway: they cover all clauses that are not apart, and show all their defects."""
    defects = [one for one in DEFECTS.values() if not any(map(apart, one.violates))]
    shown = frozenset[str]().union(*(one.shown_by for one in defects))
    quick = [scenario for scenario in load_scenarios() if not scenario.steps]
    return cover(quick, [clause for clause in CATALOG if not apart(clause)], always=shown)


def covering_apart() -> tuple[Scenario, ...]:
    """The scenarios that cover the clauses that are apart, and show their defects."""
    defects = [one for one in DEFECTS.values() if any(map(apart, one.violates))]
    shown = frozenset[str]().union(*(one.shown_by for one in defects))
    return cover(load_scenarios(), [clause for clause in CATALOG if apart(clause)], always=shown)


def difference(row: Row) -> str:
    """What a row has beyond ("+") and short of ("-") its defect's list; "" for none."""
    listed = DEFECTS[row.gateway].violates if row.gateway in DEFECTS else frozenset()
    beyond = sorted(row.violated.keys() - listed)
    lines = [f"  + {clause}  in {', '.join(row.violated[clause][:4])}" for clause in beyond]
    lines += [f"  - {clause}" for clause in sorted(listed - row.violated.keys())]
    lines += [f"  ! {fault}" for fault in row.faults[:5]]
    return "\n".join(lines)


def main() -> int:
    """Run and print; the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--defects", action="append", default=[], help="globs of defect names (default: all)")
    parser.add_argument("--select", action="append", default=[], help="globs of scenarios (default: the covering set)")
    parser.add_argument("--workers", type=int, default=6)
    parser.add_argument("--all", action="store_true", help="every scenario")
    parser.add_argument("--apart", action="store_true", help="the scenarios of heavy clauses and of sequences, too")
    parser.add_argument("--drivers", default="wire", help="names of drivers, with commas between")
    options = parser.parse_args()
    scenarios = (*covering(), *covering_apart()) if options.apart else covering()
    if options.select:
        scenarios = select(load_scenarios(), options.select)
    elif options.all:
        scenarios = load_scenarios()
    names = [FAITHFUL, *(name for name in DEFECTS if any(fnmatchcase(name, glob) for glob in options.defects or ["*"]))]
    print(f"{len(scenarios)} scenarios, {len(names)} gateways")
    rows = run_matrix(scenarios, names, drivers=tuple(options.drivers.split(",")), workers=options.workers)
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
