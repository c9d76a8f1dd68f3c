"""The form of a clause's examples, and what makes one true: an area's table maps each of its clause ids to one Example.

`examples_<area>.py` holds `EXAMPLES: Examples`, `test_<area>.py` runs it with `parameters` and `differs`. Knows no clause.
"""

from __future__ import annotations

from dataclasses import dataclass

from conformance.contract.clause import Outcome
from tests.contract.captures import Capture, verdicts


@dataclass(frozen=True, slots=True)
class Example:
    """Captures on which a clause is HELD (not merely not applicable), and captures on which it is VIOLATED."""

    held: tuple[Capture, ...]
    violated: tuple[Capture, ...]


Examples = dict[str, Example]
Parameter = tuple[str, Outcome, Capture]


def parameters(examples: Examples) -> list[Parameter]:
    """Every example as (clause id, the outcome that it has to have, capture)."""
    return [
        (name, outcome, item)
        for name, example in examples.items()
        for outcome, items in ((Outcome.HELD, example.held), (Outcome.VIOLATED, example.violated))
        for item in items
    ]


def label(parameter: Parameter) -> str:
    """The clause id and the outcome, for a test's name."""
    return f"{parameter[0]}-{parameter[1].value}"


def differs(parameter: Parameter) -> str:
    """What the judge says instead of the outcome that the example has to have, or ""."""
    name, outcome, item = parameter
    verdict = verdicts(item)[name]
    return "" if verdict.outcome is outcome else f"{verdict.outcome.value}: {verdict.findings or verdict.reason}"
