"""The head of a report: what was run on what, and every default that the harness chose."""

from __future__ import annotations

import dataclasses
from datetime import datetime
from pathlib import Path

from conformance.cassette.store import Library
from conformance.contract.catalog import select
from conformance.options import RunOptions
from conformance.run.header import cassettes_digest, deviations_of, header_of, now
from conformance.run.plan import CLOSES, plan_cases
from tests.run.scenes import HELLO, HELLO_STREAM, REFERENCE, scenario, url_profile

CASES = plan_cases([scenario("a"), scenario("b", m0="@reset", default=HELLO_STREAM)], ["wire", "httpx"], REFERENCE)


def test_it_names_what_was_run() -> None:
    """Target, promises, clauses, drivers, seed and the number of cases are told."""
    header = header_of(
        RunOptions(seed=7, command="conformance run"), REFERENCE, select(("chat.*",)), CASES, version="1.2"
    )
    assert (header.target, header.target_version, header.seed, header.planned) == ("reference", "1.2", 7, 4)
    assert header.capabilities == tuple(sorted(REFERENCE.capabilities))
    assert header.drivers == ("wire", "httpx")
    assert {need.id.partition(".")[0] for need in header.requirements} == {"chat"}
    assert header.environment["python"]
    assert header.command == "conformance run"


def test_every_default_is_told() -> None:
    """Deadlines, retries, waits and caps stand in the report, whatever their values."""
    options = RunOptions(workers=3, max_requests=40)
    told = header_of(options, REFERENCE, (), CASES).defaults
    assert "connect 5 s" in told["deadlines"]
    assert (told["workers"], told["max_requests"], told["max_tokens"]) == ("3", "40", "none")
    assert {"attempts", "settle", "windows"} <= told.keys()
    assert told["start"] == f"upstream within 20 s, gateway within {REFERENCE.ready_seconds:g} s"
    assert header_of(options, url_profile(), (), ()).defaults["start"] == "nothing is launched"


def test_a_target_at_a_url_is_its_url() -> None:
    """What runs at a URL is named by it; a live run has no cassettes to tell of."""
    header = header_of(RunOptions(), url_profile(), (), CASES, mode="live")
    assert (header.target, header.cassettes) == ("http://127.0.0.1:9/v1", "")


def test_digest_of_the_cassettes() -> None:
    """The digest depends on the cassettes that the cases use, and on nothing else of them."""
    whole = cassettes_digest(CASES, Library())
    assert whole == cassettes_digest(CASES[::-1], Library())
    assert whole != cassettes_digest(CASES[:2], Library())
    renamed = [dataclasses.replace(case, scenario=dataclasses.replace(case.scenario, id="x.y")) for case in CASES]
    assert whole == cassettes_digest(renamed, Library())
    steps = scenario(
        "s", f'steps = [{{ play = {{ default = ["{HELLO}"] }} }}, {{ play = {{ default = ["{HELLO_STREAM}"] }} }}]'
    )
    assert cassettes_digest(plan_cases([steps], ["wire"], REFERENCE), Library()) == whole


def test_now_is_utc() -> None:
    """Times are ISO 8601 with their offset."""
    offset = datetime.fromisoformat(now()).utcoffset()
    assert offset is not None
    assert not offset


def test_a_deviation_is_whole_where_the_raw_driver_plays_it(tmp_path: Path) -> None:
    """An SDK alone, or a worker that leaves a scenario out because another uses its ports, does not tell that it is
    gone."""
    known = tmp_path / "known.toml"
    known.write_text(
        '[[deviation]]\nclause = "chat.shape"\nscenarios = ["baseline.chat"]\nreason = "r"\nlink = "l"\n'
        "expires = 2999-12-31\n",
        encoding="utf-8",
    )
    options = RunOptions(deviations=str(known))
    scenarios = [dataclasses.replace(scenario("a"), id=name) for name in ("baseline.chat", "baseline.chat-stream")]
    wire, sdk = (plan_cases(scenarios, [driver], REFERENCE) for driver in ("wire", "openai-python"))
    left_out = tuple(dataclasses.replace(case, skipped=CLOSES) for case in wire)
    told = [deviations_of(options, cases)[0].whole for cases in (wire, (*sdk, *wire), wire[1:], sdk, left_out)]
    assert told == [True, True, False, False, False]
