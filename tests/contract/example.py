"""The form of a clause's examples, and what makes one true: an area's table maps each clause id to one Example.

`examples_<area>.py` holds `EXAMPLES: Examples`, `test_<area>.py` runs it with `parameters` and `differs`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from conformance.contract.catalog import CATALOG
from conformance.contract.clause import Outcome
from conformance.contract.judge import judge_clause
from conformance.exchange.model import Exchange
from conformance.exchange.sequence import Sequence
from tests.contract.captures import Capture, exchange

#: What a clause is judged on: a capture, an exchange that tells more than a capture can (`told`), or a sequence.
Sample = Capture | Exchange | Sequence


@dataclass(frozen=True, slots=True)
class Example:
    """Samples on which a clause is HELD (not merely not applicable), and samples on which it is VIOLATED."""

    held: tuple[Sample, ...]
    violated: tuple[Sample, ...]


Examples = dict[str, Example]
Parameter = tuple[str, Outcome, Sample]


def told(item: Capture, **terms: Any) -> Exchange:
    """The exchange of a capture, with terms that only a run knows."""
    found = exchange(item)
    return replace(found, terms=replace(found.terms, **terms))


def parameters(examples: Examples) -> list[Parameter]:
    """Every example as (clause id, the outcome that it has to have, sample)."""
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
    verdict = judge_clause(CATALOG[name], exchange(item) if isinstance(item, Capture) else item)
    return "" if verdict.outcome is outcome else f"{verdict.outcome.value}: {verdict.findings or verdict.reason}"
