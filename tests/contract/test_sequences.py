"""The clauses over sequences, each on sequences on which it holds and on which it does not."""

from __future__ import annotations

import pytest

from conformance.contract.clause import Outcome
from tests.contract.example import Parameter, differs, label, parameters
from tests.contract.examples_sequences import EXAMPLES, UNDECIDED


@pytest.mark.parametrize("parameter", parameters(EXAMPLES), ids=label)
def test_an_example_has_its_outcome(parameter: Parameter) -> None:
    """A holding example is held (it applies), a violating one is violated."""
    assert differs(parameter) == ""


@pytest.mark.parametrize(
    "parameter",
    [(name, Outcome.NOT_APPLICABLE, item) for name, items in UNDECIDED.items() for item in items],
    ids=label,
)
def test_what_a_sequence_does_not_tell_is_not_decided(parameter: Parameter) -> None:
    """Where the order of what was in flight at one time would decide, the clause says nothing."""
    assert differs(parameter) == ""
