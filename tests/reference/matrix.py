"""Runs a part of the matrix by hand: `python -m tests.reference.matrix --defects 'stream-*' [--all] [--select GLOB]`.

Prints, for each gateway, what it violates beyond or short of what its defect lists; exits 1 when there is any.
"""

from __future__ import annotations

import argparse
from fnmatch import fnmatchcase

from conformance.contract.catalog import CATALOG
from conformance.reference.defects import DEFECTS
from conformance.run.matrix import FAITHFUL, Row, cover, run_matrix
from conformance.scenario.load import load_scenarios, select
from conformance.scenario.model import Scenario

#: Clauses that only megabytes can show: their scenarios are played for the defects that list them, and the faithful.
HEAVY = frozenset({"stream.event.bounded"})


def covering(*, heavy: bool = False) -> tuple[Scenario, ...]:
    """The scenarios of the matrix: those that cover every clause that is not heavy, and those that show a defect;
    or those that cover the heavy ones.
    """
    wanted = [clause for clause in CATALOG if (clause in HEAVY) is heavy]
    always = frozenset[str]() if heavy else frozenset[str]().union(*(defect.shown_by for defect in DEFECTS.values()))
    return cover(load_scenarios(), wanted, always=always)


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
    parser.add_argument("--defects", default="*", help="a glob of defect names")
    parser.add_argument("--select", action="append", default=[], help="globs of scenarios (default: the covering set)")
    parser.add_argument("--all", action="store_true", help="every scenario")
    parser.add_argument("--drivers", default="wire", help="names of drivers, with commas between")
    options = parser.parse_args()
    scenarios = (*covering(), *covering(heavy=True))
    if options.select:
        scenarios = select(load_scenarios(), options.select)
    elif options.all:
        scenarios = load_scenarios()
    names = [FAITHFUL, *(name for name in DEFECTS if fnmatchcase(name, options.defects))]
    print(f"{len(scenarios)} scenarios, {len(names)} gateways")
    rows = run_matrix(scenarios, names, drivers=tuple(options.drivers.split(",")))
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
