"""The clauses on HTTP messages, media types and modes, each on examples that hold and examples that do not."""

from __future__ import annotations

import pytest

from conformance.contract.clause import Outcome
from conformance.wire.transcript import End
from tests.contract.captures import capture, chat, error, knowing, verdicts, wire
from tests.contract.example import Parameter, differs, label, parameters
from tests.contract.examples_http import CHAT, CUT, CUT_ERROR, EXAMPLES


@pytest.mark.parametrize("parameter", parameters(EXAMPLES), ids=label)
def test_an_example_has_its_outcome(parameter: Parameter) -> None:
    """A holding example is held (it applies), a violating one is violated."""
    assert differs(parameter) == ""


def test_a_body_that_the_member_cut_is_passed_on_as_cut() -> None:
    """Who passes on what comes can tell of a member's short body by an equally short one alone: both clauses agree."""
    seen = verdicts(capture(CHAT, CUT, CUT))
    assert seen["http.body.complete"].outcome is Outcome.NOT_APPLICABLE
    assert seen["relay.truncation.told"].outcome is Outcome.HELD


def test_a_member_that_the_gateway_left_did_not_cut_its_body() -> None:
    """The cut is the gateway's own, where it went away from a member that was still answering."""
    left = knowing(capture(CHAT, CUT, CUT), attempt={"end": End.HANGUP, "peer_closed_at": 5.0})
    assert verdicts(left)["http.body.complete"].outcome is Outcome.VIOLATED


def test_an_error_is_told_whole_even_of_a_member_that_cut_its_own() -> None:
    """What became of the request is known before the body: an error of the gateway's own is whole."""
    assert verdicts(capture(CHAT, CUT_ERROR, CUT_ERROR))["http.body.complete"].outcome is Outcome.VIOLATED
    told = capture(CHAT, wire(error("The upstream failed."), status=502), CUT_ERROR)
    assert verdicts(told)["http.body.complete"].outcome is Outcome.HELD
    assert verdicts(capture(CHAT, wire(chat()), (CUT, wire(chat()))))["http.body.complete"].outcome is Outcome.HELD
