"""The clauses on what an answer holds, on examples of both kinds, and on right answers that look wrong."""

from __future__ import annotations

import pytest

from tests.contract.captures import Capture, violated
from tests.contract.example import Parameter, differs, label, parameters
from tests.contract.examples_answers import EXAMPLES, ODD


@pytest.mark.parametrize("parameter", parameters(EXAMPLES), ids=label)
def test_an_example_has_its_outcome(parameter: Parameter) -> None:
    """A holding example is held (it applies), a violating one is violated."""
    assert differs(parameter) == ""


@pytest.mark.parametrize("item", [pytest.param(item, id=name) for name, item in ODD.items()])
def test_a_legal_answer_passes(item: Capture) -> None:
    """An answer that takes a freedom which no norm denies is no violation."""
    found = violated(item)
    assert {name: (one.findings[0].expected, one.findings[0].actual) for name, one in found.items()} == {}
