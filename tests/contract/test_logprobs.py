"""The clause of the area `logprobs`, on examples that hold and examples that do not, and on what is owed none."""

from __future__ import annotations

import pytest

from conformance.contract.catalog import CATALOG
from conformance.contract.clause import Outcome
from conformance.contract.judge import judge_clause
from tests.contract.captures import Capture, exchange
from tests.contract.example import Parameter, differs, label, parameters
from tests.contract.examples_logprobs import EXAMPLES, FREE


@pytest.mark.parametrize("parameter", parameters(EXAMPLES), ids=label)
def test_an_example_has_its_outcome(parameter: Parameter) -> None:
    """A holding example is held (it applies), a violating one is violated."""
    assert differs(parameter) == ""


@pytest.mark.parametrize("item", FREE)
def test_where_none_are_owed(item: Capture) -> None:
    """Unasked, beside a tool call or a refusal, or where the member gave none, the clause does not apply."""
    assert judge_clause(CATALOG["logprobs.present"], exchange(item)).outcome is Outcome.NOT_APPLICABLE
