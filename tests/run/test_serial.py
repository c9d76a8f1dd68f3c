"""A suite in parallel against itself in series: twins of the cases, and the table of what differs."""

from __future__ import annotations

from conformance.contract.clause import Outcome, Verdict
from conformance.report.model import Case
from conformance.run.plan import plan_cases
from conformance.run.serial import APART, difference, twins
from conformance.scenario.load import load_scenarios, select
from conformance.target.load import load_profile


def case(number: int, **verdicts: Outcome) -> Case:
    """A case with these verdicts."""
    made = tuple(Verdict(clause=clause, outcome=outcome) for clause, outcome in verdicts.items())
    return Case(id=f"s[wire]#{number}", scenario="s", driver="wire", verdicts=made)


def test_each_case_has_a_twin_in_a_lane_of_its_own() -> None:
    """What is skipped, and sequences, have none."""
    scenarios = select(load_scenarios(), ("load.chat", "pool.member-retired-404", "cooldown.*"))
    cases = plan_cases(scenarios, ("wire",), load_profile("reference"))
    made = twins(cases)
    lanes = [lane for one in (*cases, *made) for lane in one.lanes]
    assert len(set(lanes)) == len(lanes) == max(lanes) + 1
    assert {one.scenario.id for one in made} == {"load.chat", "pool.member-retired-404"}
    assert all(one.number > APART and not one.scenario.steps for one in made)


def test_what_fails_in_parallel_alone_is_told() -> None:
    """Often enough it is load-shaped, once it can be chance, and what fails alone too is no matter of load."""
    held, violated = Outcome.HELD, Outcome.VIOLATED
    loud = [case(n, often=violated, once=violated if n == 0 else held, always=violated, fine=held) for n in range(12)]
    quiet = [case(n, often=held, once=held, always=violated, fine=held) for n in range(12)]
    rows = {row.clause: row for row in difference(loud, quiet, 4)}
    assert {clause: row.result for clause, row in rows.items()} == {
        "often": "load-shaped",
        "once": "inconclusive",
        "always": "violated",
        "fine": "holds",
    }
    assert rows["often"].alone == (0, 12)
    assert rows["often"].load == {"4": (12, 12)}
    assert rows["often"].scenario == "s[wire]"
