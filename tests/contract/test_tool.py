"""The clauses of the area `tool`, each on examples that hold and examples that do not."""

from __future__ import annotations

import pytest

from conformance.contract.catalog import CATALOG
from conformance.contract.clause import Outcome
from conformance.contract.judge import judge_clause
from tests.contract.captures import Capture, exchange
from tests.contract.example import Parameter, differs, label, parameters
from tests.contract.examples_tool import EXAMPLES, FORCED


@pytest.mark.parametrize("parameter", parameters(EXAMPLES), ids=label)
def test_an_example_has_its_outcome(parameter: Parameter) -> None:
    """A holding example is held (it applies), a violating one is violated."""
    assert differs(parameter) == ""


@pytest.mark.parametrize("item", FORCED)
def test_a_forced_call_may_end_with_stop(item: Capture) -> None:
    """Where the request forces a call the API itself answers `stop`: the clause on the reason does not apply."""
    verdict = judge_clause(CATALOG["tool.finish-reason"], exchange(item))
    assert verdict.outcome is Outcome.NOT_APPLICABLE
