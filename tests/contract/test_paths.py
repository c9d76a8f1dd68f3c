"""The clauses at the edge of the API, and those that the further operations share, on examples; what is left alone."""

from __future__ import annotations

import pytest

from conformance.contract.catalog import CATALOG
from conformance.contract.clause import Outcome
from tests.contract.captures import Capture, verdicts
from tests.contract.example import Parameter, differs, label, parameters
from tests.contract.examples_paths import EXAMPLES, FREE, FURTHER


@pytest.mark.parametrize("parameter", [*parameters(EXAMPLES), *parameters(FURTHER)], ids=label)
def test_an_example_has_its_outcome(parameter: Parameter) -> None:
    """A holding example is held (it applies), a violating one is violated."""
    assert differs(parameter) == ""


@pytest.mark.parametrize("item", [pytest.param(item, id=name) for name, item in FREE.items()])
def test_what_is_not_the_apis_is_left_alone(item: Capture) -> None:
    """Pages for people, monitors, other APIs and answers that are no JSON by right violate nothing of the edge."""
    found = {name for name, one in verdicts(item).items() if one.outcome in (Outcome.VIOLATED, Outcome.FAULTY)}
    assert not found & {*EXAMPLES, *FURTHER, "error.content-type"}
    assert not {name for name in found if CATALOG[name].gates} - {"chat.choices.present"}
