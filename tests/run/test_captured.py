"""Captured legs become a report like any other, with the gate and the evidence of a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.cassette.model import Cassette
from conformance.cassette.store import load
from conformance.contract.catalog import select
from conformance.contract.clause import Outcome
from conformance.options import JudgeOptions
from conformance.report.gate import exit_code, summarise
from conformance.run.captured import judge
from tests.contract.captures import (
    Ask,
    Capture,
    Try,
    ask,
    capture,
    cassettes,
    chat,
    chunk,
    embeddings,
    error,
    opening,
    stream,
    wire,
    words,
)

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
VA, VB = [0.1, 0.2], [0.3, 0.4]


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


def test_an_answer_to_another_model() -> None:
    """Requests of two models are judged in one order: an answer is for the model that was asked for."""
    one, other = asked("Ticket cf-q8w3zd: say."), asked("Ticket cf-q8w3zd: say.", model="alias-2")
    assert "cache.key" in violated(dispatched(one), capture(other, OK))
    assert not violated(dispatched(one), dispatched(other))


def test_what_one_model_is_sent_by_default_sticks_from_none_to_another() -> None:
    """A parameter that another model is always sent is its default, though a request for the first one brought it."""
    plain, dirty = asked("Ticket cf-aaaaa1: say."), asked("Ticket cf-aaaaa2: say.", dry_multiplier=0.8)
    other = asked("Ticket cf-aaaaa3: say.", model="alias-2")
    assert "isolation.state" not in violated(
        dispatched(plain), dispatched(dirty), dispatched(other, dry_multiplier=0.8)
    )


def test_an_answer_for_another_caller() -> None:
    """Equal requests of two callers, one dispatch: the second one had the first one's answer."""
    one = asked("Ticket cf-q8w3zd: say.")
    other = one.headed(("Authorization", "Bearer sk-test-other"))
    assert "cache.key" in violated(dispatched(one), capture(other, OK))
    assert not violated(dispatched(one), capture(one, OK))


def test_a_part_of_a_batch_from_memory() -> None:
    """A member is asked for the new inputs alone, each once; the vectors of the others are those that it gave."""
    a, b = "cf-embed01 a", "cf-embed01 b"
    one = ask("embeddings", input=[a])
    several = ask("embeddings", input=[a, b, b])
    first = capture(one, wire(embeddings(VA)), Try(wire(embeddings(VA)), request=one.with_(model="up-model")))
    rest = Try(wire(embeddings(VB)), request=several.with_(model="up-model", input=[b]))
    assert not violated(first, capture(several, wire(embeddings(VA, VB, VB)), rest))
    assert "cache.answer.same" in violated(first, capture(several, wire(embeddings(VB, VA, VA)), rest))


WAITING = wire(error("Rate limit reached."), status=429, headers=("Retry-After: 30",))


@pytest.mark.parametrize(("again", "at", "early"), [("m0", 120.0, True), ("m0", 30100.0, False), ("m1", 120.0, False)])
def test_a_wait_within_one_request(again: str, at: float, early: bool) -> None:
    """A member that said how long to wait is not asked sooner, in the same request neither; another one may be."""
    client, upstream = cassettes(capture(ask(), OK, (Try(WAITING, "m0", 2.0), Try(OK, again, at))))
    found = judge(options("honours-retry-after"), client, upstream, select(("retry-after.*",)))
    assert bool(found.cases[-1].of(Outcome.VIOLATED)) is early


def test_no_time_is_told_and_none_is_judged() -> None:
    """Where a capture does not say when members were asked, it does not tell that one was asked too soon."""
    client, upstream = cassettes(capture(ask(), OK, (Try(WAITING, "m0", 2.0), Try(OK, "m0", 9.0))))
    assert upstream is not None
    untimed = replace(upstream, interactions=tuple(replace(one, at=None) for one in upstream.interactions))
    report = judge(options("honours-retry-after"), client, untimed, select(("retry-after.*",)))
    assert not any(case.of(Outcome.VIOLATED) for case in report.cases)


def leaving(client_left: float, *tries: Try, gateway_left: float | None = None) -> set[str]:
    """What a capture violates whose client went away, and whose gateway left its last member then."""
    client, upstream = cassettes(capture(ask(stream=True), OPEN, tries))
    assert upstream is not None
    left = replace(client, interactions=(replace(client.interactions[0], hangup=client_left),))
    last = replace(upstream.interactions[-1], hangup=gateway_left)
    legs = replace(upstream, interactions=(*upstream.interactions[:-1], last))
    report = judge(options("failover"), left, legs, select(("pool.hangup.*", "http.*", "stream.*")))
    return {verdict.clause for case in report.cases for verdict in case.of(Outcome.VIOLATED)}


OPEN = wire(stream(opening(), chunk("Hel"), done=False), end="stall")
LONG = wire(stream(*words(*"abcdefghi"), every=500.0))
DOWN = wire(error("The server had an error.", type="server_error"), status=500)


def test_a_client_that_hung_up() -> None:
    """A capture may tell when the client went away, and when the gateway did: the member is left, and none is asked."""
    assert leaving(40.0, Try(LONG)) == {"pool.hangup.closes"}
    assert leaving(40.0, Try(LONG), gateway_left=60.0) == set()
    assert leaving(40.0, Try(LONG), gateway_left=4000.0) == {"pool.hangup.closes"}
    assert leaving(40.0, Try(DOWN, "m0", 2.0), Try(OPEN, "m1", 900.0)) == {"pool.hangup.final"}
    # Nothing tells when a member was left that is silent.
    assert leaving(40.0, Try(OPEN)) == set()
