"""The clauses of the area `stream`, each on examples that hold and examples that do not."""

from __future__ import annotations

import pytest

from conformance.contract.clause import Outcome
from tests.contract.captures import knowing, verdicts
from tests.contract.example import Parameter, differs, label, parameters
from tests.contract.examples_stream import EXAMPLES, HELLO, events


@pytest.mark.parametrize("parameter", parameters(EXAMPLES), ids=label)
def test_an_example_has_its_outcome(parameter: Parameter) -> None:
    """A holding example is held (it applies), a violating one is violated."""
    assert differs(parameter) == ""


def test_an_answer_from_memory_knows_its_length() -> None:
    """No member was asked: the stream is whole before its head is sent."""
    kept = verdicts(knowing(events(*HELLO, framing="length"), attempts=()))
    assert kept["stream.head.no-length"].outcome is Outcome.NOT_APPLICABLE
