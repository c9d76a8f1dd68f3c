"""The clauses of the module `pool`, each on examples that hold and examples that do not."""

from __future__ import annotations

import pytest

from conformance.contract.clause import Outcome
from tests.contract.captures import knowing, verdicts
from tests.contract.example import Parameter, differs, label, parameters
from tests.contract.examples_pool import BUSY, EXAMPLES, THREE, pooled


@pytest.mark.parametrize("parameter", parameters(EXAMPLES), ids=label)
def test_an_example_has_its_outcome(parameter: Parameter) -> None:
    """A holding example is held (it applies), a violating one is violated."""
    assert differs(parameter) == ""


def test_a_target_that_says_how_often_it_asks_may_stop_there() -> None:
    """Two of three members asked in vain are all that was promised, where two dispatches are declared."""
    spent = verdicts(knowing(pooled(BUSY, BUSY, BUSY), terms=THREE | {"max_attempts": 2}))
    assert spent["pool.failover.answers"].outcome is Outcome.NOT_APPLICABLE
