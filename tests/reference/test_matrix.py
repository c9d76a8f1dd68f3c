"""The matrix: the faithful gateway violates nothing, each defect exactly what it lists, and no clause is spared.

Minutes of work, so it is asked for by its marker: `pytest -m matrix -n 2 --dist loadgroup`. The gateways are split into
shares; the rows of a share are made at once, when the first test of the share asks for one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from conformance.contract.catalog import CATALOG
from conformance.reference.defects import DEFECTS
from conformance.run.matrix import FAITHFUL, Row
from tests.reference.matrix import confirmed, listed, play

#: How many parts the gateways are split into, each run by one worker.
SHARES = 4
GATEWAYS = (FAITHFUL, *DEFECTS)
SHARE = {name: number % SHARES for number, name in enumerate(GATEWAYS)}

pytestmark = pytest.mark.matrix


def drivers(name: str) -> tuple[str, ...]:
    """What speaks to a gateway: the raw client, and the SDK where the defect is about what it makes of the bytes."""
    about_sdk = name == FAITHFUL or any(clause.startswith("sdk.") for clause in listed(name))
    return ("wire", "openai-python") if about_sdk else ("wire",)


@cache
def share(number: int) -> dict[str, Row]:
    """The rows of one share."""
    names = [name for name in GATEWAYS if SHARE[name] == number]
    rows: dict[str, Row] = {}
    for spoken in {drivers(name) for name in names}:
        rows |= confirmed(play([name for name in names if drivers(name) == spoken], spoken), spoken)
    return rows


@pytest.fixture(scope="session")
def row() -> Callable[[str], Row]:
    """What a gateway, by name, came to."""
    return lambda name: share(SHARE[name])[name]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.xdist_group(f"matrix-{SHARE[name]}")) for name in GATEWAYS]
)
def test_violations_are_exactly_those_listed(name: str, row: Callable[[str], Row]) -> None:
    """A gateway violates the clauses that its defect lists, no other, and the harness itself is at no fault."""
    found = row(name)
    assert found.faults == []
    assert {clause: cases[:4] for clause, cases in found.violated.items() if clause not in listed(name)} == {}
    assert listed(name) - found.violated.keys() == frozenset()


def test_every_clause_bites() -> None:
    """Each clause of the catalogue is violated by at least one defect, and no defect names an unknown clause."""
    named = frozenset[str]().union(*(defect.violates for defect in DEFECTS.values()))
    assert sorted(CATALOG.keys() - named) == []
    assert sorted(named - CATALOG.keys()) == []


def test_there_are_enough_defects() -> None:
    """At least forty."""
    assert len(DEFECTS) >= 40
