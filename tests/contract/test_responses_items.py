"""The clauses on what a response holds, each on examples that hold and examples that do not."""

from __future__ import annotations

import pytest

from tests.contract.example import Parameter, differs, label, parameters
from tests.contract.examples_responses_items import EXAMPLES


@pytest.mark.parametrize("parameter", parameters(EXAMPLES), ids=label)
def test_an_example_has_its_outcome(parameter: Parameter) -> None:
    """A holding example is held (it applies), a violating one is violated."""
    assert differs(parameter) == ""
