"""The clauses of the module `pool`, each on examples that hold and examples that do not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.cassette.model import Envelope
from conformance.contract.catalog import CATALOG
from conformance.contract.clause import Outcome
from conformance.contract.judge import judge_clause
from conformance.exchange.model import HangUp
from conformance.wire.transcript import End
from tests.contract.captures import Try, capture, error, exchange, knowing, opening, stream, verdicts, wire
from tests.contract.example import Parameter, differs, label, parameters
from tests.contract.examples_pool import BUSY, EXAMPLES, OK, PAUSED, SILENT, STREAM, THREE, WORDS, pooled


@pytest.mark.parametrize("parameter", parameters(EXAMPLES), ids=label)
def test_an_example_has_its_outcome(parameter: Parameter) -> None:
    """A holding example is held (it applies), a violating one is violated."""
    assert differs(parameter) == ""


def test_a_target_that_says_how_often_it_asks_may_stop_there() -> None:
    """Two of three members asked in vain are all that was promised, where two dispatches are declared."""
    spent = verdicts(knowing(pooled(BUSY, BUSY, BUSY), terms=THREE | {"max_attempts": 2}))
    assert spent["pool.failover.answers"].outcome is Outcome.NOT_APPLICABLE


def test_a_member_that_read_its_request_too_late_proves_nothing() -> None:
    """On a starved machine a request lies in the kernel while the gateway gives it up: that is not held against it."""
    told = wire(error("The upstream did not answer in time.", code="upstream_timeout"), status=504)
    late = (Try(OK, "m1", 1014.5), Try(BUSY, "m0", 1014.9))
    starved = verdicts(knowing(pooled(told, *late), terms={"first_token_timeout_ms": 400.0}))
    assert starved["pool.success.final"].outcome is not Outcome.VIOLATED
    assert starved["relay.success.kept"].outcome is not Outcome.VIOLATED
    assert starved["pool.success.final"].outcome is Outcome.INCONCLUSIVE
    patient = verdicts(knowing(pooled(told, *late), terms={"first_token_timeout_ms": 2000.0}))
    assert patient["pool.success.final"].outcome is Outcome.VIOLATED


@pytest.mark.parametrize("again", [False, True])
def test_the_wait_for_a_silent_member_is_not_the_next_ones(again: bool) -> None:
    """Who is asked when the time for the first one is up was not late: its success is final, or it was not."""
    waited = exchange(pooled(OK, Try(SILENT, "m0", 1.0), Try(OK, "m1", 2002.0)))
    silent, won = waited.attempts or ()
    silent = replace(silent, end=End.STALL, ended_at=1.5, peer_closed_at=2001.0)
    third = replace(won, member="m2", at=won.ended_at + 5.0, ended_at=won.ended_at + 6.0)
    terms = replace(waited.terms, first_token_timeout_ms=2000.0)
    seen = replace(waited, terms=terms, attempts=(silent, won, third) if again else (silent, won))
    expected = Outcome.VIOLATED if again else Outcome.HELD
    assert judge_clause(CATALOG["pool.success.final"], seen).outcome is expected


@pytest.mark.parametrize(
    ("end", "answer", "words"),
    [
        (End.STALL, SILENT, "the member had sent no response head"),
        (End.STALL, PAUSED, "bytes of its body, and no end"),
        (End.COMPLETE, WORDS, "the member had sent all by 9000 ms"),
        (End.RESET, PAUSED, "the member reset it at 9000 ms"),
    ],
)
def test_a_connection_left_open_is_told_by_what_the_member_did(end: End, answer: Envelope, words: str) -> None:
    """A member that sent nothing has not sent all. A capture alone does not tell that nobody closed what is silent."""
    item = capture(STREAM, wire(stream(opening(), done=False), end="close"), answer)
    left = knowing(item, attempt={"end": end, "ended_at": 9000.0}, hangup=HangUp(after="send", at=100.0))
    assert verdicts(left)["pool.hangup.closes"].outcome is (
        Outcome.VIOLATED if end is End.COMPLETE else Outcome.NOT_APPLICABLE
    )
    left = knowing(
        item,
        attempt={"end": end, "ended_at": 9000.0},
        hangup=HangUp(after="send", at=100.0),
        terms={"members": ("m0",)},
    )
    (finding,) = verdicts(left)["pool.hangup.closes"].findings
    assert words in finding.actual
