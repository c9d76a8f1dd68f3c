"""The catalogue as a whole: every clause is declared whole, and shown by examples of both kinds."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections import Counter

import pytest

import tests.contract
from conformance.contract import clauses
from conformance.contract.catalog import AREAS, CATALOG, RETIRED, select
from conformance.contract.clause import Basis, Clause
from conformance.contract.sources import SOURCES
from tests.contract.example import Example

_ID = re.compile(r"[a-z][a-z0-9-]*(\.[a-z0-9-]+)+")


def _examples() -> dict[str, Example]:
    found: dict[str, Example] = {}
    for module in pkgutil.iter_modules(tests.contract.__path__):
        if module.name.startswith("examples_"):
            found |= importlib.import_module(f"tests.contract.{module.name}").EXAMPLES
    return found


_EXAMPLES = _examples()
_ALL = pytest.mark.parametrize("item", [pytest.param(item, id=item.id) for item in CATALOG.values()])


@_ALL
def test_both_kinds_of_examples_exist(item: Clause) -> None:
    """Every clause has an example on which it holds and one that violates it."""
    example = _EXAMPLES.get(item.id)
    assert example is not None
    assert example.held
    assert example.violated


def test_examples_name_clauses() -> None:
    """No example is left over from a clause that is gone."""
    assert set(_EXAMPLES) <= set(CATALOG)


@_ALL
def test_ids_are_dotted_lower_case(item: Clause) -> None:
    """An id is words of lower case, digits and hyphens, joined by dots."""
    assert _ID.fullmatch(item.id)
    assert item.id not in RETIRED


@_ALL
def test_titles_state_facts(item: Clause) -> None:
    """A title is one short line that says what is, without "should" and full stop."""
    assert 10 <= len(item.title) <= 100
    assert "\n" not in item.title
    assert not item.title.endswith(".")
    assert not re.search(r"\b(should|must|may not)\b", item.title.lower())


@_ALL
def test_reasons_and_sources_are_given(item: Clause) -> None:
    """A clause says why it is, and quotes a norm or report that is listed."""
    assert item.rationale.endswith((".", "!"))
    assert item.source in SOURCES


@_ALL
def test_policies_name_capabilities(item: Clause) -> None:
    """A policy names the promises that it judges; what a norm asks needs no promise."""
    assert (item.basis is Basis.POLICY) is bool(item.capabilities)


def test_titles_are_unique() -> None:
    """No two clauses have one title."""
    assert [title for title, count in Counter(item.title for item in CATALOG.values()).items() if count > 1] == []


def test_every_area_module_is_in_the_catalogue() -> None:
    """An area module that nobody lists would be judged by nobody."""
    listed = {module.__name__ for module in AREAS}
    made = {f"{clauses.__name__}.{found.name}" for found in pkgutil.iter_modules(clauses.__path__)}
    with_clauses = {
        name for name in made if any(isinstance(v, Clause) for v in vars(importlib.import_module(name)).values())
    }
    assert with_clauses - listed == set()


def test_selection_is_by_globs() -> None:
    """Globs select by id; none selects all; one without a match selects nothing."""
    assert select(()) == tuple(CATALOG.values())
    assert {item.id.split(".")[0] for item in select(("relay.*", "pool.*"))} == {"relay", "pool"}
    assert select(("nothing.*",)) == ()
