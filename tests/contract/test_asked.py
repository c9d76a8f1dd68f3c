"""The clauses on what a request asked of its answer, tools and format, each on examples that hold and that do not."""

from __future__ import annotations

import pytest

from conformance.contract.catalog import CATALOG
from conformance.contract.clause import Outcome
from conformance.contract.given import misfit
from conformance.contract.judge import judge_clause
from tests.contract import examples_format, examples_tool_asked, examples_tool_said
from tests.contract.captures import Capture, exchange
from tests.contract.example import Parameter, differs, label, parameters

TABLES = (examples_tool_asked.EXAMPLES, examples_tool_said.EXAMPLES, examples_format.EXAMPLES)
EVERY = [parameter for table in TABLES for parameter in parameters(table)]


@pytest.mark.parametrize("parameter", EVERY, ids=label)
def test_an_example_has_its_outcome(parameter: Parameter) -> None:
    """A holding example is held (it applies), a violating one is violated."""
    assert differs(parameter) == ""


@pytest.mark.parametrize("name", ["format.json.kept", "format.schema.kept"])
@pytest.mark.parametrize("item", examples_format.FREE)
def test_an_answer_that_owes_no_json_is_not_judged(name: str, item: Capture) -> None:
    """A call, an answer that was cut or filtered, a refusal and silence are no JSON, and need not be."""
    assert judge_clause(CATALOG[name], exchange(item)).outcome is Outcome.NOT_APPLICABLE


def test_parallel_calls_owe_a_strict_schema_nothing() -> None:
    """The API's guarantee is for one call at a time."""
    verdict = judge_clause(CATALOG["tool.arguments.strict"], exchange(examples_tool_said.PARALLEL))
    assert verdict.outcome is Outcome.NOT_APPLICABLE


def test_a_misfit_is_told_in_words() -> None:
    """What is missing, what is too much and what is of another type is named by its place."""
    assert misfit(examples_format.SCHEMA, {"name": "Ann"}) == "the value lacks age"
    assert (
        misfit(examples_format.SCHEMA, {"name": "Ann", "age": 3, "x": 1}) == "the value has x, which the schema has not"
    )
    assert misfit(examples_format.SCHEMA, {"name": "Ann", "age": "3"}) == 'age is "3", against type'
    assert misfit({"items": {"enum": [1]}}, [1, 2]) == "[1] is 2, against enum"


@pytest.mark.parametrize(
    "schema",
    [
        None,
        True,
        5,
        [],
        {"type": 5},
        {"required": "name"},
        {"$ref": "https://schemas.test/a"},
        {"$ref": "#/nowhere"},
        {"$ref": "#"},
        {"pattern": "(a+)+$"},
        {"not": {}},
        {"type": "string", "nullable": True},
    ],
)
def test_a_schema_that_tells_nothing_decides_nothing(schema: object) -> None:
    """A schema that is none, that needs another document, or a keyword that is not looked at, is met by all."""
    assert misfit(schema, None) == ""
