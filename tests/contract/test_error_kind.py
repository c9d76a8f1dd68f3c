"""The clauses on an error's code and type, and on broken requests: examples that hold, and that do not."""

from __future__ import annotations

import pytest

from conformance.contract.catalog import CATALOG
from conformance.contract.clause import Outcome
from conformance.contract.judge import judge_clause
from tests.contract.captures import Capture, ask, capture, error, exchange, wire
from tests.contract.example import Parameter, differs, label, parameters
from tests.contract.examples_error_kind import COMMA, CUT, DOWN, EXAMPLES, NO_MESSAGES, NO_MODEL, OK, sent


@pytest.mark.parametrize("parameter", parameters(EXAMPLES), ids=label)
def test_an_example_has_its_outcome(parameter: Parameter) -> None:
    """A holding example is held (it applies), a violating one is violated."""
    assert differs(parameter) == ""


UNDECIDED = {
    "a lenient parser": sent(COMMA, OK),
    "a default model": sent(NO_MODEL, OK),
    "a default model, and an outage": sent(NO_MODEL, wire(DOWN, status=502)),
    "an outage of all": sent(CUT, wire(DOWN, status=503)),
    "a member was asked": sent(NO_MESSAGES, OK, OK),
    "a prompt in the place of messages": sent({"model": "alias-1", "prompt": "cf-q8w3zd"}, OK),
    "a form": sent(b"--x", OK, **{"Content-Type": "multipart/form-data; boundary=x"}),
    "a body that is coded": sent(b"\x1f\x8b\x08", OK, **{"Content-Encoding": "gzip"}),
    "a body that the capture lacks": sent(b"", OK),
    "a legacy completion without a prompt": sent({"model": "alias-1"}, OK, None, "completions"),
    "an error told in a success": sent(CUT, wire(error("Bad."))),
}


@pytest.mark.parametrize("item", [pytest.param(item, id=name) for name, item in UNDECIDED.items()])
def test_a_request_that_may_be_right_is_not_judged(item: Capture) -> None:
    """What may be a default, a freedom of the parser or an outage is no broken request."""
    verdict = judge_clause(CATALOG["error.request.status"], exchange(item))
    assert verdict.outcome is Outcome.NOT_APPLICABLE


def test_a_member_that_says_the_same_is_only_relayed() -> None:
    """A code and a type whose status is the member's own are not held against the gateway."""
    body = error("Rate limit reached", code="rate_limit_exceeded")
    item = capture(ask(), wire(body, status=400), wire(body, status=400))
    for name in ("error.rate-limit.status", "error.invalid-request.status", "error.type.status"):
        assert judge_clause(CATALOG[name], exchange(item)).outcome is not Outcome.VIOLATED
