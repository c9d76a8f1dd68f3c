"""The clauses on header fields and early errors, each on examples that hold and examples that do not."""

from __future__ import annotations

import pytest

from conformance.contract.catalog import CATALOG
from conformance.contract.clause import Outcome
from conformance.contract.judge import judge_clause
from tests.contract.captures import Capture, exchange
from tests.contract.example import Parameter, differs, label, parameters
from tests.contract.examples_header import EXAMPLES, FREE


@pytest.mark.parametrize("parameter", parameters(EXAMPLES), ids=label)
def test_an_example_has_its_outcome(parameter: Parameter) -> None:
    """A holding example is held (it applies), a violating one is violated."""
    assert differs(parameter) == ""


@pytest.mark.parametrize(("name", "item"), [(name, item) for name, items in FREE.items() for item in items])
def test_what_is_nobodys_fault_is_not_judged(name: str, item: Capture) -> None:
    """What both sides may say by themselves, and what is no redirect to another host, is no finding."""
    assert judge_clause(CATALOG[name], exchange(item)).outcome in (Outcome.NOT_APPLICABLE, Outcome.HELD)


def test_a_password_is_not_shown() -> None:
    """The finding names the field alone."""
    (*_, item) = EXAMPLES["relay.header.hop-by-hop"].violated
    assert isinstance(item, Capture)
    (finding,) = judge_clause(CATALOG["relay.header.hop-by-hop"], exchange(item)).findings
    assert "dTpw" not in finding.actual
