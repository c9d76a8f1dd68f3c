"""The matrix: the faithful gateway violates nothing, each defect exactly what it lists, and no clause is spared.

Minutes of work, so it is asked for by its marker: `pytest -m matrix -n 2 --dist loadscope`. The gateways are split into
shares; the rows of a share are made at once, when the first test of the share asks for one.
"""

from __future__ import annotations

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


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The gateways of a share are the parameters of its class."""
    if metafunc.cls is not None:
        metafunc.parametrize("name", [name for name in GATEWAYS if SHARE[name] == metafunc.cls.number])


class Share:
    """The facts about the gateways of one share; a class of its own, so that one worker has it all."""

    number: int

    def test_violations_are_exactly_those_listed(self, name: str) -> None:
        """A gateway violates the clauses that its defect lists, no other, and the harness itself is at no fault."""
        found = share(self.number)[name]
        assert found.faults == []
        assert {clause: cases[:4] for clause, cases in found.violated.items() if clause not in listed(name)} == {}
        assert listed(name) - found.violated.keys() == frozenset()


class TestFirstShare(Share):
    """The faithful gateway, and every fourth defect."""

    number = 0


class TestSecondShare(Share):
    """Every fourth defect, from the first."""

    number = 1


class TestThirdShare(Share):
    """Every fourth defect, from the second."""

    number = 2


class TestFourthShare(Share):
    """Every fourth defect, from the third."""

    number = 3


def test_every_clause_bites() -> None:
    """Each clause of the catalogue is violated by at least one defect, and no defect names an unknown clause."""
    named = frozenset[str]().union(*(defect.violates for defect in DEFECTS.values()))
    assert sorted(CATALOG.keys() - named) == []
    assert sorted(named - CATALOG.keys()) == []


def test_there_are_enough_defects() -> None:
    """At least forty."""
    assert len(DEFECTS) >= 40
