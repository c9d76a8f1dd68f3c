"""Load runs as a whole: what is planned, how the control is asked, and that a lying instrument is not believed."""

from __future__ import annotations

import asyncio
import dataclasses
from pathlib import Path

import pytest

from conformance.contract.catalog import CATALOG, select
from conformance.driver.model import Call, Capture
from conformance.driver.registry import DRIVERS
from conformance.driver.wire import WireDriver
from conformance.load.compare import LoadResult
from conformance.load.plan import LoadOptions, Shape
from conformance.report.model import LoadCell
from conformance.run.load import LoadRunner
from conformance.run.loadplan import MIX, control_seat, plan_load
from conformance.run.stage import open_stage
from conformance.scenario.load import load_scenarios
from conformance.scenario.load import select as select_scenarios
from conformance.target.load import load_profile
from conformance.wire.transcript import End, Segment

KNOWN = load_scenarios()
PROFILE = load_profile("reference")


def scenarios(*globs: str):  # type: ignore[no-untyped-def]
    """The scenarios by these globs."""
    return select_scenarios(KNOWN, globs)


def test_each_scenario_has_a_quiet_and_a_loud_lane() -> None:
    """No two cases share one; what is sent beside it has its own; a sequence is no load."""
    plan = plan_load(scenarios("load.chat", "cooldown.*"), ("wire",), PROFILE, beside=scenarios(*MIX))
    assert [pair.scenario for pair in plan.pairs] == ["load.chat"]
    assert [pair.scenario for pair in plan.mix] == list(MIX) or {p.scenario for p in plan.mix} == set(MIX)
    assert [case.lane for case in plan.cases] == list(range(6))
    assert plan.cases[0].id == "load.chat[wire]"
    assert plan.cases[1].id == "load.chat[wire]#2"


def test_a_measured_scenario_that_is_sent_beside_others_has_one_pair() -> None:
    """Its counts come together."""
    plan = plan_load(scenarios("load.failing"), ("wire",), PROFILE, beside=scenarios(*MIX))
    assert plan.pairs[0] in plan.mix
    assert len(plan.cases) == 4


def test_a_load_run_knows_scenarios_of_its_own() -> None:
    """Those that say so are put under load unless others are selected, and what is sent beside them is among them."""
    told = {scenario.id for scenario in KNOWN if scenario.repeat.load}
    assert {*MIX, "load.chat", "load.chat-stream", "pool.member-retired-404"} <= told


@pytest.fixture
def lying(monkeypatch: pytest.MonkeyPatch) -> None:
    """A raw driver that loses the end of a response when more than four calls are under way: the instrument's fault."""

    class Lying(WireDriver):
        under_way = 0

        async def send(self, call: Call) -> Capture:
            Lying.under_way += 1
            try:
                capture = await super().send(call)
                crowded = Lying.under_way > 4
            finally:
                Lying.under_way -= 1
            if not crowded:
                return capture
            raw = capture.transcript.raw[:-7]
            cut = dataclasses.replace(
                capture.transcript, received=(Segment(1.0, raw),), end=End.CLOSE, ended_at=capture.transcript.ended_at
            )
            return dataclasses.replace(capture, transcript=cut)

    monkeypatch.setitem(DRIVERS, "wire", Lying)


def test_a_lying_instrument_is_not_believed(lying: None, tmp_path: Path) -> None:
    """The control shows the same failures, so that nothing is called load-shaped; every side's CPU is told."""
    plan = plan_load(scenarios("load.chat-stream"), ("wire",), PROFILE)
    options = LoadOptions(alone=6, most=8, rounds=1, shapes=(Shape.BURST,), extend=0)
    cells: list[LoadCell] = []
    clauses = select(("http.body.complete", "stream.done.present", "relay.text.equal"))
    with open_stage(PROFILE, plan.cases, tmp_path) as stage:
        result = asyncio.run(LoadRunner(stage, clauses, options, watch=cells.append).run(plan))
    rows = {row.clause: row for row in result.rows}
    broken = rows["http.body.complete"]
    assert broken.loaded.failed
    assert broken.result is LoadResult.INCONCLUSIVE
    assert "straight at the upstream" in broken.reason
    assert all(row.result is not LoadResult.LOAD_SHAPED for row in result.rows)
    assert {cell.leg for cell in cells} == {"gateway", "control"}
    assert any(cell.gateway_cpu > 0 for cell in cells)
    evidence = result.evidence["http.body.complete", "load.chat-stream"]
    assert len(evidence.beside) > 1
    assert any(flight.nonce == evidence.nonce for flight in evidence.beside)


def test_the_control_asks_a_member_itself(tmp_path: Path) -> None:
    """Its key, its port, nothing declared."""
    plan = plan_load(scenarios("load.chat"), ("wire",), PROFILE)
    with open_stage(PROFILE, plan.cases, tmp_path) as stage:
        loud = plan.pairs[0].loud
        seat = control_seat(stage.seat, loud)
        member = stage.seat.lanes[loud.lane].members[-1]
        assert seat.base_url == f"http://127.0.0.1:{member.port}/v1"
        assert seat.profile.api_key == member.api_key
        assert not seat.profile.capabilities
    assert CATALOG
