"""The clauses on single facts that go astray: examples that hold, and that do not; what is left alone."""

from __future__ import annotations

import pytest

from conformance.contract.clause import Outcome
from tests.contract.captures import Capture, verdicts
from tests.contract.example import Parameter, differs, label, parameters
from tests.contract.examples_detail import EXAMPLES, FREE, MILLISECONDS


@pytest.mark.parametrize("parameter", [*parameters(EXAMPLES), *parameters(MILLISECONDS)], ids=label)
def test_an_example_has_its_outcome(parameter: Parameter) -> None:
    """A holding example is held (it applies), a violating one is violated."""
    assert differs(parameter) == ""


@pytest.mark.parametrize("item", [pytest.param(item, id=name) for name, item in FREE.items()])
def test_what_may_be_on_purpose_is_left_alone(item: Capture) -> None:
    """A key of the client's, a parameter that is not its own, a reason in other words violate none of these."""
    found = {name for name, one in verdicts(item).items() if one.outcome in (Outcome.VIOLATED, Outcome.FAULTY)}
    assert not found & EXAMPLES.keys()
