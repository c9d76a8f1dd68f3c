"""How surely load runs tell: every load defect and the faithful gateway, over seeds; misses, false alarms, thresholds.

Run from the repository: `python benchmarks/load_detection.py [--seeds 20] [--abreast 2]`. Exits 1 when a false alarm,
or more than one miss in 140, was seen.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from statistics import median

from conformance.contract.catalog import CATALOG
from conformance.load.plan import LoadOptions
from conformance.reference.defects import LOAD_DEFECTS
from conformance.run.detection import SCENARIOS, Detection, detect
from conformance.run.matrix import FAITHFUL

#: So many misses are borne, of so many runs.
MISSES, RUNS = 1, 140


def table(runs: tuple[Detection, ...]) -> Iterator[str]:
    """The table's lines."""
    yield f"{'gateway':<28}{'shows at':>9}{'runs':>6}{'right':>7}  {'seen from':<18}{'undecided':>10}{'s a run':>9}"
    for name in (FAITHFUL, *LOAD_DEFECTS):
        mine = [run for run in runs if run.gateway == name]
        if not mine:
            continue
        at = str(LOAD_DEFECTS[name].at) if name in LOAD_DEFECTS else ""
        seen = sorted(run.threshold for run in mine)
        spread = f"{seen[0]} to {seen[-1]}, median {median(seen):g}" if name in LOAD_DEFECTS else ""
        undecided = sum(bool(run.undecided) for run in mine)
        seconds = sum(run.seconds for run in mine) / len(mine)
        right = sum(run.right for run in mine)
        yield f"{name:<28}{at:>9}{len(mine):>6}{right:>7}  {spread:<18}{undecided:>10}{seconds:>9.0f}"


def main() -> int:
    """Run and print; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20, metavar="N")
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument(
        "--abreast", type=int, default=2, metavar="N", help="gateways under load at a time (default: 2)"
    )
    parser.add_argument("--alone", type=int, default=8, metavar="N")
    parser.add_argument("--rounds", type=int, default=2, metavar="N")
    parser.add_argument("--scenario", action="append", default=[], metavar="ID")
    parser.add_argument("--listed", action="store_true", help="judge by the clauses that the defects violate alone")
    options = parser.parse_args()
    before = os.getloadavg()
    listed = frozenset[str]().union(*(defect.violates for defect in LOAD_DEFECTS.values()))
    runs = detect(
        seeds=range(options.first, options.first + options.seeds),
        scenarios=tuple(options.scenario) or SCENARIOS,
        options=LoadOptions(alone=options.alone, rounds=options.rounds),
        clauses=[clause for clause in CATALOG.values() if not options.listed or clause.id in listed],
        abreast=options.abreast,
    )
    print("\n".join(table(runs)))
    wrong = [run for run in runs if not run.right]
    for run in wrong:
        found = ", ".join(run.other) or "nothing found"
        print(f"not right: {run.gateway}, seed {run.seed}: from {run.threshold}, {found}")
    for run in runs:
        for fault in run.faults:
            print(f"fault: {run.gateway}, seed {run.seed}: {fault}")
    alarms = sum(run.gateway == FAITHFUL for run in wrong)
    misses = len(wrong) - alarms
    tried = sum(run.gateway != FAITHFUL for run in runs)
    print(f"{misses} misses in {tried}, {alarms} false alarms in {len(runs) - tried}")
    print(f"load average before {before[0]:.1f}, after {os.getloadavg()[0]:.1f}")
    return 1 if alarms or misses * RUNS > MISSES * max(tried, RUNS) or any(run.faults for run in runs) else 0


if __name__ == "__main__":
    sys.exit(main())
