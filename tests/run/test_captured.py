"""Captured legs become a report like any other, with the gate and the evidence of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.cassette.model import Cassette
from conformance.cassette.store import load
from conformance.contract.catalog import select
from conformance.contract.clause import Outcome
from conformance.options import JudgeOptions
from conformance.report.gate import exit_code, summarise
from conformance.run.captured import judge
from tests.contract.captures import Ask, Capture, Try, ask, capture, cassettes, chat, wire

PAIR = Path(__file__).parent.parent / "captures" / "retired-member-kills-alias"
CLIENT, UPSTREAM = PAIR / "client-wrong.yaml", PAIR / "upstream-wrong.yaml"


def options(*capabilities: str) -> JudgeOptions:
    """The options that judge the wrong side of the pair."""
    return JudgeOptions(
        client=CLIENT, upstream=UPSTREAM, capabilities=frozenset(capabilities), command="conformance judge"
    )


def test_report_of_a_capture() -> None:
    """Each client interaction is a case, with the bytes of both legs where something is violated."""
    report = judge(options("failover"), load(CLIENT), load(UPSTREAM), select(("pool.*",)))
    (case,) = report.cases
    assert exit_code(summarise(report)) == 1
    assert [leg.name for leg in case.evidence] == ["request", "client", "dispatch:0", "upstream:0"]
    assert (report.header.mode, report.header.target_kind, report.header.planned) == ("judge", "capture", 1)
    assert report.header.capabilities == ("failover",)


def test_a_promise_that_nothing_judges_is_told() -> None:
    """A declared capability that no clause speaks of makes nothing applicable, and the report says that."""
    report = judge(options("failover", "telepathy"), load(CLIENT), load(UPSTREAM), select(()))
    assert report.header.defaults == {"declared, but judged by no clause:": "telepathy"}


OK = wire(chat())


def violated(*items: Capture) -> set[str]:
    """What a capture of several requests, judged together, violates."""
    legs = [cassettes(item) for item in items]
    client = Cassette(name="several", interactions=tuple(one for leg, _ in legs for one in leg.interactions))
    upstream = Cassette(name="up", interactions=tuple(one for _, leg in legs if leg for one in leg.interactions))
    report = judge(options("cache"), client, upstream, select(()))
    return {verdict.clause for case in report.cases for verdict in case.of(Outcome.VIOLATED)}


def asked(prompt: str, **params: object) -> Ask:
    """A request with a prompt of its own."""
    return ask(messages=[{"role": "user", "content": prompt}], **params)


def dispatched(request: Ask, **params: object) -> Capture:
    """A request that one member answered, asked with more members."""
    return capture(request, OK, Try(OK, request=request.with_(model="up-model", **params)))


@pytest.mark.parametrize("limits", [(9, 99), (9, None)])
def test_an_answer_to_another_request(limits: tuple[int, int | None]) -> None:
    """A request that differs in one parameter and is answered without a dispatch was answered from memory."""
    first, second = (asked("Ticket cf-q8w3zd: say.", max_tokens=limit) for limit in limits)
    assert "cache.key" in violated(dispatched(first), capture(second, OK))
    assert not violated(dispatched(first), dispatched(second))
    assert not violated(dispatched(first), capture(asked("Ticket cf-z9y8x7: say."), OK))


def test_a_parameter_that_sticks() -> None:
    """What one request sent reaches the member with the next one, and did not before."""
    plain, dirty = asked("Ticket cf-aaaaa1: say."), asked("Ticket cf-aaaaa2: say.", dry_multiplier=0.8)
    after = asked("Ticket cf-aaaaa3: say.")
    clean = (dispatched(plain), dispatched(dirty))
    assert "isolation.state" in violated(*clean, dispatched(after, dry_multiplier=0.8))
    assert not violated(*clean, dispatched(after))


def test_requests_of_several_models_are_told_apart() -> None:
    """Each model's requests are judged in their order; a single one is in none."""
    one, other = asked("Ticket cf-q8w3zd: say.", max_tokens=9), asked("Ticket cf-q8w3zd: say.", model="alias-2")
    assert not violated(dispatched(one), capture(other, OK))
