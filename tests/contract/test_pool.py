"""The clauses of the module `pool`, each on examples that hold and examples that do not."""

from __future__ import annotations

import pytest

from conformance.contract.clause import Outcome
from tests.contract.captures import Try, error, knowing, verdicts, wire
from tests.contract.example import Parameter, differs, label, parameters
from tests.contract.examples_pool import BUSY, EXAMPLES, OK, THREE, pooled


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
    patient = verdicts(knowing(pooled(told, *late), terms={"first_token_timeout_ms": 2000.0}))
    assert patient["pool.success.final"].outcome is Outcome.VIOLATED
